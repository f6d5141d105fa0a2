from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.fit import fit
from psymem.fitting.power import POWER_COLUMNS, power, proportion_interval


@pytest.fixture(scope="module")
def pilot() -> pd.DataFrame:
    """20 items, two conditions within items: with (1|item) the test of x is the paired t-test."""
    rng = np.random.default_rng(4)
    item, condition = (a.ravel() for a in np.meshgrid(np.arange(20), [0.0, 1.0], indexing="ij"))
    y = rng.normal(0, 1, 20)[item] + 0.5 * condition + rng.normal(0, 1, 40)
    return pd.DataFrame({"item": item, "x": condition, "y": y})


@pytest.fixture(scope="module")
def model(pilot):
    return fit(pilot, "y ~ x + (1|item)")


def test_power_equals_that_of_the_paired_t_test(pilot, model):
    found = power(model, pilot, sizes={"item": 30}, effects={"x": 0.6}, simulations=400, seed=1)
    noncentrality = 0.6 / (model.sigma * np.sqrt(2 / 30))
    threshold = stats.t.ppf(0.975, 29)
    expected = stats.nct.sf(threshold, 29, noncentrality) + stats.nct.cdf(-threshold, 29, noncentrality)
    row = found.table.iloc[0]
    assert tuple(found.table.columns) == POWER_COLUMNS
    assert row.term == "x"
    assert row.effect == 0.6
    assert row.ci_low <= expected <= row.ci_high
    assert row.power == row.significant / 400
    assert row.failed == 0
    assert found.sizes == {"item": 30}
    assert found.n_obs == 60


def test_no_effect_is_found_in_alpha_of_the_experiments(pilot, model):
    row = power(model, pilot, effects={"x": 0.0}, simulations=300, alpha=0.1, seed=2).table.iloc[0]
    assert row.ci_low <= 0.1 <= row.ci_high
    assert np.isnan(row.exaggeration)


def test_the_estimates_are_kept_and_summed_up(pilot, model):
    found = power(model, pilot, simulations=40, seed=3)
    x = found.estimates[found.estimates.term == "x"]
    assert x.simulation.tolist() == list(range(1, 41))
    row = found.table.iloc[0]
    significant = x[x.p < 0.05]
    assert row.significant == len(significant)
    assert row.mean_estimate == x.estimate.mean()
    assert row.exaggeration == pytest.approx((significant.estimate / row.effect).abs().mean())


def test_the_seed_decides_and_the_number_of_processes_does_not(pilot, model):
    one = power(model, pilot, simulations=12, seed=5)
    two = power(model, pilot, simulations=12, seed=5, n_jobs=2)
    other = power(model, pilot, simulations=12, seed=6)
    pd.testing.assert_frame_equal(one.estimates, two.estimates, check_exact=True)
    assert not one.estimates.equals(other.estimates)


def test_progress_is_reported(pilot, model):
    steps = []
    power(model, pilot, simulations=7, progress=steps.append)
    assert steps == [1] * 7


def test_levels_and_rows_are_those_of_the_fit():
    rng = np.random.default_rng(8)
    item, cell = (a.ravel() for a in np.meshgrid(np.arange(12), np.arange(3), indexing="ij"))
    frame = pd.DataFrame(
        {"item": item, "attraction": np.take(["none", "double", "single"], cell), "y": rng.normal(size=36)}
    )
    frame["used"] = frame.item != 3
    model = fit(
        frame,
        "y ~ attraction + (1|item)",
        where="used == TRUE",
        levels={"attraction": ["none", "single", "double"]},
    )
    found = power(model, frame, simulations=3)
    assert list(found.table.term) == ["attractionsingle", "attractiondouble"]
    assert found.sizes == {"item": 11}


# R 4.2.2: binom.test(x, n) and prop.test(x, n, correct = FALSE)
@pytest.mark.parametrize(
    ("successes", "trials", "kind", "expected"),
    [
        (0, 20, "clopper-pearson", (0.0, 0.1684335)),
        (8, 10, "clopper-pearson", (0.4439045, 0.9747893)),
        (20, 20, "clopper-pearson", (0.8315665, 1.0)),
        (8, 10, "wilson", (0.4901625, 0.9433178)),
        (0, 20, "wilson", (0.0, 0.1611252)),
    ],
)
def test_intervals_of_a_proportion(successes, trials, kind, expected):
    np.testing.assert_allclose(proportion_interval(successes, trials, kind), expected, atol=1e-6)


def test_printing_names_model_design_and_level(pilot, model):
    lines = str(power(model, pilot, simulations=2)).splitlines()
    assert lines[:2] == ["y ~ x + (1|item)", "40 rows (20 item), alpha 0.05"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "The number of simulations is 0; it has to be at least 1 (1000 is usual)."),
        ({"alpha": 5}, "alpha is 5; it has to lie between 0 and 1, as in 0.05."),
    ],
)
def test_settings_out_of_range(pilot, model, options, message):
    with pytest.raises(FitError) as error:
        power(model, pilot, **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"interval": "wald"},
            "There is no kind of interval called 'wald'. Known: clopper-pearson, wilson.",
        ),
        ({"terms": ["X"]}, "There is no fixed effect called 'X'. Known: (Intercept), x."),
    ],
)
def test_unknown_names(pilot, model, options, message):
    with pytest.raises(UnknownNameError) as error:
        power(model, pilot, **options)
    assert str(error.value) == message
