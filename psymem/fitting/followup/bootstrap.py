"""Parametric bootstrap: responses drawn from a fitted model, fitted again.

Intervals as from lme4's ``bootMer``: percentiles of the estimates. The test of two models is that of pbkrtest's
``PBmodcomp``: responses are drawn from the smaller model, and p is the share of likelihood ratios as large as the one
observed. Every simulation has a random stream of its own, so the result does not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import FitError
from psymem.fitting.comparison import by_maximum_likelihood, check_nested, check_same_rows
from psymem.fitting.fitted import Fitted
from psymem.fitting.formula.design import ModelData
from psymem.fitting.result import Fit
from psymem.fitting.simulation import Truth, simulate_response, truth_of
from psymem.fitting.spec import FitSpec
from psymem.fitting.threads import run_engine
from psymem.parallel import in_processes

Progress = Callable[[int], None]


def bootstrap(
    fit: Fit, *, simulations: int = 1000, seed: int = 1, n_jobs: int = 1, progress: Progress | None = None
) -> pd.DataFrame:
    """Return percentile intervals of fixed effects and standard deviations.

    Returns
    -------
    pandas.DataFrame
        ``parameter, estimate, mean, sd, ci_low, ci_high, simulations``: the estimate, mean and standard deviation over
        simulations, and the interval of the level that the fit was asked for. Standard deviations are named
        ``sd of TERM by GROUP``. ``simulations`` counts those that could be fitted.

    Raises
    ------
    FitError
        If nothing can be simulated or fitted.
    """
    _check(fit, simulations)
    options: dict[str, Any] = {
        "simulations": simulations,
        "seed": seed,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    values = [v for v in _simulated(truth_of(fit), [fit], **options) if v is not None]
    if not values:
        raise FitError(f"None of the {simulations} simulated responses could be fitted with {fit.formula}.")
    table = pd.DataFrame([v[0][1] for v in values])
    tail = (1 - fit.spec.confidence) / 2
    estimates = _parameters(fit)
    return pd.DataFrame(
        {
            "parameter": list(estimates),
            "estimate": list(estimates.values()),
            "mean": table.mean().to_numpy(),
            "sd": table.std().to_numpy(),
            "ci_low": table.quantile(tail).to_numpy(),
            "ci_high": table.quantile(1 - tail).to_numpy(),
            "simulations": len(table),
        }
    )


def bootstrap_test(
    base: Fit,
    full: Fit,
    *,
    simulations: int = 1000,
    seed: int = 1,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Test a model against one that contains it by its likelihood ratio in responses drawn from the smaller one.

    Returns
    -------
    dict
        ``chi_square`` (the ratio observed), ``p`` = (1 + ratios at least as large) / (1 + simulations), and
        ``simulations``, those that could be fitted.
    """
    _check(base, simulations)
    check_same_rows(base, full)
    check_nested(base, full)
    fits = [by_maximum_likelihood(one) for one in (base, full)]
    observed = 2 * (fits[1].loglik - fits[0].loglik)
    options: dict[str, Any] = {
        "simulations": simulations,
        "seed": seed,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    pairs = _simulated(truth_of(fits[0]), fits, **options)
    ratios = np.asarray([2 * (v[1][0] - v[0][0]) for v in pairs if v is not None])
    if not len(ratios):
        raise FitError(f"None of the {simulations} simulated responses could be fitted with {full.formula}.")
    larger = int((ratios >= observed - 1e-9).sum())
    return {"chi_square": observed, "p": (1 + larger) / (1 + len(ratios)), "simulations": float(len(ratios))}


def _check(fit: Fitted, simulations: int) -> None:
    if simulations < 1:
        raise FitError(
            f"The number of simulations is {simulations}; it has to be at least 1 (1000 is usual)."
        )
    if fit.data is None or fit.data.weights is not None:
        raise FitError(
            "A bootstrap draws responses of rows that count the same, for fits that hold their rows."
        )


def _parameters(fit: Fitted) -> dict[str, float]:
    """Return fixed effects and standard deviations by name."""
    found = dict(zip(fit.coefficients["term"], fit.coefficients["estimate"].astype(float), strict=True))
    single = fit.variance_components[fit.variance_components["with_term"].isna()]
    for row in single.itertuples():
        found[f"sd of {row.term} by {row.group}" if row.term else "sd of the residual"] = float(row.sd)
    return found


def _simulated(
    truth: Truth,
    models: Sequence[Fit],
    *,
    simulations: int,
    seed: int,
    n_jobs: int,
    progress: Progress | None,
) -> Iterator[list[tuple[float, dict[str, float]]] | None]:
    from joblib import delayed

    streams = np.random.SeedSequence(seed).spawn(simulations)
    rows, specs = [fit.data for fit in models], [fit.spec for fit in models]
    work: Any = (delayed(_one)(truth, rows, specs, stream) for stream in streams)
    for result in in_processes(work, n_jobs):
        if progress is not None:
            progress(1)
        yield result


def _one(
    truth: Truth, rows: list[ModelData], specs: list[FitSpec], stream: np.random.SeedSequence
) -> list[tuple[float, dict[str, float]]] | None:
    """Draw a response and fit every model to it; None if one cannot be fitted."""
    response = simulate_response(truth, rows[0], np.random.default_rng(stream))
    try:
        fits = [run_engine(s, replace(d, response=response)) for s, d in zip(specs, rows, strict=True)]
    except FitError:
        return None
    return [(fit.loglik, _parameters(fit)) for fit in fits]
