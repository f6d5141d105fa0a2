"""The default engine: linear mixed models as lme4 and lmerTest define them, without R.

Sums of products are taken once (crossproducts), the criterion is evaluated from them (criterion) and minimised
(optimise); degrees of freedom are Satterthwaite's (satterthwaite).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy
from scipy.linalg.lapack import dtrtrs

from psymem._version import __version__
from psymem.errors import EngineError, FitError
from psymem.fitting.formula.design import ModelData, dropped_sentence
from psymem.fitting.profiled.blocks import order_terms
from psymem.fitting.profiled.criterion import Criterion, Evaluation
from psymem.fitting.profiled.crossproducts import take
from psymem.fitting.profiled.gradient import slopes
from psymem.fitting.profiled.inference import coefficient_table
from psymem.fitting.profiled.least_squares import fit_least_squares
from psymem.fitting.profiled.optimise import Function, Optimum, search
from psymem.fitting.profiled.parameters import Coordinates, orthonormalise
from psymem.fitting.profiled.satterthwaite import Curvature, curvature, unscaled_covariance
from psymem.fitting.profiled.state import ProfiledState
from psymem.fitting.profiled.variances import singular_parts, start_values, variance_table
from psymem.fitting.result import Fit
from psymem.fitting.spec import FitSpec

ENGINE = "profiled"
NEARLY_ZERO = 1e-4
PRECISE = 2e4
"""A joined block is precise while the largest entry of Lambda'Z'Z Lambda is below this (theta of some dozens).

The parent's column is the sum of its children's, so that digits are lost as the entries grow.
"""
NEGLIGIBLE = 1e-13
"""A residual variance below this share of the response's variance counts as none."""


def fit_profiled(spec: FitSpec, data: ModelData) -> Fit:
    """Fit a linear mixed model; without random effects, a linear model.

    Raises
    ------
    FitError
        If the response does not vary, or is explained completely.
    EngineError
        If the family is not gaussian.
    """
    if spec.family != "gaussian":
        raise EngineError(
            f"The engine 'profiled' fits linear models only, not the {spec.family} family. Choose engine 'lme4', or, "
            "for a formula without random effects, 'statsmodels'."
        )
    if not data.random:
        return fit_least_squares(spec, data)
    check_response(data)
    changed, coordinates = orthonormalise(order_terms(data.random))
    criterion = Criterion(take(data, changed), spec.reml)
    fitted = _minimise(criterion, coordinates) if not criterion.joined else _precise(criterion, coordinates)
    if fitted is None:
        criterion = Criterion(take(data, changed, join=False), spec.reml)
        fitted = _minimise(criterion, coordinates)
    found, theta, evaluation = fitted
    _check_residual(data, evaluation, found.converged)
    return _result(spec, data, coordinates, criterion, found, theta=theta, evaluation=evaluation)


def check_response(data: ModelData) -> None:
    """Refuse a response without variation."""
    spread = float(np.ptp(data.response))
    if spread <= 1e-14 * float(np.abs(data.response).max()):
        raise FitError(
            f"The response {data.response_name!r} has the same value ({data.response[0]:g}) in all {len(data.response)} "
            "rows; there is no variation to explain."
        )


def _check_residual(data: ModelData, evaluation: Evaluation, converged: bool) -> None:
    """Refuse a response of which nothing is left unexplained; its variance ratios grow without bound."""
    centred = data.response - data.response.mean()
    share = evaluation.weighted / float(centred @ centred)
    if share < NEGLIGIBLE or (share < 1e-6 and not converged):
        groups = ", ".join(dict.fromkeys(term.group for term in data.random))
        raise FitError(
            f"The response {data.response_name!r} is determined completely by the fixed effects and {groups}: no residual "
            "variance is left, so nothing can be tested. Is the response an average per level, or a copy of a predictor?"
        )


def _precise(criterion: Criterion, coordinates: Coordinates) -> tuple[Optimum, np.ndarray, Evaluation] | None:
    """Minimise with nested factors joined; None where that loses digits, the residual variance being tiny."""
    try:
        fitted = _minimise(criterion, coordinates)
    except FitError:
        return None
    found, theta, _ = fitted
    first = coordinates.by_block(coordinates.orthonormal(theta), criterion.products.blocks)[0]
    largest = float(np.square(first).max() * np.diagonal(criterion.products.own, axis1=1, axis2=2).max())
    return fitted if found.converged and largest < PRECISE else None


def _minimise(criterion: Criterion, coordinates: Coordinates) -> tuple[Optimum, np.ndarray, Evaluation]:
    """Return the optimum, lme4's theta and the evaluation there."""
    blocks = criterion.products.blocks

    last: tuple[np.ndarray, list[np.ndarray], Evaluation] | None = (
        None  # a slope is asked for where one has just been
    )

    def at(point: np.ndarray) -> tuple[list[np.ndarray], Evaluation]:
        nonlocal last
        if last is None or not np.array_equal(last[0], point):
            lambdas = coordinates.by_block(coordinates.split(point), blocks)
            last = point.copy(), lambdas, criterion(lambdas)
        return last[1], last[2]

    def deviance(point: np.ndarray) -> float:
        return at(point)[1].deviance

    def slope(point: np.ndarray) -> np.ndarray:
        lambdas, found = at(point)
        return coordinates.from_blocks(slopes(criterion, lambdas, found), blocks)

    exact = None if criterion.sparse else slope
    found = search(deviance, start_values(criterion.products, coordinates), coordinates.diagonal, exact)
    theta = coordinates.original(_snapped(deviance, found))
    evaluation = criterion(coordinates.by_block(coordinates.orthonormal(theta), blocks))
    return found, theta, evaluation


def _result(
    spec: FitSpec,
    data: ModelData,
    coordinates: Coordinates,
    criterion: Criterion,
    found: Optimum,
    *,
    theta: np.ndarray,
    evaluation: Evaluation,
) -> Fit:
    products = criterion.products
    sigma = float(np.sqrt(evaluation.weighted / criterion.n_effective))
    inverse, _ = dtrtrs(products.triangle, np.eye(products.p))
    vcov = sigma**2 * inverse @ unscaled_covariance(evaluation, products.q2, products.p) @ inverse.T
    bent = curvature(criterion, coordinates, theta, sigma, evaluation)
    state = ProfiledState(
        spec, data, coordinates, criterion, theta, evaluation=evaluation, sigma=sigma, curvature=bent
    )
    df = bent.df(np.eye(products.p), vcov)
    table = coefficient_table(data.names, state.beta, np.sqrt(np.diag(vcov)), df, spec.confidence)
    variances = variance_table(coordinates, theta, sigma)
    singular = singular_parts(coordinates, theta)
    fit = Fit(
        spec=spec,
        coefficients=table,
        variance_components=variances,
        n_obs=products.n,
        n_groups={term.group: len(term.levels) for term in coordinates.terms},
        loglik=-evaluation.deviance / 2,
        n_parameters=products.p + len(theta) + 1,
        converged=found.converged,
        singular=bool(singular),
        sigma=sigma,
        vcov=pd.DataFrame(vcov, list(data.names), list(data.names)),
        warnings=[*data.notes, *_warnings(data, coordinates, found, singular, bent)],
        engine=ENGINE,
        versions={"psymem": __version__, "numpy": np.__version__, "scipy": scipy.__version__},
        levels=data.levels,
        contrasts=data.contrasts,
        dropped_rows=data.dropped_rows,
        dropped_columns=list(data.dropped_columns),
        optimiser=_facts(criterion, found, theta),
        data=data,
        state=state,
    )
    if spec.intervals == "profile":
        from psymem.fitting.profiled.intervals import with_profile_intervals

        return with_profile_intervals(fit)
    return fit


def _snapped(deviance: Function, found: Optimum) -> np.ndarray:
    """Return the optimum with parameters that are nearly zero set to zero where that is no worse."""
    point = np.where(np.abs(found.point) < NEARLY_ZERO, 0.0, found.point)
    return point if deviance(point) <= found.value + 1e-8 else found.point


def _facts(criterion: Criterion, found: Optimum, theta: np.ndarray) -> dict[str, object]:
    return {
        "method": "BFGS, unbounded in theta",
        "evaluations": criterion.evaluations,
        "iterations": found.iterations,
        "starts": found.starts,
        "largest_gradient": float(np.abs(found.gradient).max()),
        "deviance": float(found.value),
        "theta": theta.tolist(),
    }


def _warnings(
    data: ModelData, coordinates: Coordinates, found: Optimum, singular: list[str], bent: Curvature
) -> list[str]:
    """Return what a reader should know, in plain sentences."""
    said = []
    if data.dropped_columns:
        said.append(dropped_sentence(data.dropped_columns))
    for term, collinear in zip(coordinates.terms, coordinates.collinear, strict=True):
        if collinear:
            said.append(
                f"The columns {', '.join(term.names)} of the random effects for {term.group} determine one another; their "
                "variances cannot be told apart. Leave one of them out."
            )
    if singular:
        said.append(
            f"The fit is singular: {'; '.join(singular)}. The random effects may be too complex for these data."
        )
    if not found.converged:
        said.append(
            f"The optimiser stopped before it had converged (largest slope {np.abs(found.gradient).max():.2g}); do not "
            "report these estimates. Simplify the random effects or rescale the predictors."
        )
    elif not bent.positive:
        said.append(
            "The deviance is not curved upwards at the optimum, so the degrees of freedom are approximate."
        )
    return said
