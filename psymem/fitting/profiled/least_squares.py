"""Ordinary least squares, as R's lm: what a formula without random effects gets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem._version import __version__
from psymem.errors import FitError
from psymem.fitting.formula.design import ModelData, dropped_sentence
from psymem.fitting.formula.prediction import fixed_part
from psymem.fitting.profiled.inference import coefficient_table
from psymem.fitting.result import VARIANCE_COLUMNS, Fit
from psymem.fitting.spec import FitSpec

NO_RANDOM = "The formula has no random effects, so it was fitted by ordinary least squares, as R's lm does."


class LinearState:
    """A fitted linear model."""

    def __init__(self, data: ModelData, beta: np.ndarray, residual_df: int) -> None:
        self.data, self.beta, self.residual_df = data, beta, residual_df

    def df(self, weights: np.ndarray, vcov: np.ndarray) -> np.ndarray:
        """Residual degrees of freedom, the same for every estimate."""
        return np.full(len(weights), float(self.residual_df))

    def fitted(self) -> np.ndarray:
        """Return fitted values."""
        found = self.data.fixed @ self.beta
        return found if self.data.offset is None else found + self.data.offset

    def residuals(self) -> np.ndarray:
        """Return response minus fitted values."""
        return self.data.response - self.fitted()

    def predict(self, frame: pd.DataFrame, *, random: bool = True, new_levels: str = "zero") -> np.ndarray:
        """Predict new rows; see Fit.predict."""
        return fixed_part(self.data, frame, self.beta)[0]


def fit_least_squares(spec: FitSpec, data: ModelData) -> Fit:
    """Fit a linear model; the log-likelihood is that of R's logLik(lm)."""
    n, p = data.fixed.shape
    if p >= n:
        raise FitError(
            f"The model has {p} fixed effects and {n} rows; no row is left to estimate the residual variance from."
        )
    q, triangle = np.linalg.qr(data.fixed)
    beta = np.linalg.solve(triangle, q.T @ data.response)
    residual = data.response - data.fixed @ beta
    squares = float(residual @ residual)
    if squares <= 1e-24 * float(data.response @ data.response):
        raise FitError(
            f"The response {data.response_name!r} is determined completely by the fixed effects: no residual "
            "variance is left, so nothing can be tested."
        )
    sigma = float(np.sqrt(squares / (n - p)))
    inverse = np.linalg.inv(triangle)
    vcov = sigma**2 * inverse @ inverse.T
    table = coefficient_table(
        data.names, beta, np.sqrt(np.diag(vcov)), np.full(p, float(n - p)), spec.confidence
    )
    said = [*data.notes, NO_RANDOM]
    if data.dropped_columns:
        said.append(dropped_sentence(data.dropped_columns))
    return Fit(
        spec=spec,
        coefficients=table,
        variance_components=pd.DataFrame(
            [("Residual", "", None, sigma**2, sigma, np.nan)], columns=list(VARIANCE_COLUMNS)
        ),
        n_obs=n,
        n_groups={},
        loglik=-n / 2 * (np.log(2 * np.pi * squares / n) + 1),
        n_parameters=p + 1,
        converged=True,
        singular=False,
        sigma=sigma,
        vcov=pd.DataFrame(vcov, list(data.names), list(data.names)),
        warnings=said,
        engine="profiled (ordinary least squares)",
        versions={"psymem": __version__, "numpy": np.__version__},
        levels=data.levels,
        contrasts=data.contrasts,
        dropped_rows=data.dropped_rows,
        dropped_columns=list(data.dropped_columns),
        data=data,
        state=LinearState(data, beta, n - p),
    )
