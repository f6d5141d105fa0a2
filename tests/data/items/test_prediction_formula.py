"""Prediction formulas: what is written is what is computed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psymem.data.items.prediction_formula import (
    CONNECTIVES,
    Negative,
    Number,
    Operation,
    Region,
    evaluate,
    parse_formula,
    regions,
    render,
)
from psymem.errors import SuiteError

A, B = Region(1, "a"), Region(2, "b")
VALUES = {
    ("a", 1): np.array([5.0, 1.0, math.nan]),
    ("b", 2): np.array([3.0, 1.0, 2.0]),
    ("a", None): np.array([9.0]),
}

quantities = st.recursive(
    st.builds(
        Region, st.none() | st.integers(0, 20), st.text("abc_-.: 0ä", min_size=1).map(lambda t: f"x{t}y")
    )
    | st.builds(Number, st.floats(0, 1e300)),
    lambda inner: st.builds(Operation, st.sampled_from("+-*/"), inner, inner) | st.builds(Negative, inner),
    max_leaves=8,
)
statements = st.recursive(
    st.builds(Operation, st.sampled_from("<>="), quantities, quantities),
    lambda inner: st.builds(Operation, st.sampled_from(CONNECTIVES), inner, inner),
    max_leaves=6,
)


@given(statements)
def test_a_rendered_formula_parses_to_the_same_expression(expression):
    assert parse_formula(render(expression)) == expression


@given(statements, st.data())
def test_white_space_and_the_kind_of_bracket_make_no_difference(expression, data):
    text = render(expression).replace("%)", "%) ")
    if data.draw(st.booleans()):
        text = text.replace("[", " (").replace("]", ") ")
    assert parse_formula(f" \n{text}\t") == expression


@pytest.mark.parametrize(
    ("formula", "same"),
    [
        ("(1;%a%)-(2;%b%)+1>0", "[[(1;%a%) - (2;%b%)] + 1] > 0"),
        ("(1;%a%) + 2 * (2;%b%) > -(1;%a%) / 2", "[(1;%a%) + [2 * (2;%b%)]] > [[-(1;%a%)] / 2]"),
        (
            "(1;%a%) < 1 | (1;%a%) > 2 & (2;%b%) = 3 & (2;%b%) < 4",
            "[(1;%a%) < 1] | [[[(1;%a%) > 2] & [(2;%b%) = 3]] & [(2;%b%) < 4]]",
        ),
        ("((((1;%a%))) < (2;%b%))", "(1;%a%) < (2;%b%)"),
        ("( 1 ; % a % ) < .5e1", "(1;%a%) < 5"),
    ],
    ids=["left to right", "tightness", "and before or, any number of them", "nested groups", "blanks inside"],
)
def test_operators_bind_as_documented(formula, same):
    assert render(parse_formula(formula)) == same


@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        ("(1;%a%) > (2;%b%)", [1, 0, math.nan]),
        ("(1;%a%) < (2;%b%) | (1;%a%) = (2;%b%)", [0, 1, math.nan]),
        ("[(1;%a%) > 0] & [(2;%b%) > 2]", [1, 0, math.nan]),
        ("(2;%b%) * 2 - 1 = 5.0005 | -(2;%b%) / 4 = -0.25", [1, 1, 0]),
        ("(2;%b%) = 3.0011", [0, 0, 0]),
        ("(*;%a%) > 8", [1]),
        ("(2;%b%) / [(2;%b%) - 1] > 1", [1, 1, 1]),
    ],
)
def test_formulas_are_computed_for_all_items_at_once(formula, truth):
    np.testing.assert_array_equal(evaluate(parse_formula(formula), VALUES), truth)


def test_nothing_divided_by_nothing_is_undefined():
    values = {("a", 1): np.zeros(1)}
    assert math.isnan(evaluate(parse_formula("(1;%a%) / (1;%a%) > 1"), values)[0])


def test_regions_come_with_their_places():
    found = list(regions(parse_formula("[(1;%a%) - (2;%b%)] > -(*;%c d%)")))
    assert [(r.number, r.condition, r.position) for r in found] == [
        (1, "a", 1),
        (2, "b", 11),
        (None, "c d", 23),
    ]


CHAINED = "'<' needs quantities, but beside it is a comparison. Write '[a < b] & [b < c]'."
HINT = "';' has no meaning here. A region is written (NUMBER;%CONDITION%)."


@pytest.mark.parametrize(
    ("formula", "character", "problem"),
    [
        ("", 1, "the formula ends where a region, a number or a group was expected."),
        ("(1;%a%) > ", 10, "the formula ends where a region, a number or a group was expected."),
        ("(1;%a%) > > 2", 11, "'>' stands where a region, a number or a group was expected."),
        ("[(1;%a%) > 2", 13, "the formula ends where ']' was expected to close the '[' at character 1."),
        ("[(1;%a%) > 2)", 13, "')' stands where ']' was expected to close the '[' at character 1."),
        ("(1;%a%) > 2]", 12, "']' is not expected here; is an operator missing?"),
        ("(1;%a%) (2;%a%) > 1", 9, "'(2;%a%)' is not expected here; is an operator missing?"),
        ("(1;%a) > 2", 3, HINT),
        ("(one;%a%) > 2", 2, "'o' has no meaning here."),
        ("(1;%a%)  ≥ 3", 10, "'≥' has no meaning here."),
        ("(1;%a%) < (2;%b%) < 3", 19, CHAINED),
        ("(1;%a%) + 2", 1, "it is a quantity; a prediction compares two of them with <, >, <=, >= or =."),
        ("(1;%a%) & 1 > 2", 9, "'&' joins comparisons, but beside it is a quantity."),
        ("[1 > (1;%a%)] + 2 > 1", 15, "'+' needs quantities, but beside it is a comparison."),
        ("-[1 > 2] > 1", 1, "'-' needs a quantity, but a comparison follows it."),
    ],
)
def test_mistakes_are_marked(formula, character, problem):
    with pytest.raises(SuiteError) as caught:
        parse_formula(formula)
    assert str(caught.value) == (
        f"The formula does not parse at character {character}: {problem}\n"
        f"    {formula}\n    {' ' * (character - 1)}^"
    )


def test_deep_nesting_is_refused():
    with pytest.raises(SuiteError) as caught:
        parse_formula("(" * 5000)
    assert str(caught.value) == (
        f"The formula does not parse at character 1: it is nested too deeply.\n    {'(' * 60}\n    ^"
    )


def test_at_least_and_at_most_hold_where_more_less_or_equal_does():
    values = {("a", 1): np.array([1.0, 2.0, 3.0, np.nan]), ("b", 1): np.array([2.0, 2.0004, 1.0, 1.0])}
    for operator, expected in ((">=", [0, 1, 1, np.nan]), ("<=", [1, 1, 0, np.nan])):
        formula = parse_formula(f"(1;%a%){operator}(1;%b%)")
        np.testing.assert_array_equal(evaluate(formula, values), expected)
        assert parse_formula(render(formula)) == formula
