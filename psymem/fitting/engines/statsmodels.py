"""Baselines through statsmodels: OLS, GLM, GEE, and mixed models with one grouping factor.

statsmodels has no Satterthwaite degrees of freedom and cannot hold crossed random effects of any size; a model it
cannot fit is refused with the engine that can.
"""

from __future__ import annotations

import warnings as python_warnings
from typing import Any

import numpy as np
import pandas as pd

from psymem._version import __version__
from psymem.errors import EngineError, FitError
from psymem.fitting.formula.design import ModelData, RandomTerm, dropped_sentence
from psymem.fitting.formula.prediction import fixed_part
from psymem.fitting.profiled.inference import coefficient_table
from psymem.fitting.result import VARIANCE_COLUMNS, Fit
from psymem.fitting.spec import FitSpec

NORMAL = (
    "statsmodels gives no degrees of freedom for this model; t and p are those of the normal distribution."
)


class StatsmodelsState:
    """A result of statsmodels behind the methods of a fit."""

    def __init__(self, data: ModelData, result: Any, residual_df: float, inverse_link: Any = None) -> None:
        self.data, self.result, self.residual_df = data, result, residual_df
        self.subtracted = data.offset is None  # an offset that comes later was subtracted from the response
        self.beta = np.asarray(result.params)[: len(data.names)]
        self.inverse_link = inverse_link or (lambda eta: eta)

    def df(self, weights: np.ndarray, vcov: np.ndarray) -> np.ndarray:
        """Degrees of freedom, the same for every estimate."""
        return np.full(len(weights), self.residual_df)

    def fitted(self) -> np.ndarray:
        """Return fitted values on the scale of the response."""
        found = np.asarray(self.result.fittedvalues)
        return found + self.data.offset if self.subtracted and self.data.offset is not None else found

    def residuals(self) -> np.ndarray:
        """Return response minus fitted values."""
        return self.data.response - self.fitted()

    def predict(self, frame: pd.DataFrame, *, random: bool = True, new_levels: str = "zero") -> np.ndarray:
        """Predict new rows from the fixed effects, on the scale of the response.

        Raises
        ------
        EngineError
            If random effects are asked for and the model has some.
        """
        if random and self.data.random:
            raise EngineError(
                "The engine 'statsmodels' predicts without random effects only; use random=False."
            )
        return self.inverse_link(fixed_part(self.data, frame, self.beta)[0])


def fit_statsmodels(spec: FitSpec, data: ModelData) -> Fit:
    """Fit with statsmodels: GEE if `spec.group` is given, else a mixed model, OLS or GLM by formula and family.

    Raises
    ------
    EngineError
        For random effects that statsmodels cannot hold: several grouping factors, or a family other than gaussian.
    FitError
        If statsmodels itself fails; its reason is passed on.
    """
    if spec.group is not None:
        return _run(spec, data, "GEE", _gee)
    if data.random:
        if spec.family != "gaussian":
            raise EngineError(
                f"statsmodels has no likelihood fit of {spec.family} models with random effects. Choose engine 'lme4'."
            )
        groups = list(dict.fromkeys(term.group for term in data.random))
        if len(data.random) > 1:
            what = (
                f"the grouping factors {', '.join(groups)}"
                if len(groups) > 1
                else f"several terms for {groups[0]}"
            )
            raise EngineError(
                f"statsmodels fits one random-effect term, not {what}. Choose engine 'profiled' or 'lme4'."
            )
        return _run(spec, data, "MixedLM", _mixed)
    return _run(spec, data, "OLS", _ols) if spec.family == "gaussian" else _run(spec, data, "GLM", _glm)


def _run(spec: FitSpec, data: ModelData, name: str, method: Any) -> Fit:
    """Call statsmodels, collect its warnings as sentences, and make the Fit."""
    with python_warnings.catch_warnings(record=True) as caught:
        python_warnings.simplefilter("always")
        try:
            facts = method(spec, data)
        except (np.linalg.LinAlgError, ValueError) as error:
            raise FitError(
                f"statsmodels {name} failed: {error}. Check for constant or collinear predictors."
            ) from error
    said = [*data.notes, *facts.pop("notes", [])]
    said += list(
        dict.fromkeys(f"statsmodels says: {str(w.message).splitlines()[0]}" for w in caught if _worth(w))
    )
    if data.dropped_columns:
        said.append(dropped_sentence(data.dropped_columns))
    return _fit(spec, data, name, facts, said)


def _worth(caught: python_warnings.WarningMessage) -> bool:
    return not issubclass(caught.category, (DeprecationWarning, FutureWarning, PendingDeprecationWarning))


def _fit(spec: FitSpec, data: ModelData, name: str, facts: dict[str, Any], said: list[str]) -> Fit:
    import statsmodels

    p, residual_df = len(data.names), facts["df"]
    result = facts["result"]
    vcov = np.asarray(result.cov_params())[:p, :p]
    estimate = np.asarray(result.params)[:p]
    table = coefficient_table(
        data.names, estimate, np.sqrt(np.diag(vcov)), np.full(p, residual_df), spec.confidence
    )
    return Fit(
        spec=spec,
        coefficients=table,
        variance_components=facts["variances"],
        n_obs=len(data.response),
        n_groups=facts["groups"],
        loglik=float(facts["loglik"]),
        n_parameters=p + facts["extra"],
        converged=bool(facts["converged"]),
        singular=bool(facts.get("singular", False)),
        sigma=facts["sigma"],
        vcov=pd.DataFrame(vcov, list(data.names), list(data.names)),
        warnings=said,
        engine=f"statsmodels {name}",
        versions={"psymem": __version__, "statsmodels": statsmodels.__version__},
        levels=data.levels,
        contrasts=data.contrasts,
        dropped_rows=data.dropped_rows,
        dropped_columns=list(data.dropped_columns),
        data=data,
        state=StatsmodelsState(data, result, residual_df, facts.get("inverse_link")),
    )


def _variances(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(VARIANCE_COLUMNS))


def _ols(spec: FitSpec, data: ModelData) -> dict[str, Any]:
    import statsmodels.api as sm

    result = sm.OLS(data.response, data.fixed).fit()
    sigma = float(np.sqrt(result.scale))
    return {
        "result": result, "df": float(result.df_resid), "loglik": result.llf, "converged": True, "sigma": sigma, "extra": 1,
        "groups": {}, "variances": _variances([("Residual", "", None, sigma**2, sigma, np.nan)]),
    }  # fmt: skip


def _family(spec: FitSpec, data: ModelData) -> Any:
    import statsmodels.api as sm

    if spec.family == "binomial" and ((data.response < 0) | (data.response > 1)).any():
        wrong = float(data.response[(data.response < 0) | (data.response > 1)][0])
        raise FitError(
            f"A binomial response lies between 0 and 1; {data.response_name!r} has the value {wrong:g}."
        )
    if spec.family == "poisson" and (data.response < 0).any():
        raise FitError(
            f"A poisson response is at least 0; {data.response_name!r} has the value {data.response.min():g}."
        )
    return {
        "gaussian": sm.families.Gaussian,
        "binomial": sm.families.Binomial,
        "poisson": sm.families.Poisson,
    }[spec.family]()


def _glm(spec: FitSpec, data: ModelData) -> dict[str, Any]:
    import statsmodels.api as sm

    family = _family(spec, data)
    response = data.response
    if data.trials is not None:
        successes = np.round(data.response * data.trials)
        response = np.column_stack([successes, data.trials - successes])
    result = sm.GLM(response, data.fixed, family=family, offset=data.offset).fit()
    return {
        "result": result, "df": np.inf, "loglik": result.llf, "converged": result.converged, "sigma": np.nan, "extra": 0,
        "groups": {}, "variances": _variances([]), "inverse_link": family.link.inverse,
    }  # fmt: skip


def _gee(spec: FitSpec, data: ModelData) -> dict[str, Any]:
    """Generalised estimating equations with exchangeable correlation within the levels of the bar's group."""
    import statsmodels.api as sm

    matching = [term for term in data.random if term.group == spec.group]
    if len(data.random) != 1 or not matching:
        raise EngineError(
            f"A GEE needs the grouping column in the formula as '(1 | {spec.group})', and no other random effect; it is the "
            "working correlation, not a variance component."
        )
    family = _family(spec, data)
    term = matching[0]
    if data.trials is not None:
        raise EngineError(
            f"A GEE takes one answer a row, not {data.response_name}. Use one row per trial, or engine 'lme4'."
        )
    model = sm.GEE(
        data.response,
        data.fixed,
        groups=term.codes,
        family=family,
        cov_struct=sm.cov_struct.Exchangeable(),
        offset=data.offset,
    )
    result = model.fit()
    notes = ["A GEE has no likelihood; standard errors are robust to correlation within groups.", NORMAL]
    return {
        "result": result, "df": np.inf, "loglik": np.nan, "converged": result.converged, "extra": 1,
        "sigma": float(np.sqrt(result.scale)), "groups": {term.group: len(term.levels)}, "notes": notes,
        "variances": _variances([]),
        "inverse_link": family.link.inverse,
    }  # fmt: skip


def _mixed(spec: FitSpec, data: ModelData) -> dict[str, Any]:
    import statsmodels.api as sm

    term = data.random[0]
    model = sm.MixedLM(data.response, data.fixed, groups=term.codes, exog_re=term.columns)
    result = model.fit(reml=spec.reml, method=["lbfgs", "bfgs", "cg"])
    sigma = float(np.sqrt(result.scale))
    covariance = np.atleast_2d(np.asarray(result.cov_re))
    k = len(term.names)
    smallest = float(np.linalg.eigvalsh(covariance).min())
    singular = smallest < 1e-8 * max(float(np.trace(covariance)), sigma**2)
    return {
        "result": result, "df": np.inf, "loglik": result.llf, "converged": result.converged, "sigma": sigma,
        "extra": k * (k + 1) // 2 + 1, "groups": {term.group: len(term.levels)}, "singular": singular, "notes": [NORMAL],
        "variances": _variances([*_covariance_rows(term, covariance), ("Residual", "", None, sigma**2, sigma, np.nan)]),
    }  # fmt: skip


def _covariance_rows(term: RandomTerm, covariance: np.ndarray) -> list[tuple[object, ...]]:
    """Return the rows of Fit.variance_components of one bar."""
    sd = np.sqrt(np.maximum(np.diag(covariance), 0))
    rows: list[tuple[object, ...]] = [
        (term.group, name, None, covariance[k, k], sd[k], np.nan) for k, name in enumerate(term.names)
    ]
    for j in range(len(sd)):
        for k in range(j + 1, len(sd)):
            correlation = covariance[j, k] / (sd[j] * sd[k]) if sd[j] * sd[k] > 0 else np.nan
            rows.append((term.group, term.names[j], term.names[k], covariance[j, k], np.nan, correlation))
    return rows
