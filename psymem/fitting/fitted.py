"""All facts of a fitted model, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import EngineError
from psymem.fitting.formula.design import ModelData, RandomTerm
from psymem.fitting.spec import FitSpec

VARIANCE_COLUMNS = ("group", "term", "with_term", "variance", "sd", "correlation")
"""Columns of Fit.variance_components.

A variance has ``with_term`` missing and ``correlation`` NaN; a covariance names both terms, holds the covariance in
``variance``, NaN in ``sd`` and the correlation in ``correlation``. The last row is the group ``Residual``.
"""


@dataclass(frozen=True, repr=False)
class Fitted:
    """A fitted model: its facts, without the tables that are made of them.

    Parameters
    ----------
    spec
        The specification that made it.
    coefficients
        Fixed effects: term (named as in R), estimate, se, df, t, p, ci_low, ci_high.
    variance_components
        Columns :data:`VARIANCE_COLUMNS`.
    n_obs
        Rows used.
    n_groups
        Grouping factor (``"item"``, ``"a:b"``) to its number of levels.
    loglik
        Log-likelihood, restricted if ``spec.reml``.
    n_parameters
        Parameters counted by AIC and BIC: fixed effects, variances and covariances, residual variance.
    converged, singular
        Whether the optimiser reached an optimum; whether a variance is zero or a correlation is +-1.
    sigma
        Residual standard deviation (NaN where a family has none).
    vcov
        Covariance matrix of the fixed effects, rows and columns named by term.
    warnings
        Plain sentences for the reader.
    engine, versions
        The engine that ran ("profiled", "lme4 through Rscript", "statsmodels OLS", ...) and package versions.
    levels, contrasts
        Order of categories and name of the coding of each categorical column that was used.
    dropped_rows
        Reason to number of rows left out ("missing values").
    dropped_columns
        Fixed effects left out since others determine them.
    optimiser
        Facts of the search: method, evaluations, starts, gradient, theta.
    data
        Rows and matrices that were fitted.
    state
        What the engine needs later (BLUPs, profiles); of no meaning elsewhere.
    """

    spec: FitSpec
    coefficients: pd.DataFrame
    variance_components: pd.DataFrame
    n_obs: int
    n_groups: Mapping[str, int]
    loglik: float
    n_parameters: int
    converged: bool
    singular: bool
    sigma: float
    vcov: pd.DataFrame
    warnings: list[str] = field(default_factory=list)
    engine: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contrasts: Mapping[str, str] = field(default_factory=dict)
    dropped_rows: Mapping[str, int] = field(default_factory=dict)
    dropped_columns: list[str] = field(default_factory=list)
    optimiser: Mapping[str, Any] = field(default_factory=dict)
    data: ModelData | None = field(default=None, repr=False)
    state: Any = field(default=None, repr=False)

    @property
    def formula(self) -> str:
        """The formula as given."""
        return self.spec.formula

    @property
    def aic(self) -> float:
        """Akaike's information criterion, -2 logLik + 2 parameters."""
        return -2 * self.loglik + 2 * self.n_parameters

    @property
    def bic(self) -> float:
        """Bayesian information criterion, -2 logLik + log(n) parameters."""
        return -2 * self.loglik + float(np.log(self.n_obs)) * self.n_parameters

    @cached_property
    def random_effects(self) -> pd.DataFrame:
        """Conditional modes (BLUPs): group, level, term, estimate, sd (conditional standard deviation)."""
        return self._from_state("random_effects")()

    @cached_property
    def fitted(self) -> np.ndarray:
        """Fitted values with random effects, one per row used."""
        return self._from_state("fitted")()

    @cached_property
    def residuals(self) -> np.ndarray:
        """Response minus fitted values, one per row used."""
        return self._from_state("residuals")()

    def predict(self, frame: pd.DataFrame, *, random: bool = True, new_levels: str = "zero") -> np.ndarray:
        """Predict the response for new rows.

        Parameters
        ----------
        frame
            A table with the predictors (and grouping factors if `random`).
        random
            Add the random effects of known levels.
        new_levels
            What to do with levels that were not in the data: ``"zero"`` (no random effect) or ``"error"``.

        Returns
        -------
        numpy.ndarray
            One value per row; NaN where a predictor is missing.
        """
        return self._from_state("predict")(frame, random=random, new_levels=new_levels)

    def __repr__(self) -> str:
        groups = "".join(f", {count} {name}" for name, count in self.n_groups.items())
        return f"<Fit {self.spec.formula!r}: {self.n_obs} rows{groups}, logLik {self.loglik:.4f}; print() shows it>"

    def as_dict(self) -> dict[str, Any]:
        """Return all facts but the coefficients as plain values, for a JSON sidecar."""
        return {
            "specification": self.spec.as_dict(),
            "engine": self.engine,
            "versions": dict(self.versions),
            "n_obs": self.n_obs,
            "n_groups": dict(self.n_groups),
            "loglik": self.loglik,
            "aic": self.aic,
            "bic": self.bic,
            "n_parameters": self.n_parameters,
            "sigma": self.sigma,
            "converged": self.converged,
            "singular": self.singular,
            "variance_components": self.variance_components.astype(object)
            .where(self.variance_components.notna(), None)
            .to_dict("records"),
            "levels": {name: list(levels) for name, levels in self.levels.items()},
            "contrasts": dict(self.contrasts),
            "dropped_rows": dict(self.dropped_rows),
            "dropped_columns": list(self.dropped_columns),
            "warnings": list(self.warnings),
            "optimiser": dict(self.optimiser),
        }

    def _from_state(self, name: str) -> Callable[..., Any]:
        """Return a method of the engine's state, or say that the engine has none."""
        method = getattr(self.state, name, None)
        if method is None:
            raise EngineError(
                f"The engine {self.engine!r} gives no {name.replace('_', ' ')}; engine 'profiled' does."
            )
        return method


def block_covariance(term: RandomTerm, variances: pd.DataFrame) -> np.ndarray:
    """Covariance matrix of the random effects of one bar, from Fit.variance_components."""
    position = {name: k for k, name in enumerate(term.names)}
    matrix = np.zeros((len(position), len(position)))
    own = variances[(variances["group"] == term.group) & variances["term"].isin(position)]
    for name, with_name, value in zip(own["term"], own["with_term"], own["variance"], strict=True):
        other = with_name if isinstance(with_name, str) and with_name else name
        if other in position:
            matrix[position[name], position[other]] = matrix[position[other], position[name]] = value
    return matrix
