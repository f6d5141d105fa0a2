"""Normalised attention entropy: how widely attention spreads, as a share of how widely it could."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.token_attention import TokenAttention
from psymem.trace import Trace


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
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for each head asked for; no unit."""
        return tuple(f"normalised_attention_entropy{suffix}" for suffix in self.suffixes)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) values for each head."""
        values = self.over_words(trace, len(words), normalised_entropy)
        return dict(zip(self.columns, values, strict=True))


def normalised_entropy(rows: np.ndarray) -> np.ndarray:
    """(n,) shares of the greatest possible entropy, from the (n, n) attention rows of one head."""
    earlier = np.tril(rows, -1)
    total = earlier.sum(-1, keepdims=True)
    share = np.divide(earlier, total, out=np.full_like(earlier, np.nan), where=total > 0)
    entropy = -(share * np.log(share, out=np.zeros_like(share), where=share > 0)).sum(-1)
    greatest = np.log(np.maximum(np.arange(len(rows)), 1))  # 0 for no and for one token before
    return np.divide(entropy, greatest, out=entropy * 0.0, where=greatest > 0)
