"""Whether the residuals and the random effects look as the model assumes.

Numbers to look at beside a plot: quantiles of the scaled residuals (as lme4's summary prints them), their skewness and
kurtosis, rows far out, spread that grows with the fitted values, and how normal the random effects are.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.fitting.fitted import Fitted

FAR_OUT = 3.0
"""Scaled residuals beyond this are counted; a normal distribution has 0.27% there."""


def scaled_residuals(fit: Fitted) -> np.ndarray:
    """Return Pearson residuals: response minus fitted, divided by the standard deviation that the model gives the row."""
    assert fit.data is not None
    fitted, data = fit.fitted, fit.data
    if fit.spec.family == "gaussian":
        spread = np.full(fit.n_obs, fit.sigma)
        return fit.residuals / (spread if data.weights is None else spread / np.sqrt(data.weights))
    trials = 1.0 if data.trials is None else data.trials
    variance = fitted * (1 - fitted) / trials if fit.spec.family == "binomial" else fitted
    return fit.residuals / np.sqrt(np.maximum(variance, 1e-300))


def residual_table(fit: Fitted) -> pd.DataFrame:
    """Return ``row, response, fitted, residual, scaled_residual, normal_quantile`` of every row used.

    `normal_quantile` is what a residual of its rank is expected to be, for a plot of scaled residuals against it.
    """
    from scipy import stats

    assert fit.data is not None
    scaled = scaled_residuals(fit)
    rank = stats.rankdata(scaled)
    n = len(scaled)
    offset = 3 / 8 if n <= 10 else 1 / 2  # as R's ppoints()
    quantile = stats.norm.ppf((rank - offset) / (n + 1 - 2 * offset))
    return pd.DataFrame(
        {
            "row": fit.data.columns.rows,
            "response": fit.data.response,
            "fitted": fit.fitted,
            "residual": fit.residuals,
            "scaled_residual": scaled,
            "normal_quantile": quantile,
        }
    )


def diagnostics(fit: Fitted) -> pd.DataFrame:
    """Return ``check, value, expected``: what the residuals and random effects are like, and what a fine model has."""
    from scipy import stats

    scaled = scaled_residuals(fit)
    n = len(scaled)
    quantiles = np.quantile(scaled, [0, 0.25, 0.5, 0.75, 1])
    names = ("minimum", "first quartile", "median", "third quartile", "maximum")
    rows: list[tuple[str, float, str]] = [
        (f"scaled residuals: {name}", float(value), "") for name, value in zip(names, quantiles, strict=True)
    ]
    if fit.spec.family == "gaussian":
        growing = stats.spearmanr(np.abs(scaled), fit.fitted).statistic
        rows += [
            ("scaled residuals: skewness", float(stats.skew(scaled)), f"0 +- {2 * np.sqrt(6 / n):.2f}"),
            (
                "scaled residuals: excess kurtosis",
                float(stats.kurtosis(scaled)),
                f"0 +- {2 * np.sqrt(24 / n):.2f}",
            ),
            (f"share of rows beyond {FAR_OUT:g}", float((np.abs(scaled) > FAR_OUT).mean()), "0.0027"),
            (
                "rank correlation of their size with the fitted values",
                float(growing),
                f"0 +- {2 / np.sqrt(n):.2f}",
            ),
        ]
    else:
        dispersion = float((scaled**2).sum() / (n - fit.n_parameters))
        rows.append(("dispersion: squared residuals per degree of freedom", dispersion, "1"))
    return pd.DataFrame([*rows, *_random(fit)], columns=["check", "value", "expected"])


def _random(fit: Fitted) -> list[tuple[str, float, str]]:
    """Return the correlation of each random effect with normal quantiles."""
    if not fit.n_groups or not hasattr(fit.state, "random_effects"):
        return []
    from scipy import stats

    found = []
    for (group, term), own in fit.random_effects.groupby(["group", "term"], sort=False):
        values = own["estimate"].to_numpy()
        if len(values) > 3 and np.ptp(values) > 1e-9:
            correlation = float(stats.probplot(values)[1][2])
            found.append((f"normal quantiles of {term} by {group}: correlation", correlation, "near 1"))
    return found
