"""F tests after Kenward & Roger (1997), in the form of Halekoh & Hoejsgaard (2014): for small designs.

With V = sum of gamma_r G_r over the variances and covariances gamma, the covariance Phi of the fixed effects is enlarged
for the uncertainty of gamma, and F gets a scale and degrees of freedom. The matrices have a row and a column for every
observation, so this is for designs of some thousand rows; with more, Satterthwaite's degrees of freedom differ little.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from psymem.errors import FitError
from psymem.fitting.fitted import Fitted, block_covariance
from psymem.fitting.formula.design import ModelData, RandomTerm

MOST_ROWS = 3000


@dataclass(frozen=True)
class KenwardRoger:
    """What the tests of one fit need.

    Parameters
    ----------
    beta
        Fixed effects.
    phi
        Their covariance, X'V^-1X inverted.
    adjusted
        Their covariance with the uncertainty of the variances.
    slopes
        P_r = X'V^-1 G_r V^-1 X for each variance and covariance.
    spread
        Covariance of the variances and covariances.
    """

    beta: np.ndarray = field(repr=False)
    phi: np.ndarray = field(repr=False)
    adjusted: np.ndarray = field(repr=False)
    slopes: np.ndarray = field(repr=False)
    spread: np.ndarray = field(repr=False)

    def test(self, matrix: np.ndarray) -> tuple[float, int, float]:
        """Return F, its rank and the denominator's degrees of freedom of ``matrix @ beta = 0``."""
        basis = np.linalg.svd(matrix, full_matrices=False)
        use = 1e-8 * basis.S.max() < basis.S
        rows = basis.Vh[use]
        q = int(use.sum())
        theta = rows.T @ np.linalg.solve(rows @ self.phi @ rows.T, rows)
        parts = np.asarray([theta @ self.phi @ slope @ self.phi for slope in self.slopes])
        traces = np.einsum("rii->r", parts)
        a1 = float(traces @ self.spread @ traces)
        a2 = float(np.einsum("rs,rij,sji->", self.spread, parts, parts))
        scale, df = _scale_and_df(a1, a2, q)
        estimate = rows @ self.beta
        f = float(estimate @ np.linalg.solve(rows @ self.adjusted @ rows.T, estimate)) / q
        return scale * f, q, df


def _scale_and_df(a1: float, a2: float, q: int) -> tuple[float, float]:
    """Return the scale of F and its denominator's degrees of freedom."""
    if a2 <= 0:
        return 1.0, np.inf
    b = (a1 + 6 * a2) / (2 * q)
    g = ((q + 1) * a1 - (q + 4) * a2) / ((q + 2) * a2)
    bottom = 3 * q + 2 * (1 - g)
    c1, c2, c3 = g / bottom, (q - g) / bottom, (q + 2 - g) / bottom
    v0, v1, v2 = 1 + c1 * b, 1 - c2 * b, 1 - c3 * b
    v0 = 0.0 if abs(v0) < 1e-10 else v0
    rho = ((1 - a2 / q) / v1) ** 2 * v0 / (v2 * q)
    df = 4 + (q + 2) / (q * rho - 1)
    return (1.0 if abs(df - 2) < 1e-2 else df * (1 - a2 / q) / (df - 2)), df


def kenward_roger(fit: Fitted) -> KenwardRoger:
    """Return what Kenward and Roger's tests of a fit need.

    Raises
    ------
    FitError
        If the fit is no linear mixed model by REML, has weights, or more than `MOST_ROWS` rows.
    """
    data = fit.data
    if data is None or fit.spec.family != "gaussian" or not data.random or not fit.spec.reml:
        raise FitError(
            "Kenward and Roger's degrees of freedom are for linear mixed models fitted by REML; use satterthwaite."
        )
    if data.weights is not None:
        raise FitError("Kenward and Roger's degrees of freedom take no weights; use satterthwaite.")
    if len(data.response) > MOST_ROWS:
        raise FitError(
            f"Kenward and Roger's degrees of freedom need matrices of rows x rows, and the fit has {fit.n_obs:,} rows; the "
            f"limit is {MOST_ROWS:,}. Use satterthwaite: with so many rows the two differ little."
        )
    return _cached(_Held(fit))


class _Held:
    """A fit as a key: the same object is the same key."""

    def __init__(self, fit: Fitted) -> None:
        self.fit = fit

    def __hash__(self) -> int:
        return id(self.fit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.fit is self.fit


@lru_cache(maxsize=1)
def _cached(held: _Held) -> KenwardRoger:
    fit = held.fit
    assert fit.data is not None
    derivatives, values = _derivatives(fit.data, fit)
    covariance = np.einsum("r,rij->ij", values, derivatives)
    inverse = np.linalg.inv(covariance)
    x = fit.data.fixed
    weighted = inverse @ x
    phi = np.linalg.inv(x.T @ weighted)
    products = [inverse @ derivative for derivative in derivatives]  # V^-1 G_r, n x n each
    slopes = np.asarray([weighted.T @ derivative @ weighted for derivative in derivatives])
    k = len(products)
    both = np.empty((k, k, *phi.shape))
    information = np.empty((k, k))
    sides = [derivative @ weighted for derivative in derivatives]  # G_r V^-1 X
    for r in range(k):
        for s in range(r, k):
            both[r, s] = sides[r].T @ inverse @ sides[s]
            both[s, r] = both[r, s].T
            whole = float(np.einsum("ij,ji->", products[r], products[s]))
            change = 2 * np.trace(phi @ both[r, s]) - np.trace(phi @ slopes[r] @ phi @ slopes[s])
            information[r, s] = information[s, r] = whole - change
    spread = 2 * np.linalg.inv(information)
    added = np.zeros_like(phi)
    for r in range(k):
        for s in range(k):
            added += spread[r, s] * (both[r, s] - slopes[r] @ phi @ slopes[s])
    adjusted = phi + 2 * phi @ added @ phi
    return KenwardRoger(fit.coefficients["estimate"].to_numpy(), phi, adjusted, slopes, spread)


def _derivatives(data: ModelData, fit: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Return G_r and gamma_r: each variance and covariance, the residual variance last."""
    found, values = [], []
    for term in data.random:
        covariance = block_covariance(term, fit.variance_components)
        same = np.equal.outer(term.codes, term.codes)
        for j in range(len(term.names)):
            for k in range(j, len(term.names)):
                found.append(_one(term, same, j, k))
                values.append(covariance[j, k])
    found.append(np.eye(len(data.response)))
    values.append(fit.sigma**2)
    return np.asarray(found), np.asarray(values)


def _one(term: RandomTerm, same: np.ndarray, j: int, k: int) -> np.ndarray:
    """Return what one variance or covariance adds to V, per unit."""
    product = np.outer(term.columns[:, j], term.columns[:, k])
    return same * (product if j == k else product + product.T)
