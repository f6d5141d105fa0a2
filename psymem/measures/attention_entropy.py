"""Attention entropy: how widely retrieval spreads over the words read so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.attention import AttentionReading
from psymem.trace import Trace
from psymem.units import nats_to_bits


@dataclass(frozen=True)
class AttentionEntropy(AttentionReading):
    """Entropy in bits of a word's attention over the words before it.

    See Ryu & Lewis (2021) and Timkey & Linzen (2023). Weight on the word itself, or on a
    beginning-of-sentence token, is left out and the rest scaled to sum to 1. The first word has nothing
    before it: NaN. The second has one choice: 0.
    """

    name: ClassVar[str] = "attention-entropy"
    requires: ClassVar[frozenset[str]] = frozenset({"attention"})
    roles: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """One column in bits for each head asked for."""
        return tuple(f"attention_entropy{suffix}_bits" for suffix in self.suffixes)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits for each head."""
        weights = np.tril(self.between_words(trace, len(words)), -1)  # words before i only
        total = weights.sum(-1, keepdims=True)
        share = np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0)
        logs = np.log(share, out=np.zeros_like(share), where=share > 0)
        values = nats_to_bits(-(share * logs).sum(-1)) + 0.0
        return dict(zip(self.columns, values, strict=True))
