"""Medians by distance, with quartiles over words and intervals from resampling texts."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from psymem.studies.common.intervals import FEWEST_TEXTS

DRAWS = 1000
LEVELS = (2.5, 97.5)


def decay_table(curves: np.ndarray, text_of_word: np.ndarray, seed: int) -> pd.DataFrame:
    """Summarise curves of words over distance.

    Parameters
    ----------
    curves
        (n_words, distances, 2): retention and share; NaN where a text has ended.
    text_of_word
        (n_words,) int.
    seed
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        ``distance_words``, then for ``retention`` and ``share`` the median over words, its quartiles (``_q25``,
        ``_q75``: between them lies the middle half of the words) and the 95% interval of the median when texts are
        drawn anew (``_ci_low``, ``_ci_high``; NaN where fewer than ten texts reach so far), ``n_words`` and ``n_texts``.
        Distances that no word reaches are left out.
    """
    known = np.isfinite(curves[..., 0])
    reached = np.flatnonzero(known.any(0))
    rng = np.random.default_rng(seed)
    n_texts = int(text_of_word.max()) + 1
    times = rng.multinomial(n_texts, np.full(n_texts, 1 / n_texts), size=DRAWS)  # (draws, texts)
    rows = []
    for distance in reached:
        there = known[:, distance]
        row: dict[str, float] = {"distance_words": int(distance)}
        for name, values in zip(("retention", "share"), curves[there, distance].T, strict=True):
            row |= _summary(name, values, text_of_word[there], times)
        texts = len(np.unique(text_of_word[there]))
        rows.append({**row, "n_words": int(there.sum()), "n_texts": texts})
    return pd.DataFrame(rows)


def _summary(name: str, values: np.ndarray, text: np.ndarray, times: np.ndarray) -> dict[str, float]:
    """Median, quartiles and interval of one quantity at one distance."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    interval = (np.nan, np.nan)
    if len(np.unique(text)) >= FEWEST_TEXTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # draws without any text that reaches so far
            interval = tuple(np.nanpercentile(resampled_medians(values, text, times), LEVELS))
    return {
        f"{name}_median": middle,
        f"{name}_q25": low,
        f"{name}_q75": high,
        f"{name}_ci_low": interval[0],
        f"{name}_ci_high": interval[1],
    }


def resampled_medians(values: np.ndarray, text: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(draws,): median of `values` with each text taken `times` (draws, texts) over; NaN without any.

    Of an even number the lower of the two middle values.
    """
    order = np.argsort(values, kind="stable")
    medians = np.full(len(times), np.nan)
    for number, draw in enumerate(times):
        total = np.cumsum(draw[text[order]])
        if total[-1]:
            medians[number] = values[order[np.searchsorted(total, (total[-1] + 1) // 2)]]
    return medians
