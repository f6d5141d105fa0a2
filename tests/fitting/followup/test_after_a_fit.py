"""R2, tests of random effects, diagnostics and bootstrap, against lmerTest, performance 0.10.2 and simulations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import FitError
from psymem.fitting.comparison import compare
from psymem.fitting.fit import fit
from psymem.fitting.followup.bootstrap import bootstrap, bootstrap_test
from psymem.fitting.followup.random_tests import random_effect_tests


def test_random_effects_left_out_in_turn(crossed_fit, slopes_fit, experiment):
    """ranova(m), ranova(m2) and ranova(lmer(y ~ cond + x + (1|subject), d)), whose last row is a linear model."""
    table = random_effect_tests(crossed_fit)
    assert table["left_out"].tolist() == ["", "(1 | subject)", "(1 | item)"]
    np.testing.assert_allclose(table["loglik"], [-211.726734, -237.016959, -224.770872], atol=1e-5)
    np.testing.assert_allclose(table["chi_square"][1:], [50.5804501, 26.0882754], rtol=1e-5)
    np.testing.assert_allclose(table["p"][1:], [1.14378732e-12, 3.26158558e-07], rtol=1e-3)
    slope = random_effect_tests(slopes_fit).iloc[1]
    assert slope["left_out"] == "x in (1 + x | subject)"
    assert (slope["df"], slope["parameters"]) == (2, 9)
    assert slope["p"] == pytest.approx(0.0187171757, rel=1e-4)
    none = random_effect_tests(fit(experiment, "y ~ cond + x + (1|subject)")).iloc[1]
    assert (none["parameters"], none["loglik"]) == (5, pytest.approx(-253.499378, abs=1e-5))
    assert none["chi_square"] == pytest.approx(45.3984111, rel=1e-6)


def test_main_effects_stay_while_an_interaction_of_theirs_is_there(experiment):
    table = random_effect_tests(fit(experiment, "y ~ x + (1 + x * I(x^2) || subject)", reml=False))
    assert table["left_out"].tolist()[1:] == [
        "(1 | subject)",
        "(0 + x | subject)",
        "(0 + I(x^2) | subject)",
        "(0 + x:I(x^2) | subject)",
    ]
    joint = random_effect_tests(fit(experiment, "y ~ x + (1 + x + I(x^2) + x:I(x^2) | item)", reml=False))
    assert joint["left_out"].tolist()[1:] == ["x:I(x^2) in (1 + x + I(x^2) + x:I(x^2) | item)"]


def test_r_squared(crossed_fit, slopes_fit):
    """r2_nakagawa(m) and r2_nakagawa(m2)."""
    found = crossed_fit.r_squared()
    assert found["marginal"] == pytest.approx(0.113623978, rel=1e-5)
    assert found["conditional"] == pytest.approx(0.608300002, rel=1e-5)
    slopes = slopes_fit.r_squared()
    assert slopes["marginal"] == pytest.approx(0.124832680, rel=1e-4)
    assert slopes["conditional"] == pytest.approx(0.483829342, rel=1e-4)


@pytest.mark.r
def test_r_squared_of_a_binomial_model(rscript, experiment):
    """r2_nakagawa(glmer(right ~ cond + x + (1|subject), d, family = binomial))."""
    found = fit(experiment, "right ~ cond + x + (1|subject)", family="binomial", engine="lme4").r_squared()
    assert found["conditional"] == pytest.approx(0.1474366563, rel=1e-3)
    assert found["marginal"] == pytest.approx(0.0421563696, rel=1e-3)


def test_r_squared_of_a_linear_model_is_that_of_least_squares(experiment):
    found = fit(experiment, "y ~ x").r_squared()
    correlation = np.corrcoef(experiment["x"], experiment["y"])[0, 1] ** 2
    assert found["marginal"] == found["conditional"] == pytest.approx(correlation, rel=0.05)


def test_counts_have_no_single_r_squared(experiment):
    with pytest.raises(FitError) as raised:
        fit(experiment, "right ~ x", family="poisson").r_squared()
    assert str(raised.value) == (
        "R2 is given for linear and binomial models; for counts it has no single definition."
    )


def test_random_effects_are_those_of_ranef(crossed_fit):
    """as.data.frame(ranef(m))."""
    first = crossed_fit.ranef.iloc[0]
    assert (first["group"], first["level"], first["term"]) == ("subject", "s00", "(Intercept)")
    assert (first["estimate"], first["sd"]) == (
        pytest.approx(-0.422334956, rel=1e-4),
        pytest.approx(0.269930231, rel=1e-4),
    )


def test_scaled_residuals_are_those_of_the_summary(crossed_fit):
    """quantile(summary(m)$residuals)."""
    table = crossed_fit.diagnostics().set_index("check")["value"]
    expected = [-1.634936354, -0.715281685, -0.191949555, 0.794470547, 1.883614300]
    np.testing.assert_allclose(table.iloc[:5], expected, rtol=1e-4)
    residuals = crossed_fit.residual_table()
    assert table["scaled residuals: skewness"] == pytest.approx(stats.skew(residuals["scaled_residual"]))
    np.testing.assert_allclose(residuals["fitted"] + residuals["residual"], residuals["response"])


def test_quantiles_of_residuals_are_those_of_qqnorm(experiment):
    """qqnorm(): qnorm(ppoints(n)), with (i - 1/2) / n for more than ten rows."""
    table = fit(experiment, "y ~ x").residual_table().sort_values("scaled_residual")
    n = len(table)
    np.testing.assert_allclose(table["normal_quantile"], stats.norm.ppf((np.arange(1, n + 1) - 0.5) / n))


def test_dispersion_of_counts_that_vary_too_much():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=400)})
    frame["n"] = rng.poisson(np.exp(1 + rng.normal(0, 1, 400)))
    table = fit(frame, "n ~ x", family="poisson").diagnostics().set_index("check")
    assert table.loc["dispersion: squared residuals per degree of freedom", "value"] > 2


def test_bootstrap_spreads_as_the_standard_errors_say(experiment):
    model = fit(experiment, "y ~ x + (1|subject)")
    found = bootstrap(model, simulations=80, seed=2).set_index("parameter")
    assert found.index.tolist() == ["(Intercept)", "x", "sd of (Intercept) by subject", "sd of the residual"]
    np.testing.assert_allclose(found["sd"][:2], model.coefficients["se"], rtol=0.3)
    assert (found["ci_low"] < found["mean"]).all()
    assert found.loc["sd of the residual", "estimate"] == pytest.approx(model.sigma)
    again = bootstrap(model, simulations=80, seed=2).set_index("parameter")
    pd.testing.assert_frame_equal(again, found)


def test_bootstrap_test_is_near_the_likelihood_ratio(experiment):
    base, full = (fit(experiment, f"y ~ {x} + (1|subject)") for x in ("plural", "plural + x"))
    found = bootstrap_test(base, full, simulations=60, seed=1)
    row = compare(base, full).table.iloc[1]
    assert found["chi_square"] == pytest.approx(row["chi_square"])
    assert found["p"] == pytest.approx(max(row["p"], 1 / 61), abs=0.05)
    noise = experiment.assign(x=np.random.default_rng(3).normal(size=len(experiment)))
    pair = [fit(noise, f"y ~ {x} + (1|subject)") for x in ("1", "x")]
    assert bootstrap_test(*pair, simulations=60)["p"] == pytest.approx(compare(*pair).table["p"][1], abs=0.2)


def test_bootstrap_needs_simulations(crossed_fit):
    with pytest.raises(FitError) as raised:
        bootstrap(crossed_fit, simulations=0)
    assert str(raised.value) == "The number of simulations is 0; it has to be at least 1 (1000 is usual)."
