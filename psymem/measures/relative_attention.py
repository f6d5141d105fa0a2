"""Relative attention: how much of the retrieval goes to the target rather than to the attractor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.attention import AttentionReading
from psymem.trace import Trace


@dataclass(frozen=True)
class RelativeAttention(AttentionReading):
    """``w_target / (w_target + w_attractor)`` at every word after both nouns (Timkey & Linzen, 2023).

    0.5 means that both are retrieved alike; the paper reads it at the verb. It is NaN before both nouns have
    been read, where a text has no target or no attractor, and where one word has both roles.
    """

    name: ClassVar[str] = "relative-attention"
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ("target", "attractor")

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for each head asked for; a proportion from 0 to 1."""
        return tuple(f"relative_attention{suffix}" for suffix in self.suffixes)

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
