"""Satterthwaite degrees of freedom as lmerTest computes them (Kuznetsova, Brockhoff & Christensen 2017).

For an estimate with variance v(theta, sigma), df = 2 v^2 / (g' A g): g is the gradient of v, and A = 2 H^-1 the covariance
matrix of (theta, sigma) from the Hessian H of the deviance, whose parts in sigma are exact here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.linalg.lapack import dpotri, dtrtrs

from psymem.fitting.criterion import Criterion, Evaluation
from psymem.fitting.parameters import Coordinates

RELATIVE_STEP = 0.02
SMALLEST_EIGENVALUE = 1e-8
EXPENSIVE = 600
"""With more random effects than this left in the dense part one step size is used instead of two."""


@dataclass(frozen=True)
class Curvature:
    """What the degrees of freedom need.

    Parameters
    ----------
    hessian
        Of the deviance in (theta, sigma).
    varpar_covariance
        Covariance matrix A of (theta, sigma).
    jacobian
        Derivative of the covariance matrix of the fixed effects, one p x p matrix per parameter.
    positive
        Whether the Hessian is positive definite.
    """

    hessian: np.ndarray = field(repr=False)
    varpar_covariance: np.ndarray = field(repr=False)
    jacobian: np.ndarray = field(repr=False)
    positive: bool = True

    def df(self, weights: np.ndarray, vcov: np.ndarray) -> np.ndarray:
        """Return the degrees of freedom of each row of `weights` (m x p), an estimate ``weights @ beta``."""
        variance = np.einsum("mi,ij,mj->m", weights, vcov, weights)
        gradient = np.einsum("mi,kij,mj->mk", weights, self.jacobian, weights)
        spread = np.einsum("mk,kl,ml->m", gradient, self.varpar_covariance, gradient)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(spread > 0, 2 * variance**2 / spread, np.inf)


def unscaled_covariance(evaluation: Evaluation, q2: int, p: int) -> np.ndarray:
    """Return the covariance of the coefficients of Q divided by sigma^2, from the Cholesky factor."""
    inverse, _ = dpotri(evaluation.factor[q2 : q2 + p, q2 : q2 + p], lower=1)
    return np.tril(inverse) + np.tril(inverse, -1).T


def curvature(
    criterion: Criterion, coordinates: Coordinates, theta: np.ndarray, sigma: float, centre: Evaluation
) -> Curvature:
    """Differentiate deviance and covariance around the optimum `theta` (lme4's coordinates)."""
    q2, p, blocks = criterion.products.q2, criterion.products.p, criterion.products.blocks
    inverse_triangle, _ = dtrtrs(criterion.products.triangle, np.eye(p))

    def at(point: np.ndarray) -> np.ndarray:
        found = criterion(coordinates.by_block(coordinates.orthonormal(point), blocks))
        covariance = unscaled_covariance(found, q2, p)
        return np.concatenate([[found.logdet, found.weighted], covariance.ravel()])

    start = np.concatenate([[centre.logdet, centre.weighted], unscaled_covariance(centre, q2, p).ravel()])
    first, second = _derivatives(at, theta, start, _steps(coordinates, theta), q2 <= EXPENSIVE)
    n = criterion.n_effective
    k = len(theta)
    hessian = np.empty((k + 1, k + 1))
    hessian[:k, :k] = second[:, :, 0] + second[:, :, 1] / sigma**2
    hessian[:k, k] = hessian[k, :k] = -2 * first[:, 1] / sigma**3
    hessian[k, k] = 6 * centre.weighted / sigma**4 - 2 * n / sigma**2
    slopes = first[:, 2:].reshape(k, p, p) * sigma**2
    jacobian = np.concatenate([slopes, (2 * sigma * start[2:]).reshape(1, p, p)])
    jacobian = inverse_triangle @ jacobian @ inverse_triangle.T
    values, vectors = np.linalg.eigh(hessian)
    use = values > SMALLEST_EIGENVALUE
    covariance = 2 * (vectors[:, use] / values[use]) @ vectors[:, use].T
    return Curvature(hessian, covariance, jacobian, bool((values > -1e-4 * max(values.max(), 1.0)).all()))


def _steps(coordinates: Coordinates, theta: np.ndarray) -> np.ndarray:
    """Return the step of each theta: a share of its size, or of its bar's scale where it is small."""
    scales = []
    for term, triangle in zip(coordinates.terms, coordinates.triangles, strict=True):
        size = 0.3 / np.sqrt(np.einsum("ij,ij->j", triangle, triangle))
        scales.append(size[np.triu_indices(len(term.names))[1]])
    return RELATIVE_STEP * np.maximum(np.abs(theta), np.concatenate(scales))


def _derivatives(
    function: object, x: np.ndarray, centre: np.ndarray, steps: np.ndarray, twice: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return first (k x m) and second (k x k x m) derivatives; with `twice` extrapolated from two step sizes."""
    first, second = _central(function, x, centre, steps)
    if not twice:
        return first, second
    finer_first, finer_second = _central(function, x, centre, steps / 2)
    return (4 * finer_first - first) / 3, (4 * finer_second - second) / 3


def _central(function, x: np.ndarray, centre: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN001
    k = len(x)
    first, second = np.empty((k, len(centre))), np.empty((k, k, len(centre)))
    moves = np.diag(steps)
    for i in range(k):
        up, down = function(x + moves[i]), function(x - moves[i])
        first[i] = (up - down) / (2 * steps[i])
        second[i, i] = (up - 2 * centre + down) / steps[i] ** 2
    for i, j in combinations(range(k), 2):
        both = function(x + moves[i] + moves[j]) + function(x - moves[i] - moves[j]) - 2 * centre
        alone = second[i, i] * steps[i] ** 2 + second[j, j] * steps[j] ** 2
        second[i, j] = second[j, i] = (both - alone) / (2 * steps[i] * steps[j])
    return first, second
