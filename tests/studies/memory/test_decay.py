"""Medians by distance against numpy on values written out."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.studies.memory.decay import decay_table, resampled_medians


def test_quantiles_and_counts_are_numpys(rng):
    text = np.repeat(np.arange(12), [3, *[1] * 11])
    curves = rng.uniform(size=(14, 4, 2))
    curves[12:, 2:] = np.nan
    curves[:, 3] = np.nan
    found = decay_table(curves, text, seed=1)
    assert found["distance_words"].tolist() == [0, 1, 2]
    assert found["n_words"].tolist() == [14, 14, 12]
    assert found["n_texts"].tolist() == [12, 12, 10]
    for distance in range(3):
        for column, name in enumerate(("retention", "share")):
            values = curves[: 12 if distance == 2 else 14, distance, column]
            row = found.iloc[distance]
            expected = np.quantile(values, [0.25, 0.5, 0.75])
            np.testing.assert_allclose(
                row[[f"{name}_q25", f"{name}_median", f"{name}_q75"]].tolist(), expected
            )
            assert values.min() <= row[f"{name}_ci_low"] <= row[f"{name}_ci_high"] <= values.max()


def test_a_resampled_median_is_that_of_the_texts_repeated(rng):
    text = np.array([0, 0, 1, 2, 2, 2])
    values = rng.uniform(size=6)
    times = rng.integers(0, 3, (50, 3))
    found = resampled_medians(values, text, times)
    for draw, median in zip(times, found, strict=True):
        repeated = np.sort(np.repeat(values, draw[text]))
        expected = repeated[(len(repeated) - 1) // 2] if len(repeated) else np.nan
        np.testing.assert_equal(median, expected)


@pytest.mark.parametrize(("n_texts", "has_interval"), [(1, False), (9, False), (10, True)])
def test_an_interval_takes_ten_texts(n_texts, has_interval):
    found = decay_table(np.ones((n_texts, 2, 2)), np.arange(n_texts), seed=1)
    assert found["retention_ci_low"].notna().tolist() == [has_interval] * 2
    assert found["retention_median"].tolist() == [1, 1]
