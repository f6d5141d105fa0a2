"""The numbers that the figures show, as tables; the figures draw exactly these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from psymem.data.items.attraction_design import CONDITIONS
from psymem.studies.attraction.effects import HUMAN_PERCENTAGES
from psymem.studies.common.rows import CRITICAL, display_name

HUMANS = "humans"
HUMAN_MEASURE = "percent_judged_implausible"
HUMAN_INTERVAL = "95% interval as published"
PUBLISHED_ITEMS = "lvdm2022-exp3"

_VIOLATIONS = {"grammatical": "agr.", "semantic": "sem.", "double": "double"}
_ATTRACTORS = {"none": "none", "grammatical": "agreement", "semantic": "semantic", "double": "double"}
_COLUMNS = ["panel", "title", "model", "measure", "condition", "group", "group_title"]
_COLUMNS += ["series", "mean", "ci_low", "ci_high", "interval"]


def plotted_means(
    means: pd.DataFrame,
    factors: Sequence[str],
    *,
    attraction: bool,
    item_set: str = "",
    people: pd.DataFrame | None = None,
    levels: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return the panels of condition means at the critical word, human ones first.

    Without trials of one's own, designs with the conditions A-H have the published human percentages there.

    Parameters
    ----------
    means
        From `psymem.studies.common.means.condition_means`.
    factors
        Factor columns; the first groups the conditions, the others are the series (A-H: violation and
        attractor).
    attraction
        Whether the conditions are A-H.
    item_set
        Name of the items: the published human panel says "other items" unless they are those people read.
    people
        Condition means of one's own trials (`psymem.studies.attraction.people.analysis.HumanAnalysis.means`).
    levels
        Order of a factor's levels where the user gave one; else that of the conditions.

    Returns
    -------
    pandas.DataFrame
        ``panel, title, model, measure, condition, group, group_title, series, mean, ci_low, ci_high,
        interval``.
    """
    here = means[means["region"] == CRITICAL]
    here = _grouped(here, factors, attraction, levels)
    here = here.assign(panel=here["model"] + ": " + here["measure"], title=here["model"].map(display_name))
    parts = [here[_COLUMNS]]
    if people is not None:
        own = people.assign(panel=HUMANS, title=HUMANS, model=HUMANS)
        parts.insert(0, _grouped(own, factors, attraction, levels)[_COLUMNS])
    elif attraction:
        parts.insert(0, _human_panel(item_set))
    table = pd.concat(parts, ignore_index=True)
    return table[table.groupby("panel")["mean"].transform("count") > 0].reset_index(drop=True)


def _grouped(
    here: pd.DataFrame, factors: Sequence[str], attraction: bool, levels: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    return _attraction_groups(here) if attraction else _factor_groups(here, factors, levels)


def _attraction_groups(here: pd.DataFrame) -> pd.DataFrame:
    groups = {c: _VIOLATIONS[v] for c, (_, v) in CONDITIONS.items()}
    series = {c: _ATTRACTORS[a] for c, (a, _) in CONDITIONS.items()}
    return here.assign(
        group=here["condition"].map(groups), series=here["condition"].map(series), group_title="violation"
    )


def _factor_groups(
    here: pd.DataFrame, factors: Sequence[str], levels: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    grouping, inner = (factors[0], factors[1:]) if len(factors) > 1 else (None, factors)
    series = here[list(inner)].astype(str).agg(" × ".join, axis=1) if inner else ""
    group = here[grouping].astype(str) if grouping else ""
    here = here.assign(group=group, series=series, group_title=grouping or "condition")
    if not factors:
        return here
    ordered = {f: dict.fromkeys([*levels.get(f, ()), *here[f].astype(str)]) for f in factors}
    place = {f: {level: i for i, level in enumerate(known)} for f, known in ordered.items()}
    return here.sort_values(
        list(factors), key=lambda column: column.astype(str).map(place[str(column.name)]), kind="stable"
    )


def _human_panel(item_set: str) -> pd.DataFrame:
    rows = [
        {"condition": c, "mean": float(p), "ci_low": float(low), "ci_high": float(high)}
        for c, (p, low, high) in HUMAN_PERCENTAGES.items()
    ]
    title = HUMANS if item_set == PUBLISHED_ITEMS else f"{HUMANS}, other items"
    panel = pd.DataFrame(rows).assign(panel=HUMANS, title=title, model=HUMANS, measure=HUMAN_MEASURE)
    return _attraction_groups(panel.assign(interval=HUMAN_INTERVAL))[_COLUMNS]
