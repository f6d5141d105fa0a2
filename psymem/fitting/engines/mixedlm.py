"""Engine ``mixedlm``: binomial and Poisson mixed models without R, by the package mixedlm (extra ``binomial``).

Laplace approximation as in lme4's ``glmer``; estimates agree with lme4 to about three digits. It gets the same
numbers and names as every other engine (see lme4_engine).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import EngineError
from psymem.fitting.engines.lme4 import LmeState, r_columns, r_formula
from psymem.fitting.formula.design import ModelData
from psymem.fitting.profiled.inference import coefficient_table
from psymem.fitting.result import VARIANCE_COLUMNS, Fit
from psymem.fitting.spec import FitSpec

FAMILIES = {"binomial": "Binomial", "poisson": "Poisson"}

STANDARD_ERRORS = (
    "Fitted by mixedlm: its standard errors take the variances as known and can be a few percent smaller than lme4's; "
    "check results near the threshold with engine lme4."
)


def fit_mixedlm(spec: FitSpec, data: ModelData) -> Fit:
    """Fit a generalised linear mixed model with mixedlm.

    Raises
    ------
    EngineError
        If the package is not installed, the response is gaussian, there are no random effects, or the fit fails.
    """
    _check(spec, data)
    import mixedlm

    family = getattr(mixedlm.families, FAMILIES[spec.family])()
    columns = {k: _padded(v) if k.startswith("g") else v for k, v in r_columns(data).items()} | {
        "y": data.response
    }
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            plain = replace(data, offset=None, trials=None)
            frame = pd.DataFrame(columns)
            model = mixedlm.glmer(
                r_formula(plain), frame, family=family, offset=data.offset, weights=data.trials
            )
    except Exception as error:
        raise EngineError(f"mixedlm could not fit the model: {error}. Try engine lme4.") from error
    return _as_fit(spec, data, model, [f"mixedlm says: {w.message}" for w in caught])


def _check(spec: FitSpec, data: ModelData) -> None:
    if find_spec("mixedlm") is None:
        raise EngineError(
            "The engine mixedlm needs the package of that name: pip install 'psymem[binomial]'. Engine lme4 fits the same "
            "models through R."
        )
    if spec.family not in FAMILIES:
        raise EngineError("The engine mixedlm is for binomial and Poisson responses; use --engine profiled.")
    if not data.random:
        raise EngineError(
            f"The engine mixedlm fits mixed models, and {spec.formula!r} has no random effects such as (1|item). "
            "Use --engine statsmodels."
        )
    if spec.intervals == "profile":
        raise EngineError("The engine mixedlm gives Wald intervals only.")


def _padded(codes: np.ndarray) -> list[str]:
    """Write codes so that their alphabetical order is their order."""
    return [f"{int(code):09d}" for code in codes]


def _as_fit(spec: FitSpec, data: ModelData, model: Any, said: list[str]) -> Fit:
    vcov = np.asarray(model.vcov(), dtype=float)
    estimate = np.asarray([model.fixef()[f"x{j}"] for j in range(1, len(data.names) + 1)], dtype=float)
    se = np.sqrt(np.diag(vcov))
    names = list(data.names)
    return Fit(
        spec=spec,
        coefficients=coefficient_table(names, estimate, se, np.full(len(names), np.inf), spec.confidence),
        variance_components=_variances(data, model),
        n_obs=len(data.response),
        n_groups={term.group: len(term.levels) for term in data.random},
        loglik=float(model.logLik().value),
        n_parameters=int(model.npar()),
        converged=bool(model.converged),
        singular=bool(model.isSingular()),
        sigma=float("nan"),
        vcov=pd.DataFrame(vcov, index=names, columns=names),
        warnings=[*data.notes, *said, STANDARD_ERRORS],
        engine="mixedlm (Laplace approximation)",
        versions={"mixedlm": version("mixedlm")},
        levels=data.levels,
        contrasts=data.contrasts,
        dropped_rows=data.dropped_rows,
        dropped_columns=list(data.dropped_columns),
        optimiser={"iterations": int(model.n_iter), "theta": np.asarray(model.theta, dtype=float).tolist()},
        data=data,
        state=LmeState(data, estimate, _modes(data, model), spec.family),
    )


def _variances(data: ModelData, model: Any) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = []
    found = model.VarCorr()
    for b, term in enumerate(data.random, start=1):
        covariance = np.atleast_2d(np.asarray(found.get_cov(f"g{b}"), dtype=float))
        sd = np.sqrt(np.diag(covariance))
        rows += [(term.group, n, None, covariance[k, k], sd[k], np.nan) for k, n in enumerate(term.names)]
        for j in range(len(sd)):
            for k in range(j + 1, len(sd)):
                correlation = covariance[j, k] / (sd[j] * sd[k]) if sd[j] * sd[k] > 0 else np.nan
                rows.append((term.group, term.names[j], term.names[k], covariance[j, k], np.nan, correlation))
    return pd.DataFrame(rows, columns=list(VARIANCE_COLUMNS))


def _modes(data: ModelData, model: Any) -> pd.DataFrame:
    """Conditional modes in the layout of lme4.R: term, level, estimate, sd."""
    found = model.ranef(condVar=True)
    modes = found.values  # noqa: PD011 - not a pandas object
    pieces = []
    for b, term in enumerate(data.random, start=1):
        for k in range(1, len(term.names) + 1):
            piece = {
                "term": f"z{b}_{k}",
                "level": np.arange(len(term.levels)),
                "estimate": np.asarray(modes[f"g{b}"][f"z{b}_{k}"], dtype=float),
                "sd": np.sqrt(np.asarray(found.condVar[f"g{b}"][f"z{b}_{k}"], dtype=float)),
            }
            pieces.append(pd.DataFrame(piece))
    return pd.concat(pieces, ignore_index=True)
