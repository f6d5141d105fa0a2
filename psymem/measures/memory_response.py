"""Memory response: what each word wrote into the cells of a gated network, and how much of it is left later.

Cells of an LSTM, ELSTM, GRU, FGP-LSTM or FGL-LSTM follow ``c_t = F_t * c_(t-1) + I_t`` (Su, 2019, Eqs. 3.26 and
3.27), so what the input at k left at t is ``mr_k(t) = F_t * ... * F_(k+1) * I_k``, and with an empty initial
state these add up to the state: ``sum_k mr_k(t) = c_t``. F is f and I is s * i * g (s of the ELSTM, 1
elsewhere); z and (1 - z) * htil in a GRU; (1 - a) f + a and (1 - a) i g where a cell is frozen by a. Gates depend
on the past, so this takes a state apart given the gates; it is no intervention.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.errors import MeasureError
from psymem.measures.columns import Column
from psymem.trace import Trace
from psymem.units import nats_to_bits

RETAIN, WRITE = "memory_retain", "memory_write"
"""Names of F and I, (T, N) each, among the extras of a Trace."""
CELLS_AT_ONCE = 64
"""Cells taken through a text together: 1,000 words of them stay in a processor's cache."""
GONE = 1e-150
"""Below this a response has left the range in which its square is a number with full precision."""


@dataclass(frozen=True)
class MemoryResponse:
    """How far back, how widely and how strongly the cells remember when a word has been read.

    With ``m[t, k]`` the length (Euclidean norm) of what word k left in all cells after word t, and
    ``share[t, k] = m[t, k] / sum_j m[t, j]``, the columns are

    - ``memory_span_words``: ``sum_k (t - k) share[t, k]``, the mean distance in words;
    - ``memory_entropy_bits``: entropy of ``share[t, :]``;
    - ``retention_proportion``: mean of ``m[t, k] / m[k, k]`` over the words k before t;
    - ``overwrite_proportion``: ``1 -`` mean of ``m[t, k] / m[t-1, k]`` over the words k before t, what reading t
      took away from what was left of them;
    - ``encoding_strength``: ``m[t, t]``, the length of what t itself wrote, in the model's own scale.

    A word in several tokens left the sum of what they left, and is looked at after its last one. What a
    beginning-of-sentence token left belongs to no word and is not counted. NaN: a word without tokens; span and
    entropy where no word left anything; retention and overwriting at the first word, which has none before it.
    Words that left nothing, and those of which nothing can be measured any more (below 1e-150), are not in the
    means.
    """

    name: ClassVar[str] = "memory-response"
    requires: ClassVar[frozenset[str]] = frozenset({RETAIN, WRITE})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (
        Column("memory_span_words", "memory span (words)", "what is remembered lies further back", "words"),
        Column("memory_entropy_bits", "memory entropy (bits)", "memory spreads over more words", "bits"),
        Column("retention_proportion", "retention", "more is left of earlier words"),
        Column(
            "overwrite_proportion", "overwriting", "the word took away more of what was left of earlier ones"
        ),
        Column("encoding_strength", "encoding strength", "the word wrote more into the cells"),
    )
    columns: ClassVar[tuple[str, ...]] = tuple(column.name for column in facts)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) values for each column."""
        lengths = response_lengths(trace, len(words))
        values = (memory_span, memory_entropy_bits, mean_retention, overwriting, encoding_strength)
        return {column: value(lengths) for column, value in zip(self.columns, values, strict=True)}


@dataclass(frozen=True)
class MemoryHalfLife:
    """Number of words after which less than half of what a word wrote is left (see `MemoryResponse`).

    The smallest n with ``m[k + n, k] / m[k, k] < 0.5``. It depends on the words that follow, so it says what
    became of a word and is no predictor of how the word was read: `causal` is False. NaN where half or more is
    still there when the text ends, and for a word that wrote nothing.
    """

    name: ClassVar[str] = "memory-half-life"
    requires: ClassVar[frozenset[str]] = frozenset({RETAIN, WRITE})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (
        Column("half_life_words", "half-life (words)", "what the word wrote stays longer", "words"),
    )
    columns: ClassVar[tuple[str, ...]] = tuple(column.name for column in facts)
    causal: ClassVar[bool] = False

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) words."""
        return {self.columns[0]: half_lives(response_lengths(trace, len(words)))}


def memory_response(retain: np.ndarray, write: np.ndarray) -> np.ndarray:
    """Return what the input at each position left in each cell at each later one.

    Takes 8 N T^2 bytes; `response_lengths` and `lengths_left` do without.

    Parameters
    ----------
    retain
        (T, N): F, what each cell keeps of its state.
    write
        (T, N): I, what is added to it.

    Returns
    -------
    numpy.ndarray
        (T, T, N) float64, ``[t, k] = F_t * ... * F_(k+1) * I_k``; 0 for k > t. Its sum over k is the state at t
        of a network that began empty.
    """
    keep, written = _pair(retain, write)
    response = np.zeros((len(keep), *keep.shape))
    for t in range(len(keep)):
        if t:
            response[t, :t] = response[t - 1, :t] * keep[t]
        response[t, t] = written[t]
    return response


def response_lengths(trace: Trace, n_words: int) -> np.ndarray:
    """(n_words, n_words): Euclidean length of what word k left in the cells after word t; see `lengths_left`.

    Raises
    ------
    MeasureError
        If the trace does not hold what the cells kept and wrote.
    """
    lacking = [name for name in (RETAIN, WRITE) if name not in trace.extras]
    if lacking:
        raise MeasureError(f"The model gave no {' and no '.join(lacking)} for this text.")
    return lengths_left(trace.extras[RETAIN], trace.extras[WRITE], trace.word_index, n_words)


def lengths_left(retain: np.ndarray, write: np.ndarray, word_index: np.ndarray, n_words: int) -> np.ndarray:
    """Return how much of what each word wrote is left after each later word.

    Products are carried forward from word to word, a few cells at a time, so that no logarithm of a gate at 0
    is needed and memory is that of the result.

    Parameters
    ----------
    retain, write
        (T, N): F and I of each token.
    word_index
        (T,) int: word of each token, never decreasing.
    n_words
        Number of words.

    Returns
    -------
    numpy.ndarray
        (n_words, n_words) float64, ``[t, k]``: ``||mr_k(t)||`` for k <= t, where what the tokens of a word left
        is added up; 0 for k > t. Rows of words without tokens are NaN, their columns 0.
    """
    keep, written = _pair(retain, write)
    ends = np.append(np.diff(word_index) > 0, True)  # tokens after which a word is complete
    squares = np.zeros((n_words, n_words))
    for first in range(0, keep.shape[1], CELLS_AT_ONCE):
        cells = slice(first, first + CELLS_AT_ONCE)
        kept, added = np.ascontiguousarray(keep[:, cells]), np.ascontiguousarray(written[:, cells])
        left = np.zeros((n_words, kept.shape[1]))
        for t, word in enumerate(word_index):
            so_far = left[: word + 1]
            so_far *= kept[t]
            so_far[word] += added[t]
            if ends[t]:
                squares[word, : word + 1] += np.einsum("kn,kn->k", so_far, so_far)
    squares[np.bincount(word_index, minlength=n_words) == 0] = np.nan
    return np.sqrt(squares)


def _pair(retain: np.ndarray, write: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F and I in float64; raises MeasureError if they are not two arrays of one shape (T, N)."""
    if retain.ndim != 2 or retain.shape != write.shape:
        raise MeasureError(
            f"What cells keep has shape {retain.shape} and what is written {write.shape}; expected the same "
            "(tokens, cells) for both."
        )
    return retain.astype(np.float64), write.astype(np.float64)


def shares(lengths: np.ndarray) -> np.ndarray:
    """(n, n): `lengths` of each row scaled to sum to 1; NaN where nothing is left of any word."""
    total = lengths.sum(-1, keepdims=True)
    return np.divide(lengths, total, out=np.full_like(lengths, np.nan), where=total > 0)


def memory_span(lengths: np.ndarray) -> np.ndarray:
    """(n,) words: mean distance of what is remembered, weighted by its share."""
    n = len(lengths)
    return (np.subtract.outer(np.arange(n), np.arange(n)) * shares(lengths)).sum(-1)


def memory_entropy_bits(lengths: np.ndarray) -> np.ndarray:
    """(n,) bits: entropy of the shares."""
    share = shares(lengths)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return nats_to_bits(-(share * logs).sum(-1)) + 0.0  # no negative zero


def retention(lengths: np.ndarray) -> np.ndarray:
    """(n, n): ``m[t, k] / m[k, k]``, 1 at k = t; NaN for k > t and for words that wrote nothing."""
    own = np.diagonal(lengths)[None]
    known = np.tri(len(lengths), dtype=bool) & (own > 0)
    return np.divide(lengths, own, out=np.full_like(lengths, np.nan), where=known)


def mean_retention(lengths: np.ndarray) -> np.ndarray:
    """(n,): mean retention of the words before; NaN at the first."""
    return _mean_over_words_before(retention(lengths))


def overwriting(lengths: np.ndarray) -> np.ndarray:
    """(n,): mean share of what was left of earlier words that this word took away; NaN at the first."""
    before = np.full_like(lengths, np.nan)
    before[1:] = lengths[:-1]
    ratio = np.divide(lengths, before, out=np.full_like(lengths, np.nan), where=before > GONE)
    return 1.0 - _mean_over_words_before(ratio)


def encoding_strength(lengths: np.ndarray) -> np.ndarray:
    """(n,): length of what each word itself wrote."""
    return np.diagonal(lengths).copy()


def half_lives(lengths: np.ndarray) -> np.ndarray:
    """(n,) words: smallest number of words after which less than half is left; NaN if the text ends before."""
    left = retention(lengths)
    lives = np.full(len(left), np.nan)
    for k in range(len(left)):
        below = np.flatnonzero(left[k:, k] < 0.5)
        if len(below):
            lives[k] = below[0]
    return lives


def _mean_over_words_before(values: np.ndarray) -> np.ndarray:
    """(n,): mean over k < t of what is not NaN; NaN where nothing is."""
    before = np.tri(len(values), k=-1, dtype=bool) & np.isfinite(values)
    count = before.sum(-1)
    total = np.where(before, values, 0.0).sum(-1)
    return np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
