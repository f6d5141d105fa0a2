"""Which text columns are categories, and which are numbers with a slip of the pen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError, FormulaError
from psymem.fitting.fit import fit

SLIP = (
    "Column 'children' has the text {text!r} in row {row}, where a number is expected. Correct it, or leave the cell "
    "empty if the value is missing. If the column holds categories, write factor() around its name."
)


@pytest.fixture
def families() -> pd.DataFrame:
    """60 families with 0, 1, 2 or "3+" children in 6 villages."""
    k = np.arange(60)
    frame = pd.DataFrame({"children": np.array(["0", "1", "2", "3+"])[k % 4], "village": k % 6})
    return frame.assign(hours=np.round(2 + k % 4 + np.sin(k) + np.cos(3 * (k % 6)), 3))


@pytest.mark.parametrize("term", ["children", "factor(children)", "C(children)", "as.factor(children)"])
def test_factor_with_numbers_among_its_levels(families, term):
    found = fit(families, f"hours ~ {term} + (1|village)")
    terms = found.coefficients["term"].tolist()
    assert terms == ["(Intercept)", f"{term}1", f"{term}2", f"{term}3+"]
    means = families.groupby("children")["hours"].mean()
    effects = found.coefficients["estimate"].to_numpy()[
        1:
    ]  # each village has each number of children equally often
    assert effects == pytest.approx((means - means["0"]).to_numpy()[1:], abs=0.15)


def test_text_that_comes_up_once_among_numbers_is_a_slip(families):
    families.loc[17, "children"] = "l"
    with pytest.raises(FitError) as raised:
        fit(families, "hours ~ children")
    assert str(raised.value) == SLIP.format(text="l", row=18)
    assert "factor(children)l" in set(fit(families, "hours ~ factor(children)").coefficients["term"])


def test_many_numbers_with_text_are_no_factor(families):
    numbers = [str(k / 2) for k in range(60)]
    numbers[3] = numbers[8] = "none"
    with pytest.raises(FitError) as raised:
        fit(families.assign(children=numbers), "hours ~ children")
    assert str(raised.value) == SLIP.format(text="none", row=4)


def test_column_inside_and_outside_of_factor_has_to_hold_numbers(families):
    families.loc[17, "children"] = "l"
    with pytest.raises(FitError) as raised:
        fit(families, "hours ~ children + factor(children)")
    assert str(raised.value) == SLIP.format(text="l", row=18)


@pytest.mark.parametrize(
    ("formula", "where", "message"),
    [
        (
            "hours ~ children + (1|1st)",
            None,
            "The formula does not parse at position 24: expected an operator or ')', found 'st'. If this is a column "
            "name, put it in backquotes: `1st`.\n    hours ~ children + (1|1st)\n                           ^",
        ),
        (
            "hours ~ 1",
            "children == 3rd",
            "The condition does not parse at position 14: expected an operator, found 'rd'. If this is a column name, "
            "put it in backquotes: `3rd`; if it is text, in quotes: '3rd'.\n    children == 3rd\n                 ^",
        ),
    ],
)
def test_name_that_starts_with_a_digit(families, formula, where, message):
    with pytest.raises(FormulaError) as raised:
        fit(families, formula, where=where)
    assert str(raised.value) == message
