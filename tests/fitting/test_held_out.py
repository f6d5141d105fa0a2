from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from psymem.fitting.fit import fit
from psymem.fitting.formula.design import build
from psymem.fitting.held_out import _integrated, block_covariance, log_likelihood, training_rows
from psymem.fitting.profiled.least_squares import fit_least_squares
from psymem.fitting.spec import make_spec


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(41)
    subject = np.repeat(np.arange(10), 12)
    x = rng.normal(size=120)
    y = 1 + x + rng.normal(0, 1, 10)[subject] + rng.normal(0, 0.5, 10)[subject] * x + rng.normal(0, 1, 120)
    return pd.DataFrame({"subject": [f"s{i}" for i in subject], "x": x, "y": y})


def test_training_rows_keep_only_the_levels_that_occur(frame):
    data = build(frame, make_spec("y ~ x + (1 + x|subject)"))
    rows = np.flatnonzero(~frame.subject.isin(["s2", "s5"]))
    kept = training_rows(data, rows)
    assert set(kept.random[0].levels) == set(frame.subject) - {"s2", "s5"}
    named = np.asarray(kept.random[0].levels)[kept.random[0].codes]
    assert named.tolist() == frame.subject.iloc[rows].tolist()
    np.testing.assert_array_equal(kept.fixed, data.fixed[rows])
    assert kept.index.tolist() == rows.tolist()


def test_the_covariance_of_a_bar_is_that_of_the_table(frame):
    model = fit(frame, "y ~ x + (1 + x|subject)")
    found = block_covariance(model.data.random[0], model.variance_components)
    sd = model.variance_components.sd.to_numpy()[:2]
    correlation = model.variance_components.correlation.dropna().item()
    np.testing.assert_allclose(found, np.outer(sd, sd) * [[1, correlation], [correlation, 1]], rtol=1e-10)


@pytest.mark.parametrize("reml", [False, True])
def test_a_linear_model_by_maximum_likelihood_divides_its_squares_by_n(frame, reml):
    data = build(frame, make_spec("y ~ x"))
    seen, unseen = np.arange(30), np.arange(30, 120)
    spec = make_spec("y ~ x", reml=reml)
    found = log_likelihood(fit_least_squares(spec, training_rows(data, seen)), data, unseen)
    slope, intercept = np.polyfit(frame.x[:30], frame.y[:30], 1)
    squares = ((frame.y[:30] - intercept - slope * frame.x[:30]) ** 2).sum()
    sd = np.sqrt(squares / (28 if reml else 30))
    expected = stats.norm.logpdf(frame.y[30:], intercept + slope * frame.x[30:], sd)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("sd", [0.0, 0.3, 1.5])
@pytest.mark.parametrize("response", [0.0, 1.0])
def test_a_binomial_probability_is_averaged_over_the_log_odds(sd, response):
    mean = 0.7
    found = _integrated(np.array([response]), np.array([mean]), np.array([sd]), "binomial")[0]

    def probability(u: float) -> float:
        p = 1 / (1 + np.exp(-(mean + sd * u)))
        return (p if response else 1 - p) * stats.norm.pdf(u)

    assert found == pytest.approx(np.log(integrate.quad(probability, -9, 9)[0]), abs=1e-6)


def test_a_poisson_probability_without_spread_is_the_plain_one():
    found = _integrated(np.array([3.0]), np.array([np.log(2.0)]), np.array([0.0]), "poisson")[0]
    assert found == pytest.approx(stats.poisson.logpmf(3, 2.0))
