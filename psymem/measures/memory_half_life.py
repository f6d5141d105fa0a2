"""Half-life of what a word wrote into the cells of a gated network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.memory_response import RETAIN, WRITE, half_lives, response_lengths
from psymem.trace import Trace


@dataclass(frozen=True)
class MemoryHalfLife:
    """Number of words after which less than half of what a word wrote is left (see `MemoryResponse`).

    The smallest n with ``m[k + n, k] / m[k, k] < 0.5``. It depends on the words that follow, so it says what
    became of a word and is no predictor of how the word was read: `causal` is False. NaN where half or more is
    still there when the text ends, and for a word that wrote nothing.
    """

    name: ClassVar[str] = "memory-half-life"
    requires: ClassVar[frozenset[str]] = frozenset({RETAIN, WRITE})
    roles: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ("half_life_words",)
    causal: ClassVar[bool] = False

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) words."""
        return {self.columns[0]: half_lives(response_lengths(trace, len(words)))}
