"""Minimising the criterion in theta: quasi-Newton steps and restarts.

The criterion is the same for theta and for a column of Lambda with its sign changed, so no bounds are needed: a search
that steps across zero goes on at the other side instead of stopping on a boundary where the slope is always zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Function = Callable[[np.ndarray], float]
Slope = Callable[[np.ndarray], np.ndarray]

STEP = 1e-3
SMALLEST = 0.05
"""Differences are taken over STEP times the size of a parameter, which counts as SMALLEST if smaller."""
MAX_ITERATIONS = 300
NEAR_ZERO = 2e-2
BETTER = 1e-6
"""Ends of searches whose values differ by less are the same optimum; two that agree have converged."""
ROUNDING = 1e3
"""Where no decrease can be found, an expected one of less than this many tolerances is rounding."""


@dataclass(frozen=True)
class Optimum:
    """Where a search ended.

    Parameters
    ----------
    point, value
        Parameters and criterion.
    gradient
        Slope there, by central differences.
    iterations
        Steps taken, over all starts.
    starts
        Number of starting points tried.
    converged
        Whether no further decrease is in sight.
    """

    point: np.ndarray
    value: float
    gradient: np.ndarray = field(repr=False)
    iterations: int
    starts: int
    converged: bool


def search(
    function: Function, start: np.ndarray, diagonal: np.ndarray, slope: Slope | None = None
) -> Optimum:
    """Minimise from `start` and, where a false optimum is possible, from other points too.

    Parameters
    ----------
    function
        The criterion; infinite where it is undefined.
    start
        First guess.
    diagonal
        Which parameters are diagonal elements (standard deviations).
    slope
        The slope of `function`; central differences are taken if there is none.
    """
    best = minimise(function, start, slope)
    near_zero = np.abs(best.point[diagonal]) < NEAR_ZERO
    others: list[np.ndarray] = []
    if near_zero.any() or not best.converged or not diagonal.all():
        others.append(np.where(diagonal, 0.3, 0.0))
    if (near_zero.any() and not diagonal.all()) or not best.converged:
        lifted = np.where(diagonal & (np.abs(best.point) < NEAR_ZERO), 0.15, best.point)
        others += [np.where(diagonal, 1.0, 0.0), lifted]
    return _best_of(function, best, others, slope)


def _best_of(function: Function, best: Optimum, others: Sequence[np.ndarray], slope: Slope | None) -> Optimum:
    ends = [best, *(minimise(function, point, slope) for point in others)]
    lowest = min(end.value for end in ends)
    near = [end for end in ends if end.value <= lowest + BETTER]
    chosen = next((end for end in near if end.converged), near[0])
    agreed = len(near) > 1
    iterations = sum(end.iterations for end in ends)
    return Optimum(
        chosen.point, chosen.value, chosen.gradient, iterations, len(ends), chosen.converged or agreed
    )


def minimise(function: Function, start: np.ndarray, slope: Slope | None = None) -> Optimum:
    """Minimise from one starting point by BFGS with backtracking."""
    x, value = np.asarray(start, dtype=float), function(start)
    gradient, curvature = differences(function, x, value)
    inverse = _first_guess(gradient, curvature)
    gradient = gradient if slope is None else slope(x)
    fresh, iteration = True, 0
    while iteration < MAX_ITERATIONS:
        iteration += 1
        direction = -inverse @ gradient
        expected = -float(gradient @ direction)
        if expected < tolerance(value) and (fresh or expected > 0):
            return Optimum(x, value, gradient, iteration, 1, True)
        moved = _step(function, x, value, direction, expected) if expected > 0 else None
        if moved is None:
            if fresh or 0 < expected < ROUNDING * tolerance(value):
                return Optimum(x, value, gradient, iteration, 1, expected < ROUNDING * tolerance(value))
            inverse, fresh = _first_guess(*differences(function, x, value)), True
            continue
        change, (x, value) = moved[0] - x, moved
        before = gradient
        gradient = differences(function, x, value)[0] if slope is None else slope(x)
        inverse, fresh = _update(inverse, change, gradient - before), False
    return Optimum(x, value, gradient, iteration, 1, False)


def tolerance(value: float) -> float:
    """Return the decrease of the criterion that counts as none: far below 1e-4, above rounding."""
    return 1e-11 + 1e-16 * abs(value)


def differences(function: Function, x: np.ndarray, value: float) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and second derivatives (each parameter alone) by central differences."""
    gradient, curvature = np.empty(len(x)), np.empty(len(x))
    for k in range(len(x)):
        h = STEP * max(abs(x[k]), SMALLEST)
        step = np.zeros(len(x))
        step[k] = h
        up, down = function(x + step), function(x - step)
        gradient[k] = (up - down) / (2 * h)
        curvature[k] = (up - 2 * value + down) / h**2
    return gradient, curvature


def _first_guess(gradient: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Return a diagonal inverse Hessian; a step never starts longer than about 1."""
    size = np.maximum(np.abs(curvature), np.maximum(np.abs(gradient), 1e-8))
    return np.diag(1 / np.where(curvature > 0, np.maximum(curvature, np.abs(gradient)), size))


def _step(
    function: Callable[[np.ndarray], float],
    x: np.ndarray,
    value: float,
    direction: np.ndarray,
    expected: float,
) -> tuple[np.ndarray, float] | None:
    """Return the next point and its value, or None if no decrease is found along `direction`."""
    length = min(1.0, 2.0 / max(float(np.abs(direction).max()), 1e-300))
    while length * expected > 0.1 * tolerance(value) and length > 1e-12:
        point = x + length * direction
        found = function(point)
        if found <= value - 1e-4 * length * expected and found < value:
            return point, found
        # the minimum of the parabola through value, slope and the point found
        bend = 2 * (found - value + length * expected)
        shorter = length * length * expected / bend if np.isfinite(bend) and bend > 0 else 0.1 * length
        length = min(max(shorter, 0.1 * length), 0.5 * length)
    return None


def _update(inverse: np.ndarray, change: np.ndarray, slope_change: np.ndarray) -> np.ndarray:
    """Return the BFGS update of the inverse Hessian, unchanged where the curvature is not positive."""
    product = float(change @ slope_change)
    if product <= 1e-10 * float(np.linalg.norm(change) * np.linalg.norm(slope_change)):
        return inverse
    left = np.eye(len(change)) - np.outer(change, slope_change) / product
    return left @ inverse @ left.T + np.outer(change, change) / product
