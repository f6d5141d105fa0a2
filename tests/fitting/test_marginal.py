"""Marginal means and contrasts, against plain averages in balanced data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.fit import fit


@pytest.fixture(scope="module")
def balanced():
    rng = np.random.default_rng(3)
    attraction, violation, item = (
        a.ravel()
        for a in np.meshgrid(["none", "double"], ["semantic", "grammatical"], np.arange(12), indexing="ij")
    )
    y = rng.normal(size=48) + (attraction == "double") + rng.normal(size=12)[item.astype(int)]
    return pd.DataFrame({"attraction": attraction, "violation": violation, "item": item, "y": y})


@pytest.fixture(scope="module")
def found(balanced):
    return fit(balanced, "y ~ attraction * violation + (1|item)", levels={"attraction": ["none", "double"]})


def test_means_of_balanced_cells_are_cell_means(found, balanced):
    table = found.marginal_means(["attraction", "violation"]).set_index(["attraction", "violation"])
    plain = balanced.groupby(["attraction", "violation"]).y.mean()
    for key, value in plain.items():
        assert table.loc[key].estimate == pytest.approx(value)


def test_pairs_are_differences_of_means(found, balanced):
    (row,) = found.pairwise("attraction").itertuples()
    means = balanced.groupby("attraction").y.mean()
    assert row.contrast == "none - double"
    assert row.estimate == pytest.approx(means["none"] - means["double"])
    assert row.df == pytest.approx(33)


def test_contrast_of_terms(found):
    table = found.contrast({"double": {"attractiondouble": 1, "attractiondouble:violationsemantic": 0.5}})
    (pair,) = found.pairwise("attraction").itertuples()
    assert table.estimate[0] == pytest.approx(-pair.estimate)
    assert table.se[0] == pytest.approx(pair.se)


def test_adjustments_are_ordered(balanced):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"g": np.repeat(list("abcd"), 10), "y": rng.normal(size=40), "item": np.tile(np.arange(10), 4)}
    )
    model = fit(frame, "y ~ g + (1|item)")
    p = {name: model.pairwise("g", adjust=name).p for name in ("none", "holm", "tukey", "bonferroni")}
    assert (p["none"] <= p["holm"] + 1e-12).all()
    assert (p["holm"] <= p["bonferroni"] + 1e-12).all()
    assert (p["none"] <= p["tukey"] + 1e-12).all()
    np.testing.assert_allclose(p["bonferroni"], np.minimum(1, 6 * p["none"]))


def test_numbers_are_held_at_their_mean_or_where_asked(crossed):
    model = fit(crossed, "y ~ condition + x + (1|subject)")
    beta = model.coefficients.set_index("term").estimate
    assert model.marginal_means("condition").estimate[0] == pytest.approx(
        beta["(Intercept)"] + beta["x"] * crossed.x.mean()
    )
    assert model.marginal_means("condition", at={"x": 2}).estimate[0] == pytest.approx(
        beta["(Intercept)"] + 2 * beta["x"]
    )


def test_unknown_names(found):
    with pytest.raises(UnknownNameError) as raised:
        found.marginal_means("atraction")
    assert str(raised.value) == (
        "There is no categorical predictor called 'atraction'. Did you mean 'attraction' or 'violation'? Known: attraction, "
        "violation. (marginal means are per category)"
    )
    with pytest.raises(UnknownNameError, match="There is no adjustment called 'scheffe'"):
        found.pairwise("attraction", adjust="scheffe")
    with pytest.raises(UnknownNameError, match="There is no term called 'double'"):
        found.contrast({"double": 1})


def test_effects_that_were_left_out(balanced):
    frame = balanced.assign(copy=np.where(balanced.attraction == "double", "u", "v"))
    with pytest.raises(FitError) as raised:
        fit(frame, "y ~ attraction + copy + (1|item)").marginal_means("attraction")
    assert str(raised.value) == (
        "Marginal means need every effect, but copyv could not be estimated. Simplify the formula."
    )
