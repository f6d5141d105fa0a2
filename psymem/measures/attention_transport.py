"""Attention transport: how far attention moves from one token to the next, places taken into account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.token_attention import TokenAttention
from psymem.trace import Trace


@dataclass(frozen=True)
class AttentionTransport(TokenAttention):
    """Earth mover's distance between the attention of a token and of the one before (Oh & Schuler, 2022).

    Tokens up to i, the beginning-of-sentence token included, lie at equal distances between 0 and 1; the
    value is the least work that turns the one distribution into the other, between 0 and 1 for each token
    and head. A word's value is the sum over its tokens and, where no heads are chosen, over the heads of the
    last layer. NaN where there is no token before, or it has no attention.
    """

    name: ClassVar[str] = "attention-transport"
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for each head asked for; no unit."""
        return tuple(f"attention_transport{suffix}" for suffix in self.suffixes)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) distances for each head."""
        values = self.over_words(trace, len(words), _transport)
        return dict(zip(self.columns, values, strict=True))


def _transport(rows: np.ndarray) -> np.ndarray:
    """(n,) distances: the area between the two cumulative distributions over 0 to 1."""
    between = np.abs(np.cumsum(np.diff(rows, axis=0), axis=-1))  # (n - 1, n), 0 beyond token i
    steps = np.arange(1, len(rows))
    return np.append(np.nan, between.sum(-1) / steps)[: len(rows)]
