"""Attention between words, read from a Trace, and what is measured on it: relative attention and its entropy.

Which row, which heads; weights are summed over a word's pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from psymem.alignment import sum_over_words
from psymem.errors import MeasureError
from psymem.measures.columns import Column
from psymem.trace import Trace, no_such_head
from psymem.units import nats_to_bits

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

    name: ClassVar[str]
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]]
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
    def columns(self) -> tuple[str, ...]:
        """The column, or one for each head asked for."""
        return self.facts[0].of_heads(self.heads)

    def between_words(self, trace: Trace, n_words: int) -> np.ndarray:
        """Return (heads, n_words, n_words): weight at query word i on word j, summed over the pieces of j.

        A row is NaN where the model has no distribution.

        Raises
        ------
        MeasureError
            If the model has no such head, or no attention.
        """
        chosen = (
            np.stack([one_head(trace, *pair) for pair in self.heads]) if self.heads else _mean_head(trace)
        )
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


@dataclass(frozen=True)
class RelativeAttention(AttentionReading):
    """``w_target / (w_target + w_attractor)`` at every word after both nouns (Timkey & Linzen, 2023).

    0.5 means that both are retrieved alike; the paper reads it at the verb. It is NaN before both nouns have
    been read, where a text has no target or no attractor, and where one word has both roles.
    """

    name: ClassVar[str] = "relative-attention"
    roles: ClassVar[tuple[str, ...]] = ("target", "attractor")
    facts: ClassVar[tuple[Column, ...]] = (
        Column(
            "relative_attention",
            "relative attention",
            "more of the retrieval goes to the subject, less to the attractor",
            in_words="relative attention to the subject (weight of the subject over the sum of the weights of subject and "
            "attractor)",
            attraction="less attention to the subject",
        ),
    )

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) proportions for each head."""
        values = np.full((len(self.columns), len(words)), np.nan)
        target, attractor = (words_with_role(words, role) for role in self.roles)
        if target.any() and attractor.any() and not (target & attractor).any():
            after = np.arange(len(words)) > np.flatnonzero(target | attractor).max()
            weights = self.between_words(trace, len(words))
            to_target = weights[:, after][..., target].sum(-1)
            both = to_target + weights[:, after][..., attractor].sum(-1)
            values[:, after] = np.divide(to_target, both, out=np.full_like(both, np.nan), where=both > 0)
        return dict(zip(self.columns, values, strict=True))


def words_with_role(words: pd.DataFrame, role: str) -> np.ndarray:
    """(n_words,) bool: words that have `role`; all False if the table has no roles."""
    if "role" not in words.columns:
        return np.zeros(len(words), dtype=bool)
    return np.array([role in str(cell).split() for cell in words["role"]], dtype=bool)


@dataclass(frozen=True)
class AttentionEntropy(AttentionReading):
    """Entropy in bits of a word's attention over the words before it.

    See Ryu & Lewis (2021) and Timkey & Linzen (2023). Weight on the word itself, or on a
    beginning-of-sentence token, is left out and the rest scaled to sum to 1. The first word has nothing
    before it: NaN. The second has one choice: 0.
    """

    name: ClassVar[str] = "attention-entropy"
    facts: ClassVar[tuple[Column, ...]] = (
        Column(
            "attention_entropy_bits",
            "attention entropy (bits)",
            "retrieval spreads over more words",
            "bits",
            in_words="the entropy of attention over the previous words (bits)",
        ),
    )

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits for each head."""
        weights = np.tril(self.between_words(trace, len(words)), -1)  # words before i only
        total = weights.sum(-1, keepdims=True)
        share = np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0)
        logs = np.log(share, out=np.zeros_like(share), where=share > 0)
        values = nats_to_bits(-(share * logs).sum(-1)) + 0.0
        return dict(zip(self.columns, values, strict=True))


def _mean_head(trace: Trace) -> np.ndarray:
    """(1, T, T): mean over all heads of all layers."""
    if trace.attention is None:
        raise MeasureError("The model gave no attention for this text.")
    if trace.attention_heads is not None:
        raise MeasureError("The mean over all heads needs the attention of all heads; some were asked for.")
    return trace.attention.mean((0, 1), dtype=np.float64)[None]


def one_head(trace: Trace, layer: int, head: int, weights: np.ndarray | None = None) -> np.ndarray:
    """(T, T): weights of one head; or its part of `weights`, an array laid out like the trace's attention."""
    if trace.attention is None:
        raise MeasureError("The model gave no attention for this text.")
    weights = trace.attention if weights is None else weights
    if trace.attention_heads is not None:
        if (layer, head) not in trace.attention_heads:
            raise MeasureError(f"The model was not asked for head {layer}:{head}.")
        return weights[0, trace.attention_heads.index((layer, head))]
    layers, heads = weights.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise MeasureError(no_such_head(layer, head, layers, heads))
    return weights[layer, head]
