"""Likelihood-ratio tests of random effects, as lmerTest's ranova: each term of each bar is left out in turn.

A variance cannot be negative, so that these tests are conservative: for a single variance the true p is about half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from psymem.errors import FitError
from psymem.fitting.fitted import Fitted
from psymem.fitting.formula.coding import model_matrix
from psymem.fitting.formula.design import ModelData
from psymem.fitting.formula.expression import deparse
from psymem.fitting.formula.terms import Bar, Terms
from psymem.fitting.threads import run_engine

COLUMNS = ("left_out", "parameters", "loglik", "aic", "chi_square", "df", "p", "converged")


def random_effect_tests(fit: Fitted) -> pd.DataFrame:
    """Test each random effect of a linear mixed model.

    From a bar with several terms, as (1 + x | g), one term at a time is left out (the intercept stays); a bar with one
    term is left out whole. With REML the restricted likelihoods are compared, since the fixed effects stay the same.

    Parameters
    ----------
    fit
        A linear mixed model.

    Returns
    -------
    pandas.DataFrame
        One row per model, the first with nothing left out, columns `COLUMNS`.

    Raises
    ------
    FitError
        If the model has no random effects or another family, or there is none to leave out.
    """
    data = fit.data
    if data is None or fit.spec.family != "gaussian" or not data.random:
        raise FitError("Tests of random effects are for linear mixed models; compare other models by hand.")
    rows = [("", fit.n_parameters, fit.loglik, fit.aic, np.nan, np.nan, np.nan, fit.converged)]
    for name, smaller in _smaller(data):
        loglik, parameters, converged = _refitted(fit, smaller)
        ratio, df = max(2 * (fit.loglik - loglik), 0.0), fit.n_parameters - parameters
        p = float(stats.chi2.sf(ratio, df))
        rows.append((name, parameters, loglik, 2 * parameters - 2 * loglik, ratio, df, p, converged))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _smaller(data: ModelData) -> Iterator[tuple[str, ModelData]]:
    """Yield what is left out, and the rows with the rest."""
    for index, bar in enumerate(data.parsed.bars):
        others = (*data.random[:index], *data.random[index + 1 :])
        if len(bar.terms.terms) == 1:
            yield written(bar), replace(data, random=others)
            continue
        for position, term in enumerate(bar.terms.terms):
            if not term or any(set(term) < set(other) for other in bar.terms.terms):
                continue
            rest = tuple(t for k, t in enumerate(bar.terms.terms) if k != position)
            kept = Bar(Terms(bar.terms.factors, rest), bar.group)
            matrix, names, _ = model_matrix(kept.terms, data.columns, data.codings)
            changed = replace(data.random[index], columns=matrix, names=names)
            random = (*data.random[:index], changed, *data.random[index + 1 :])
            yield f"{_term(bar, position)} in {written(bar)}", replace(data, random=random)


def _term(bar: Bar, position: int) -> str:
    factors = [deparse(factor) for factor in bar.terms.factors]
    term = bar.terms.terms[position]
    return ":".join(factors[i] for i in term) if term else "1"


def written(bar: Bar) -> str:
    """Return a bar as it is written in a formula."""
    terms = [_term(bar, k) for k in range(len(bar.terms.terms))]
    none = [] if bar.terms.intercept else ["0"]
    return f"({' + '.join([*none, *terms])} | {bar.name})"


def _refitted(fit: Fitted, data: ModelData) -> tuple[float, int, bool]:
    """Return log-likelihood, number of parameters and convergence of a smaller model."""
    smaller = run_engine(fit.spec.changed(engine="profiled" if not data.random else fit.spec.engine), data)
    if data.random or not fit.spec.reml:
        return smaller.loglik, smaller.n_parameters, smaller.converged
    return _restricted(smaller), smaller.n_parameters, True


def _restricted(fit: Fitted) -> float:
    """Return the restricted log-likelihood of a linear model, as R's logLik(lm, REML = TRUE)."""
    assert fit.data is not None
    weights = np.ones(fit.n_obs) if fit.data.weights is None else fit.data.weights
    x = fit.data.fixed * np.sqrt(weights)[:, None]
    n = fit.n_obs - x.shape[1]
    squares = float((weights * fit.residuals**2).sum())
    half_determinant = float(np.log(np.abs(np.diag(np.linalg.qr(x, mode="r")))).sum())
    return float((np.log(weights).sum() - n * (np.log(2 * np.pi * squares / n) + 1)) / 2 - half_determinant)
