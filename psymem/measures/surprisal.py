"""Surprisal of whole words, in bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.alignment import sum_over_words
from psymem.measures.columns import Column
from psymem.trace import Trace
from psymem.units import nats_to_bits

SURPRISAL = Column(
    "surprisal_bits", "surprisal (bits)", "the word was expected less", "bits", attraction="lower surprisal"
)
UNCORRECTED = Column(
    "surprisal_uncorrected_bits",
    "surprisal, uncorrected (bits)",
    "the word was expected less",
    "bits",
    attraction="lower surprisal",
)


@dataclass(frozen=True)
class Surprisal:
    """``-log2 p(word | words before it)``: the sum over the word's tokens.

    Where the tokenizer marks word beginnings, that sum leaves open whether the word ends there; the value is
    then corrected by the probability of a boundary after the word, relative to the one before it (Pimentel &
    Meister, 2024; Oh & Schuler, 2024). A word whose probability is undefined (the first one of a model
    without a beginning-of-sentence token) is NaN.

    Parameters
    ----------
    corrected
        Whether to apply the boundary correction where the model gives what it needs.

    See Also
    --------
    UncorrectedSurprisal : the same without correction, under a name of its own.
    """

    name: ClassVar[str] = "surprisal"
    requires: ClassVar[frozenset[str]] = frozenset({"logprob"})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (SURPRISAL, UNCORRECTED)
    corrected: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """One column, in bits."""
        return (SURPRISAL.name if self.corrected else UNCORRECTED.name,)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits."""
        n_words = len(words)
        logprob = sum_over_words(trace.logprob, trace.word_index, n_words)
        if self.corrected and trace.boundary is not None:
            first, last = trace.first_pieces(n_words), trace.last_pieces(n_words)
            logprob = logprob + trace.boundary[last + 1] - trace.boundary[first]
        return {self.columns[0]: nats_to_bits(-logprob) + 0.0}  # no negative zero


@dataclass(frozen=True)
class UncorrectedSurprisal:
    """The plain sum of a word's token surprisals, without the correction that `Surprisal` makes."""

    name: ClassVar[str] = "surprisal-uncorrected"
    requires: ClassVar[frozenset[str]] = frozenset({"logprob"})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (UNCORRECTED,)
    columns: ClassVar[tuple[str, ...]] = (UNCORRECTED.name,)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits."""
        return Surprisal(corrected=False)(trace, words)
