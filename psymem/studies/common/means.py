"""Condition means with within-item confidence intervals, and each effect item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from psymem.studies.common.rows import family_names, regions_of

WITHIN = "95% within-item (Cousineau-Morey), t over items"
WITHIN_BLOCK = "95% within item and {blocks} (Cousineau-Morey), t over items"


def interval_name(blocks: Sequence[str] = ()) -> str:
    """Name of the interval in the columns ``ci_low`` and ``ci_high``."""
    return WITHIN_BLOCK.format(blocks=" and ".join(blocks)) if blocks else WITHIN


def item_means(rows: pd.DataFrame, measures: Sequence[str], factors: Sequence[str]) -> pd.DataFrame:
    """Average the instances of each model: long form, one row per item, condition, region and measure."""
    keys = ["model", "item", "condition", *factors, "region"]
    averaged = rows.assign(model=rows["model"].map(family_names(rows["model"].unique())))
    averaged = averaged.groupby(keys, sort=False, observed=True)[list(measures)].mean().reset_index()
    return averaged.melt(keys, list(measures), var_name="measure", value_name="value")


def condition_means(
    rows: pd.DataFrame, measures: Sequence[str], factors: Sequence[str], blocks: Sequence[str] = ()
) -> pd.DataFrame:
    """Mean of each condition at each region, with two 95% intervals.

    Instances of a model are averaged within an item first, so that intervals are over items. ``ci_low`` and
    ``ci_high`` are within-item: the method of Cousineau (2005) with the correction of Morey (2008). The mean
    of the item (and of its `blocks`, factors across which the critical word changes) is removed, and the
    standard deviation of what remains is multiplied by sqrt(C / (C - 1)) for C conditions in a block. They
    show differences between conditions of one block; ``item_ci_low`` and ``item_ci_high`` are the plain t
    interval over items.

    Returns
    -------
    pandas.DataFrame
        ``model, region, measure, condition``, the factors, ``mean, ci_low, ci_high, item_ci_low,
        item_ci_high, sd, n_items, interval``; intervals are NaN where fewer than two items have a value.
    """
    long = item_means(rows, measures, factors)
    order = {region: i for i, region in enumerate(regions_of(rows))}
    parts = [
        _means_of(part, factors, blocks).assign(model=str(model), region=str(region), measure=str(measure))
        for (model, region, measure), part in long.groupby(["model", "region", "measure"], sort=False)
    ]
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(interval=interval_name(blocks), _region=table["region"].map(order))
    table = table.sort_values("_region", kind="stable")
    keys = ["model", "region", "measure", "condition", *factors]
    numbers = ["mean", "ci_low", "ci_high", "item_ci_low", "item_ci_high", "sd", "n_items"]
    return table[[*keys, *numbers, "interval"]].reset_index(drop=True)


def _means_of(part: pd.DataFrame, factors: Sequence[str], blocks: Sequence[str]) -> pd.DataFrame:
    """Means and intervals of the conditions of one model, region and measure."""
    centred = part["value"] - part.groupby(["item", *blocks], observed=True)["value"].transform("mean")
    part = part.assign(centred=centred, everything="")
    grouped = part.groupby(["condition", *factors], sort=True, observed=True)
    table = grouped.agg(
        mean=("value", "mean"), sd=("value", "std"), n_items=("value", "count"), spread=("centred", "std")
    )
    table = table.reset_index()
    in_block = part.groupby([*blocks] or ["everything"], observed=True)["condition"].nunique()
    count = table[blocks[0]].map(in_block) if len(blocks) == 1 else in_block.max()
    correction = np.sqrt(count / np.maximum(count - 1, 1))
    quantile = stats.t.ppf(0.975, (table["n_items"] - 1).clip(lower=1)) / np.sqrt(
        table["n_items"].clip(lower=1)
    )
    for name, spread in (("ci", table["spread"] * correction), ("item_ci", table["sd"])):
        table[f"{name}_low"] = table["mean"] - quantile * spread
        table[f"{name}_high"] = table["mean"] + quantile * spread
    return table.drop(columns="spread")


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


def by_item_summary(values: pd.DataFrame) -> pd.DataFrame:
    """Mean of each effect over items with its 95% t interval (columns ``mean, ci_low, ci_high, n_items``)."""
    keys = ["model", "region", "measure", "effect"]
    table = values.groupby(keys, sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    n = table["count"].clip(lower=1)
    half = stats.t.ppf(0.975, (n - 1).clip(lower=1)) * table["std"] / np.sqrt(n)
    table = table.assign(ci_low=table["mean"] - half, ci_high=table["mean"] + half)
    return table.rename(columns={"count": "n_items"})[[*keys, "mean", "ci_low", "ci_high", "n_items"]]
