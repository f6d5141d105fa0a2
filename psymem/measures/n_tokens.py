"""How many tokens a word has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.trace import Trace


@dataclass(frozen=True)
class NTokens:
    """Number of tokens the model's tokenizer makes of a word."""

    name: ClassVar[str] = "n-tokens"
    requires: ClassVar[frozenset[str]] = frozenset({"logprob"})
    roles: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ("n_tokens",)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) int."""
        return {self.columns[0]: np.bincount(trace.word_index, minlength=len(words))}
