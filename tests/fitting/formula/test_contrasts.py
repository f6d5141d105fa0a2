"""Coding matrices as R's contr.* functions print them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.formula.contrasts import as_contrast

LEVELS = ("none", "double", "semantic")
R_MATRICES = {
    "treatment": ([[0, 0], [1, 0], [0, 1]], ("double", "semantic")),
    "sum": ([[1, 0], [0, 1], [-1, -1]], ("1", "2")),
    "helmert": ([[-1, -1], [1, -1], [0, 2]], ("1", "2")),
}


@pytest.mark.parametrize("name", R_MATRICES)
def test_named_codings_equal_r(name):
    matrix, suffixes = as_contrast("attraction", name).coding("attraction", LEVELS)
    expected, expected_suffixes = R_MATRICES[name]
    np.testing.assert_array_equal(matrix, expected)
    assert tuple(suffixes) == expected_suffixes


def test_names_of_r_are_understood():
    assert as_contrast("attraction", "contr.sum").name == "sum"


@pytest.mark.parametrize(
    "given",
    [{"any": [-1, 0.5, 0.5], "both": [0, 1, -1]}, pd.DataFrame({"any": [-1, 0.5, 0.5], "both": [0, 1, -1]})],
    ids=["mapping", "frame"],
)
def test_custom_matrix_keeps_its_column_names(given):
    matrix, suffixes = as_contrast("attraction", given).coding("attraction", LEVELS)
    np.testing.assert_array_equal(matrix, [[-1, 0], [0.5, 1], [0.5, -1]])
    assert suffixes == ("any", "both")


def test_unknown_name_lists_the_known():
    with pytest.raises(UnknownNameError) as raised:
        as_contrast("attraction", "poly")
    assert str(raised.value) == "There is no contrast coding called 'poly'. Known: helmert, sum, treatment."


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            [[1], [2]],
            "The contrast matrix of 'attraction' has 2 rows; it needs one for each of the 3 levels none, "
            "double, semantic, in "
            "this order.",
        ),
        (
            [[1], [1], [1]],
            "The contrast matrix of 'attraction' is not of full rank together with the intercept; no "
            "column may be constant or "
            "follow from the others.",
        ),
    ],
    ids=["rows", "rank"],
)
def test_matrices_that_do_not_code(matrix, message):
    with pytest.raises(FitError) as raised:
        as_contrast("attraction", matrix).coding("attraction", LEVELS)
    assert str(raised.value) == message


def test_a_matrix_holds_finite_numbers():
    with pytest.raises(FitError) as raised:
        as_contrast("attraction", [["a", "b"]])
    assert str(raised.value) == (
        "The contrast matrix of 'attraction' has to be a table of finite numbers, levels x columns."
    )
