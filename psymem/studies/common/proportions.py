"""Confidence intervals of proportions such as accuracies."""

from __future__ import annotations

import math
from statistics import NormalDist

METHOD = "Wilson score"
"""Name of the interval, for tables and reports."""


def wilson_interval(successes: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the Wilson (1927) score interval of a proportion.

    Parameters
    ----------
    successes
        Number of successes; a tie may count as half of one.
    n
        Number of trials.
    level
        Confidence level.

    Returns
    -------
    tuple of float
        Lower and upper limit, within 0 and 1; NaN without trials.
    """
    if n == 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, weight = successes / n, z * z / n
    centre = share + weight / 2
    spread = z * math.sqrt(share * (1 - share) / n + weight / (4 * n))
    low, high = (centre - spread) / (1 + weight), (centre + spread) / (1 + weight)
    return (0.0 if successes == 0 else low), (1.0 if successes == n else high)
