"""Shares and their intervals against GEE, and bins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from psymem.studies.common.proportions import wilson_interval
from psymem.studies.dependency.shares import binned, mean_interval, share_interval


def test_intervals_are_those_of_gee(rng):
    """GEE with an independent working correlation has the same standard errors, but for C/(C-1)."""
    clusters = np.sort(rng.integers(0, 60, 300))
    hits = (rng.random(300) < 0.3 + 0.4 * (clusters % 2)).astype(float)
    n = len(np.unique(clusters))
    quantile = stats.t.ppf(0.975, n - 1)
    for family, function in (
        (sm.families.Binomial(), share_interval),
        (sm.families.Gaussian(), mean_interval),
    ):
        gee = sm.GEE(hits, np.ones((300, 1)), groups=clusters, family=family).fit()
        half = quantile * gee.bse[0] * np.sqrt(n / (n - 1))
        low, high = (gee.params[0] + step for step in (-half, half))
        if function is share_interval:
            low, high = (1 / (1 + np.exp(-x)) for x in (low, high))
        assert function(hits, clusters) == pytest.approx((hits.mean(), low, high), rel=1e-6)


def test_repeating_a_sentence_adds_nothing(rng):
    hits, clusters = (rng.random(80) < 0.4).astype(float), np.arange(80)
    once = share_interval(hits, clusters)
    assert share_interval(np.repeat(hits, 5), np.repeat(clusters, 5)) == pytest.approx(once)


def test_where_all_succeed():
    low, high = wilson_interval(3, 3)
    assert share_interval(np.ones(6), np.repeat([0, 1, 2], 2)) == (1.0, low, high)


def test_one_sentence_has_no_interval_of_a_difference():
    mean, low, high = mean_interval(np.array([0.1, 0.3]), np.array([4, 4]))
    assert mean == pytest.approx(0.2)
    assert np.isnan([low, high]).all()


def test_bins():
    assert binned(pd.Series([0, 1, 7, 8, 30]), 0).tolist() == ["0", "1", "7", "8+", "8+"]


def test_coverage(rng):
    """About 95 of 100 intervals hold the share, where cases of a sentence resemble each other."""
    covered = 0
    for _ in range(400):
        chance = rng.beta(2, 2, 80)
        hits = (rng.random((80, 4)) < chance[:, None]).astype(float)
        _, low, high = share_interval(hits.ravel(), np.repeat(np.arange(80), 4))
        covered += low <= 0.5 <= high
    assert 0.92 <= covered / 400 <= 0.98
