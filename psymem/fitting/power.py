"""Power by simulation: how often an experiment of another size would find each effect of a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import stats

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.formula.design import ModelData, build
from psymem.fitting.result import Fit
from psymem.fitting.simulation import Truth, resized, simulate_response, truth_of
from psymem.fitting.threads import run_engine
from psymem.parallel import in_processes

INTERVALS = ("clopper-pearson", "wilson")

POWER_COLUMNS = (
    "term", "effect", "power", "ci_low", "ci_high", "significant", "simulations", "failed",
    "mean_estimate", "sd_estimate", "exaggeration", "wrong_sign",
)  # fmt: skip
"""Columns of Power.table."""


@dataclass(frozen=True)
class Power:
    """Power of one design.

    Parameters
    ----------
    table
        One row per fixed effect, columns :data:`POWER_COLUMNS`: the true effect, the share of simulations with p <
        alpha and its interval, simulations that could not be fitted (they count as not significant), mean and
        standard deviation of the estimates, and for the significant ones the mean ratio of estimate and truth
        (exaggeration, type M) and the share with the wrong sign (type S).
    estimates
        One row per simulation and effect: simulation, term, estimate, se, df, p, converged, singular.
    fit
        The model that data were simulated from.
    sizes
        Levels of each grouping factor in the simulated design.
    n_obs
        Rows of the simulated design.
    alpha, interval, seed
        The settings.
    """

    table: pd.DataFrame = field(repr=False)
    estimates: pd.DataFrame = field(repr=False)
    fit: Fit = field(repr=False)
    sizes: Mapping[str, int]
    n_obs: int
    alpha: float
    interval: str
    seed: int

    def __str__(self) -> str:
        """Design and the main columns."""
        design = ", ".join(f"{n} {g}" for g, n in self.sizes.items())
        shown = self.table[["term", "effect", "power", "ci_low", "ci_high", "simulations", "failed"]]
        return f"{self.fit.formula}\n{self.n_obs:,} rows ({design}), alpha {self.alpha}\n{shown.to_string(index=False)}"


def power(
    fit: Fit,
    frame: pd.DataFrame,
    *,
    sizes: Mapping[str, int] | None = None,
    effects: Mapping[str, float] | None = None,
    terms: Sequence[str] | None = None,
    simulations: int = 1000,
    alpha: float = 0.05,
    interval: str = "clopper-pearson",
    seed: int = 1,
    n_jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Power:
    """Simulate experiments from a fitted model and count how often each effect is significant.

    Parameters
    ----------
    fit
        The model, usually fitted to a pilot; its estimates are taken as the truth.
    frame
        The table that it was fitted to.
    sizes
        Grouping column to the number of its levels, for example ``{"item": 60, "model": 30}``; factors not named keep
        theirs.
    effects
        Term to the true effect, in place of the estimate: the smallest effect of interest, since the estimate of a
        small pilot is likely too large.
    terms
        Effects to report; all but the intercept by default.
    simulations
        Number of experiments.
    alpha
        Level of significance.
    interval
        95% interval of a power: "clopper-pearson" (exact, never too narrow) or "wilson".
    seed
        Each simulation has a random stream of its own, so that the result does not depend on `n_jobs`.
    n_jobs
        Processes.
    progress
        Called with the number of simulations done since the last call.

    Raises
    ------
    FitError
        If a setting is out of range or no simulation can be fitted.
    """
    _check(simulations, alpha, interval)
    truth = truth_of(fit, effects)
    chosen = _chosen(terms, truth.coefficients)
    data = build(resized(_own_rows(fit, frame), sizes or {}), fit.spec.changed(where=None))
    streams = np.random.SeedSequence(seed).spawn(simulations)
    results = list(_run(truth, data, streams, n_jobs, progress))
    estimates = pd.concat(
        [r.assign(simulation=i) for i, r in enumerate(results, start=1) if r is not None], ignore_index=True
    )
    if estimates.empty:
        raise FitError(f"None of the {simulations} simulated experiments could be fitted with {fit.formula}.")
    rows = [
        _row(term, truth.coefficients[term], estimates[estimates.term == term], simulations, alpha, interval)
        for term in chosen
    ]
    levels = {term.group: len(term.levels) for term in data.random}
    return Power(
        pd.DataFrame(rows, columns=list(POWER_COLUMNS)),
        estimates,
        fit,
        levels,
        len(data.response),
        alpha,
        interval,
        seed,
    )


def _check(simulations: int, alpha: float, interval: str) -> None:
    if simulations < 1:
        raise FitError(
            f"The number of simulations is {simulations}; it has to be at least 1 (1000 is usual)."
        )
    if not 0 < alpha < 1:
        raise FitError(f"alpha is {alpha}; it has to lie between 0 and 1, as in 0.05.")
    if interval not in INTERVALS:
        raise UnknownNameError("kind of interval", interval, INTERVALS)


def _chosen(terms: Sequence[str] | None, truth: pd.Series) -> list[str]:
    for term in terms or ():
        if term not in truth.index:
            raise UnknownNameError("fixed effect", term, truth.index)
    return list(terms or (t for t in truth.index if t != "(Intercept)"))


def _own_rows(fit: Fit, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `frame` that the model was fitted to, with every column, levels in the order used."""
    if fit.data is None:
        raise FitError(
            "The fit does not carry its rows, so nothing can be simulated from it; fit the model again."
        )
    if not frame.index.is_unique:
        raise FitError("The index of the table has repeats; call reset_index(drop=True) before fitting.")
    rows = frame.loc[fit.data.index]
    return rows.assign(**{c: fit.data.frame[c] for c in fit.levels if c in rows.columns})


def _run(
    truth: Truth,
    data: ModelData,
    streams: Sequence[np.random.SeedSequence],
    n_jobs: int,
    progress: Callable[[int], None] | None,
) -> Iterator[pd.DataFrame | None]:
    from joblib import delayed

    for result in in_processes((delayed(_one)(truth, data, stream) for stream in streams), n_jobs):
        if progress is not None:
            progress(1)
        yield result


def _one(truth: Truth, data: ModelData, stream: np.random.SeedSequence) -> pd.DataFrame | None:
    """Simulate and fit one experiment; None if it cannot be fitted."""
    response = simulate_response(truth, data, np.random.default_rng(stream))
    try:
        fit = run_engine(truth.spec, replace(data, response=response))
    except FitError:
        return None
    columns = fit.coefficients[["term", "estimate", "se", "df", "p"]]
    return columns.assign(converged=fit.converged, singular=fit.singular)


def _row(
    term: str, effect: float, found: pd.DataFrame, simulations: int, alpha: float, interval: str
) -> dict[str, object]:
    """Summarise the simulations of one effect."""
    significant = found[found.p < alpha]
    low, high = proportion_interval(len(significant), simulations, interval)
    ratio = significant.estimate / effect if effect else pd.Series(dtype=float)
    return {
        "term": term,
        "effect": effect,
        "power": len(significant) / simulations,
        "ci_low": low,
        "ci_high": high,
        "significant": len(significant),
        "simulations": simulations,
        "failed": simulations - len(found),
        "mean_estimate": found.estimate.mean(),
        "sd_estimate": found.estimate.std(),
        "exaggeration": ratio.abs().mean() if len(ratio) else np.nan,
        "wrong_sign": (ratio < 0).mean() if len(ratio) else np.nan,
    }


def proportion_interval(
    successes: int, trials: int, kind: str = "clopper-pearson", confidence: float = 0.95
) -> tuple[float, float]:
    """Confidence interval of a proportion: exact (Clopper & Pearson, 1934) or Wilson's (1927) score interval."""
    tail = (1 - confidence) / 2
    if kind == "clopper-pearson":
        low = stats.beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
        high = stats.beta.ppf(1 - tail, successes + 1, trials - successes) if successes < trials else 1.0
        return float(low), float(high)
    z, share = stats.norm.ppf(1 - tail), successes / trials
    centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z * np.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2)) / (1 + z**2 / trials)
    return float(max(0.0, centre - half)), float(min(1.0, centre + half))
