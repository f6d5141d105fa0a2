"""Functions in formulas, against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.formula.expression import parse
from psymem.fitting.formula.transforms import Columns, Factor, Numbers, evaluate, number


@pytest.fixture
def columns():
    rng = np.random.default_rng(1)
    values = {
        "x": Numbers(rng.normal(3, 2, 40)[:, None]),
        "k": Numbers(np.repeat([2.0, 10.0, 1.5, 7.0], 10)[:, None]),
        "a": Factor(np.tile([0, 1], 20).astype(np.int32), ("u", "v")),
    }
    return Columns(values, np.arange(1, 41))


def test_scale_divides_by_the_standard_deviation_with_n_minus_one(columns):
    x = pd.Series(columns.variables["x"].matrix[:, 0])
    np.testing.assert_allclose(number(parse("scale(x)"), columns), (x - x.mean()) / x.std())
    np.testing.assert_allclose(number(parse("scale(x, scale = FALSE)"), columns), x - x.mean())


def test_poly_is_orthonormal_and_spans_the_powers(columns):
    basis = evaluate(parse("poly(x, 3)"), columns)
    x = columns.variables["x"].matrix[:, 0]
    np.testing.assert_allclose(basis.matrix.T @ basis.matrix, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(basis.matrix.sum(axis=0), 0, atol=1e-10)
    whole = np.column_stack([np.ones(40), basis.matrix])
    np.testing.assert_allclose(whole @ np.linalg.lstsq(whole, x**3, rcond=None)[0], x**3)
    assert basis.suffixes == ("1", "2", "3")


def test_stateful_functions_reuse_what_they_found(columns):
    for source in ("scale(x)", "poly(x, 2)"):
        whole = evaluate(parse(source), columns).matrix
        part = Columns({"x": Numbers(columns.variables["x"].matrix[:7])}, np.arange(7), columns.memory)
        np.testing.assert_allclose(evaluate(parse(source), part).matrix, whole[:7])


def test_factor_of_numbers_sorts_by_size(columns):
    assert evaluate(parse("factor(k)"), columns).levels == ("1.5", "2", "7", "10")


def test_arithmetic_is_that_of_numpy(columns):
    x = columns.variables["x"].matrix[:, 0]
    np.testing.assert_allclose(evaluate(parse("I(-x^2 / 2 + 1)"), columns).matrix[:, 0], -(x**2) / 2 + 1)
    np.testing.assert_allclose(number(parse("log(exp(x), 2)"), columns), x / np.log(2))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "log(k - 2)",
            "log(k - 2) needs positive values; k - 2 is 0 in row 1 and 19 more. Leave such rows out with "
            "where, or transform "
            "the column first.",
        ),
        (
            "sqrt(k - 9)",
            "sqrt(k - 9) needs values of at least 0; k - 9 is -7 in row 1 and 29 more. Leave such rows out with where, or "
            "transform the column first.",
        ),
        ("scale(a)", "'a' holds categories (u, v) where numbers are needed."),
        ("poly(k, 4)", "poly(k, 4) needs more than 4 different values of k."),
        ("scale(k - k)", "scale(k - k) cannot be computed: k - k has the same value in every row."),
        ("log(k, k, k)", "log() takes one column in a formula; 'log(k, k, k)' gives 3."),
    ],
)
def test_values_outside_the_domain_are_named(columns, source, message):
    with pytest.raises(FitError) as raised:
        evaluate(parse(source), columns)
    assert str(raised.value) == message


def test_unknown_function_lists_the_known(columns):
    with pytest.raises(UnknownNameError, match="There is no function for formulas called 'sin'"):
        evaluate(parse("sin(x)"), columns)
