"""From word scores of suites to one value per region, and the words that no model should be judged on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from psymem.data.items.suite import Suite

SENTENCE = ["suite", "model", "item", "condition"]
WHOLE = -1
"""What stands for the whole sentence where a region number is expected."""

UNKNOWN = ["suite", "item", "region_number", "word"]


def region_values(scores: pd.DataFrame, suites: Sequence[Suite]) -> pd.DataFrame:
    """Return the surprisal of every region, those without words included.

    Parameters
    ----------
    scores
        SCORES of the suites' words.
    suites
        The suites.

    Returns
    -------
    pandas.DataFrame
        ``suite, model, item, condition, region_number, region, content, n_words, n_oov, metric,
        surprisal_bits``. The sum over a region without words is 0, every other metric of it is undefined
        (NaN); so is that of a region with an undefined word.
    """
    frames = []
    for suite in suites:
        own = scores[scores["suite"] == suite.name]
        groups = own.groupby([*SENTENCE, "region_number"], sort=False)
        found = pd.DataFrame(
            {
                "n_words": groups.size(),
                "n_oov": groups["oov"].sum(),
                "surprisal_bits": aggregate(groups["surprisal_bits"], suite.metric),
            }
        ).reset_index()
        declared = pd.DataFrame(_declared(suite)).merge(own[["model"]].drop_duplicates(), how="cross")
        keys = [*SENTENCE, "region_number"]
        whole = declared.merge(found, on=keys, how="left", validate="one_to_one")
        empty = whole["n_words"].isna()
        whole[["n_words", "n_oov"]] = whole[["n_words", "n_oov"]].fillna(0).astype("int64")
        if suite.metric == "sum":
            whole["surprisal_bits"] = whole["surprisal_bits"].mask(empty, 0.0)
        frames.append(whole.assign(metric=suite.metric))
    columns = [
        *SENTENCE,
        "region_number",
        "region",
        "content",
        "n_words",
        "n_oov",
        "metric",
        "surprisal_bits",
    ]
    return pd.concat(frames, ignore_index=True)[columns]


def sentence_values(scores: pd.DataFrame, suites: Sequence[Suite]) -> pd.DataFrame:
    """Return the metric over all words of each sentence, as ``region_number`` `WHOLE` (``*`` in formulas)."""
    frames = []
    for suite in suites:
        groups = scores[scores["suite"] == suite.name].groupby(SENTENCE, sort=False)
        values = aggregate(groups["surprisal_bits"], suite.metric)
        frames.append(values.rename("surprisal_bits").reset_index().assign(region_number=WHOLE))
    return pd.concat(frames, ignore_index=True)


def aggregate(groups: Any, metric: str) -> pd.Series:
    """Apply a suite's metric to grouped surprisals; NaN where a word of the group is NaN."""
    values = groups.max() - groups.min() if metric == "range" else groups.agg(metric)
    return values.where(groups.count() == groups.size())


def unknown_words(scores: pd.DataFrame) -> pd.DataFrame:
    """List the out-of-vocabulary words.

    Returns
    -------
    pandas.DataFrame
        One row per suite, item, region and word: ``suite, item, region_number, word, conditions, models`` (the
        last two joined by commas).
    """
    bad = scores[scores["oov"].astype(bool)]
    listed = bad.groupby(UNKNOWN, sort=False).agg(
        conditions=("condition", lambda c: ",".join(dict.fromkeys(c))),
        models=("model", lambda m: ",".join(dict.fromkeys(m))),
    )
    return listed.reset_index()


def _declared(suite: Suite) -> list[dict[str, Any]]:
    """Return every region of every sentence."""
    return [
        {
            "suite": suite.name,
            "item": str(item.number),
            "condition": condition.name,
            "region_number": number,
            "region": suite.region_names[number],
            "content": content.strip(),
        }
        for item in suite.items
        for condition in item.conditions
        for number, content in condition.regions.items()
    ]
