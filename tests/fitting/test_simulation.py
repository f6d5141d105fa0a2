from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.fit import fit
from psymem.fitting.formula.design import build
from psymem.fitting.simulation import resized, simulate_response, truth_of

FORMULA = "y ~ x + (1 + x|subject) + (1|item)"


@pytest.fixture(scope="module")
def pilot() -> pd.DataFrame:
    """A Latin square: 12 subjects x 8 items, condition by list."""
    rng = np.random.default_rng(2)
    subject, item = (a.ravel() for a in np.meshgrid(np.arange(12), np.arange(8), indexing="ij"))
    x = np.where((subject + item) % 2, 0.5, -0.5)
    y = 1 + 0.8 * x + rng.normal(0, 1, 12)[subject] + rng.normal(0, 0.7, 12)[subject] * x
    y = y + rng.normal(0, 0.5, 8)[item] + rng.normal(0, 1, 96)
    return pd.DataFrame({"subject": [f"s{i}" for i in subject], "item": item, "x": x, "y": y})


def test_more_units_are_copies_with_names_of_their_own(pilot):
    larger = resized(pilot, {"item": 20, "subject": 30})
    assert len(larger) == 20 * 30
    assert larger.groupby("subject").item.nunique().eq(20).all()
    assert larger.groupby(["subject", "item"]).size().eq(1).all()
    copy = larger[(larger.subject == "s3 copy 2") & (larger.item == "2 copy 3")]
    original = pilot[(pilot.subject == "s3") & (pilot.item == 2)]
    assert copy.x.item() == original.x.item()


def test_fewer_units_are_the_first_ones(pilot):
    smaller = resized(pilot, {"subject": 4})
    assert smaller.subject.unique().tolist() == ["s0", "s1", "s2", "s3"]
    assert len(smaller) == 4 * 8


def test_the_same_size_changes_nothing(pilot):
    same = resized(pilot, {"subject": 12})
    pd.testing.assert_frame_equal(same, pilot.astype({"subject": same.subject.dtype}))


def test_simulated_data_have_the_moments_of_the_model(pilot, rng):
    model = fit(pilot, FORMULA)
    data = build(resized(pilot, {"subject": 60, "item": 40}), model.spec)
    truth = truth_of(model, {"x": 2.0})
    draws = np.array([simulate_response(truth, data, rng) for _ in range(400)])  # draws x rows
    beta = truth.coefficients
    assert beta["x"] == 2.0
    np.testing.assert_allclose(draws.mean(), beta["(Intercept)"] + 2.0 * data.fixed[:, 1].mean(), atol=0.1)
    residual = draws - data.fixed @ beta.to_numpy()
    components = model.variance_components.query("with_term.isna()").set_index(["group", "term"]).variance
    total = model.sigma**2 + components["subject", "(Intercept)"] + components["item", "(Intercept)"]
    total += components["subject", "x"] * 0.25
    both = model.variance_components.query("with_term == 'x'").variance.item()
    up = data.fixed[:, 1] > 0
    assert residual[:, up].var() == pytest.approx(total + both, rel=0.05)
    assert residual[:, ~up].var() == pytest.approx(total - both, rel=0.05)
    first, second = (np.flatnonzero(data.random[1].codes == 0) for _ in range(2))
    same_item = np.cov(residual[:, first[0]], residual[:, second[-1]])[0, 1]
    assert same_item == pytest.approx(components["item", "(Intercept)"], abs=0.25)


def test_a_column_that_is_not_there(pilot):
    with pytest.raises(UnknownNameError) as error:
        resized(pilot, {"items": 20})
    assert str(error.value) == (
        "There is no column called 'items'. Did you mean 'item'? Known: item, subject, x, y."
    )


def test_one_level(pilot):
    with pytest.raises(FitError) as error:
        resized(pilot, {"item": 1})
    assert str(error.value) == "1 levels of 'item' were asked for; a grouping factor needs at least 2."


def test_an_effect_that_is_not_there(pilot):
    with pytest.raises(UnknownNameError) as error:
        truth_of(fit(pilot, FORMULA), {"z": 1})
    assert str(error.value) == "There is no fixed effect called 'z'. Known: (Intercept), x."
