"""Reading R expressions: precedence, R's spelling, marked errors."""

from __future__ import annotations

import pytest

from psymem.errors import FormulaError
from psymem.fitting.formula.expression import deparse, names, parse


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("poly(x,2)", "poly(x, 2)"),
        ("I( x**2 )", "I(x^2)"),
        ("scale(x,scale=FALSE)", "scale(x, scale = FALSE)"),
        ("log(x+1)", "log(x + 1)"),
        ("a:b / c", "a:b/c"),
        ("-x^2", "-x^2"),
        ("reading.time", "reading.time"),
        ("`plural attractor?` + 1.50", "`plural attractor?` + 1.5"),
    ],
)
def test_deparse_spells_as_r_does(source, expected):
    assert deparse(parse(source)) == expected


def test_bar_binds_less_tightly_than_plus():
    tree = parse("1 + x | g")
    assert tree.value == "|"
    assert deparse(tree.arguments[0]) == "1 + x"


def test_power_binds_to_the_right_and_before_minus():
    assert parse("2^3^2") == parse("2^(3^2)").__class__("binary", "^", (parse("2"), parse("3^2")))
    assert parse("-x^2").kind == "unary"


def test_names_leave_out_functions_keywords_and_constants():
    assert names(parse("scale(x, scale = FALSE) + log(y):x + TRUE")) == ["x", "y"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "y ~ x + ",
            "The formula does not parse at position 8: expected a name, a number or '(', found the end.\n"
            "    y ~ x + \n           ^",
        ),
        (
            "y ~ (x + z",
            "The formula does not parse at position 5: this parenthesis is not closed.\n    y ~ (x + z\n        ^",
        ),
        (
            "y ~ x)",
            "The formula does not parse at position 6: expected the end, since no parenthesis is open, found ')'.\n"
            "    y ~ x)\n         ^",
        ),
        (
            "y x",
            "The formula does not parse at position 3: expected an operator, found 'x'.\n    y x\n      ^",
        ),
        (
            "y ~ 'x",
            "The formula does not parse at position 5: this quote is not closed.\n    y ~ 'x\n        ^",
        ),
        (
            "y ~ x @ z",
            "The formula does not parse at position 7: '@' has no meaning here.\n    y ~ x @ z\n          ^",
        ),
        ("", "The formula does not parse at position 1: the formula is empty.\n    \n    ^"),
    ],
)
def test_errors_mark_the_position(source, message):
    with pytest.raises(FormulaError) as raised:
        parse(source)
    assert str(raised.value) == message


def test_nesting_beyond_reason_is_an_error_not_a_crash():
    with pytest.raises(FormulaError, match="it is nested too deeply"):
        parse("(" * 5000 + "x" + ")" * 5000)
