"""Theta and the coordinates of the search."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.fitting.formula.design import build
from psymem.fitting.profiled.parameters import orthonormalise
from psymem.fitting.spec import make_spec


@pytest.fixture
def prepared(crossed):
    random = build(crossed, make_spec("y ~ x + (1 + x + z|subject) + (1|item) + (0 + x|item)")).random
    return random, *orthonormalise(random)


def test_columns_are_orthonormal_within_a_bar(prepared):
    _, changed, _ = prepared
    columns = changed[0].columns
    np.testing.assert_allclose(columns.T @ columns / len(columns), np.eye(3), atol=1e-12)


def test_the_covariance_of_the_effects_is_the_same_in_both_coordinates(prepared):
    random, changed, coordinates = prepared
    theta = np.array([0.8, 0.1, -0.2, 0.5, 0.05, 0.3, 1.1, 0.4])
    for old, new, root, searched in zip(
        random, changed, coordinates.split(theta), coordinates.orthonormal(theta), strict=True
    ):
        np.testing.assert_allclose(new.columns @ searched, old.columns @ root, atol=1e-10)
        np.testing.assert_allclose(searched, np.tril(searched))
    np.testing.assert_allclose(coordinates.original(coordinates.join(coordinates.orthonormal(theta))), theta)


def test_theta_runs_column_by_column_as_in_lme4(prepared):
    _, _, coordinates = prepared
    root = coordinates.split(np.arange(1.0, 9.0))[0]
    np.testing.assert_array_equal(root, [[1, 0, 0], [2, 4, 0], [3, 5, 6]])
    assert coordinates.diagonal.tolist() == [True, False, False, True, False, True, True, True]


def test_signs_of_columns_are_of_no_meaning(prepared):
    _, _, coordinates = prepared
    theta = np.array([0.8, 0.1, -0.2, 0.5, 0.05, 0.3, 1.1, 0.4])
    flipped = coordinates.join(coordinates.orthonormal(theta)) * np.array([-1, -1, -1, 1, 1, 1, -1, 1])
    np.testing.assert_allclose(coordinates.original(flipped), theta)
