"""lme4 formulas taken apart."""

from __future__ import annotations

import pytest

from psymem.errors import FitError, FormulaError
from psymem.fitting.formula.expression import deparse
from psymem.fitting.formula.terms import parse_formula


def spelled(terms):
    return [":".join(deparse(terms.factors[k]) for k in term) or "1" for term in terms.terms]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("y ~ a * b", ["1", "a", "b", "a:b"]),
        ("y ~ (a + b + c)^2 - a:b", ["1", "a", "b", "c", "a:c", "b:c"]),
        ("y ~ 0 + a", ["a"]),
        ("y ~ a - 1 + b", ["a", "b"]),
        ("y ~ b:a + a", ["1", "a", "b:a"]),
        ("y ~ a / b", ["1", "a", "a:b"]),
        ("y ~ log(x) + I(x^2) + poly(z, 2)", ["1", "log(x)", "I(x^2)", "poly(z, 2)"]),
        ("y ~ (1 | g)", ["1"]),
        ("y ~ (1 | g) + x", ["1", "x"]),
        ("y ~ (1 | g) - x", ["1"]),
    ],
)
def test_fixed_terms_in_the_order_of_r(formula, expected):
    assert spelled(parse_formula(formula).fixed) == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("y ~ 1 + (1 | g)", [("g", ["1"])]),
        ("y ~ 1 + (1 + x | g)", [("g", ["1", "x"])]),
        ("y ~ 1 + (0 + x | g)", [("g", ["x"])]),
        ("y ~ 1 + (1 + x || g)", [("g", ["1"]), ("g", ["x"])]),
        ("y ~ 1 + (x * z || g)", [("g", ["1"]), ("g", ["x"]), ("g", ["z"]), ("g", ["x:z"])]),
        ("y ~ 1 + (1 | a/b)", [("b:a", ["1"]), ("a", ["1"])]),
        ("y ~ 1 + (1 | a:b)", [("a:b", ["1"])]),
        ("y ~ (x + (1 | g))", [("g", ["1"])]),
    ],
)
def test_bars_expand_as_in_lme4(formula, expected):
    assert [(bar.name, spelled(bar.terms)) for bar in parse_formula(formula).bars] == expected


def test_columns_are_all_variables_once():
    assert parse_formula("log(y) ~ scale(x) * C(a) + (1 + x | g/h)").columns == ["y", "x", "a", "h", "g"]


MARKED = {
    "y ~ x | g": (7, "put random effects in parentheses, as in '(1 | item)'."),
    "y ~ x * (1 | g)": (12, "random effects can be added with '+' only."),
    "y ~ x - (1 | g)": (7, "random effects can be added, not subtracted."),
    "y ~ (0 | g)": (6, "there is nothing to vary: the left side of this bar is empty."),
    "y ~ (1 | log(g))": (
        10,
        "a grouping factor is a column, 'a:b' or 'a/b'; make other groups a column first.",
    ),
    "y ~ (1 | a | b)": (12, "a random-effect term has one bar only."),
    "~ x": (1, "there is no response before '~'; write 'response ~ predictors', as in 'y ~ x + (1 | item)'."),
    "y": (1, "'~' is missing; write 'response ~ predictors', as in 'y ~ x + (1 | item)'."),
    "y ~ a ~ b": (3, "a formula has one '~' only."),
    "y ~ x * offset(z)": (9, "offset() can be added to the fixed part only."),
    "y ~ x - offset(z)": (9, "offset() can be added to the fixed part only."),
    "y ~ x + (1 + offset(z) | g)": (14, "offset() can be added to the fixed part only."),
    "y ~ x + offset(z, w)": (9, "offset() holds one expression, as in offset(log(seconds))."),
    "log(cbind(y, z)) ~ x": (
        5,
        "cbind() is the whole left-hand side and has two counts, as in 'cbind(correct, wrong) ~ x'.",
    ),
    "cbind(y) ~ x": (
        1,
        "cbind() is the whole left-hand side and has two counts, as in 'cbind(correct, wrong) ~ x'.",
    ),
    "y ~ .": (5, "'.' (all other columns) is not supported; name the columns."),
    "y ~ x > 5": (7, "'x > 5' is not a term; wrap arithmetic in I(), as in I(x > 5)."),
    "y ~ x/0": (
        6,
        "'/' joins columns, and one side of it is a number; wrap arithmetic in I(), as in I(x / 2).",
    ),
    "y ~ 2 * x": (
        7,
        "'*' joins columns, and one side of it is a number; wrap arithmetic in I(), as in I(x / 2).",
    ),
    "y ~ x - 3": (9, "a number other than 0 and 1 is not a term; wrap arithmetic in I()."),
    "y ~ x + (2 | g)": (10, "a number other than 0 and 1 is not a term; wrap arithmetic in I()."),
    "y ~ x^z": (
        6,
        "the exponent 'z' is not a whole number from 1 on; wrap arithmetic in I(), as in I(x^0.5).",
    ),
    "y ~ a %in% b": (7, "'%in%' is not supported; write 'a:b' or 'a/b'."),
}


@pytest.mark.parametrize("formula", MARKED)
def test_what_is_not_understood_is_marked(formula):
    position, problem = MARKED[formula]
    with pytest.raises(FormulaError) as raised:
        parse_formula(formula)
    expected = f"The formula does not parse at position {position}: {problem}\n    {formula}\n    {' ' * (position - 1)}^"
    assert str(raised.value) == expected


def test_random_effects_without_a_fixed_part():
    with pytest.raises(FitError) as raised:
        parse_formula("y ~ 0 + (1 | g)")
    assert str(raised.value) == (
        "The formula 'y ~ 0 + (1 | g)' has random effects but no fixed part. Keep the intercept: replace '0 +' or '- 1' by "
        "'1 +', so that the random effects vary around an estimated mean."
    )
