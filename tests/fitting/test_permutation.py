"""Intervals by permutation hold exactly the values that the test does not reject."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from psymem.fitting.cross_validation import permutation_p
from psymem.fitting.permutation import permutation_interval


@pytest.mark.parametrize("n", [9, 30])
def test_ends_are_where_the_test_turns(rng, n):
    sizes = rng.integers(5, 40, n)
    difference = sizes * rng.normal(0.02, 0.05, n)
    low, high = permutation_interval(difference, sizes, permutations=2000, seed=3)
    width = high - low
    for end, sign in ((low, -1), (high, 1)):
        inside, outside = end - sign * 0.03 * width, end + sign * 0.03 * width
        assert permutation_p(difference - inside * sizes, 2000, 3) >= 0.05
        assert permutation_p(difference - outside * sizes, 2000, 3) < 0.05
    assert low < difference.sum() / sizes.sum() < high


def test_close_to_the_t_interval_for_many_normal_groups(rng):
    difference = rng.normal(0.3, 1, 60)
    low, high = permutation_interval(difference, np.ones(60), permutations=4000)
    expected = stats.t.interval(0.95, 59, difference.mean(), difference.std(ddof=1) / np.sqrt(60))
    np.testing.assert_allclose([low, high], expected, atol=0.03)


def test_five_groups_exclude_nothing():
    assert np.isnan(permutation_interval(np.array([1.0, 2, 3, 4, 5]), np.ones(5))).all()
