"""Conditions that select rows, against plain pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FormulaError, UnknownNameError
from psymem.fitting.formula.where import rows_where

FRAME = pd.DataFrame(
    {
        "violation": ["double", "semantic", "double", None],
        "item": [1, 2, 3, 4],
        "rt": [100.0, 250.0, np.nan, 400.0],
        "plural": [True, False, True, False],
        "condition": pd.Categorical(["a", "b", "a", "b"], categories=["b", "a"]),
    }
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("violation == 'double'", [0, 2]),
        ('violation != "double"', [1]),
        ("rt > 150", [1, 3]),
        ("150 < rt", [1, 3]),
        ("rt / 2 + 10 <= 60", [0]),
        ("violation == 'double' and not rt > 50", [2]),
        ("violation == 'semantic' or plural", [0, 1, 2]),
        ("violation == 'semantic' | plural == TRUE", [0, 1, 2]),
        ("item in (1, 4)", [0, 3]),
        ("item in ('1', '4')", [0, 3]),
        ("item not in [1, 4]", [1, 2]),
        ("violation not in ('double')", [1]),
        ("item == '2'", [1]),
        ("condition == 'a' & item < 3", [0]),
        ("rt == rt", [0, 1, 3]),
        ("-item < -2", [2, 3]),
    ],
)
def test_rows_are_those_of_plain_pandas(condition, expected):
    assert rows_where(FRAME, condition).tolist() == expected


@pytest.mark.parametrize(
    ("condition", "position", "problem"),
    [
        ("violation = 'double'", 11, "expected an operator, found '='. Equality is written '=='."),
        ("rt", 1, "'rt' is neither true nor false; compare it with something."),
        ("violation > 3", 11, "text and numbers cannot be ordered; put text in quotes, numbers without."),
        ("1 < 2", 3, "at least one side has to be a column."),
        ("item in rt", 6, "write a column, then a list, as in item in ('1', '2')."),
        ("__import__('os')", 1, "'__import__(\"os\")' is neither true nor false; compare it with something."),
        ("rt.__class__ == 3 and log(rt) > 2", 23, "'log(rt)' is not allowed in a condition."),
        ("violation + 1 > 2", 1, "'violation' is not a number."),
    ],
)
def test_what_cannot_be_evaluated_is_marked(condition, position, problem):
    frame = FRAME.assign(**{"rt.__class__": 3})
    with pytest.raises(FormulaError) as raised:
        rows_where(frame, condition)
    expected = f"The condition does not parse at position {position}: {problem}\n    {condition}\n    {' ' * (position - 1)}^"
    assert str(raised.value) == expected


def test_unknown_column_offers_near_names():
    with pytest.raises(
        UnknownNameError, match=r"There is no column called 'violaton'\. Did you mean 'violation'"
    ):
        rows_where(FRAME, "violaton == 'double'")
