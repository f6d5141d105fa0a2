"""From a table to rows, matrices and groups; each bad table once, with its whole message."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.formula.coding import independent_columns
from psymem.fitting.formula.design import build
from psymem.fitting.spec import make_spec


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    n = 60
    return pd.DataFrame(
        {
            "y": rng.normal(size=n),
            "x": rng.normal(size=n),
            "item": np.arange(n) % 6,
            "subject": [f"s{k // 10}" for k in range(n)],
            "condition": np.where(np.arange(n) % 2, "a", "b"),
            "plural": np.arange(n) % 3 == 0,
        }
    )


def names(frame, formula, **options):
    return list(build(frame, make_spec(formula, **options)).names)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("y ~ condition * plural", ["(Intercept)", "conditionb", "pluralTRUE", "conditionb:pluralTRUE"]),
        ("y ~ 0 + condition + plural", ["conditiona", "conditionb", "pluralTRUE"]),
        ("y ~ x:condition", ["(Intercept)", "x:conditiona", "x:conditionb"]),
        ("y ~ x + x:condition", ["(Intercept)", "x", "x:conditionb"]),
        ("y ~ C(item)", ["(Intercept)", *(f"C(item){k}" for k in range(1, 6))]),
        ("y ~ poly(x, 2) + I(x > 0)", ["(Intercept)", "poly(x, 2)1", "poly(x, 2)2", "I(x > 0)TRUE"]),
        ("y ~ C(condition, sum)", ["(Intercept)", "C(condition, sum)1"]),
    ],
)
def test_coefficients_are_named_as_in_r(frame, formula, expected):
    assert names(frame, formula) == expected


def test_an_interaction_alone_drops_the_column_that_r_drops(frame):
    data = build(frame, make_spec("y ~ condition:plural"))
    assert data.names == (
        "(Intercept)",
        "conditiona:pluralFALSE",
        "conditionb:pluralFALSE",
        "conditiona:pluralTRUE",
    )
    assert data.dropped_columns == ("conditionb:pluralTRUE",)


def test_order_of_categories(frame):
    given = build(frame, make_spec("y ~ condition", levels={"condition": ["b", "a"]}))
    categorical = build(
        frame.assign(condition=pd.Categorical(frame.condition, ["b", "a"])), make_spec("y ~ condition")
    )
    alphabetical = build(frame, make_spec("y ~ condition"))
    assert given.levels == categorical.levels == {"condition": ("b", "a")}
    assert alphabetical.levels == {"condition": ("a", "b")}
    assert names(frame, "y ~ item", levels={"item": [3, 0, 1, 2, 4, 5]})[1:3] == ["item0", "item1"]


def test_text_sorts_upper_and_lower_case_side_by_side(frame):
    words = np.array(["b", "A", "a", "B", "c", "C"])[np.arange(60) % 6]
    assert build(frame.assign(w=words), make_spec("y ~ w")).levels["w"] == ("a", "A", "b", "B", "c", "C")


def test_one_filter_over_all_variables_counts_the_rows(frame):
    frame = frame.astype({"item": float, "subject": object})
    frame.loc[0, "y"], frame.loc[1, "x"], frame.loc[2, "item"], frame.loc[3, "subject"] = (
        np.nan,
        np.nan,
        np.nan,
        None,
    )
    data = build(frame, make_spec("y ~ x + (1|item) + (1|subject)", where="condition == 'b'"))
    assert data.dropped_rows == {"not selected by where": 30, "missing values": 2}
    assert data.frame.index.tolist() == list(range(4, 60, 2))


def test_frame_holds_what_was_fitted(frame):
    data = build(frame, make_spec("y ~ x * plural + (1|item)"))
    assert data.frame.plural.cat.categories.tolist() == ["FALSE", "TRUE"]
    assert data.frame.item.cat.categories.tolist() == ["0", "1", "2", "3", "4", "5"]
    np.testing.assert_array_equal(data.frame.x, frame.x)


def test_crossed_groups_are_named_as_in_lme4(frame):
    terms = build(frame, make_spec("y ~ 1 + (1 | condition/item)")).random
    assert [(term.group, term.levels[:2]) for term in terms] == [
        ("item:condition", ("0:b", "1:a")),
        ("condition", ("a", "b")),
    ]


def test_independent_columns_are_those_of_a_stepwise_projection():
    rng = np.random.default_rng(3)
    a = rng.normal(size=(30, 3))
    matrix = np.column_stack(
        [np.ones(30), a[:, 0], 2 * a[:, 0] - 1, a[:, 1], a[:, 0] + a[:, 1], np.zeros(30), a[:, 2]]
    )
    assert independent_columns(matrix) == [0, 1, 3, 6]


def spoil(**cells):
    def change(frame):
        for column, (row, value) in cells.items():
            frame[column] = frame[column].astype(object)
            frame.loc[row, column] = value
            frame[column] = frame[column].infer_objects()
        return frame

    return change


BAD = {
    "text in a predictor": (
        spoil(x=(3, "abc")),
        "y ~ x + (1|item)",
        "Column 'x' has the text 'abc' in row 4, where a number is expected. Correct it, or leave the "
        "cell empty if the value is missing. If the column holds categories, write factor() around its name.",
    ),
    "text in the response": (
        spoil(y=(4, "fast")),
        "y ~ x + (1|item)",
        "Column 'y' has the text 'fast' in row 5, where a number is expected. Correct it, or leave the "
        "cell empty if the value "
        "is missing.",
    ),
    "infinite predictor": (
        spoil(x=(5, np.inf)),
        "y ~ x + (1|item)",
        "'x' is infinite in row 6 (1 such value in all). Leave such rows out with where, or mark them as missing.",
    ),
    "infinite response": (
        spoil(y=(5, -np.inf)),
        "y ~ x + (1|item)",
        "'y' is infinite in row 6 (1 such value in all). Leave such rows out with where, or mark them as missing.",
    ),
    "response all missing": (
        lambda f: f.assign(y=np.nan),
        "y ~ x + (1|item)",
        "The response 'y' is missing in all 60 rows; there is nothing to fit.",
    ),
    "no complete row": (
        lambda f: f.assign(
            x=np.where(f.condition == "a", np.nan, f.x), y=np.where(f.condition == "b", np.nan, f.y)
        ),
        "y ~ x",
        "Each of the 60 rows has a missing value in some variable of 'y ~ x'; none is left.",
    ),
    "empty table": (lambda f: f.head(0), "y ~ x", "There is no row to fit: the table is empty."),
    "one level of a grouping factor": (
        lambda f: f.assign(item="a"),
        "y ~ x + (1|item)",
        "The grouping factor 'item' has one level only ('a'), so no variance between its levels can be "
        "estimated. Take its term "
        "out of the formula, or use more rows.",
    ),
    "one level of a factor": (
        lambda f: f.assign(condition="a"),
        "y ~ condition + (1|item)",
        "'condition' has one level in the rows used (only 'a'), so it has no effect to estimate. Take it "
        "out of the formula, or "
        "use more rows.",
    ),
    "a level per row": (
        lambda f: f.assign(row=range(60)),
        "y ~ x + (1|row)",
        "The grouping factor 'row' has a level for each of the 60 rows, so its variance cannot be told "
        "from the residual. Leave "
        "it out, or use rows with repeated levels.",
    ),
    "more random effects than rows": (
        lambda f: f.assign(pair=np.arange(60) // 2),
        "y ~ x + (1 + x + item | pair)",
        "The term ((Intercept) + x + item | pair) has 90 random effects (30 levels x 3), not fewer than "
        "the 60 rows, so they "
        "cannot be told from the residual. Use fewer slopes.",
    ),
    "more parameters than rows": (
        lambda f: f.head(6),
        "y ~ C(item)",
        "The model has 6 fixed effects ((Intercept), C(item)1, C(item)2, C(item)3, C(item)4, ...) and "
        "only 6 rows to estimate "
        "them from.",
    ),
    "dates": (
        lambda f: f.assign(x=pd.Timestamp("2020-01-01")),
        "y ~ x",
        "Column 'x' holds dates or durations; turn it into numbers, for example days or ms.",
    ),
    "no response column": (
        lambda f: f,
        "1 ~ x",
        "The left-hand side of '1 ~ x' names no column; write 'response ~ predictors'.",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_in_words(frame, case):
    change, formula, message = BAD[case]
    with pytest.raises(FitError) as raised:
        build(change(frame), make_spec(formula))
    assert str(raised.value) == message


def test_levels_that_lack_a_value(frame):
    with pytest.raises(FitError) as raised:
        build(frame, make_spec("y ~ condition", levels={"condition": ["a", "c"]}))
    assert str(raised.value) == (
        "Column 'condition' has the value 'b', which is missing from the levels given (a, c). Add it, or "
        "leave its rows out with "
        "where."
    )


def test_where_that_selects_nothing(frame):
    with pytest.raises(FitError) as raised:
        build(frame, make_spec("y ~ x", where="x > 100"))
    assert str(raised.value) == "There is no row to fit: none satisfies 'x > 100'."


def test_missing_columns_offer_near_names(frame):
    with pytest.raises(UnknownNameError, match=r"There is no column called 'itm'\. Did you mean 'item'\?"):
        build(frame, make_spec("y ~ x + (1|itm)"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "gamma"}, "The family is 'gamma'; it can be gaussian, binomial, poisson."),
        ({"intervals": "boot"}, "The kind of interval is 'boot'; it can be wald or profile."),
        ({"confidence": 95}, "The confidence level is 95; it has to lie between 0 and 1, as in 0.95."),
    ],
)
def test_options_that_do_not_exist(options, message):
    with pytest.raises(FitError) as raised:
        make_spec("y ~ x", **options)
    assert str(raised.value) == message
