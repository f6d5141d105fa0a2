"""Means and intervals against the formulas, written out with numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from psymem.studies.common.means import by_item_effects, by_item_summary, condition_means
from psymem.studies.common.rows import region_rows

FACTORS = ["attraction", "violation"]


def matrix(scores, conditions):
    """Items x conditions of surprisal."""
    wide = scores.pivot_table(index="item", columns="condition", values="surprisal_bits", sort=False)
    return wide[list(conditions)].to_numpy()


def cousineau_morey(values):
    """Half-width of the 95% within-item interval of each column."""
    items, conditions = values.shape
    normed = values - values.mean(axis=1, keepdims=True) + values.mean()
    error = normed.std(axis=0, ddof=1) * np.sqrt(conditions / (conditions - 1)) / np.sqrt(items)
    return stats.t.ppf(0.975, items - 1) * error


@pytest.mark.parametrize("block", ["AB", "CD", "EFGH"])
def test_interval_within_item_and_violation(toy_scores, block):
    rows = region_rows(toy_scores, ["surprisal_bits"], FACTORS)
    table = (
        condition_means(rows, ["surprisal_bits"], FACTORS, ["violation"])
        .set_index("condition")
        .loc[list(block)]
    )
    values = matrix(toy_scores, block)
    assert table["mean"].to_numpy() == pytest.approx(values.mean(axis=0))
    half = cousineau_morey(values)
    assert (table["ci_high"] - table["mean"]).to_numpy() == pytest.approx(half)
    assert (table["mean"] - table["ci_low"]).to_numpy() == pytest.approx(half)
    assert set(table["interval"]) == {"95% within item and violation (Cousineau-Morey), t over items"}


def test_interval_within_item_over_all_conditions(toy_scores):
    rows = region_rows(toy_scores, ["surprisal_bits"], FACTORS)
    table = condition_means(rows, ["surprisal_bits"], FACTORS).set_index("condition")
    values = matrix(toy_scores, table.index)
    assert (table["ci_high"] - table["mean"]).to_numpy() == pytest.approx(cousineau_morey(values))
    plain = stats.t.ppf(0.975, 11) * values.std(axis=0, ddof=1) / np.sqrt(12)
    assert (table["item_ci_high"] - table["mean"]).to_numpy() == pytest.approx(plain)


def test_instances_are_averaged_before_the_interval(two_instances):
    rows = region_rows(two_instances, ["surprisal_bits"], FACTORS)
    table = condition_means(rows, ["surprisal_bits"], FACTORS, ["violation"]).set_index("condition")
    values = matrix(two_instances, "AB")
    assert set(table["n_items"]) == {12}
    assert (table.loc[["A", "B"], "ci_high"] - table.loc[["A", "B"], "mean"]).to_numpy() == pytest.approx(
        cousineau_morey(values)
    )


def test_missing_values_are_left_out(toy_scores):
    scores = toy_scores.assign(surprisal_bits=toy_scores["surprisal_bits"].where(toy_scores["item"] != "3"))
    rows = region_rows(scores, ["surprisal_bits"], FACTORS)
    table = condition_means(rows, ["surprisal_bits"], FACTORS, ["violation"]).set_index("condition")
    values = matrix(toy_scores[toy_scores["item"] != "3"], "AB")
    assert set(table["n_items"]) == {11}
    assert table.loc["A", "mean"] == pytest.approx(values[:, 0].mean())


def test_one_item_has_no_interval(toy_scores):
    rows = region_rows(toy_scores[toy_scores["item"] == "1"], ["surprisal_bits"], FACTORS)
    table = condition_means(rows, ["surprisal_bits"], FACTORS, ["violation"])
    assert table["mean"].notna().all()
    assert table[["ci_low", "ci_high", "item_ci_low", "item_ci_high"]].isna().all(axis=None)


def test_effects_item_by_item(toy_scores):
    rows = region_rows(toy_scores, ["surprisal_bits"], FACTORS)
    table = by_item_effects(rows, ["surprisal_bits"], FACTORS, {"agreement": {"A": -1, "B": 1}})
    values = matrix(toy_scores, "AB")
    assert table["value"].to_numpy() == pytest.approx(values[:, 1] - values[:, 0])
    summary = by_item_summary(table).iloc[0]
    expected = stats.ttest_1samp(values[:, 1] - values[:, 0], 0).confidence_interval(0.95)
    assert (summary["ci_low"], summary["ci_high"]) == pytest.approx((expected.low, expected.high))
