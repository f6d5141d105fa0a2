"""Interval of what a larger model explains beyond chance, from its likelihood-ratio statistic."""

from __future__ import annotations

import numpy as np
from scipy import optimize, stats


def noncentrality_interval(chi_square: float, df: float, level: float = 0.95) -> tuple[float, float]:
    """Interval of the noncentrality of a likelihood-ratio statistic: twice the gain in log-likelihood beyond chance.

    Turns the noncentral chi-square distribution around (Steiger & Fouladi, 1997).
    """
    tail = (1 - level) / 2

    def end(p: float) -> float:
        if stats.chi2.cdf(chi_square, df) <= p:
            return 0.0
        upper = chi_square + 20 * np.sqrt(chi_square + df) + 50
        return float(optimize.brentq(lambda nc: stats.ncx2.cdf(chi_square, df, nc) - p, 1e-12, upper))

    return end(1 - tail), end(tail)
