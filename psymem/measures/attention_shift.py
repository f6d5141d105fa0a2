"""Attention shift: how far attention moves from one token to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.token_attention import TokenAttention
from psymem.trace import Trace


@dataclass(frozen=True)
class AttentionShift(TokenAttention):
    """Manhattan distance between the attention of a token and of the one before (MD of Oh & Schuler, 2022).

    ``sum_j |a_ij - a_(i-1)j|`` over all tokens up to i, the token itself and the beginning-of-sentence token
    included, nothing rescaled: between 0 and 2 for each token and head. A word's value is the sum over its
    tokens and, where no heads are chosen, over the heads of the last layer. NaN where there is no token
    before, or it has no attention.
    """

    name: ClassVar[str] = "attention-shift"
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for each head asked for; no unit."""
        return tuple(f"attention_shift{suffix}" for suffix in self.suffixes)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) distances for each head."""
        values = self.over_words(trace, len(words), _shift)
        return dict(zip(self.columns, values, strict=True))


def _shift(rows: np.ndarray) -> np.ndarray:
    return np.append(np.nan, np.abs(np.diff(rows, axis=0)).sum(-1))[: len(rows)]
