"""How model fixations and human total reading times are spread, and how both treat words of low frequency."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.data.corpora.fixation_levels import quantile_levels
from psymem.studies.common.intervals import (
    BOOTSTRAP,
    NO_INTERVAL,
    RESAMPLES,
    bootstrap_interval,
    groups,
)
from psymem.studies.fixations.words import LEVEL

SPREAD_COLUMNS = (
    "model", "instance_of", "causal", "words", "scale", "n_words", "model_mean", "model_variance", "human_mean",
    "human_variance", "variance_ratio", "ci_low", "ci_high", "interval",
)  # fmt: skip
RARE_COLUMNS = (
    "model", "instance_of", "causal", "words", "source", "unit", "n_low", "n_high", "mean_low", "mean_high", "difference",
    "difference_sd", "ci_low", "ci_high", "interval", "n_unknown", "mean_unknown",
)  # fmt: skip
ROUNDING = 1e-12
"""Variance, relative to the squared mean, that values which are all alike can seem to have."""


# spread ----------------------------------------------------------------------------------------------------
def spread(table: pd.DataFrame, *, resamples: int = RESAMPLES, seed: int = 1) -> pd.DataFrame:
    """Variance of model fixations and of human times over the same words.

    Two scales: each divided by its own mean ("relative to the mean"), and "12 levels", the predicted duration of the
    model (0 to 12) beside the twelfths of human means (0 to 11), as networks are trained on them.

    Returns
    -------
    pandas.DataFrame
        `SPREAD_COLUMNS`; the ratio is the model's variance over people's.
    """
    found = []
    for about, own in groups(table):
        human = own["human"].to_numpy(dtype=float)
        scales = {"relative to the mean": (own["fixation"].to_numpy(dtype=float), human, True)}
        if own[LEVEL].notna().all():
            scales["12 levels"] = (own[LEVEL].to_numpy(dtype=float), levels(human), False)
        for scale, (model, people, relative) in scales.items():
            sums = _sums(own["text_id"], [np.ones(len(own)), model, model**2, people, people**2])
            values = _variances(sums.sum(0), relative)
            ratio = _relative_ratio if relative else _plain_ratio
            low, high = bootstrap_interval(sums, ratio, resamples=resamples, seed=seed)
            names = ("model_mean", "model_variance", "human_mean", "human_variance")
            found.append(
                {
                    **about,
                    "scale": scale,
                    "n_words": len(own),
                    **dict(zip(names, map(float, values), strict=True)),
                    "variance_ratio": float(_ratio(values)),
                    "ci_low": low,
                    "ci_high": high,
                    "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
                }
            )
    return pd.DataFrame(found).reindex(columns=list(SPREAD_COLUMNS))


def levels(times: np.ndarray) -> np.ndarray:
    """Twelfths of mean times, 0 to 11."""
    return quantile_levels(times).astype(float)


def _sums(texts: pd.Series, values: list[np.ndarray]) -> np.ndarray:
    """(texts, k): sums over the words of each text."""
    frame = pd.DataFrame(dict(enumerate(values)), index=texts.index)
    return frame.groupby(texts, sort=False).sum().to_numpy()


def _variances(sums: np.ndarray, relative: bool) -> tuple[np.ndarray, ...]:
    """Mean and variance of the model's values and of people's."""
    n = sums[..., 0]
    found = []
    with np.errstate(invalid="ignore", divide="ignore"):  # one word has no variance
        for first in (1, 3):
            mean = sums[..., first] / n
            variance = (sums[..., first + 1] / n - mean**2) * n / (n - 1)
            variance = np.where(variance < ROUNDING * mean**2, 0.0, variance)
            found += [mean, variance / mean**2 if relative else variance]
    return tuple(found)


def _relative_ratio(sums: np.ndarray) -> np.ndarray:
    return _ratio(_variances(sums, True))


def _plain_ratio(sums: np.ndarray) -> np.ndarray:
    return _ratio(_variances(sums, False))


def _ratio(values: tuple[np.ndarray, ...]) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(values[3] > 0, values[1] / values[3], np.nan)


# words of low frequency ------------------------------------------------------------------------------------
def rare_words(
    table: pd.DataFrame, below: float, human_unit: str, *, resamples: int = RESAMPLES, seed: int = 1
) -> pd.DataFrame:
    """Compare words of low and high frequency, in the model and in people.

    Parameters
    ----------
    table
        From `model_words`, with ``log_frequency``.
    below
        Log frequency (Zipf) below which a word is of low frequency.
    human_unit
        Unit of the times.
    resamples, seed
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        `RARE_COLUMNS`; ``difference_sd`` is low minus high in standard deviations of all words, with its interval, so
        that model and people can be compared. Words that the model does not know have a mean of their own.
    """
    found = []
    for about, own in groups(table):
        frequency = own["log_frequency"].to_numpy(dtype=float)
        low, high = frequency < below, frequency >= below
        unknown = own["oov"].to_numpy(dtype=bool)
        for source, column, unit in (
            ("model", "fixation", own["unit"].iloc[0]),
            ("human", "human", human_unit),
        ):
            x = own[column].to_numpy(dtype=float)
            sums = _sums(own["text_id"], [*(v for g in (low, high) for v in (g, g * x, g * x**2))])
            values = _difference(sums.sum(0))
            ends = bootstrap_interval(sums, lambda s: _difference(s)[3], resamples=resamples, seed=seed)
            names = ("mean_low", "mean_high", "difference", "difference_sd")
            found.append(
                {
                    **about,
                    "source": source,
                    "unit": unit,
                    "n_low": int(low.sum()),
                    "n_high": int(high.sum()),
                    **dict(zip(names, map(float, values), strict=True)),
                    "ci_low": ends[0],
                    "ci_high": ends[1],
                    "interval": NO_INTERVAL if np.isnan(ends[0]) else BOOTSTRAP,
                    "n_unknown": int(unknown.sum()),
                    "mean_unknown": float(x[unknown].mean()) if unknown.any() else np.nan,
                }
            )
    return pd.DataFrame(found).reindex(columns=list(RARE_COLUMNS))


def _difference(sums: np.ndarray) -> tuple[np.ndarray, ...]:
    """Means of both groups, their difference, and that in standard deviations of all their words."""
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = sums[..., 1] / sums[..., 0], sums[..., 4] / sums[..., 3]
        n, total, squares = (sums[..., k] + sums[..., k + 3] for k in range(3))
        deviation = np.sqrt((squares / n - (total / n) ** 2) * n / (n - 1))
        return low, high, low - high, (low - high) / deviation
