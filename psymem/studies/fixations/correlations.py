"""Rank correlations of model fixations with human total reading times, within texts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.studies.common.intervals import (
    BOOTSTRAP,
    FEWEST_TEXTS,
    FISHER,
    NO_INTERVAL,
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
PARTIAL = "model fixation, partial"
"""The fixation with all others of `PREDICTORS` held constant."""
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

    The mean over texts is weighted by their number of words. Beside the fixation's correlation stands its partial one
    (`partial_correlation`).

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
        partial = partial_correlation(own, resamples=resamples, seed=seed)
        found.insert(len(found) - len(PREDICTORS) + 1, {**about, "predictor": PARTIAL, **partial})
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


def partial_correlation(own: pd.DataFrame, *, resamples: int = RESAMPLES, seed: int = 1) -> dict[str, object]:
    """Rank correlation of fixations with human times, with the other predictors held constant.

    From the correlations of ranks within texts, averaged over texts and weighted by words: with P the inverse of their
    matrix, ``-P_xy / sqrt(P_xx P_yy)`` (x the fixation, y the time). A predictor that no word has, or that is the same in
    all words of a text, is not held constant there.

    Parameters
    ----------
    own
        Rows of one model.
    resamples, seed
        Of the bootstrap over texts; fewer than ten have no interval.
    """
    controls = [c for c in list(PREDICTORS)[1:] if own[c].notna().any()]
    columns = ["fixation", "human", *controls]
    words = own.dropna(subset=columns)
    ranks = words.groupby("text_id", sort=False)[columns].rank()
    centred = ranks - ranks.groupby(words["text_id"], sort=False).transform("mean")
    moments = [
        np.append(n * _correlation_matrix(rows.to_numpy()), n)
        for _, rows in centred.groupby(words["text_id"], sort=False)
        if (n := len(rows)) >= FEWEST_WORDS and (np.ptp(rows[["fixation", "human"]], axis=0) > 0).all()
    ]
    left_out = own["text_id"].nunique() - len(moments)
    if not moments:
        return {"n_words": 0, "n_texts": 0, "texts_left_out": left_out, "interval": NO_INTERVAL}
    sums = np.stack(moments)
    low, high = bootstrap_interval(sums, _partial, resamples=resamples, seed=seed)
    return {
        "n_words": int(sums[:, -1].sum()),
        "n_texts": len(sums),
        "texts_left_out": left_out,
        "rho": float(_partial(sums.sum(axis=0))),
        "ci_low": low,
        "ci_high": high,
        "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
    }


def _correlation_matrix(centred: np.ndarray) -> np.ndarray:
    """(k, k) correlations of centred columns; 0 with a column that is always the same."""
    size = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(size > 0, size, 1.0)
    return np.where(np.eye(len(size), dtype=bool), 1.0, scaled.T @ scaled)


def _partial(sums: np.ndarray) -> np.ndarray:
    """Partial correlation of the first two columns from weighted sums of their matrices (..., k * k + 1)."""
    size = round(np.sqrt(sums.shape[-1] - 1))
    matrix = (sums[..., :-1] / sums[..., -1:]).reshape(*sums.shape[:-1], size, size)
    inverse = np.linalg.pinv(matrix, hermitian=True)
    return -inverse[..., 0, 1] / np.sqrt(inverse[..., 0, 0] * inverse[..., 1, 1])  # type: ignore[no-any-return]
