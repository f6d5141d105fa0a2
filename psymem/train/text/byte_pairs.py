"""Byte-level BPE vocabularies as GPT-2 has them, learned from training text."""

from __future__ import annotations

from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from psymem.errors import TrainingError
from psymem.models.word_tokenizer import BOS, EOS, PAD, SPECIAL_TOKENS, UNK
from psymem.train.text.files import read_sentences
from psymem.train.text.vocabulary import VocabularyRule

SMALLEST = len(SPECIAL_TOKENS) + 256
"""Special tokens and the 256 bytes."""


def learn_byte_pairs(files: list[Path], rule: VocabularyRule) -> Tokenizer:
    """Return a byte-level BPE tokenizer learned from the sentences of `files`.

    Parameters
    ----------
    files
        Training text.
    rule
        `size` is the whole vocabulary, `minimum_count` the occurrences a pair needs to be joined.

    Raises
    ------
    TrainingError
        If `size` has no room for the bytes.
    """
    if rule.size < SMALLEST:
        raise TrainingError(
            f"--vocabulary-size {rule.size} is too small for byte pairs; expected at least {SMALLEST} "
            f"(256 bytes and {len(SPECIAL_TOKENS)} special tokens)."
        )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=rule.size,
        min_frequency=rule.minimum_count,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((s for path in files for s in read_sentences(path)), trainer)
    end = AddedToken(EOS, lstrip=True, special=True)  # no word goes on into the end of a sentence
    tokenizer.add_special_tokens([PAD, UNK, BOS, end])
    return tokenizer
