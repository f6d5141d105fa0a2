"""A fixation predictor with its data, as the training loop wants it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from psymem.data.corpora.fixation_levels import LEVELS, LevelledSentence, check_levels
from psymem.errors import TrainingError
from psymem.models.gated.fixation_predictor import FixedFixationPredictor
from psymem.models.word_tokenizer import BOS_ID, PAD_ID, UNK_ID
from psymem.train.text.word_vectors import fill_embedding


@dataclass(frozen=True)
class PredictorSettings:
    """A fixation predictor and how it is trained.

    Parameters
    ----------
    width, embedding_width, dropout
        Of the LSTM, of the word vectors, and after both.
    levels
        K, how many of the 12 levels are told apart.
    punctuation_level
        Level of tokens without letter or digit, 0 to 11 (1 in the released program).
    test_share
        Share of the sentences that are for the test.
    epochs, batch_sentences, learning_rate
        Length of training, size of a batch, rate of Adam.
    embeddings
        File of word vectors to start from.
    seed
        Decides the split, the first weights, order and dropout.
    """

    width: int = 100
    embedding_width: int = 100
    dropout: float = 0.5
    levels: int = LEVELS
    punctuation_level: int = 0
    test_share: float = 0.25
    epochs: int = 50
    batch_sentences: int = 32
    learning_rate: float = 1e-3
    embeddings: Path | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse settings that cannot work, in words."""
        check_levels(self.levels)
        for name in ("width", "embedding_width", "epochs", "batch_sentences"):
            if getattr(self, name) < 1:
                raise TrainingError(
                    f"--{name.replace('_', '-')} has to be at least 1, not {getattr(self, name)}."
                )
        if not 0 < self.test_share < 1:
            raise TrainingError(f"--test-share has to be between 0 and 1, not {self.test_share}.")
        if not 0 <= self.dropout < 1:
            raise TrainingError(f"--dropout has to be from 0 to below 1, not {self.dropout}.")
        if self.seed < 0:
            raise TrainingError(f"--seed has to be at least 0, not {self.seed}.")


@dataclass(frozen=True)
class LevelBatch:
    """(B, T) inputs with their levels, NaN where there is none (padding, words without data)."""

    inputs: Tensor
    levels: Tensor

    @property
    def n_targets(self) -> int:
        """Tokens with a level."""
        return int((~self.levels.isnan()).sum())

    share: ClassVar[float] = 1.0

    def part(self, number: int, of: int) -> LevelBatch:
        """Return the batch; a predictor is too small to be trained by several processes."""
        if of > 1:
            raise TrainingError(
                "A fixation predictor is trained by one process; start psymem without torchrun."
            )
        return self

    def to(self, device: torch.device) -> LevelBatch:
        """Return the batch on a device."""
        return LevelBatch(self.inputs.to(device), self.levels.to(device))


class PredictorTask(nn.Module):
    """A predictor with its data; a Task for the training loop.

    Parameters
    ----------
    settings
        Predictor and training.
    tokenizer
        Words it knows.
    sentences
        "train" and "validation".
    """

    def __init__(
        self, settings: PredictorSettings, tokenizer: Tokenizer, sentences: dict[str, list[LevelledSentence]]
    ) -> None:
        super().__init__()
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.model = FixedFixationPredictor(
            tokenizer.get_vocab_size(),
            width=settings.width,
            embedding_width=settings.embedding_width,
            dropout=settings.dropout,
        )
        if settings.embeddings is not None:
            fill_embedding(self.model.embedding.weight, tokenizer.get_vocab(), settings.embeddings)
        self.encoded = {
            name: [(encode(s.tokens, tokenizer), s.levels) for s in part] for name, part in sentences.items()
        }

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Sentence numbers of each batch."""
        order = np.random.default_rng([self.settings.seed, epoch]).permutation(len(self.encoded["train"]))
        size = self.settings.batch_sentences
        return [order[i : i + size] for i in range(0, len(order), size)]

    def batch(self, handle: np.ndarray) -> LevelBatch:
        """Lay out one planned batch."""
        return lay_out([self.encoded["train"][i] for i in handle])

    def forward(self, batch: LevelBatch, step: int) -> tuple[Tensor, float]:
        """Return the mean squared error, to minimise and to show."""
        error = _errors(self.model.train(), batch).square().mean()
        return error, float(error.detach())

    def validate(self) -> float:
        """Mean squared error on the validation sentences."""
        return float(self.errors(self.encoded["validation"]).square().mean())

    def errors(self, encoded: list[tuple[np.ndarray, np.ndarray]]) -> Tensor:
        """(n,) estimate minus level of every token that has a level."""
        self.model.eval()
        with torch.inference_mode():
            starts = range(0, len(encoded), 256)
            return torch.cat([_errors(self.model, lay_out(encoded[i : i + 256])) for i in starts])


def _errors(model: FixedFixationPredictor, batch: LevelBatch) -> Tensor:
    estimate, _ = model(batch.inputs)
    known = ~batch.levels.isnan()
    return estimate[known] - batch.levels[known]


def encode(tokens: Sequence[str], tokenizer: Tokenizer) -> np.ndarray:
    """Return (n,) ids of tokens; those not in the vocabulary are unknown."""
    ids = (tokenizer.token_to_id(t) for t in tokens)
    return np.array([UNK_ID if i is None else i for i in ids], np.int64)


def lay_out(sentences: Sequence[tuple[np.ndarray, np.ndarray]]) -> LevelBatch:
    """Lay out (ids, levels) of sentences: BOS first, padded on the right."""
    longest = 1 + max(len(ids) for ids, _ in sentences)
    inputs = np.full((len(sentences), longest), PAD_ID, np.int64)
    levels = np.full((len(sentences), longest), np.nan, np.float32)
    inputs[:, 0] = BOS_ID
    for row, (ids, level) in enumerate(sentences):
        inputs[row, 1 : len(ids) + 1], levels[row, 1 : len(ids) + 1] = ids, level
    return LevelBatch(torch.from_numpy(inputs), torch.from_numpy(levels))
