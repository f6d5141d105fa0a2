from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import EngineError
from psymem.fitting.engines import mixedlm as mixedlm_engine
from psymem.fitting.fit import fit

FORMULA = "correct ~ attractor + (1 + length|subject) + (1|item)"


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    rng = np.random.default_rng(21)
    subject, item = (a.ravel() for a in np.meshgrid(np.arange(30), np.arange(24), indexing="ij"))
    length = rng.normal(size=len(subject))
    logit = 0.5 - 0.7 * (item % 2) + rng.normal(0, 1, 30)[subject] + rng.normal(0, 0.8, 24)[item]
    logit = logit + rng.normal(0, 0.5, 30)[subject] * length
    return pd.DataFrame(
        {
            "subject": [f"s{i}" for i in subject],
            "item": [f"i{i}" for i in item],
            "attractor": np.where(item % 2, "plural", "none"),
            "length": length,
            "correct": rng.random(len(subject)) < 1 / (1 + np.exp(-logit)),
        }
    )


@pytest.fixture(scope="module")
def fitted(answers):
    pytest.importorskip("mixedlm", reason="mixedlm is not installed (extra binomial)")
    return fit(answers, FORMULA, family="binomial", engine="mixedlm")


def test_the_engine_and_its_approximation_are_labelled(fitted):
    assert fitted.engine == "mixedlm (Laplace approximation)"
    assert fitted.warnings[-1] == mixedlm_engine.STANDARD_ERRORS
    assert np.isinf(fitted.coefficients.df).all()
    assert list(fitted.coefficients.term) == ["(Intercept)", "attractorplural"]


def test_fitted_values_are_those_of_its_modes(fitted, answers):
    effects = fitted.random_effects.pivot(index=["group", "level"], columns="term", values="estimate")
    subject = effects.loc["subject"].loc[answers.subject]
    item = effects.loc["item"].loc[answers.item]
    beta = fitted.coefficients.set_index("term").estimate
    linear = beta["(Intercept)"] + beta["attractorplural"] * (answers.attractor == "plural").to_numpy()
    linear = linear + (subject["(Intercept)"] + subject["length"] * answers.length.to_numpy()).to_numpy()
    expected = 1 / (1 + np.exp(-(linear + item["(Intercept)"].to_numpy())))
    np.testing.assert_allclose(fitted.fitted, expected, rtol=1e-10)
    np.testing.assert_allclose(fitted.predict(answers), expected, rtol=1e-10)


@pytest.mark.r
def test_estimates_agree_with_lme4_to_three_digits(rscript, fitted, answers):
    theirs = fit(answers, FORMULA, family="binomial", engine="lme4")
    np.testing.assert_allclose(fitted.coefficients.estimate, theirs.coefficients.estimate, rtol=5e-3)
    np.testing.assert_allclose(fitted.coefficients.se, theirs.coefficients.se, rtol=0.03)
    assert fitted.loglik == pytest.approx(theirs.loglik, abs=0.01)
    assert fitted.n_parameters == theirs.n_parameters
    ours, expected = fitted.variance_components, theirs.variance_components
    np.testing.assert_allclose(ours.variance, expected.variance, rtol=0.02, atol=1e-3)


def test_not_installed(answers, monkeypatch):
    monkeypatch.setattr(mixedlm_engine, "find_spec", lambda name: None)
    with pytest.raises(EngineError) as error:
        fit(answers, FORMULA, family="binomial", engine="mixedlm")
    assert str(error.value) == (
        "The engine mixedlm needs the package of that name: pip install 'psymem[binomial]'. Engine lme4 fits the same "
        "models through R."
    )


def test_a_gaussian_response_is_not_for_it(answers):
    pytest.importorskip("mixedlm", reason="mixedlm is not installed (extra binomial)")
    with pytest.raises(EngineError) as error:
        fit(answers, "length ~ attractor + (1|subject)", engine="mixedlm")
    assert str(error.value) == (
        "The engine mixedlm is for binomial and Poisson responses; use --engine profiled."
    )
