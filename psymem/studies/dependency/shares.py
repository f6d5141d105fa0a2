"""Shares of successes by distance and by words in between, beside chance, with intervals that respect sentences."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from psymem.errors import DataError
from psymem.studies.common.proportions import wilson_interval
from psymem.studies.common.rows import model_family

LEVEL = 0.95
MOST = 8
"""Bins end with this many or more."""
AMONG = {"words": "n_words_before", "candidates": "n_candidates"}
"""Choices among which the target is sought, and the column with their number."""
NOTHING = (
    "None of the {} cases is left to take shares of: in each the model does not know a word, gives no weight, cannot read "
    "the sentence, or has one word before to choose from."
)
METHOD = (
    "95%: cluster-robust over sentences, on the logit scale, Student's t with sentences - 1 degrees of freedom; Wilson's "
    "with the number of sentences where all or none succeed"
)


def share_table(cases: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """Return shares of successes of each model, and of the instances of a family together.

    Parameters
    ----------
    cases
        As :func:`psymem.studies.dependency.cases.find_cases` returns.
    responses
        As :mod:`psymem.studies.dependency.retrieval` gives them; those with unknown words, without a response, or with
        one word before, where there is nothing to choose, are left out.

    Returns
    -------
    pandas.DataFrame
        ``model, n_models, head, among`` ("words" before, or "candidates" of the kind sought), ``by`` ("all", "length" or
        "between") and ``bin`` ("1" to "7", "8+"; from "0" for between), ``share, ci_low, ci_high, chance`` (mean of 1/k, k
        the number of choices), ``excess, excess_ci_low, excess_ci_high`` (share less chance, case by case), ``mean_weight``
        (the target's part of the weight), ``n_cases`` (distinct), ``n_sentences``.

    Raises
    ------
    DataError
        If nothing is left.
    """
    kept = used_responses(cases, responses)
    if kept.empty:
        raise DataError(NOTHING.format(len(cases)))
    kept = kept.assign(
        length=binned(kept["length_words"], 1), between_bin=binned(kept["between"], 0), whole="all"
    )
    rows = []
    for name, own, n_models in _blocks(kept):
        for head, frame in own.groupby("head", sort=False):
            for among in AMONG:
                for by, column in (("all", "whole"), ("length", "length"), ("between", "between_bin")):
                    for label, part in frame.groupby(column, sort=False):
                        key = {"model": name, "n_models": n_models, "head": head, "among": among}
                        rows.append({**key, "by": by, "bin": label, **_summary(part, among)})
    table = pd.DataFrame(rows)
    order = {label: n for n, label in enumerate(["all", *(str(n) for n in range(MOST)), f"{MOST}+"])}
    kinds = {"all": 0, "length": 1, "between": 2}
    table = table.assign(_by=table["by"].map(kinds), _bin=table["bin"].map(order))
    first = table.groupby(["model", "head", "among"], sort=False).ngroup()
    table = table.assign(_first=first).sort_values(["_first", "_by", "_bin"], kind="stable")
    return table.drop(columns=["_first", "_by", "_bin"]).reset_index(drop=True)


def used_responses(cases: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """Responses with their cases: known words, some weight, and two words or more to choose from."""
    known = responses["known"].astype("boolean").fillna(False).astype(bool)
    used = responses[known & responses["hit_words"].notna()].merge(cases, on="case", validate="many_to_one")
    return used[used["n_words_before"] > 1]


def binned(values: pd.Series, lowest: int) -> pd.Series:
    """Numbers as bins: as they are below `MOST`, "8+" from there."""
    clipped = values.clip(lower=lowest, upper=MOST).astype(int).astype(str)
    return clipped.where(values < MOST, f"{MOST}+")


def _blocks(kept: pd.DataFrame) -> list[tuple[str, pd.DataFrame, int]]:
    """Each model, after the instances of its family together where there are several."""
    families = kept["model"].map(model_family)
    blocks: list[tuple[str, pd.DataFrame, int]] = []
    for family in dict.fromkeys(families):
        own = kept[families == family]
        names = list(dict.fromkeys(own["model"]))
        if len(names) > 1:
            blocks.append((str(family), own, len(names)))
        blocks += [(name, own[own["model"] == name], 1) for name in names]
    return blocks


def _summary(part: pd.DataFrame, among: str) -> dict[str, float]:
    hits, sentences = part[f"hit_{among}"].to_numpy(), part["sentence_number"].to_numpy()
    chance = 1 / part[AMONG[among]].to_numpy()
    share, low, high = share_interval(hits, sentences)
    excess, excess_low, excess_high = mean_interval(hits - chance, sentences)
    return {
        "share": share,
        "ci_low": low,
        "ci_high": high,
        "chance": float(chance.mean()),
        "excess": excess,
        "excess_ci_low": excess_low,
        "excess_ci_high": excess_high,
        "mean_weight": float(part[f"weight_{among}"].mean()),
        "n_cases": part["case"].nunique(),
        "n_sentences": len(np.unique(sentences)),
    }


def mean_interval(values: np.ndarray, clusters: np.ndarray) -> tuple[float, float, float]:
    """Mean of (n,) values with its cluster-robust interval; NaN limits below two clusters."""
    mean, error, n = _cluster_error(values, clusters)
    half = error * _quantile(n)
    return mean, mean - half, mean + half


def share_interval(hits: np.ndarray, clusters: np.ndarray) -> tuple[float, float, float]:
    """Mean of (n,) successes between 0 and 1 with its cluster-robust interval, which stays between 0 and 1.

    The standard error is that of a ratio, ``sqrt(C/(C-1) sum_c (sum of hits_c - share n_c)^2) / n`` over C clusters, and
    is taken to the logit scale.
    """
    share, error, n = _cluster_error(hits, clusters)
    if share <= 0 or share >= 1 or error == 0:
        return share, *wilson_interval(share * n, n)
    logit, half = np.log(share / (1 - share)), _quantile(n) * error / (share * (1 - share))
    low, high = (float(1 / (1 + np.exp(-(logit + step)))) for step in (-half, half))
    return share, low, high


def _cluster_error(values: np.ndarray, clusters: np.ndarray) -> tuple[float, float, int]:
    """Mean, its cluster-robust standard error (NaN below two clusters), and the number of clusters."""
    mean = float(values.mean())
    _, cluster = np.unique(clusters, return_inverse=True)
    sums = np.bincount(cluster, values - mean)
    n = len(sums)
    if n < 2:
        return mean, np.nan, n
    return mean, float(np.sqrt(n / (n - 1) * (sums**2).sum()) / len(values)), n


def _quantile(clusters: int) -> float:
    return float(stats.t.ppf((1 + LEVEL) / 2, clusters - 1)) if clusters > 1 else np.nan


def counts(cases: pd.DataFrame) -> pd.DataFrame:
    """Return how many cases there are in each bin: ``by, bin, n_cases, n_sentences``."""
    rows = []
    for column, name, lowest in (("length_words", "length", 1), ("between", "between", 0)):
        own = cases.assign(bin=binned(cases[column], lowest))
        for label, part in sorted(own.groupby("bin"), key=lambda pair: (len(pair[0]), pair[0])):
            n = part["sentence_number"].nunique()
            rows.append({"by": name, "bin": label, "n_cases": len(part), "n_sentences": n})
    return pd.DataFrame(rows)
