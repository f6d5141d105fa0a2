"""Wilson intervals."""

from __future__ import annotations

import math

import pytest
from statsmodels.stats.proportion import proportion_confint

from psymem.studies.common.proportions import wilson_interval


@pytest.mark.parametrize("n", [1, 7, 100, 100_000])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.98, 1])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_limits_equal_those_of_statsmodels(n, share, level):
    successes = round(share * n * 2) / 2
    expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert wilson_interval(successes, n, level) == pytest.approx(expected, abs=1e-12)


def test_limits_stay_within_zero_and_one_and_need_trials():
    assert wilson_interval(0, 3)[0] == 0.0
    assert wilson_interval(3, 3)[1] == 1.0
    assert all(math.isnan(limit) for limit in wilson_interval(0, 0))
