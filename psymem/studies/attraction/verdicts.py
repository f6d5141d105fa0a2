"""Whether a model does as people do: from corrected p-values, and from equivalence tests where nothing should be there.

That an effect is not significant is no evidence that it is absent. Here it is absent where two one-sided tests show it
to be smaller than the smallest effect of interest, and where neither is shown the verdict is "undecided".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy import stats

from psymem.errors import FitError, UnknownNameError
from psymem.measures.columns import split_column
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS, UNRELIABLE
from psymem.studies.common.rows import CRITICAL
from psymem.units import bits_to_nats

SMALLEST: Mapping[str, float] = MappingProxyType(
    {"surprisal_bits": 0.25, "surprisal_nats": bits_to_nats(0.25), "relative_attention": 0.013}
)
"""Smallest effect of interest of a measure: half the smallest attraction effect of the published networks that people
show too (0.51 bits in G - E, 0.026 of relative attention in D - C)."""

AS_PEOPLE = "as people"
AGAINST_PEOPLE = "against people"
UNDECIDED = "undecided"
NOT_INTERPRETABLE = "not interpretable"

RESTS_ON: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {e.name: e.all_it_rests_on for e in ATTRACTION_EFFECTS}
)


def smallest_effect(measure: str, given: Mapping[str, float]) -> float | None:
    """Return the smallest effect of interest of a measure column, the user's or `SMALLEST`; None without either."""
    column = re.sub(r"_head_\d+_\d+$", "", split_column(measure)[0])
    for name, value in given.items():
        if _column(name) in (measure, column, column.removesuffix("_bits")):
            return value
    return SMALLEST.get(column)


def _column(name: str) -> str:
    return name.replace("-", "_")


def check_smallest(given: Mapping[str, float], measures: Collection[str]) -> None:
    """Refuse a smallest effect of no measure, and one that is not above zero.

    Raises
    ------
    UnknownNameError, FitError
    """
    known = {
        name for m in measures for name in (m, split_column(m)[0], split_column(m)[0].removesuffix("_bits"))
    }
    for name, value in given.items():
        if _column(name) not in known:
            raise UnknownNameError("measure with a smallest effect", name, sorted(known))
        if not 0 < value < float("inf"):
            raise FitError(f"The smallest effect of {name} is {value:g}; it has to be a number above 0.")


def equivalence(row: pd.Series, smallest: float | None) -> float:
    """Return p of the two one-sided tests that the estimate of a row lies within `smallest` of zero."""
    if smallest is None or pd.isna(row["estimate"]) or not row["se"] > 0:
        return np.nan
    nearer = min(smallest - row["estimate"], smallest + row["estimate"])
    return float(stats.t.sf(nearer / row["se"], row["df"]))


def verdict(row: pd.Series, alpha: float, undetected: Collection[str] = ()) -> str | None:
    """Compare the effect of a row with people's.

    Parameters
    ----------
    row
        ``effect, region, human_direction, estimate, p_holm, p_equivalence_holm``.
    alpha
        Significance level, for corrected p-values.
    undetected
        Violations that the model does not detect, and kinds of attraction that are not told from something else: effects
        that rest on them mean nothing.

    Returns
    -------
    str or None
        `AS_PEOPLE`, `AGAINST_PEOPLE`, `UNDECIDED` or `NOT_INTERPRETABLE`; None where either effect is unknown, and away
        from the verb. An effect shown to be smaller than the smallest of interest counts as none, in either direction.
    """
    if pd.isna(row["human_direction"]) or pd.isna(row["p_holm"]) or row["region"] != CRITICAL:
        return None
    if not set(RESTS_ON.get(row["effect"], ())).isdisjoint(undetected):
        return NOT_INTERPRETABLE
    absent = bool(row["p_equivalence_holm"] < alpha)
    if row["human_direction"] == UNRELIABLE:
        return AS_PEOPLE if absent else AGAINST_PEOPLE if row["p_holm"] < alpha else UNDECIDED
    if absent:
        return AGAINST_PEOPLE
    if row["p_holm"] >= alpha:
        return UNDECIDED
    same = np.sign(row["estimate"]) == (-1 if row["human_direction"] == "negative" else 1)
    return AS_PEOPLE if same else AGAINST_PEOPLE


def consistent(said: str | None) -> bool | None:
    """Return the verdict as a truth value; None where there is none."""
    return {AS_PEOPLE: True, AGAINST_PEOPLE: False}.get(said or "")
