"""Correcting p-values for the number of tests: Holm (1979) and Bonferroni.

A missing p-value (a model that could not be fitted) stays missing and does not count as a test, as in R's
``p.adjust``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from psymem.errors import DataError, UnknownNameError


def _bonferroni(p: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, p * len(p))


def _holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p, kind="stable")
    steps = (len(p) - np.arange(len(p))) * p[order]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "none": np.copy,
}


def adjust(p: ArrayLike | Sequence[float], method: str = "holm") -> np.ndarray:
    """Adjust p-values so that the chance of any false positive among them stays at alpha.

    Parameters
    ----------
    p
        p-values, one per test, shape (n,); NaN where a test could not be done.
    method
        "holm" (step-down, never less powerful than Bonferroni), "bonferroni" or "none".

    Returns
    -------
    numpy.ndarray
        Adjusted p-values, shape (n,), in the order given; NaN where `p` is NaN.

    Raises
    ------
    UnknownNameError
        If there is no such method.
    DataError
        If a value is not a probability.
    """
    if method not in METHODS:
        raise UnknownNameError("correction for multiple tests", method, METHODS)
    values = np.asarray(p, dtype=float)
    present = ~np.isnan(values)
    outside = present & ((values < 0) | (values > 1))
    if outside.any():
        position = int(np.flatnonzero(outside)[0])
        raise DataError(f"p-values lie between 0 and 1; number {position + 1} is {values[position]:g}.")
    adjusted = np.full(values.shape, np.nan)
    adjusted[present] = METHODS[method](values[present])
    return adjusted
