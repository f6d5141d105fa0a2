"""The ends of the interval are where the noncentral chi-square leaves 2.5%."""

from __future__ import annotations

import pytest
from scipy import stats

from psymem.fitting.noncentrality import noncentrality_interval


def test_interval_of_the_gain_beyond_chance():
    low, high = noncentrality_interval(20.0, 3.0)
    assert stats.ncx2.cdf(20, 3, low) == pytest.approx(0.975)
    assert stats.ncx2.cdf(20, 3, high) == pytest.approx(0.025)
    assert noncentrality_interval(0.1, 3.0) == (0.0, 0.0)
