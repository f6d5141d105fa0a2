"""Random effects that no amount of data tells apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.fitting.fit import fit
from psymem.fitting.formula.design import build
from psymem.fitting.formula.identification import unidentified
from psymem.fitting.spec import make_spec


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """20 groups x 2 categories x 4, with three categories more in another column and a number."""
    k = np.arange(160)
    frame = pd.DataFrame(
        {"g": [f"g{i:02d}" for i in k // 8], "f": np.where(k % 2, "b", "a"), "x": np.sin(k * 1.1)}
    )
    frame["h"] = np.array(["u", "v", "w"])[(k // 2) % 3]
    frame["again"] = "s" + frame["g"]
    effect = np.sin(3 * (k // 8)) + 0.8 * (k % 2) * np.cos(2 * (k // 8))
    return frame.assign(y=np.round(5 + effect + np.cos(7.3 * k + k**2), 3))


def said(rows, formula):
    return unidentified(build(rows, make_spec(formula)).random)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ f + (f || g)", "(1 | g) and (fa + fb | g)"),
        ("y ~ f + (1|g) + (0 + f|g)", "(1 | g) and (fa + fb | g)"),
        ("y ~ h + (1|g) + (0 + h|g)", "(1 | g) and (hu + hv + hw | g)"),
        ("y ~ x + (1|g) + (1 + x|g)", "(1 | g) and (1 + x | g)"),
        ("y ~ x + (1|g) + (1|again)", "(1 | g) and (1 | again)"),
        ("y ~ f + (1|g:f) + (1|f:again)", "(1 | g:f) and (1 | f:again)"),
    ],
)
def test_overlapping_terms_are_named(rows, formula, terms):
    found = said(rows, formula)
    assert len(found) == 1
    assert found[0].startswith(f"The variances of {terms} are not identified: ")


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ x + (1 + x | g)",
        "y ~ x + (1 + x || g)",
        "y ~ f + (1 + f | g)",
        "y ~ f + (0 + f | g)",
        "y ~ f + (1 | g/f)",
        "y ~ f + (1 | g) + (1 | h)",
        "y ~ x + (1 | g) + (0 + x + I(x^2) | g)",
    ],
)
def test_terms_that_are_told_apart_are_not(rows, formula):
    assert said(rows, formula) == []


def test_fit_says_so_and_agrees_in_what_is_determined(rows):
    """The log-likelihood and the fixed effects of (f || g) are those of (0 + f | g)."""
    double, single = (fit(rows, f"y ~ f + ({bar} g)") for bar in ("f ||", "0 + f |"))
    assert double.warnings[0].endswith("and || takes numbers apart, not factors.")
    assert single.warnings == []
    assert double.loglik == pytest.approx(single.loglik, abs=1e-6)
    np.testing.assert_allclose(double.coefficients["se"], single.coefficients["se"], rtol=1e-4)


@pytest.mark.r
def test_lme4_gets_the_same_sentence(rscript, rows):
    found = fit(rows, "y ~ f + (f || g)", engine="lme4")
    assert found.warnings[0].startswith("The variances of (1 | g) and (fa + fb | g) are not identified: ")
