"""Entropy reduction: how much a word lowers the uncertainty about what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.measures.entropy import entropy_around
from psymem.trace import Trace
from psymem.units import nats_to_bits


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
    signed: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """One column, in bits."""
        return ("entropy_reduction_signed_bits",) if self.signed else ("entropy_reduction_bits",)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) bits."""
        before, after = entropy_around(trace, len(words))
        drop = nats_to_bits(before - after)
        return {self.columns[0]: drop if self.signed else np.maximum(drop, 0.0)}  # keeps NaN
