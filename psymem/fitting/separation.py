"""Separation: categories or numbers that predict a binomial or count response without error.

The estimate of such an effect is infinite; what an engine prints is where its search stopped. A direction b of the
fixed effects separates the rows if X b >= 0 where only 1 was observed, X b <= 0 where only 0 was, and X b = 0 where
both were, with at least one row off 0 (Albert & Anderson, 1984); with counts 0 stands for 0 and "both" for more. A
linear programme finds it (Konis, 2007).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from psymem.fitting.formula.design import ModelData
from psymem.fitting.result import Fit

SUSPICIOUS = 8.0
"""Fixed parts beyond this (probabilities beyond .9997, counts beyond 3,000 or below .0003) are looked at."""
INTERCEPT = "(Intercept)"


def with_separation(fit: Fit) -> Fit:
    """Return the fit with a warning that comes first if fixed effects separate the response."""
    data = fit.data
    if data is None or fit.spec.family == "gaussian":
        return fit
    linear = data.fixed @ fit.coefficients["estimate"].to_numpy()
    if np.isfinite(linear).all() and np.abs(linear).max(initial=0.0) < SUSPICIOUS:
        return fit
    found = separating_columns(data, fit.spec.family)
    return replace(fit, warnings=[_sentence(data, found), *fit.warnings]) if found else fit


def _sentence(data: ModelData, found: list[str]) -> str:
    several = len(found) > 1
    return (
        f"Separation: {', '.join(found)} predict{'' if several else 's'} {data.response_name} without error in some rows, "
        f"so {'their estimates are' if several else 'its estimate is'} infinite. The numbers shown for "
        f"{'them' if several else 'it'} are where the search stopped, and their standard errors and p-values mean "
        "nothing. Merge categories or leave the term out, or use a method that shrinks estimates (R's blme or brglm2)."
    )


def separating_columns(data: ModelData, family: str) -> list[str]:
    """Return the fixed effects whose estimates are infinite; an empty list if there are none."""
    from scipy.optimize import linprog

    scaled = data.fixed / np.maximum(np.abs(data.fixed).max(axis=0), 1e-300)
    patterns, which = np.unique(np.round(scaled, 12), axis=0, return_inverse=True)
    low, high = (np.zeros(len(patterns), dtype=bool) for _ in range(2))
    np.logical_or.at(low, which.ravel(), data.response < 1 if family == "binomial" else data.response == 0)
    np.logical_or.at(high, which.ravel(), data.response > 0)
    fixed = low & high if family == "binomial" else high
    directed = patterns * np.where(low, -1.0, 1.0)[:, None]
    free = directed[~fixed]
    if not len(free):
        return []
    solved = linprog(
        -free.sum(axis=0),
        A_ub=-free,
        b_ub=np.zeros(len(free)),
        A_eq=patterns[fixed] if fixed.any() else None,
        b_eq=np.zeros(int(fixed.sum())) if fixed.any() else None,
        bounds=(-1, 1),
    )
    if solved.status != 0 or -solved.fun < 1e-6:
        return []
    involved = [name for name, b in zip(data.names, solved.x, strict=True) if abs(b) > 1e-6]
    return [name for name in involved if name != INTERCEPT] or involved
