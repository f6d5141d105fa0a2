"""Which words are compared, and intervals over texts: words of one text are not independent of one another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

RESAMPLES = 2000
FEWEST_TEXTS = 10
"""Texts that a bootstrap over texts needs."""
BOOTSTRAP = "95%, percentile bootstrap over texts"
FISHER = "95%, Fisher's z per text, combined (fewer than 10 texts)"
NO_INTERVAL = "none (fewer than 10 texts)"


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of words, not punctuation alone, that have both a model fixation and a human time."""
    return table[table["spoken"] & table["fixation"].notna() & table["human"].notna()]


def groups(table: pd.DataFrame) -> list[tuple[dict[str, object], pd.DataFrame]]:
    """Return rows of each model: words it knows and, where it lacks some, all words; with what they are."""
    found: list[tuple[dict[str, object], pd.DataFrame]] = []
    for model, own in compared(table).groupby("model", sort=False):
        about = {
            "model": model,
            "instance_of": own["instance_of"].iloc[0],
            "causal": bool(own["causal"].all()),
        }
        known = own[~own["oov"]]
        if len(known):
            found.append(({**about, "words": "known to the model"}, known))
        if len(known) < len(own):
            found.append(({**about, "words": "all"}, own))
    return found


def bootstrap_interval(
    moments: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], *, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile interval of a statistic of sums over texts.

    Parameters
    ----------
    moments
        (texts, k): sums over the words of each text.
    statistic
        Of sums (..., k), gives (...).
    resamples, seed
        Draws of as many texts as there are, with replacement.

    Returns
    -------
    low, high
        2.5% and 97.5%; NaN for fewer than `FEWEST_TEXTS` texts.
    """
    texts = len(moments)
    if texts < FEWEST_TEXTS:
        return np.nan, np.nan
    drawn = np.random.default_rng(seed).multinomial(texts, np.full(texts, 1 / texts), size=resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(drawn @ moments)
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.025, 0.975]) if len(values) else (np.nan, np.nan)
    return float(low), float(high)


def fisher_interval(rho: np.ndarray, n_words: np.ndarray) -> tuple[float, float]:
    """95% interval of Spearman's rho from Fisher's z of each text, weighted by its precision.

    The variance of z is ``(1 + rho^2 / 2) / (n - 3)`` (Bonett & Wright, 2000).
    """
    rho = np.clip(rho, -0.999, 0.999)
    weight = (n_words - 3) / (1 + rho**2 / 2)
    centre, half = np.average(np.arctanh(rho), weights=weight), 1.959964 / np.sqrt(weight.sum())
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))
