"""Profile-likelihood intervals of fixed effects, as R's confint(method = "profile").

The deviance of the ML fit is minimised with one coefficient held at a value; the interval holds the values whose
deviance exceeds the minimum by less than the chi-square quantile.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from psymem.errors import EngineError
from psymem.fitting.profiled.criterion import Criterion
from psymem.fitting.profiled.optimise import minimise
from psymem.fitting.profiled.state import ProfiledState
from psymem.fitting.result import Fit

WIDEST = 12.0
"""A bound is looked for up to this many standard errors from the estimate."""


def with_profile_intervals(fit: Fit) -> Fit:
    """Return the fit with profile instead of Wald intervals."""
    bounds = np.asarray([profile_interval(fit, term) for term in fit.coefficients.term])
    return replace(fit, coefficients=fit.coefficients.assign(ci_low=bounds[:, 0], ci_high=bounds[:, 1]))


def profile_interval(fit: Fit, term: str) -> tuple[float, float]:
    """Return the bounds of one coefficient; NaN where none is found within 12 standard errors.

    As in lme4, the profile is that of the ML deviance, also for a REML fit.

    Raises
    ------
    EngineError
        If the fit comes from another engine.
    """
    state = fit.state
    if not isinstance(state, ProfiledState):
        raise EngineError(
            "Profile intervals need a mixed model fitted by engine 'profiled'; use intervals='wald'."
        )
    position = fit.coefficients.term.tolist().index(term)
    row = fit.coefficients.iloc[position]
    profile = Profile(state, position)
    limit = float(chi2.ppf(fit.spec.confidence, 1))
    bounds = []
    for sign in (-1, 1):
        bounds.append(_bound(profile, profile.centre, sign * float(row.se), limit))
    return bounds[0], bounds[1]


def _bound(profile: Profile, centre: float, step: float, limit: float) -> float:
    """Return where the deviance has risen by `limit`, going from `centre` in steps of `step`."""
    inner, outer = centre, centre + 2 * step
    while profile(outer) < limit:
        inner, outer = outer, outer + step
        if abs(outer - centre) > WIDEST * abs(step):
            return float("nan")
    return float(
        brentq(lambda value: profile(value) - limit, inner, outer, xtol=1e-6 * abs(step), rtol=1e-12)
    )


class Profile:
    """Rise of the ML deviance with one coefficient held at a value.

    Holding beta_j = value replaces y by y - x_j value and drops column j; in terms of cross-products that is one more
    linear step, so no rows are visited.
    """

    def __init__(self, state: ProfiledState, position: int) -> None:
        self.state, self.position = state, position
        self.products = state.criterion.products
        self.criterion = Criterion(self.products, reml=False)
        self.theta = state.coordinates.join(
            [
                r @ m
                for r, m in zip(
                    state.coordinates.triangles, state.coordinates.split(state.theta), strict=True
                )
            ]
        )
        free = minimise(self._free, self.theta)
        self.theta, self.minimum = free.point, free.value
        self.centre = self._estimate(free.point)

    def __call__(self, value: float) -> float:
        """Return the rise of the deviance."""
        found = minimise(lambda point: self._held(point, value), self.theta)
        self.theta = found.point
        return found.value - self.minimum

    def _parts(self, point: np.ndarray) -> tuple[float, float, float, float]:
        """Return log|V|, w, the estimate of the coefficient and its variance / sigma^2 at `point`."""
        coordinates, products = self.state.coordinates, self.products
        found = self.criterion(coordinates.by_block(coordinates.split(point), products.blocks))
        if not np.isfinite(found.deviance):
            return np.inf, np.inf, np.nan, np.nan
        q2, p = products.q2, products.p
        lower = np.tril(found.factor[q2 : q2 + p, q2 : q2 + p])
        beta_q = np.linalg.solve(lower.T, found.factor[q2 + p, q2 : q2 + p])
        row = np.linalg.solve(products.triangle.T, np.eye(p)[self.position])
        half = np.linalg.solve(lower, row)
        return found.logdet, found.weighted, float(row @ (products.ols + beta_q)), float(half @ half)

    def _estimate(self, point: np.ndarray) -> float:
        return self._parts(point)[2]

    def _free(self, point: np.ndarray) -> float:
        return self._deviance(*self._parts(point), None)

    def _held(self, point: np.ndarray, value: float) -> float:
        return self._deviance(*self._parts(point), value)

    def _deviance(
        self, logdet: float, weighted: float, estimate: float, variance: float, value: float | None
    ) -> float:
        """Return the ML deviance; holding a coefficient adds (estimate - value)^2 / variance to w."""
        n = self.products.n
        if not np.isfinite(logdet):
            return np.inf
        total = weighted if value is None else weighted + (estimate - value) ** 2 / variance
        return logdet + n * (1 + np.log(2 * np.pi * total / n))
