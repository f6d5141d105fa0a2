"""Attention between words, read from a Trace: which row, which heads, summed over a word's pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from psymem.alignment import sum_over_words
from psymem.errors import MeasureError
from psymem.trace import Trace, no_such_head

QUERY_ROWS = ("first", "last", "mean")


@dataclass(frozen=True)
class AttentionReading:
    """How attention between tokens becomes attention between words.

    Parameters
    ----------
    heads
        (layer, head) pairs, 0-based; empty for the mean over all heads (the only head of a CBR-RNN).
    query
        Row of a word in several pieces: "first" (Timkey & Linzen, 2023), "last", or "mean" over its pieces.
    """

    heads: tuple[tuple[int, int], ...] = ()
    query: Literal["first", "last", "mean"] = "first"

    def __post_init__(self) -> None:
        """Refuse a row that does not exist."""
        if self.query not in QUERY_ROWS:
            raise MeasureError(f"query={self.query!r} is not known; expected one of {', '.join(QUERY_ROWS)}.")

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for: all attention, or "attention LAYER:HEAD" for each head."""
        return frozenset(f"attention {layer}:{head}" for layer, head in self.heads) or frozenset(
            {"attention"}
        )

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What each head adds to a column's name: "" for the mean over heads, else "_layer_head"."""
        return tuple(f"_{layer}_{head}" for layer, head in self.heads) or ("",)

    def between_words(self, trace: Trace, n_words: int) -> np.ndarray:
        """Return (heads, n_words, n_words): weight at query word i on word j, summed over the pieces of j.

        A row is NaN where the model has no distribution.

        Raises
        ------
        MeasureError
            If the model has no such head, or no attention.
        """
        chosen = np.stack([_head(trace, *pair) for pair in self.heads]) if self.heads else _mean_head(trace)
        to_words = sum_over_words(chosen, trace.word_index, n_words, empty=0.0)  # (heads, T, n_words)
        return self._rows(to_words, trace, n_words)

    def _rows(self, to_words: np.ndarray, trace: Trace, n_words: int) -> np.ndarray:
        """Choose or average the query rows of each word: (heads, T, n_words) to (heads, n_words, n_words)."""
        if self.query == "mean":
            counts = np.bincount(trace.word_index, minlength=n_words)
            summed = sum_over_words(np.moveaxis(to_words, 1, -1), trace.word_index, n_words)
            return np.moveaxis(summed / np.maximum(counts, 1), -1, 1)
        pieces = trace.first_pieces(n_words) if self.query == "first" else trace.last_pieces(n_words)
        rows = to_words[:, pieces]
        rows[:, pieces < 0] = np.nan
        return rows


def _mean_head(trace: Trace) -> np.ndarray:
    """(1, T, T): mean over all heads of all layers."""
    if trace.attention is None:
        raise MeasureError("The model gave no attention for this text.")
    if trace.attention_heads is not None:
        raise MeasureError("The mean over all heads needs the attention of all heads; some were asked for.")
    return trace.attention.mean((0, 1), dtype=np.float64)[None]


def _head(trace: Trace, layer: int, head: int) -> np.ndarray:
    """(T, T): weights of one head."""
    if trace.attention is None:
        raise MeasureError("The model gave no attention for this text.")
    if trace.attention_heads is not None:
        if (layer, head) not in trace.attention_heads:
            raise MeasureError(f"The model was not asked for head {layer}:{head}.")
        return trace.attention[0, trace.attention_heads.index((layer, head))]
    layers, heads = trace.attention.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise MeasureError(no_such_head(layer, head, layers, heads))
    return trace.attention[layer, head]
