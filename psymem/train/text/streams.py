"""Text as one long stream in parallel rows, read in pieces of random length with the network's state carried over.

The recipe of the released fixation-guided networks (Merity et al.'s): sentences one after the other with an
end-of-sentence word between them, the stream cut into as many rows as a batch has, and pieces of

    n = max( m // 4, round N(m', 5) ),   m' = m with probability 0.95, else m // 2

words, so that the cuts lie elsewhere in every epoch. Gradients stop at a cut, states do not.
"""

from __future__ import annotations

import numpy as np
import torch

from psymem.errors import TrainingError
from psymem.models.word_tokenizer import EOS_ID, PAD_ID
from psymem.train.text.batching import Batch
from psymem.train.text.corpus import EncodedText

DEVIATION = 5.0
"""Standard deviation of the length of a piece, in words."""
SHORTER = 0.05
"""Probability that a piece is around half as long."""


def stream_of(text: EncodedText, values: np.ndarray | None = None, end: int = EOS_ID) -> np.ndarray:
    """Return (n,) all sentences one after the other, with `end` after each that is complete.

    Parameters
    ----------
    values
        (n_tokens,) what the stream consists of; the words' ids by default.
    """
    return np.insert(text.ids if values is None else values, text.starts[1:][text.complete], end)


def rows_of(stream: np.ndarray, rows: int) -> np.ndarray:
    """Cut a stream into (rows, n // rows); the remainder at its end is left out.

    Raises
    ------
    TrainingError
        If a row would have fewer than two words.
    """
    length = len(stream) // rows
    if length < 2:
        raise TrainingError(
            f"The text has {len(stream)} words and sentence ends, too few for {rows} rows of a stream; give more "
            "text or a lower --rows."
        )
    return stream[: rows * length].reshape(rows, length)


def plan_pieces(length: int, mean_length: int, seed: int, epoch: int) -> list[tuple[int, int]]:
    """Return start and end of each piece of an epoch: inputs start..end-1, the words after them to predict.

    Parameters
    ----------
    length
        Words in a row.
    mean_length
        m of the module docstring.
    seed, epoch
        Decide the cuts, together and alone.
    """
    rng = np.random.default_rng([seed, epoch, 3])
    pieces, start = [], 0
    while start < length - 1:
        mean = mean_length // 2 if rng.random() < SHORTER else mean_length
        n = max(1, mean_length // 4, round(rng.normal(mean, DEVIATION)))
        end = min(start + n, length - 1)
        pieces.append((start, end))
        start = end
    return pieces


def even_pieces(length: int, n: int) -> list[tuple[int, int]]:
    """Return start and end of pieces of `n` words each, as for held-out text."""
    return [(start, min(start + n, length - 1)) for start in range(0, length - 1, n)]


def piece(rows: np.ndarray, start: int, end: int) -> Batch:
    """Lay out one piece of all rows: every input has a next word."""
    inputs = torch.from_numpy(rows[:, start:end].astype(np.int64))
    targets = torch.from_numpy(rows[:, start + 1 : end + 1].astype(np.int64))
    assert not bool((targets == PAD_ID).any())  # a stream has no padding
    return Batch(inputs, targets, None)
