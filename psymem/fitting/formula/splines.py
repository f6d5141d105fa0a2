"""Natural cubic splines as R's splines::ns(): a B-spline basis that is linear beyond its outer knots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ORDER = 4


@dataclass(frozen=True)
class NaturalSpline:
    """Where the knots are, and whether the basis has the constant in it.

    Parameters
    ----------
    inner
        Knots between the outer ones.
    outer
        The two outer knots.
    intercept
        Whether the basis spans the constant.
    """

    inner: tuple[float, ...]
    outer: tuple[float, float]
    intercept: bool = False

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the basis at `values`, n x df."""
        basis = self._b_splines(np.clip(values, *self.outer), 0)
        for end in self.outer:
            beyond = values < end if end == self.outer[0] else values > end
            if beyond.any():  # a straight line on
                at = np.full(1, end)
                slope = self._b_splines(at, 1) * (values[beyond] - end)[:, None]
                basis[beyond] = self._b_splines(at, 0) + slope
        bends = self._b_splines(np.asarray(self.outer), 2)
        if not self.intercept:
            basis, bends = basis[:, 1:], bends[:, 1:]
        rotation = np.linalg.qr(bends.T, mode="complete")[0]
        return basis @ rotation[:, 2:]

    def _b_splines(self, values: np.ndarray, derivative: int) -> np.ndarray:
        from scipy.interpolate import BSpline

        low, high = self.outer
        knots = np.concatenate([[low] * ORDER, np.sort(self.inner), [high] * ORDER])
        spline = BSpline(knots, np.eye(len(knots) - ORDER), ORDER - 1)
        return np.asarray(spline(values, nu=derivative))


def natural_spline(
    values: np.ndarray, df: int, knots: tuple[float, ...] | None, *, intercept: bool = False
) -> NaturalSpline:
    """Choose the knots as R does: the outer ones at the ends of the data, the inner ones at quantiles or as given."""
    known = values[~np.isnan(values)]
    if knots is None:
        count = max(df - 1 - intercept, 0)
        inner = tuple(np.quantile(known, np.linspace(0, 1, count + 2)[1:-1]).tolist())
    else:
        inner = knots
    return NaturalSpline(inner, (float(known.min()), float(known.max())), intercept)
