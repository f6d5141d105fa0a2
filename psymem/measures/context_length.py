"""How much of the text before a word the model could see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.trace import Trace


@dataclass(frozen=True)
class ContextLength:
    """Number of tokens before a word's first token that its scores depend on.

    A text that fits into the model's context counts up from 0; a longer one is read in windows that overlap
    by half, so that it stays between half the context and all of it. A beginning-of-sentence token is not
    counted.
    """

    name: ClassVar[str] = "context-length"
    requires: ClassVar[frozenset[str]] = frozenset({"logprob"})
    roles: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ("context_tokens",)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) int; a word without tokens has the context of the next one."""
        seen = trace.extras.get("context_tokens", np.arange(len(trace.tokens)))
        first = np.searchsorted(trace.word_index, np.arange(len(words)))
        return {self.columns[0]: np.append(seen, len(seen))[first]}
