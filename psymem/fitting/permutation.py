"""Interval of a mean difference by turning the paired permutation test around.

The test of `psymem.fitting.cross_validation` flips the signs of whole groups. The 95% interval holds every value d
for which the differences minus d would not be called different from 0 at p < .05 (Good, 2005, section 3.2).
"""

from __future__ import annotations

import numpy as np

from psymem.fitting.cross_validation import MOST_EXACT_GROUPS

STEPS = 60
"""Halvings of the search for each end."""


def permutation_interval(
    difference: np.ndarray,
    sizes: np.ndarray,
    *,
    permutations: int = 10_000,
    seed: int = 1,
    level: float = 0.95,
) -> tuple[float, float]:
    """Interval of the difference per observation.

    Parameters
    ----------
    difference
        Sum of the differences of each group.
    sizes
        Observations in each group.
    permutations, seed
        Random sign flips, as in the test; up to 12 groups all of them are tried.
    level
        Level of the interval.

    Returns
    -------
    low, high
        NaN where so few groups cannot exclude any value (five groups have no p below .06).
    """
    difference, sizes = np.asarray(difference, dtype=float), np.asarray(sizes, dtype=float)
    flipped, weight, extra = _flips(difference, sizes, permutations, seed)
    observed, total = float(difference.sum()), float(sizes.sum())
    slack = 1e-12 * np.abs(difference).sum()

    def p(value: float) -> float:
        larger = np.abs(flipped - value * weight) >= abs(observed - value * total) - slack
        return float((larger.sum() + extra) / (len(larger) + extra))

    centre = observed / total
    spread = float(np.abs(difference - centre * sizes).sum() / total) or abs(centre) or 1.0
    return _end(p, centre, -spread, 1 - level), _end(p, centre, spread, 1 - level)


def _flips(
    difference: np.ndarray, sizes: np.ndarray, permutations: int, seed: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Sums of sign-flipped differences and sizes, and how much a random test adds to its count (1, else 0)."""
    n = len(difference)
    if n <= MOST_EXACT_GROUPS:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return signs @ difference, signs @ sizes, 0
    rng = np.random.default_rng([seed, 1])
    sums, weights = [], []
    for start in range(0, permutations, 1000):
        signs = 1 - 2 * rng.integers(0, 2, size=(min(1000, permutations - start), n))
        sums.append(signs @ difference)
        weights.append(signs @ sizes)
    return np.concatenate(sums), np.concatenate(weights), 1


def _end(p: object, centre: float, step: float, alpha: float) -> float:
    """Last value on one side of the centre that the test does not reject."""
    assert callable(p)
    outer = centre + step
    for _ in range(STEPS):
        if p(outer) < alpha:
            break
        outer = centre + 2 * (outer - centre)
    else:
        return float("nan")
    inner = centre
    for _ in range(STEPS):
        middle = (inner + outer) / 2
        inner, outer = (inner, middle) if p(middle) < alpha else (middle, outer)
    return inner
