"""Texts of any length as sequences of N vectors: longer ones are cut into N segments of which the mean is taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from psymem.errors import DataError


def segment_sizes(words: int, positions: int) -> list[int]:
    """Return how many of `words` words go to each of `positions` positions.

    A text with more words than positions has segments of floor(words / N) words; the rest r is given out one by one to
    segments 0, step, 2 step, ..., (r - 1) step, step = floor(N / r). One with fewer has one word a position and empty
    positions at the end.
    """
    if words <= positions:
        return [1] * words + [0] * (positions - words)
    base, rest = divmod(words, positions)
    sizes = [base] * positions
    step = positions // rest if rest else 0
    for number in range(rest):
        sizes[number * step] += 1
    return sizes


def fixed_length(texts: Sequence[np.ndarray], positions: int) -> np.ndarray:
    """Return (M, N, D): each of M texts, (words, D), as N vectors; the mean of each segment, zeros where it is empty.

    Raises
    ------
    DataError
        If there is no text, or texts have vectors of different widths.
    """
    arrays = [np.asarray(text, np.float64) for text in texts]
    widths = {a.shape[1] for a in arrays if a.ndim == 2 and len(a)}
    if len(widths) != 1:
        found = ", ".join(map(str, sorted(widths))) or "none"
        raise DataError(f"Widths of the word vectors: {found}; expected texts of (words, D) with one D.")
    width = widths.pop()
    lengths = [len(a) for a in arrays]
    weights = segment_weights(lengths, np.arange(sum(lengths)), sum(lengths), positions)
    vectors = np.concatenate([a.reshape(-1, width) for a in arrays])
    return np.asarray(weights @ vectors).reshape(len(arrays), positions, width)


def segment_weights(lengths: Sequence[int], words: np.ndarray, n_words: int, positions: int) -> csr_array:
    """Return (M N, n_words): the share of every word in every position of every text.

    Its product with the words' vectors gives the sequences.

    Parameters
    ----------
    lengths
        Words of each of M texts.
    words
        Row of each word in the table of vectors, all texts one after the other.
    n_words, positions
        Rows of that table; N.
    """
    sizes = {n: np.array(segment_sizes(n, positions)) for n in set(lengths)}
    per_segment = np.concatenate([sizes[n] for n in lengths]) if len(lengths) else np.empty(0, int)
    starts = np.concatenate([[0], np.cumsum(per_segment)])
    shares = np.repeat(1.0 / np.maximum(per_segment, 1), per_segment)
    shape = (len(per_segment), n_words)
    return csr_array((shares, np.array(words), starts), shape=shape)  # a copy, since scipy sorts it in place
