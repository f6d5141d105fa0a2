"""ns() against R's splines::ns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError
from psymem.fitting.fit import fit
from psymem.fitting.formula.splines import natural_spline

X = np.round(np.sin(1.9 * np.arange(40)) + 0.01 * np.arange(40), 3)
# x <- round(sin(1.9 * 0:39) + 0.01 * 0:39, 3); ns(x, df = 3)[1:3, ]; ns(x, knots = c(-.5, .4))[4:5, ]
# ns(x, df = 4, intercept = TRUE)[1:2, ]
BASIS = [
    [0.16105239, 0.525468453, -0.350304178],
    [0.318834377, 0.342038644, 0.321066385],
    [-0.087126437, 0.31701766, -0.215813291],
]
GIVEN = [[-0.103450875, 0.444807667, -0.295402904], [0.206229603, 0.361130262, 0.424385655]]
CONSTANT = [
    [0.556503675, 0.274195897, 0.171052036, -0.109031268],
    [0.017434491, 0.322711517, 0.329893698, 0.329334191],
]
# d <- data.frame(x, g = factor(rep(1:8, 5)), y = round(3 + x^2 + cos(5 * 0:39) + rep(sin(1:8), 5), 3))
# m <- lm(y ~ ns(x, df = 3), d); coef(m); predict(m, data.frame(x = c(-2, 0.1, 1.9)))
# m <- lmerTest::lmer(y ~ ns(x, 3) + (1|g), d); logLik(m)
COEFFICIENTS = [3.93421816, -0.0877101963, -0.424083087, 1.25096008]
PREDICTED = [5.47192798, 3.29894592, 5.41412701]
LOGLIK = -53.0759107


@pytest.fixture
def rows() -> pd.DataFrame:
    k = np.arange(40)
    y = np.round(3 + X**2 + np.cos(5.0 * k) + np.tile(np.sin(np.arange(1, 9)), 5), 3)
    return pd.DataFrame({"x": X, "g": k % 8 + 1, "y": y})


def test_basis():
    np.testing.assert_allclose(natural_spline(X, 3, None)(X)[:3], BASIS, rtol=1e-6)
    np.testing.assert_allclose(natural_spline(X, 1, (-0.5, 0.4))(X)[3:5], GIVEN, rtol=1e-6)
    np.testing.assert_allclose(natural_spline(X, 4, None, intercept=True)(X)[:2], CONSTANT, rtol=1e-6)


def test_linear_model_and_straight_lines_beyond_the_data(rows):
    found = fit(rows, "y ~ ns(x, df = 3)")
    assert found.coefficients["term"].tolist()[1:] == [f"ns(x, df = 3){k}" for k in (1, 2, 3)]
    np.testing.assert_allclose(found.coefficients["estimate"], COEFFICIENTS, rtol=1e-6)
    np.testing.assert_allclose(found.predict(pd.DataFrame({"x": [-2, 0.1, 1.9]})), PREDICTED, rtol=1e-6)
    assert "library(splines)" in found.to_r()


def test_mixed_model(rows):
    assert fit(rows, "y ~ ns(x, 3) + (1|g)").loglik == pytest.approx(LOGLIK, abs=1e-5)
    assert fit(rows, "y ~ ns(x, knots = c(-0.5, 0.4)) + (1|g)").coefficients.shape[0] == 4


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("ns(x, 0)", "ns(x, 0): df has to be a whole number from 1 on, not 0."),
        (
            "ns(x, degree = 2)",
            "ns(x, degree = 2): ns() has no option 'degree', as in ns(x, df = 3) or ns(x, knots = c(2, 5)).",
        ),
        (
            "ns(x, knots = 7)",
            "ns(x, knots = 7): its knots (7) have to differ and lie between the smallest and the largest value, "
            "-0.894 and 1.321. Use fewer, or name others with knots = c(...).",
        ),
    ],
)
def test_what_ns_cannot_do(rows, term, message):
    with pytest.raises(FitError) as raised:
        fit(rows, f"y ~ {term}")
    assert str(raised.value) == message
