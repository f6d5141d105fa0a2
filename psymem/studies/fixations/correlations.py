"""Rank correlations of model fixations with human total reading times, within texts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.studies.common.intervals import (
    BOOTSTRAP,
    FEWEST_TEXTS,
    FISHER,
    RESAMPLES,
    bootstrap_interval,
    fisher_interval,
    groups,
)
from psymem.studies.fixations.words import SURPRISAL

FEWEST_WORDS = 5
"""Words that a text needs for a rank correlation."""
PREDICTORS = {
    "fixation": "model fixation",
    "length": "length",
    "log_frequency": "log frequency",
    SURPRISAL: "surprisal of the model",
}
"""What is correlated with reading times; the last three to compare with."""
CORRELATION_COLUMNS = (
    "model", "instance_of", "causal", "predictor", "words", "n_words", "n_texts", "texts_left_out", "rho", "ci_low",
    "ci_high", "interval", "texts_positive",
)  # fmt: skip


def rank_correlations(rows: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Spearman's rho of two columns within each text.

    Returns
    -------
    pandas.DataFrame
        ``text_id, n_words, rho``; rho is NaN for a text of fewer than five words with both values, or in which one of
        them is always the same.
    """
    pairs = rows.loc[rows[x].notna() & rows[y].notna(), ["text_id", x, y]]
    grouped = pairs.groupby("text_id", sort=False)
    ranks = grouped[[x, y]].rank()
    centred = ranks - ranks.groupby(pairs["text_id"], sort=False).transform("mean")
    products = pd.DataFrame(
        {
            "xy": centred[x] * centred[y],
            "xx": centred[x] ** 2,
            "yy": centred[y] ** 2,
            "text_id": pairs["text_id"],
        }
    )
    sums = products.groupby("text_id", sort=False).sum()
    n_words = grouped.size()
    defined = (n_words >= FEWEST_WORDS) & (sums["xx"] > 0) & (sums["yy"] > 0)
    rho = (sums["xy"] / np.sqrt(sums["xx"] * sums["yy"])).where(defined)
    return pd.DataFrame({"n_words": n_words, "rho": rho}).reset_index()


def correlations(
    table: pd.DataFrame, *, resamples: int = RESAMPLES, seed: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rank correlations with human times within texts: of model fixations, and of other predictors of the same words.

    The mean over texts is weighted by their number of words.

    Parameters
    ----------
    table
        From `psymem.studies.fixations.words.model_words`.
    resamples, seed
        Of the bootstrap.

    Returns
    -------
    means, by_text
        `CORRELATION_COLUMNS`, and one row per model, predictor and text.
    """
    found, texts = [], []
    for about, own in groups(table):
        for column, predictor in PREDICTORS.items():
            by_text = rank_correlations(own, column, "human")
            head = {**about, "predictor": predictor}
            texts.append(by_text.assign(**head))
            used = by_text.dropna(subset=["rho"])
            found.append(
                {
                    **head,
                    **_mean_correlation(used, resamples, seed),
                    "texts_left_out": len(by_text) - len(used),
                }
            )
    order = ["model", "instance_of", "causal", "predictor", "words", "text_id", "n_words", "rho"]
    means = pd.DataFrame(found).reindex(columns=list(CORRELATION_COLUMNS))
    return means, pd.concat(texts, ignore_index=True)[order]


def _mean_correlation(used: pd.DataFrame, resamples: int, seed: int) -> dict[str, object]:
    if used.empty:
        return {"n_words": 0, "n_texts": 0, "interval": "no text of five words or more in which both vary"}
    n, rho = used["n_words"].to_numpy(dtype=float), used["rho"].to_numpy()
    many = len(used) >= FEWEST_TEXTS
    interval = (
        bootstrap_interval(
            np.column_stack([n * rho, n]), lambda s: s[..., 0] / s[..., 1], resamples=resamples, seed=seed
        )
        if many
        else fisher_interval(rho, n)
    )
    return {
        "n_words": int(n.sum()),
        "n_texts": len(used),
        "rho": float(np.average(rho, weights=n)),
        "ci_low": interval[0],
        "ci_high": interval[1],
        "interval": BOOTSTRAP if many else FISHER,
        "texts_positive": float((rho > 0).mean()),
    }
