"""Perplexities over seeds with their intervals, and whether the published orderings hold.

Runs of one row differ by their seed. With x the mean surprisal (nats) of a run's test text, a row's interval is that of
the mean of x by Student's t (n - 1 degrees of freedom), and an ordering's is that of the difference of two means by
Welch's t; both are given as perplexities, exp(x), and ratios of perplexities. An ordering *holds* if the whole interval
of its ratio lies on the published side of 1, *does not hold* if it lies on the other, and is *undecided* otherwise, or
if one of both has fewer than two seeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psymem.replications.language_models import Ordering, TableRow

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
LEVEL = 0.95


def row_table(rows: Sequence[TableRow], runs: pd.DataFrame, baseline: float) -> pd.DataFrame:
    """Return one row per model: perplexity over seeds with its interval, beside the published ones.

    Parameters
    ----------
    rows
        The table's models.
    runs
        One row per run: ``model, seed, nats`` (mean surprisal of the test text), ``parameters, width``.
    baseline
        Perplexity of the trigram model on the same text.

    Returns
    -------
    pandas.DataFrame
        ``model, label, n_seeds, perplexity`` (exp of the mean surprisal over seeds), ``ci_low, ci_high`` (95%; NaN
        below two seeds), ``parameters, width, beats_trigram`` (by all seeds), ``published_<size>``.
    """
    found = []
    for row in rows:
        own = runs[runs["model"] == row.name]
        mean, low, high = mean_interval(own["nats"].to_numpy())
        found.append(
            {
                "model": row.name,
                "label": row.label,
                "n_seeds": len(own),
                "perplexity": np.exp(mean),
                "ci_low": np.exp(low),
                "ci_high": np.exp(high),
                "parameters": own["parameters"].iloc[0] if len(own) else None,
                "width": own["width"].iloc[0] if len(own) else None,
                "beats_trigram": bool((np.exp(own["nats"]) < baseline).all()) if len(own) else None,
                **{f"published_{size}": value for size, value in row.published.items()},
            }
        )
    return pd.DataFrame(found).astype({"parameters": "Int64", "width": "Int64"})


def ordering_table(orderings: Sequence[Ordering], runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per ordering with the ratio of perplexities and the verdict.

    Returns
    -------
    pandas.DataFrame
        ``better, worse, ratio`` (perplexity of `better` over that of `worse`: below 1 as published), ``ci_low,
        ci_high, n_better, n_worse, verdict, published_size, published_ratio, otherwise_at``.
    """
    found = []
    for o in orderings:
        a, b = (runs.loc[runs["model"] == name, "nats"].to_numpy() for name in (o.better, o.worse))
        difference, low, high = difference_interval(a, b)
        found.append(
            {
                "better": o.better,
                "worse": o.worse,
                "ratio": np.exp(difference),
                "ci_low": np.exp(low),
                "ci_high": np.exp(high),
                "n_better": len(a),
                "n_worse": len(b),
                "verdict": verdict(low, high),
                "published_size": o.size,
                "published_ratio": o.published[0] / o.published[1],
                "otherwise_at": ", ".join(o.otherwise),
            }
        )
    return pd.DataFrame(found)


def verdict(low: float, high: float) -> str:
    """What an interval of the difference, better minus worse, says about the ordering."""
    if np.isnan(low) or np.isnan(high) or low <= 0 <= high:
        return UNDECIDED
    return HOLDS if high < 0 else FAILS


def mean_interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean of (n,) values with its 95% interval by Student's t; NaN where it cannot be had."""
    from scipy import stats

    n = len(values)
    mean = float(np.mean(values)) if n else np.nan
    if n < 2:
        return mean, np.nan, np.nan
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return mean, mean - half, mean + half


def difference_interval(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Mean of `a` minus mean of `b` with its 95% interval by Welch's t; NaN where it cannot be had."""
    from scipy import stats

    if not (len(a) and len(b)):
        return np.nan, np.nan, np.nan
    difference = float(np.mean(a) - np.mean(b))
    if min(len(a), len(b)) < 2:
        return difference, np.nan, np.nan
    variances = np.var(a, ddof=1) / len(a), np.var(b, ddof=1) / len(b)
    total = sum(variances)
    if not total:
        return difference, difference, difference
    df = total**2 / (variances[0] ** 2 / (len(a) - 1) + variances[1] ** 2 / (len(b) - 1))
    half = float(stats.t.ppf((1 + LEVEL) / 2, df) * np.sqrt(total))
    return difference, difference - half, difference + half
