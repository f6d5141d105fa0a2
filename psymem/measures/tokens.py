"""How many tokens a word has, and how many before it the model could see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.columns import Column
from psymem.trace import Trace


@dataclass(frozen=True)
class NTokens:
    """Number of tokens the model's tokenizer makes of a word."""

    name: ClassVar[str] = "n-tokens"
    requires: ClassVar[frozenset[str]] = frozenset({"logprob"})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (
        Column("n_tokens", "tokens in the word", "the tokenizer cuts the word into more pieces", "tokens"),
    )
    columns: ClassVar[tuple[str, ...]] = ("n_tokens",)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) int."""
        return {self.columns[0]: np.bincount(trace.word_index, minlength=len(words))}


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
    facts: ClassVar[tuple[Column, ...]] = (
        Column(
            "context_tokens",
            "context before the word (tokens)",
            "the model could see more of the text",
            "tokens",
        ),
    )
    columns: ClassVar[tuple[str, ...]] = ("context_tokens",)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) int; a word without tokens has the context of the next one."""
        seen = trace.extras.get("context_tokens", np.arange(len(trace.tokens)))
        first = np.searchsorted(trace.word_index, np.arange(len(words)))
        return {self.columns[0]: np.append(seen, len(seen))[first]}
