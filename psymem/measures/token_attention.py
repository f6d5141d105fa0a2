"""Attention token by token, as Oh & Schuler (2022) read it, and their four measures.

BOS is attended to, and a word's pieces add up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.alignment import sum_over_words
from psymem.errors import MeasureError
from psymem.measures.attention import one_head
from psymem.measures.columns import Column
from psymem.trace import Trace


@dataclass(frozen=True)
class TokenAttention(ABC):
    """How token-level attention becomes a value per word.

    A measure is computed for each token and head, and summed over the tokens of a word, as in the code of Oh
    & Schuler (2022).

    Parameters
    ----------
    heads
        (layer, head) pairs, 0-based, a column for each; empty for the sum over all heads of the last layer,
        as published.
    """

    name: ClassVar[str]
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]]
    heads: tuple[tuple[int, int], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for: the last layer, or "attention LAYER:HEAD" for each head."""
        return frozenset(f"attention {layer}:{head}" for layer, head in self.heads) or frozenset(
            {"attention last"}
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, or one for each head asked for."""
        return self.facts[0].of_heads(self.heads)

    @abstractmethod
    def of_tokens(self, rows: np.ndarray) -> np.ndarray:
        """Return the measure of each token (n,), given the attention rows of one head (n, n)."""

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) values for each head."""
        return dict(zip(self.columns, self.over_words(trace, len(words)), strict=True))

    def over_words(self, trace: Trace, n_words: int) -> np.ndarray:
        """Measure the tokens of each head and sum over those of each word; beginning of sentence is left out.

        Returns
        -------
        numpy.ndarray
            (columns, n_words); a NaN token makes its word NaN.
        """
        if trace.attention is None:
            raise MeasureError("The model gave no attention for this text.")
        values = np.stack([self.of_tokens(rows(trace, *head)) for head in self.heads or _last_layer(trace)])
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


@dataclass(frozen=True)
class NormalisedAttentionEntropy(TokenAttention):
    """Entropy of attention over the tokens before, divided by its maximum (NAE of Oh & Schuler, 2022).

    The weight a token gives to itself is left out and the rest scaled to sum to 1; its entropy is divided by
    the logarithm of the number of tokens before, the beginning-of-sentence token included. 0 is attention to
    one token, 1 even attention, for each token and head; a word's value is the sum over its tokens and, where
    no heads are chosen, over the heads of the last layer. With one token before, the entropy and its maximum
    are both 0, and the value is 0 as in their code. NaN with none, or without weight on them.
    """

    name: ClassVar[str] = "normalised-attention-entropy"
    facts: ClassVar[tuple[Column, ...]] = (
        Column(
            "normalised_attention_entropy", "normalised attention entropy", "attention spreads more evenly"
        ),
    )

    def of_tokens(self, rows: np.ndarray) -> np.ndarray:
        """Return (n,) shares of the greatest possible entropy."""
        return normalised_entropy(rows)


def normalised_entropy(rows: np.ndarray) -> np.ndarray:
    """(n,) shares of the greatest possible entropy, from the (n, n) attention rows of one head."""
    earlier = np.tril(rows, -1)
    total = earlier.sum(-1, keepdims=True)
    share = np.divide(earlier, total, out=np.full_like(earlier, np.nan), where=total > 0)
    entropy = -(share * np.log(share, out=np.zeros_like(share), where=share > 0)).sum(-1)
    greatest = np.log(np.maximum(np.arange(len(rows)), 1))  # 0 for no and for one token before
    return np.divide(entropy, greatest, out=entropy * 0.0, where=greatest > 0)


@dataclass(frozen=True)
class AttentionEntropyChange(TokenAttention):
    """``|NAE_i - NAE_(i-1)|`` (delta NAE of Oh & Schuler, 2022).

    NAE is the normalised attention entropy of a token, the one before it may be part of the same word. A
    word's value is the sum over its tokens and, where no heads are chosen, over the heads of the last layer.
    NaN where one of the two is not defined: at the first token, and without a beginning-of-sentence token at
    the second one too.
    """

    name: ClassVar[str] = "attention-entropy-change"
    facts: ClassVar[tuple[Column, ...]] = (
        Column(
            "attention_entropy_change", "attention entropy change", "the spread of attention changes more"
        ),
    )

    def of_tokens(self, rows: np.ndarray) -> np.ndarray:
        """Return (n,) values."""
        return np.abs(np.diff(normalised_entropy(rows), prepend=np.nan))


@dataclass(frozen=True)
class AttentionShift(TokenAttention):
    """Manhattan distance between the attention of a token and of the one before (MD of Oh & Schuler, 2022).

    ``sum_j |a_ij - a_(i-1)j|`` over all tokens up to i, the token itself and the beginning-of-sentence token
    included, nothing rescaled: between 0 and 2 for each token and head. A word's value is the sum over its
    tokens and, where no heads are chosen, over the heads of the last layer. NaN where there is no token
    before, or it has no attention.
    """

    name: ClassVar[str] = "attention-shift"
    facts: ClassVar[tuple[Column, ...]] = (
        Column("attention_shift", "attention shift", "attention moves more"),
    )

    def of_tokens(self, rows: np.ndarray) -> np.ndarray:
        """Return (n,) values."""
        return np.append(np.nan, np.abs(np.diff(rows, axis=0)).sum(-1))[: len(rows)]


@dataclass(frozen=True)
class AttentionTransport(TokenAttention):
    """Earth mover's distance between the attention of a token and of the one before (Oh & Schuler, 2022).

    Tokens up to i, the beginning-of-sentence token included, lie at equal distances between 0 and 1; the
    value is the least work that turns the one distribution into the other, between 0 and 1 for each token
    and head. A word's value is the sum over its tokens and, where no heads are chosen, over the heads of the
    last layer. NaN where there is no token before, or it has no attention.
    """

    name: ClassVar[str] = "attention-transport"
    facts: ClassVar[tuple[Column, ...]] = (
        Column("attention_transport", "attention transport", "attention moves more, and further"),
    )

    def of_tokens(self, rows: np.ndarray) -> np.ndarray:
        """(n,) distances: the area between the two cumulative distributions over 0 to 1."""
        between = np.abs(np.cumsum(np.diff(rows, axis=0), axis=-1))  # (n - 1, n), 0 beyond token i
        steps = np.arange(1, len(rows))
        return np.append(np.nan, between.sum(-1) / steps)[: len(rows)]
