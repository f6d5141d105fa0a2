"""Sub-word tokens and words: every token belongs to exactly one word.

Text goes in as words. A tokenizer that reads one word at a time needs `align_pieces`; one that reads running
text reports character spans, and `words_of_spans` says whose they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Alignment:
    """Tokens of one text and the word each belongs to.

    Attributes
    ----------
    tokens
        Token strings, length T.
    ids
        (T,) int: vocabulary indices.
    word_index
        (T,) int: 0-based word of each token; never decreases, every word occurs.
    attached
        (n_words,) bool: words that were read without a space before them, such as a full stop with a row of its
        own; None if there are none.
    """

    tokens: tuple[str, ...]
    ids: np.ndarray
    word_index: np.ndarray
    attached: np.ndarray | None = None


def align_pieces(
    words: Sequence[str], pieces_of: Callable[[str], tuple[Sequence[str], Sequence[int]]]
) -> Alignment:
    """Tokenize word by word, so that the alignment is exact by construction.

    Parameters
    ----------
    words
        Words of one text.
    pieces_of
        Token strings and ids of one word; at least one of each.
    """
    tokens: list[str] = []
    ids: list[int] = []
    counts = np.zeros(len(words), dtype=np.int64)
    for position, word in enumerate(words):
        strings, numbers = pieces_of(word)
        tokens.extend(strings)
        ids.extend(numbers)
        counts[position] = len(numbers)
    return Alignment(tuple(tokens), np.asarray(ids, dtype=np.int64), np.repeat(np.arange(len(words)), counts))


def word_spans(words: Sequence[str], separator: str = " ", attached: np.ndarray | None = None) -> np.ndarray:
    """(n_words, 2) int: first character and one past the last of each word in running text.

    That is ``separator.join(words)``, without the separator before words that are `attached` ((n_words,) bool).
    """
    lengths = np.array([len(w) for w in words], dtype=np.int64)
    gaps = np.full(len(words), len(separator), dtype=np.int64)
    gaps[:1] = 0
    if attached is not None:
        gaps[attached] = 0
    ends = np.cumsum(lengths + gaps)
    return np.stack([ends - lengths, ends], axis=1)


def words_of_spans(spans: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the word of each token from character spans in the same running text.

    A token belongs to the word whose characters it begins with; white space before a word belongs to that
    word (" cat" is the cat's), white space after the last word to the last one. Several tokens may share one
    character (byte pieces of an emoji); a token without characters goes with the next word.

    Parameters
    ----------
    spans
        (T, 2) int: start and end of each token, starts not decreasing.
    words
        (n_words, 2) int: start and end of each word, in order, not overlapping.

    Returns
    -------
    numpy.ndarray
        (T,) int, never decreasing.
    """
    # the word is the first one that ends after the token's start
    index = np.searchsorted(words[:, 1], spans[:, 0], side="right")
    return np.maximum.accumulate(np.minimum(index, max(len(words) - 1, 0))) if len(spans) else index


def sum_over_words(
    values: np.ndarray, word_index: np.ndarray, n_words: int, empty: float = np.nan
) -> np.ndarray:
    """Sum the last axis (tokens) within words.

    Parameters
    ----------
    values
        (..., T); a NaN makes its word NaN.
    word_index
        (T,) int: word of each token.
    n_words
        Number of words.
    empty
        Value of a word without tokens: NaN, since nothing was observed, unless a sum over nothing has a
        meaning.

    Returns
    -------
    numpy.ndarray
        (..., n_words) float64.
    """
    total = np.zeros((n_words, *values.shape[:-1]))
    np.add.at(total, word_index, np.moveaxis(values, -1, 0))
    total[np.bincount(word_index, minlength=n_words) == 0] = empty
    return np.moveaxis(total, 0, -1)
