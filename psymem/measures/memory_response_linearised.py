"""Memory response of simple recurrent networks: exact for a linear one, linearised for tanh.

A network ``h_t = tanh(W h_(t-1) + u_t)``, with u_t what the input brings, cannot be taken apart exactly. Its
linearisation around the states it went through can: with ``D_t = diag(1 - h_t^2)``, what the input at k left at
t is ``D_t W ... D_(k+1) W D_k u_k``. A frozen unit (a) keeps its state: ``D_t`` is then scaled by 1 - a and a is
added to the diagonal of each factor. These do not add up to the state, and can grow; nothing here is called by the
names of the exact measures. For a linear network (``D = 1``; Su, 2019) they do add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.errors import MeasureError
from psymem.measures.columns import Column
from psymem.measures.memory_response import (
    encoding_strength,
    mean_retention,
    memory_entropy_bits,
    memory_span,
)
from psymem.trace import Trace

SLOPE, DRIVE, RECURRENCE, CARRY = "memory_slope", "memory_drive", "memory_recurrence", "memory_carry"
"""Extras of a Trace: (1 - a)(1 - h^2), (T, N); u, (T, N); W, (T, K, d, d) with N = K d; a, (T, N)."""


@dataclass(frozen=True)
class LinearisedMemoryResponse:
    """The columns of `MemoryResponse` for tanh networks (SRN, FGP-RNN, FGL-RNN), linearised.

    Columns are ``memory_span_linearised_words``, ``memory_entropy_linearised_bits``,
    ``retention_linearised_ratio`` (no proportion: it can be above 1) and ``encoding_strength_linearised``; tokens,
    words and NaN as there.
    """

    name: ClassVar[str] = "memory-response-linearised"
    requires: ClassVar[frozenset[str]] = frozenset({SLOPE, DRIVE, RECURRENCE})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (
        Column(
            "memory_span_linearised_words",
            "memory span, linearised (words)",
            "what is remembered lies further back",
            "words",
        ),
        Column(
            "memory_entropy_linearised_bits",
            "memory entropy, linearised (bits)",
            "memory spreads over more words",
            "bits",
        ),
        Column("retention_linearised_ratio", "retention, linearised", "more is left of earlier words"),
        Column(
            "encoding_strength_linearised",
            "encoding strength, linearised",
            "the word wrote more into the state",
        ),
    )
    columns: ClassVar[tuple[str, ...]] = tuple(column.name for column in facts)

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for, beside what it has to have."""
        return self.requires | {CARRY}

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) values for each column."""
        lengths = linearised_lengths(trace, len(words))
        values = (memory_span, memory_entropy_bits, mean_retention, encoding_strength)
        return {column: value(lengths) for column, value in zip(self.columns, values, strict=True)}


def linearised_lengths(trace: Trace, n_words: int) -> np.ndarray:
    """(n_words, n_words): Euclidean length of what word k left after word t, linearised; 0 for k > t.

    Takes time in proportion to T^2 N d.

    Raises
    ------
    MeasureError
        If the trace does not hold what is needed.
    """
    lacking = [name for name in (SLOPE, DRIVE, RECURRENCE) if name not in trace.extras]
    if lacking:
        raise MeasureError(f"The model gave no {' and no '.join(lacking)} for this text.")
    slope, drive = (trace.extras[n].astype(np.float64) for n in (SLOPE, DRIVE))
    blocks = trace.extras[RECURRENCE][0].astype(np.float64) if len(slope) else np.zeros((1, 0, 0))
    carry = trace.extras.get(CARRY)
    ends = np.append(np.diff(trace.word_index) > 0, True)
    lengths = np.zeros((n_words, n_words))
    left = np.zeros((n_words, slope.shape[1]))
    for t, word in enumerate(trace.word_index):
        before = left[: word + 1]
        moved = slope[t] * _through(before, blocks)
        before[:] = moved if carry is None else moved + carry[t] * before
        before[word] += slope[t] * drive[t]
        if ends[t]:
            lengths[word, : word + 1] = np.sqrt(np.einsum("kn,kn->k", before, before))
    lengths[np.bincount(trace.word_index, minlength=n_words) == 0] = np.nan
    return lengths


def _through(states: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """(n, K d): ``W h`` of each row h, W block-diagonal with blocks (K, d, d)."""
    components, width, _ = blocks.shape
    parts = states.reshape(len(states), components, width).transpose(1, 0, 2)
    return (parts @ blocks.transpose(0, 2, 1)).transpose(1, 0, 2).reshape(states.shape)


def linear_memory_response(recurrence: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """Return what the input at each position left in the state of a linear network, exactly.

    Parameters
    ----------
    recurrence
        (N, N): W of ``c_t = W c_(t-1) + u_t``.
    drive
        (T, N): u.

    Returns
    -------
    numpy.ndarray
        (T, T, N) float64, ``[t, k] = W^(t-k) u_k``; 0 for k > t. Its sum over k is the state at t of a network
        that began empty.
    """
    weight = recurrence.astype(np.float64)
    response = np.zeros((len(drive), *drive.shape))
    for t in range(len(drive)):
        if t:
            response[t, :t] = response[t - 1, :t] @ weight.T
        response[t, t] = drive[t]
    return response


def recurrence_size(recurrence: np.ndarray) -> dict[str, float]:
    """Largest singular value and spectral radius of W.

    What the input left shrinks from step to step at least as fast as the powers of the largest singular value,
    if that is below 1; in the long run, in a linear network, it shrinks (or grows) as those of the spectral radius.

    Parameters
    ----------
    recurrence
        (N, N), or (K, d, d) blocks on a diagonal.
    """
    blocks = recurrence if recurrence.ndim == 3 else recurrence[None]
    return {
        "largest_singular_value": float(np.linalg.norm(blocks, 2, axis=(-2, -1)).max()),
        "spectral_radius": float(np.abs(np.linalg.eigvals(blocks)).max()),
    }
