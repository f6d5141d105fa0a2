"""Entropy of what was expected when a word came, and how much the word lowers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.columns import Column
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
    facts: ClassVar[tuple[Column, ...]] = (
        Column("entropy_bits", "entropy (bits)", "less was known about the word before it came", "bits"),
    )
    columns: ClassVar[tuple[str, ...]] = ("entropy_bits",)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits."""
        before, _ = entropy_around(trace, len(words))
        return {self.columns[0]: nats_to_bits(before)}


@dataclass(frozen=True)
class EntropyReduction:
    """``max(0, H_i - H_(i+1))`` in bits, the drop in entropy that word i brings about.

    H_i is the entropy of the next-token distribution before word i (the measure "entropy" at word i),
    H_(i+1) the one after its last token; both depend on words up to i only. Hale (2003, 2006) defines the
    reduction over whole derivations and takes rises as 0; here the distribution is that of one step, as the
    shortest lookahead of Frank (2013). NaN where either entropy is not defined.

    Parameters
    ----------
    signed
        Whether to keep the sign: ``H_i - H_(i+1)``, negative where uncertainty rises.
    """

    name: ClassVar[str] = "entropy-reduction"
    requires: ClassVar[frozenset[str]] = frozenset({"entropy"})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (
        Column(
            "entropy_reduction_bits", "entropy reduction (bits)", "the word removed more uncertainty", "bits"
        ),
        Column(
            "entropy_reduction_signed_bits",
            "entropy reduction, signed (bits)",
            "the word removed more uncertainty; negative where it added some",
            "bits",
        ),
    )
    signed: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """One column, in bits."""
        return (self.facts[self.signed].name,)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits."""
        before, after = entropy_around(trace, len(words))
        drop = nats_to_bits(before - after)
        return {self.columns[0]: drop if self.signed else np.maximum(drop, 0.0)}  # keeps NaN


def entropy_around(trace: Trace, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """(n_words,) nats each: entropy of what was expected before each word and after it; NaN where unknown."""
    within = np.full(len(trace.tokens), np.nan) if trace.entropy is None else trace.entropy
    states = np.append(within, trace.entropy_after)  # before each token, and after the last
    first, last = trace.first_pieces(n_words), trace.last_pieces(n_words)
    has_tokens = first >= 0
    before = np.where(has_tokens, states[first], np.nan)
    return before, np.where(has_tokens, states[last + 1], np.nan)
