"""Condition means with within-item confidence intervals, and each effect item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from psymem.designs.rows import model_family, regions_of

INTERVAL = "95% within-item (Cousineau-Morey), t over items"


def item_means(rows: pd.DataFrame, measures: Sequence[str], factors: Sequence[str]) -> pd.DataFrame:
    """Average the instances of each model: long form, one row per item, condition, region and measure."""
    keys = ["model", "item", "condition", *factors, "region"]
    averaged = rows.assign(model=rows["model"].map(model_family))
    averaged = averaged.groupby(keys, sort=False, observed=True)[list(measures)].mean().reset_index()
    return averaged.melt(keys, list(measures), var_name="measure", value_name="value")


def condition_means(rows: pd.DataFrame, measures: Sequence[str], factors: Sequence[str]) -> pd.DataFrame:
    """Mean of each condition at each region, with its 95% within-item interval.

    Instances of a model are averaged within an item first, so that the interval is over items. It is that of
    Cousineau (2005) with the correction of Morey (2008): item means are removed, and the standard deviation
    of what remains is multiplied by sqrt(C / (C - 1)) for C conditions; it shows differences between
    conditions, not how far items differ from one another. Missing values are left out.

    Returns
    -------
    pandas.DataFrame
        ``model, region, measure, condition``, the factors, ``mean, ci_low, ci_high, sd, n_items, interval``;
        NaN interval where fewer than two items have a value.
    """
    long = item_means(rows, measures, factors)
    order = {region: i for i, region in enumerate(regions_of(rows))}
    parts = [
        _means_of(part, factors).assign(model=str(model), region=str(region), measure=str(measure))
        for (model, region, measure), part in long.groupby(["model", "region", "measure"], sort=False)
    ]
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(interval=INTERVAL, _region=table["region"].map(order))
    table = table.sort_values("_region", kind="stable")
    columns = [
        "model",
        "region",
        "measure",
        "condition",
        *factors,
        "mean",
        "ci_low",
        "ci_high",
        "sd",
        "n_items",
    ]
    return table[[*columns, "interval"]].reset_index(drop=True)


def _means_of(part: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    """Means and intervals of the conditions of one model, region and measure."""
    part = part.dropna(subset=["value"]) if part["value"].notna().any() else part
    centred = part["value"] - part.groupby("item")["value"].transform("mean")
    conditions = part["condition"].nunique()
    correction = np.sqrt(conditions / (conditions - 1)) if conditions > 1 else 1.0
    grouped = part.assign(centred=centred).groupby(["condition", *factors], sort=True, observed=True)
    table = grouped.agg(
        mean=("value", "mean"), sd=("value", "std"), n_items=("value", "count"), spread=("centred", "std")
    )
    half = stats.t.ppf(0.975, (table["n_items"] - 1).clip(lower=1)) * table["spread"] * correction
    half = (half / np.sqrt(table["n_items"].clip(lower=1))).where(table["n_items"] > 1)
    table = table.assign(ci_low=table["mean"] - half, ci_high=table["mean"] + half)
    return table.drop(columns="spread").reset_index()


def by_item_effects(
    rows: pd.DataFrame,
    measures: Sequence[str],
    factors: Sequence[str],
    contrasts: Mapping[str, Mapping[str, float]],
) -> pd.DataFrame:
    """Each effect in each item, instances averaged: the weighted sum of the item's condition values.

    Parameters
    ----------
    contrasts
        Effect name -> condition -> weight.

    Returns
    -------
    pandas.DataFrame
        ``model, region, measure, effect, item, value``; NaN where the item lacks a condition.
    """
    long = item_means(rows, measures, factors)
    keys = ["model", "region", "measure", "item"]
    wide = long.pivot_table(index=keys, columns="condition", values="value", sort=False, observed=True)
    parts = []
    for effect, weights in contrasts.items():
        if set(weights) <= set(wide.columns):
            value = sum(wide[c] * w for c, w in weights.items())
            parts.append(pd.DataFrame({"value": value}).reset_index().assign(effect=effect))
    if not parts:
        return pd.DataFrame(columns=["model", "region", "measure", "effect", "item", "value"])
    return pd.concat(parts, ignore_index=True)[["model", "region", "measure", "effect", "item", "value"]]
