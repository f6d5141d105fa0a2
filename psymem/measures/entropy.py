"""Entropy of what was expected when a word came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.trace import Trace
from psymem.units import nats_to_bits


@dataclass(frozen=True)
class Entropy:
    """Entropy in bits of the next-token distribution from which a word's first token was drawn.

    The uncertainty just before the word, whatever the word then was (contextual entropy: Roark et al., 2009;
    Pimentel et al., 2023). For a model whose tokens are words it is the entropy of the next word; for one of
    sub-word tokens, that of the word's first token, a lower bound of it. NaN where nothing was expected: the
    first word of a model without a beginning-of-sentence token.
    """

    name: ClassVar[str] = "entropy"
    requires: ClassVar[frozenset[str]] = frozenset({"entropy"})
    roles: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ("entropy_bits",)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits."""
        before, _ = entropy_around(trace, len(words))
        return {self.columns[0]: nats_to_bits(before)}


def entropy_around(trace: Trace, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """(n_words,) nats each: entropy of what was expected before each word and after it; NaN where unknown."""
    within = np.full(len(trace.tokens), np.nan) if trace.entropy is None else trace.entropy
    states = np.append(within, trace.entropy_after)  # before each token, and after the last
    first, last = trace.first_pieces(n_words), trace.last_pieces(n_words)
    has_tokens = first >= 0
    before = np.where(has_tokens, states[first], np.nan)
    return before, np.where(has_tokens, states[last + 1], np.nan)
