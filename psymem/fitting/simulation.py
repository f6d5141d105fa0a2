"""New data from a fitted model: as many items, subjects or model instances as asked for, and a random response.

A larger experiment is made by copying units: item 28 of 27 repeats the rows of item 1 under a new name, with its
predictors and its conditions, and gets random effects of its own. This keeps Latin squares, nesting and predictors
as they are in the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.fitted import block_covariance
from psymem.fitting.formula.design import ModelData, RandomTerm
from psymem.fitting.result import Fit
from psymem.fitting.spec import FitSpec

COPY = "copy"
"""Word between a unit's name and the number of its copy, as in ``"museum copy 2"``."""


def resized(frame: pd.DataFrame, sizes: Mapping[str, int]) -> pd.DataFrame:
    """Return a table with another number of levels of some grouping columns.

    Parameters
    ----------
    frame
        The rows of the experiment that was run.
    sizes
        Grouping column to the number of its levels. With fewer than there are, the first ones are kept.

    Raises
    ------
    UnknownNameError
        If a column is not there.
    FitError
        If a size is not at least 2.
    """
    for column, size in sizes.items():
        if column not in frame.columns:
            raise UnknownNameError("column", column, map(str, frame.columns))
        if size < 2:
            raise FitError(f"{size} levels of {column!r} were asked for; a grouping factor needs at least 2.")
        frame = _with_levels(frame, column, size)
    return frame.reset_index(drop=True)


def _with_levels(frame: pd.DataFrame, column: str, size: int) -> pd.DataFrame:
    values = frame[column].astype(str)
    levels = list(dict.fromkeys(values))
    rows_of = {level: np.flatnonzero(values.to_numpy() == level) for level in levels}
    parts, names = [], []
    for k in range(size):
        original, copy = levels[k % len(levels)], k // len(levels)
        rows = rows_of[original]
        parts.append(rows)
        names += [f"{original} {COPY} {copy + 1}" if copy else original] * len(rows)
    return frame.iloc[np.concatenate(parts)].assign(**{column: names})


@dataclass(frozen=True)
class Truth:
    """The model that data are drawn from.

    Parameters
    ----------
    spec
        How it is fitted.
    coefficients
        Fixed effects by term.
    variance_components
        As in :class:`psymem.fitting.result.Fit`.
    sigma
        Residual standard deviation.
    """

    spec: FitSpec
    coefficients: pd.Series
    variance_components: pd.DataFrame
    sigma: float


def truth_of(fit: Fit, effects: Mapping[str, float] | None = None) -> Truth:
    """Take a fit's estimates as the truth, with some fixed effects replaced by `effects` (term to value)."""
    coefficients = fit.coefficients.set_index("term").estimate.astype(float)
    for term, value in (effects or {}).items():
        if term not in coefficients.index:
            raise UnknownNameError("fixed effect", term, coefficients.index)
        coefficients[term] = value
    return Truth(fit.spec, coefficients, fit.variance_components, fit.sigma)


def simulate_response(truth: Truth, data: ModelData, rng: np.random.Generator) -> np.ndarray:
    """Draw one response for the rows of `data`.

    Parameters
    ----------
    truth
        The model.
    data
        Matrices of the rows to simulate.
    rng
        Source of random numbers.

    Returns
    -------
    numpy.ndarray
        One value per row, on the scale of the model's response (after a function such as log).
    """
    linear = data.fixed @ truth.coefficients.loc[list(data.names)].to_numpy()
    for term in data.random:
        linear = linear + _random_part(term, block_covariance(term, truth.variance_components), rng)
    if data.offset is not None:
        linear = linear + data.offset
    if truth.spec.family == "gaussian":
        return linear + rng.normal(0.0, truth.sigma, len(linear))
    if data.trials is not None:
        return rng.binomial(data.trials.astype(int), 1 / (1 + np.exp(-linear))) / data.trials
    if truth.spec.family == "binomial":
        return (rng.random(len(linear)) < 1 / (1 + np.exp(-linear))).astype(float)
    return rng.poisson(np.exp(linear)).astype(float)


def _random_part(term: RandomTerm, covariance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw random effects for every level and apply them to the rows."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))  # covariance = root @ root.T, also when singular
    effects = rng.normal(size=(len(term.levels), len(term.names))) @ root.T
    drawn: np.ndarray = np.einsum("nk,nk->n", term.columns, effects[np.asarray(term.codes)])
    return drawn
