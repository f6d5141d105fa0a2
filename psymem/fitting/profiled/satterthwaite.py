"""Satterthwaite degrees of freedom as lmerTest computes them (Kuznetsova, Brockhoff & Christensen 2017).

For an estimate with variance v(theta, sigma), df = 2 v^2 / (g' A g): g is the gradient of v, and A = 2 H^-1 the covariance
matrix of (theta, sigma) from the Hessian H of the deviance, whose parts in sigma are exact here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.linalg.lapack import dpotri, dtrtrs

from psymem.fitting.profiled.criterion import Criterion, Evaluation
from psymem.fitting.profiled.gradient import slopes
from psymem.fitting.profiled.parameters import Coordinates

RELATIVE_STEP = 0.02
SMALLEST = 0.3
SMALLEST_EIGENVALUE = 1e-8


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
    """Differentiate deviance and covariance around the optimum `theta`.

    Derivatives are taken in the theta of the orthonormal columns, a linear function of lme4's, which leaves the degrees
    of freedom as they are.
    """
    q2, p, k = criterion.products.q2, criterion.products.p, len(theta)
    theta = coordinates.join(coordinates.orthonormal(theta))
    steps = RELATIVE_STEP * np.maximum(np.abs(theta), SMALLEST)
    if criterion.sparse:
        first, second = _from_values(criterion, coordinates, theta, centre, steps / 2)
    else:
        first, second = _from_slopes(criterion, coordinates, theta, sigma, steps)
    n = criterion.n_effective
    hessian = np.empty((k + 1, k + 1))
    hessian[:k, :k] = second(sigma)
    hessian[:k, k] = hessian[k, :k] = -2 * first[:, 0] / sigma**3
    hessian[k, k] = 6 * centre.weighted / sigma**4 - 2 * n / sigma**2
    own = unscaled_covariance(centre, q2, p)
    inverse_triangle, _ = dtrtrs(criterion.products.triangle, np.eye(p))
    jacobian = np.concatenate([first[:, 1:].reshape(k, p, p) * sigma**2, (2 * sigma * own)[None]])
    jacobian = inverse_triangle @ jacobian @ inverse_triangle.T
    values, vectors = np.linalg.eigh(hessian)
    use = values > SMALLEST_EIGENVALUE
    covariance = 2 * (vectors[:, use] / values[use]) @ vectors[:, use].T
    return Curvature(hessian, covariance, jacobian, bool((values > -1e-4 * max(values.max(), 1.0)).all()))


Second = Callable[[float], np.ndarray]


def _from_slopes(
    criterion: Criterion, coordinates: Coordinates, theta: np.ndarray, sigma: float, steps: np.ndarray
) -> tuple[np.ndarray, Second]:
    """Return first derivatives of w and the covariance (k x m), and second ones of the deviance, from exact slopes."""
    q2, p, k = criterion.products.q2, criterion.products.p, len(theta)
    blocks = criterion.products.blocks

    def at(point: np.ndarray) -> np.ndarray:
        lambdas = coordinates.by_block(coordinates.split(point), blocks)
        found = criterion(lambdas)
        slope = coordinates.from_blocks(slopes(criterion, lambdas, found, sigma), blocks)
        return np.concatenate([slope, [found.weighted], unscaled_covariance(found, q2, p).ravel()])

    def central(size: float) -> np.ndarray:
        moves = np.diag(steps * size)
        return np.asarray([(at(theta + move) - at(theta - move)) / (2 * move.sum()) for move in moves])

    derivative = (4 * central(0.5) - central(1.0)) / 3
    hessian = (derivative[:, :k] + derivative[:, :k].T) / 2
    return derivative[:, k:], lambda _: hessian


def _from_values(
    criterion: Criterion, coordinates: Coordinates, theta: np.ndarray, centre: Evaluation, steps: np.ndarray
) -> tuple[np.ndarray, Second]:
    """Return the same from values of the criterion alone, where exact slopes would cost more."""
    q2, p, blocks = criterion.products.q2, criterion.products.p, criterion.products.blocks

    def at(point: np.ndarray) -> np.ndarray:
        found = criterion(coordinates.by_block(coordinates.split(point), blocks))
        return np.concatenate([[found.logdet, found.weighted], unscaled_covariance(found, q2, p).ravel()])

    start = np.concatenate([[centre.logdet, centre.weighted], unscaled_covariance(centre, q2, p).ravel()])
    first, second = _central(at, theta, start, steps)
    return first[:, 1:], lambda sigma: second[:, :, 0] + second[:, :, 1] / sigma**2


def _central(
    function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, centre: np.ndarray, steps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return first (k x m) and second (k x k x m) derivatives by central differences."""
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
