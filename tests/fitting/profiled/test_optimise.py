"""The search in theta on functions whose minimum is known."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.fitting.profiled.optimise import differences, minimise, search


def valley(x):
    """Rosenbrock's function, minimum 0 at (1, 1)."""
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def valley_slope(x):
    return np.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])


@pytest.mark.parametrize("slope", [None, valley_slope], ids=["differences", "exact slope"])
def test_curved_valley(slope):
    found = minimise(valley, np.array([-1.2, 1.0]), slope)
    assert found.converged
    np.testing.assert_allclose(found.point, [1, 1], atol=1e-3)


def test_differences_equal_the_slope():
    x = np.array([0.3, -0.7])
    gradient, curvature = differences(valley, x, valley(x))
    np.testing.assert_allclose(gradient, valley_slope(x), rtol=1e-4)
    np.testing.assert_allclose(curvature, [1200 * 0.09 + 280 + 2, 200], rtol=1e-4)


def test_the_flat_point_at_zero_is_left():
    """A standard deviation of zero has no slope: a search that ends there starts again."""

    def two_wells(x):
        return float(x[0] ** 4 / 4 - 0.02 * x[0] ** 2)

    found = search(two_wells, np.array([0.0]), np.array([True]))
    assert abs(found.point[0]) == pytest.approx(0.2, abs=1e-3)
    assert found.starts > 1


def test_undefined_regions_are_stepped_over():
    def half_plane(x):
        return float("inf") if x[0] > 2 else float((x[0] - 1.5) ** 2)

    found = minimise(half_plane, np.array([-3.0]))
    assert found.point[0] == pytest.approx(1.5, abs=1e-4)
