"""Change of normalised attention entropy from one token to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.normalised_attention_entropy import normalised_entropy
from psymem.measures.token_attention import TokenAttention
from psymem.trace import Trace


@dataclass(frozen=True)
class AttentionEntropyChange(TokenAttention):
    """``|NAE_i - NAE_(i-1)|`` (delta NAE of Oh & Schuler, 2022).

    NAE is the normalised attention entropy of a token, the one before it may be part of the same word. A
    word's value is the sum over its tokens and, where no heads are chosen, over the heads of the last layer.
    NaN where one of the two is not defined: at the first token, and without a beginning-of-sentence token at
    the second one too.
    """

    name: ClassVar[str] = "attention-entropy-change"
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for each head asked for; no unit."""
        return tuple(f"attention_entropy_change{suffix}" for suffix in self.suffixes)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) values for each head."""
        values = self.over_words(trace, len(words), _change)
        return dict(zip(self.columns, values, strict=True))


def _change(rows: np.ndarray) -> np.ndarray:
    return np.abs(np.diff(normalised_entropy(rows), prepend=np.nan))
