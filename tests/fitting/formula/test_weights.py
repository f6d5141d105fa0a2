"""Weighted linear and mixed models against repeated rows and against R."""

from __future__ import annotations

import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import EngineError, FitError
from psymem.fitting.comparison import compare
from psymem.fitting.cross_validation import cross_validate
from psymem.fitting.fit import fit


@pytest.fixture
def averages(rng) -> pd.DataFrame:
    """Averages of 1 to 9 readings, 20 texts of 6 words."""
    n = 120
    frame = pd.DataFrame({"text": np.repeat([f"t{i:02}" for i in range(20)], 6), "x": rng.normal(size=n)})
    frame["n"] = rng.integers(1, 10, n)
    own = np.repeat(rng.normal(0, 8, 20), 6)
    return frame.assign(y=250 + 5 * frame["x"] + own + rng.normal(size=n) * 20 / np.sqrt(frame["n"]))


def test_weighted_least_squares_by_the_normal_equations(averages):
    found = fit(averages, "y ~ x", weights="n")
    design, w = np.column_stack([np.ones(120), averages["x"]]), averages["n"].to_numpy(float)
    inverse = np.linalg.inv((design.T * w) @ design)
    beta = inverse @ ((design.T * w) @ averages["y"])
    residual = averages["y"] - design @ beta
    sigma2 = float(w @ residual**2) / 118
    np.testing.assert_allclose(found.coefficients.estimate, beta, rtol=1e-10)
    np.testing.assert_allclose(found.coefficients.se, np.sqrt(sigma2 * np.diag(inverse)), rtol=1e-10)
    ml = np.sqrt(sigma2 * 118 / 120 / w)
    assert found.loglik == pytest.approx(stats.norm.logpdf(residual, 0, ml).sum())
    np.testing.assert_allclose(found.residuals, residual, atol=1e-9)


R_SCRIPT = """
suppressMessages({library(lme4); library(lmerTest)})
d <- read.csv(commandArgs(TRUE)[1])
m <- lmer(y ~ x + (1|text), d, weights = n)
s <- coef(summary(m))
cat(sprintf("%.12g", c(s[, 1:3], logLik(m), sigma(m), as.data.frame(VarCorr(m))$sdcor[1], residuals(m)[1:3])))
"""


@pytest.mark.r
def test_weighted_mixed_model_as_lme4(averages, rscript, tmp_path):
    averages.to_csv(tmp_path / "d.csv", index=False)
    done = subprocess.run(
        [rscript, "-e", R_SCRIPT, str(tmp_path / "d.csv")], capture_output=True, text=True, check=True
    )
    theirs = np.array(done.stdout.split(), dtype=float)
    ours = fit(averages, "y ~ x + (1|text)", weights="n")
    numbers = ours.coefficients[["estimate", "se", "df"]].to_numpy().T.ravel()
    np.testing.assert_allclose(numbers[:4], theirs[:4], rtol=1e-5)
    np.testing.assert_allclose(numbers[4:], theirs[4:6], rtol=2e-3)
    assert ours.loglik == pytest.approx(theirs[6], abs=1e-5)
    assert ours.sigma == pytest.approx(theirs[7], rel=1e-5)
    assert ours.variance_components["sd"].iloc[0] == pytest.approx(theirs[8], rel=1e-4)
    np.testing.assert_allclose(ours.residuals[:3], theirs[9:], rtol=1e-3)


def test_comparison_and_held_out_rows_use_the_weights(averages):
    base, full = (fit(averages, f, weights="n", reml=False) for f in ("y ~ 1", "y ~ x"))
    assert compare(base, full).table["p"][1] < 0.001
    held = cross_validate(base, [full], averages["text"], folds=4, permutations=100)
    fold = held.observations["fold"]
    train, test = averages[fold != 0], averages[fold == 0]
    again = fit(train, "y ~ x", weights="n", reml=False)
    mean = again.predict(test)
    squares = train["n"] * (train["y"] - again.predict(train)) ** 2
    sigma = np.sqrt(squares.sum() / len(train))  # maximum likelihood
    expected = stats.norm.logpdf(test["y"], mean, sigma / np.sqrt(test["n"]))
    np.testing.assert_allclose(held.observations.loc[test.index, "full"], expected, rtol=1e-9)


def test_models_with_other_weights_are_not_compared(averages):
    with pytest.raises(FitError) as caught:
        compare(fit(averages, "y ~ 1"), fit(averages, "y ~ x", weights="n"))
    assert str(caught.value) == (
        "The models weight their rows differently (not at all; n), so their likelihoods differ in kind."
    )


def test_rows_without_a_weight_are_dropped(averages):
    found = fit(averages.assign(n=averages["n"].where(averages["x"] < 1)), "y ~ x", weights="n")
    assert found.n_obs == int((averages["x"] < 1).sum())
    assert found.dropped_rows == {"missing values": 120 - found.n_obs}


def test_weights_have_to_be_positive(averages):
    averages.loc[3, "n"] = 0
    with pytest.raises(FitError) as caught:
        fit(averages, "y ~ x", weights="n")
    assert str(caught.value) == "The weights 'n' have to be positive numbers; the one of row 4 is 0."


def test_engines_without_weights_say_so(averages):
    with pytest.raises(EngineError) as caught:
        fit(averages, "y ~ x", weights="n", engine="statsmodels")
    assert str(caught.value) == (
        "Weights go with the engine 'profiled' and the family gaussian, not with 'statsmodels' and gaussian. Leave out "
        "the engine, or the weights."
    )


def test_summary_and_r_script_name_the_weights(averages):
    found = fit(averages, "y ~ x + (1|text)", weights="n")
    assert "Weights: n\n" in str(found)
    assert 'm <- lmer(y ~ x + (1|text), data = d, REML = TRUE, weights = d[["n"]])\n' in found.to_r()
