"""How often a training text has each word form, for the file of counts beside a trained model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models

from psymem import checkpoints
from psymem.errors import CheckpointError
from psymem.io.outputs import write_atomically, write_text
from psymem.models.word_tokenizer import BOS, EOS, PAD, split_words
from psymem.train.text.corpus import EncodedText
from psymem.train.text.encoded_text import read_encoded

NO_WORDS = (PAD, BOS, EOS)
TRAINED_ON = ("plain", "tagged", "emphasised")
AT_ONCE = 10_000
"""Sentences that are spelled out at once."""


def word_counts(
    tokenizer: Tokenizer, texts: Mapping[str, EncodedText], passes: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the occurrences of each word form in one pass over "plain", "tagged" and "emphasised" of `texts`.

    A word-level vocabulary is counted by its ids: ``<unk>`` stands for all words outside it. The pieces of a byte-level
    one are put together and split into words as word-level models split them.

    Parameters
    ----------
    tokenizer
        What encoded `texts`.
    texts
        Encoded text by name.
    passes
        How often one pass reads each text, where not once.
    """
    if not isinstance(tokenizer.model, models.WordLevel):
        return _spelled_out(tokenizer, texts["plain"])
    ids = tokenizer.get_vocab()
    counts = np.zeros(max(ids.values()) + 1, np.int64)
    for name in TRAINED_ON:
        if name in texts:
            counts += (passes or {}).get(name, 1) * np.bincount(texts[name].ids, minlength=len(counts))
    return {word: int(counts[i]) for word, i in ids.items() if word not in NO_WORDS}


def _spelled_out(tokenizer: Tokenizer, text: EncodedText) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for first in range(0, len(text), AT_ONCE):
        several = range(first, min(first + AT_ONCE, len(text)))
        sentences = tokenizer.decode_batch([text.sentence(i).tolist() for i in several])
        for pieces in split_words(sentences):
            counts.update(pieces)
    return dict(counts)


def add_word_counts(model: Path, run: Path, passes: Mapping[str, int] | None = None) -> Path:
    """Write the counts of a training run's text beside a model trained on it, and their checksum into its card.

    For models whose training began before psymem wrote counts.

    Parameters
    ----------
    model
        Folder of the model.
    run
        Folder with the encoded text: that of the run, or its ``--corpus-cache``.
    passes
        See :func:`word_counts`.

    Raises
    ------
    CheckpointError
        If the model has another vocabulary than the text.
    """
    tokenizer, texts = read_encoded(run)
    model_tokenizer = Tokenizer.from_file(str(model / checkpoints.TOKENIZER))
    if model_tokenizer.get_vocab() != tokenizer.get_vocab():
        raise CheckpointError(
            f"The model {model} has another vocabulary than the text in {run}; give the folder of its own run."
        )
    counts = checkpoints.word_counts_content(word_counts(tokenizer, texts, passes))
    path = write_atomically(model / checkpoints.COUNTS, lambda p: p.write_bytes(counts))
    card = checkpoints.read_card(model / checkpoints.CARD)
    card["sha256"] = {**card.get("sha256", {}), checkpoints.COUNTS: checkpoints.file_sha256(path)}
    write_text(model / checkpoints.CARD, checkpoints.card_text(card))
    return path
