"""Training a fixed fixation predictor: reading corpus in, a folder that fixation-guided models use out.

"Longer Fixations, More Computation" (Findings of EMNLP 2023), section 4.1, with its released program: levels 0..11 of
mean total reading time, a quarter of the sentences for the test, squared error, Adam with 1e-3, batches of 32
sentences, 50 epochs. Unlike there, the epoch is chosen on a tenth of the training sentences (not on the test), and the
errors are means over all test tokens. Of the words that the training sentences have once, a half are read as unknown,
so that there is an estimate for unknown words. Sentences are read from zero state after BOS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.fixation_levels import LevelledSentence, levelled_sentences
from psymem.errors import TrainingError
from psymem.models.gated.fixation_checkpoint import save_predictor
from psymem.models.word_tokenizer import NUM, NUM_ID, UNK_ID, build_tokenizer, split_words
from psymem.train.loop import checkpointing
from psymem.train.loop.fixation_progress import ErrorProgress
from psymem.train.loop.lock import alone
from psymem.train.loop.loop import train
from psymem.train.loop.settings import LoopSettings
from psymem.train.tasks.fixation_task import PredictorSettings, PredictorTask, encode

VALIDATION_SHARE = 0.1
"""Of the training sentences, to choose the epoch."""


@alone
def train_fixation_predictor(
    corpus: Corpus, settings: PredictorSettings, out: Path, *, threads: int = 0, quiet: bool = False
) -> Path:
    """Train a predictor on a reading corpus and write ``out/model``; resumes an interrupted run in `out`.

    Returns
    -------
    pathlib.Path
        The folder for ``--predictor``; its card has the errors on the test sentences.

    Raises
    ------
    DataError
        If the corpus has no total reading times, or they are out of range.
    TrainingError
        If there are too few sentences, `out` holds another run, or the loss stops being finite.
    """
    if threads:
        torch.set_num_threads(threads)
    out = Path(out)
    sentences = levelled_sentences(
        corpus, split_words, k=settings.levels, punctuation_level=settings.punctuation_level
    )
    parts = split_sentences(sentences, settings.test_share, settings.seed)
    tokenizer = build_tokenizer(known_words(parts["train"], settings.seed))
    task = PredictorTask(settings, tokenizer, parts)
    per_epoch = sum(int((~np.isnan(s.levels)).sum()) for s in parts["train"])
    loop = _loop(settings, per_epoch)
    said = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(settings).items() if v is not None}
    facts = {"corpus": corpus.name, "sentences": len(sentences), "tokens": per_epoch}
    progress = ErrorProgress(out, loop.max_tokens, loop.log_every, quiet)
    at = train(task, loop, out, {"data": facts, "predictor": said}, progress)  # type: ignore[arg-type]
    checkpointing.load_best(out, task)
    if not any(NUM in s.tokens for s in parts["train"]):
        with torch.no_grad():  # numerals are unknown words to a corpus without any
            task.model.embedding.weight[NUM_ID] = task.model.embedding.weight[UNK_ID]
    card = {
        "title": f"Fixation predictor, LSTM {settings.width} wide",
        "source": "Longer Fixations, More Computation (Findings of EMNLP 2023)",
        "trained_on": str(corpus.card.get("title", corpus.name)),
        "sentences": {name: len(part) for name, part in parts.items()},
        "epochs": at.epoch + 1,
        **errors_on_test(task, tokenizer, parts),
        "settings": said,
    }
    return save_predictor(task.model, tokenizer, out / "model", card)


def _loop(settings: PredictorSettings, per_epoch: int) -> LoopSettings:
    """Constant learning rate, a validation after each epoch, none too many."""
    return LoopSettings(
        max_tokens=settings.epochs * per_epoch,
        learning_rate=settings.learning_rate,
        beta2=0.999,
        clip=5.0,
        schedule="plateau",
        plateau_patience=settings.epochs,
        stop_after=settings.epochs,
        validate_every=per_epoch,
        seed=settings.seed,
    )


def errors_on_test(
    task: PredictorTask, tokenizer: Tokenizer, parts: dict[str, list[LevelledSentence]]
) -> dict[str, Any]:
    """Return errors on the 12-level scale, means over test tokens, and those of always giving the mean level."""
    errors = task.errors([(encode(s.tokens, tokenizer), s.levels) for s in parts["test"]])
    levels = np.concatenate([s.levels for s in parts["test"]])
    constant = np.nanmean(np.concatenate([s.levels for s in parts["train"]]))
    tokens = [t for s in parts["test"] for t in s.tokens]
    unseen = sum(tokenizer.token_to_id(t) is None for t in tokens)
    return {
        "test_tokens": len(errors),
        "test_l1": round(float(errors.abs().mean()), 4),
        "test_mse": round(float(errors.square().mean()), 4),
        "test_l1_of_mean_level": round(float(np.nanmean(np.abs(levels - constant))), 4),
        "test_mse_of_mean_level": round(float(np.nanmean((levels - constant) ** 2)), 4),
        "test_unseen_share": round(unseen / len(tokens), 4),
    }


def split_sentences(
    sentences: Sequence[LevelledSentence], test_share: float, seed: int
) -> dict[str, list[LevelledSentence]]:
    """Return "train", "validation" and "test" sentences; those without any level are left out.

    Raises
    ------
    TrainingError
        If one part would be empty.
    """
    usable = [s for s in sentences if not np.isnan(s.levels).all()]
    order = np.random.default_rng([seed, 5]).permutation(len(usable))
    n_test = int(len(usable) * test_share)
    n_validation = max(1, round((len(usable) - n_test) * VALIDATION_SHARE))
    cuts = {
        "test": order[:n_test],
        "validation": order[n_test : n_test + n_validation],
        "train": order[n_test + n_validation :],
    }
    if not all(len(part) for part in cuts.values()):
        raise TrainingError(
            f"The corpus has {len(usable)} sentence(s) with total reading times, too few for training, validation and "
            "test."
        )
    return {name: [usable[i] for i in np.sort(part)] for name, part in cuts.items()}


def known_words(sentences: Sequence[LevelledSentence], seed: int) -> list[str]:
    """Return the vocabulary: words of two occurrences or more, and half of the others, by frequency."""
    counts = Counter(t for s in sentences for t in s.tokens)
    words = sorted(counts, key=lambda w: (-counts[w], w))
    kept = np.random.default_rng([seed, 6]).random(len(words)) > 0.5
    return [w for w, keep in zip(words, kept, strict=True) if counts[w] > 1 or keep]
