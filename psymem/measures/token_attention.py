"""Attention token by token, as Oh & Schuler (2022) read it: BOS is attended to, and pieces add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from psymem.alignment import sum_over_words
from psymem.errors import MeasureError
from psymem.measures.attention import head_suffixes, one_head
from psymem.trace import Trace


@dataclass(frozen=True)
class TokenAttention:
    """How token-level attention becomes a value per word.

    A measure is computed for each token and head, and summed over the tokens of a word, as in the code of Oh
    & Schuler (2022).

    Parameters
    ----------
    heads
        (layer, head) pairs, 0-based, a column for each; empty for the sum over all heads of the last layer,
        as published.
    """

    heads: tuple[tuple[int, int], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for: the last layer, or "attention LAYER:HEAD" for each head."""
        return frozenset(f"attention {layer}:{head}" for layer, head in self.heads) or frozenset(
            {"attention last"}
        )

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What each head adds to a column's name."""
        return head_suffixes(self.heads)

    def over_words(
        self, trace: Trace, n_words: int, measure: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Apply `measure` to each head and sum over the tokens of each word.

        Parameters
        ----------
        measure
            From `rows` of one head to a value per row; that of the beginning-of-sentence token is left out.

        Returns
        -------
        numpy.ndarray
            (columns, n_words); a NaN token makes its word NaN.
        """
        if trace.attention is None:
            raise MeasureError("The model gave no attention for this text.")
        values = np.stack([measure(rows(trace, *head)) for head in self.heads or _last_layer(trace)])
        if not self.heads:
            values = values.sum(0, keepdims=True)
        own = values[:, values.shape[1] - len(trace.tokens) :]
        return sum_over_words(own, trace.word_index, n_words)


def rows(trace: Trace, layer: int, head: int) -> np.ndarray:
    """(T, T), or (T + 1, T + 1) with the beginning-of-sentence token first, which attends to itself."""
    weights = one_head(trace, layer, head).astype(np.float64)
    if trace.attention_bos is None:
        return weights
    n = len(weights)
    whole = np.zeros((n + 1, n + 1))
    whole[0, 0] = 1.0
    whole[1:, 0] = one_head(trace, layer, head, trace.attention_bos)
    whole[1:, 1:] = weights
    return whole


def _last_layer(trace: Trace) -> list[tuple[int, int]]:
    """(layer, head) pairs of the last layer."""
    if trace.attention is None:
        return []
    layers, heads = trace.attention.shape[:2]
    pairs = trace.attention_heads or [(layers - 1, head) for head in range(heads)]
    return [pair for pair in pairs if pair[0] == max(layer for layer, _ in pairs)]
