"""Batches of a gated network: sentences by themselves or pieces of a stream, with what else is read beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from psymem.errors import TrainingError
from psymem.models.gated.fixation_predictor import BOUNDARY_LEVEL
from psymem.train.tasks.fixation_labels import FixationBatch, FixationText, sentence_batch, stream_batch
from psymem.train.text.batching import Batch, make_batch, plan_epoch
from psymem.train.text.corpus import EncodedText
from psymem.train.text.streams import even_pieces, piece, plan_pieces, rows_of, stream_of


@dataclass(frozen=True)
class GatedBatch(Batch):
    """A batch and what a gated network reads with it.

    Attributes
    ----------
    durations
        (B, T) levels 0..11 of the inputs where the network has to be given them.
    fixations
        Read text of the same step, for the multi-task loss.
    fresh, fixations_fresh
        Whether the state, and that of the predictor on read text, starts from zero.
    """

    durations: Tensor | None = None
    fixations: FixationBatch | None = None
    fresh: bool = True
    fixations_fresh: bool = True

    def to(self, device: torch.device) -> GatedBatch:
        """Return the batch, read text included, on a device."""
        moved: GatedBatch = super().to(device)  # type: ignore[assignment]
        return moved if self.fixations is None else replace(moved, fixations=self.fixations.to(device))


class Reading(Protocol):
    """How a text is cut into batches."""

    n_targets: int
    """Words and sentence ends to predict in one pass."""

    def plan(self, epoch: int) -> list[tuple[object, object]]:
        """Handles of an epoch, in order."""

    def batch(self, handle: tuple[object, object]) -> GatedBatch:
        """Lay out one of them."""


class SentenceReading:
    """Sentences of similar length, each from zero state after BOS.

    Parameters
    ----------
    text, batch_tokens, seed
        What to read; inputs per batch at most; order.
    levels
        (n_tokens,) level of each token of the text, where the network has to be given them.
    fixations
        Read text of which every step takes a batch too, over and over.
    """

    def __init__(
        self,
        text: EncodedText,
        batch_tokens: int,
        seed: int,
        *,
        levels: np.ndarray | None = None,
        fixations: FixationText | None = None,
    ) -> None:
        self.text, self.batch_tokens, self.seed, self.fixations = text, batch_tokens, seed, fixations
        self.levels = levels
        self.n_targets = len(text.ids) + int(text.complete.sum())

    def plan(self, epoch: int) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Sentence numbers of each batch, and those of read text beside it."""
        batches = plan_epoch(self.text.lengths, self.batch_tokens, self.seed, epoch)
        beside: list[np.ndarray | None] = [None] * len(batches)
        if self.fixations is not None:
            beside, turn = [], 0
            while len(beside) < len(batches):
                seed = self.seed * 1000 + epoch
                beside += plan_epoch(self.fixations.lengths, self.batch_tokens, seed, turn)
                turn += 1
        return list(zip(batches, beside, strict=False))

    def batch(self, handle: tuple[np.ndarray, np.ndarray | None]) -> GatedBatch:
        """Lay out the chosen sentences."""
        which, read = handle
        batch = make_batch(self.text, which)
        durations = None
        if self.levels is not None:
            laid = np.zeros(tuple(batch.inputs.shape), np.int64)
            for row, i in enumerate(which):
                levels = self.levels[self.text.starts[i] : self.text.starts[i + 1]]
                laid[row, 1 : len(levels) + 1] = levels
            durations = torch.from_numpy(laid)
        fixations = None
        if read is not None and self.fixations is not None:
            fixations = sentence_batch(self.fixations, read)
        return GatedBatch(batch.inputs, batch.targets, None, durations, fixations)


class StreamReading:
    """Pieces of one stream in rows, the state carried from piece to piece; see :mod:`psymem.train.text.streams`.

    Parameters
    ----------
    text, rows, seed
        What to read, in how many rows; cuts.
    mean_length
        Mean words of a piece.
    even
        Whether all pieces have that length, as for held-out text.
    levels, fixations
        As for :class:`SentenceReading`; the read text is a stream in as many rows.
    """

    def __init__(
        self,
        text: EncodedText,
        rows: int,
        mean_length: int,
        seed: int,
        *,
        even: bool = False,
        levels: np.ndarray | None = None,
        fixations: FixationText | None = None,
    ) -> None:
        self.rows = rows_of(stream_of(text), rows)
        self.mean_length, self.seed, self.even, self.fixations = mean_length, seed, even, fixations
        self.levels = None if levels is None else rows_of(stream_of(text, levels, BOUNDARY_LEVEL), rows)
        self.n_targets = rows * (self.rows.shape[1] - 1)
        if fixations is not None and len(fixations.ids) < rows:
            raise TrainingError(
                f"The reading corpus has {len(fixations.ids)} tokens, too few for {rows} rows of a stream; give a lower "
                "--rows."
            )

    def plan(self, epoch: int) -> list[tuple[tuple[int, int], tuple[int, int] | None]]:
        """Start and end of each piece, and of the read text beside it, which begins anew with every epoch."""
        length = self.rows.shape[1]
        pieces = (
            even_pieces(length, self.mean_length)
            if self.even
            else plan_pieces(length, self.mean_length, self.seed, epoch)
        )
        if self.fixations is None:
            return [(p, None) for p in pieces]
        read = len(self.fixations.ids) // len(self.rows)
        beside: list[tuple[int, int]] = []
        at = 0
        for start, end in pieces:
            stop = min(at + end - start, read)
            beside.append((at, stop))
            at = 0 if stop == read else stop
        return list(zip(pieces, beside, strict=True))

    def batch(self, handle: tuple[tuple[int, int], tuple[int, int] | None]) -> GatedBatch:
        """Lay out one piece."""
        (start, end), read = handle
        batch = piece(self.rows, start, end)
        durations = (
            None if self.levels is None else torch.from_numpy(self.levels[:, start:end].astype(np.int64))
        )
        fixations = None
        if read is not None and self.fixations is not None:
            fixations = stream_batch(self.fixations, len(self.rows), *read)
        return GatedBatch(
            batch.inputs, batch.targets, None, durations, fixations, start == 0, read is None or read[0] == 0
        )
