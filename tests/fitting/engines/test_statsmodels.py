"""Baselines through statsmodels, against the default engine and statsmodels itself."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.errors import EngineError, FitError
from psymem.fitting.fit import fit


def test_ols_equals_the_default_engine(crossed):
    ours, theirs = fit(crossed, "y ~ x * condition"), fit(crossed, "y ~ x * condition", engine="statsmodels")
    columns = ["estimate", "se", "df", "t", "p", "ci_low", "ci_high"]
    np.testing.assert_allclose(
        theirs.coefficients[columns], ours.coefficients[columns], rtol=1e-7, atol=1e-12
    )
    assert theirs.loglik == pytest.approx(ours.loglik)
    assert theirs.engine == "statsmodels OLS"


def test_one_grouping_factor_equals_the_default_engine(crossed):
    formula = "y ~ x + (1 + x|subject)"
    ours, theirs = fit(crossed, formula), fit(crossed, formula, engine="statsmodels")
    np.testing.assert_allclose(theirs.coefficients.estimate, ours.coefficients.estimate, rtol=1e-3)
    np.testing.assert_allclose(theirs.coefficients.se, ours.coefficients.se, rtol=1e-2)
    assert theirs.loglik == pytest.approx(ours.loglik, abs=0.01)
    assert (
        "statsmodels gives no degrees of freedom for this model; t and p are those of the normal distribution."
        in theirs.warnings
    )


def test_binomial_without_random_effects_goes_to_a_glm(crossed):
    import statsmodels.api as sm

    found = fit(crossed, "plural ~ x", family="binomial")
    expected = sm.GLM(
        crossed.plural.astype(float), sm.add_constant(crossed.x), family=sm.families.Binomial()
    ).fit()
    np.testing.assert_allclose(found.coefficients.estimate, expected.params)
    np.testing.assert_allclose(found.coefficients.se, expected.bse)
    np.testing.assert_allclose(found.predict(crossed), expected.fittedvalues)
    assert found.engine == "statsmodels GLM"
    assert found.warnings == ["The response 'plural' counts FALSE as 0 and TRUE as 1."]


def test_gee_takes_its_group_from_the_bar(crossed):
    found = fit(crossed, "y ~ x + (1|subject)", engine="statsmodels", group="subject")
    assert found.engine == "statsmodels GEE"
    assert found.n_groups == {"subject": 20}
    assert np.isnan(found.loglik)


@pytest.mark.parametrize(
    ("formula", "options", "error", "message"),
    [
        (
            "y ~ x + (1|subject) + (1|item)",
            {},
            EngineError,
            "statsmodels fits one random-effect term, not the grouping factors subject, item. Choose engine 'profiled' or "
            "'lme4'.",
        ),
        (
            "plural ~ x + (1|subject)",
            {"family": "binomial"},
            EngineError,
            "statsmodels has no likelihood fit of binomial models with random effects. Choose engine 'lme4'.",
        ),
        (
            "y ~ x",
            {"group": "subject"},
            EngineError,
            "A GEE needs the grouping column in the formula as '(1 | subject)', and no other random "
            "effect; it is the working "
            "correlation, not a variance component.",
        ),
        (
            "z ~ x",
            {"family": "binomial"},
            FitError,
            "The response 'z' is {first:g} in row {row}; a binomial model needs 0 and 1. For other numbers leave "
            "the family out.",
        ),
    ],
)
def test_what_statsmodels_cannot_fit(crossed, formula, options, error, message):
    wrong = crossed.z[~crossed.z.isin([0, 1])]
    outside, row = wrong.iloc[0], crossed.index.get_loc(wrong.index[0]) + 1
    with pytest.raises(error) as raised:
        fit(crossed, formula, engine="statsmodels", **options)
    assert str(raised.value) == message.format(first=outside, row=row)
