"""The tests that fit the claim: an effect in each item and instance, and its mean over both.

Every effect is a weighted sum of an item's condition values, taken in each instance. Against the grammatical controls,
the same sum over the control sentences is subtracted first: they have the same words but for the verb, so that what
remains depends on the violation. Its mean is tested with items and instances as samples, or over items where there is
one instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from psymem.errors import FitError
from psymem.fitting.crossed_means import FORMULA, MeanTest, mean_test
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.common.structures import CROSSED, OVER_ITEMS

CONTROL = "grammatical control"
NO_CONTROL = "none"
"""Values of the column ``baseline``."""

TOO_FEW_INSTANCES = 5
"""From this number of instances on the crossed test keeps its level also where the effect varies over them."""

Cells = Mapping[str, pd.DataFrame]
"""Condition -> items in rows, instances in columns."""


def cells_of(rows: pd.DataFrame, measure: str) -> dict[str, pd.DataFrame]:
    """Put the values of one measure at one region in a table for each condition.

    Parameters
    ----------
    rows
        ``model, item, condition`` and the measure, one row each (`psymem.studies.common.rows.region_rows`).
    measure
        Measure column.
    """
    return {
        str(condition): part.pivot(index="item", columns="model", values=measure).astype(float)
        for condition, part in rows.groupby("condition", sort=False, observed=True)
    }


def against(cells: Cells, controls: Cells | None) -> dict[str, pd.DataFrame] | None:
    """Subtract the control sentence of every cell; None without controls of every condition."""
    if controls is None or not set(cells) <= set(controls):
        return None
    return {condition: values - controls[condition] for condition, values in cells.items()}


def contrast(cells: Cells, weights: Mapping[str, float]) -> pd.DataFrame:
    """Return the weighted sum of conditions in each item and instance."""
    parts = [weight * cells[condition] for condition, weight in weights.items()]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def first_rows(
    rows: pd.DataFrame, controls: pd.DataFrame | None, measure: str, engine: str
) -> Iterator[dict[str, Any]]:
    """Yield every effect of one model and region, against the controls (where there are any) and without them."""
    cells = cells_of(rows, measure)
    controlled = against(cells, None if controls is None else cells_of(controls, measure))
    for baseline, values in ((CONTROL, controlled), (NO_CONTROL, cells)):
        if values is None:
            continue
        for effect in ATTRACTION_EFFECTS:
            about = {"effect": effect.name, "subtraction": effect.subtraction, "baseline": baseline}
            yield {**about, **tested(contrast(values, effect.weights), measure, engine)}


def tested(values: pd.DataFrame, measure: str, engine: str) -> dict[str, Any]:
    """Return the numbers of a row of the effects table for values of each item and instance."""
    several = values.shape[1] > 1
    about: dict[str, Any] = {
        "structure": CROSSED if several else OVER_ITEMS,
        "random_effects": FORMULA.removeprefix("1 + ") if several else "t-test over items",
        "formula": f"effect on {measure} ~ {FORMULA if several else 1}",
        "term": "(Intercept)",
    }
    try:
        found = mean_test(values, engine)
    except FitError as error:
        return {**about, "note": f"Not estimable: {error}", "error": error}
    low, high = found.interval()
    return {
        **about,
        **{"estimate": found.estimate, "se": found.se, "df": found.df, "t": found.t, "p": found.p},
        **{"ci_low": low, "ci_high": high, "n_obs": int(values.notna().sum().sum())},
        **{"singular": found.singular, "note": _note(found)},
    }


def _note(found: MeanTest) -> str:
    if not found.se > 0:
        return "The values do not vary, so that nothing can be tested."
    if 1 < found.n_models < TOO_FEW_INSTANCES:
        return few_instances(found.n_models)
    return ""


def few_instances(n_models: int) -> str:
    """Say what two to four instances are too few for."""
    return (
        f"{n_models} instances are few for a claim about networks of this kind: where the effect differs between instances, "
        "up to about 12% (two), 8% (three) or 6% (four) of true nulls are rejected at .05."
    )
