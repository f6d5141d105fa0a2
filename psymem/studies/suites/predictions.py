"""The truth of each prediction of a suite in each item, and the share of items in which it holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psymem.data.items.prediction_formula import evaluate, regions
from psymem.data.items.suite import Suite
from psymem.studies.common.proportions import METHOD, wilson_interval
from psymem.studies.suites.regions import WHOLE, sentence_values

ITEM_KEYS = ["suite", "model", "prediction", "item"]
ACCURACY_COLUMNS = [
    *("suite", "model", "prediction", "formula", "n_items", "n_undefined", "n_left_out_oov", "n_analysed"),
    *("n_true", "accuracy", "ci_low", "ci_high", "ci_method"),
]


def item_predictions(
    scores: pd.DataFrame,
    suites: Sequence[Suite],
    by_region: pd.DataFrame,
    unknown: pd.DataFrame,
    keep_oov: bool,
) -> pd.DataFrame:
    """Return the truth of each prediction in each item.

    Parameters
    ----------
    scores
        SCORES of the suites' words.
    suites
        The suites.
    by_region
        From `psymem.studies.suites.regions.region_values`.
    unknown
        From `psymem.studies.suites.regions.unknown_words`.
    keep_oov
        Whether items with out-of-vocabulary words are analysed.

    Returns
    -------
    pandas.DataFrame
        ``suite, model, prediction, item, holds, oov, analysed``; ``holds`` is missing where a surprisal that the
        prediction needs is not defined.
    """
    values = pd.concat([by_region, sentence_values(scores, suites)])
    without = set(zip(unknown["suite"], unknown["item"], strict=True))
    frames = []
    for suite in suites:
        wide = _wide(values[values["suite"] == suite.name], suite)
        for number, prediction in enumerate(suite.predictions, start=1):
            needed = {(r.condition, r.number) for r in regions(prediction.expression)}
            given = {(c, n): wide[c, WHOLE if n is None else n].to_numpy() for c, n in needed}
            truth = np.broadcast_to(evaluate(prediction.expression, given), len(wide))
            holds = pd.Series(truth, index=wide.index)
            frame = holds.map({1.0: True, 0.0: False}).astype("boolean").rename("holds").reset_index()
            frame.insert(0, "suite", suite.name)
            frames.append(frame.assign(prediction=number))
    if not frames:
        return pd.DataFrame(columns=[*ITEM_KEYS, "holds", "oov", "analysed"])
    items = pd.concat(frames, ignore_index=True)
    items["oov"] = [key in without for key in zip(items["suite"], items["item"], strict=True)]
    items["analysed"] = items["holds"].notna() & (keep_oov | ~items["oov"])
    return items[[*ITEM_KEYS, "holds", "oov", "analysed"]]


def _wide(values: pd.DataFrame, suite: Suite) -> pd.DataFrame:
    """(model, item) by (condition, region number); `WHOLE` is the whole sentence."""
    wide = values.pivot(
        index=["model", "item"], columns=["condition", "region_number"], values="surprisal_bits"
    )
    models = values["model"].unique()
    order = [str(i.number) for i in suite.items]
    return wide.reindex(pd.MultiIndex.from_product([models, order], names=["model", "item"]))


def accuracy_table(items: pd.DataFrame, suites: Sequence[Suite]) -> pd.DataFrame:
    """Return one row per suite, model and prediction: counts of items, accuracy and its 95% Wilson interval.

    Parameters
    ----------
    items
        From `item_predictions`.
    suites
        The suites.
    """
    formulas = {(s.name, n): p.formula.strip() for s in suites for n, p in enumerate(s.predictions, start=1)}
    rows = []
    for (suite, model, number), group in items.groupby(["suite", "model", "prediction"], sort=False):
        n, true = int(group["analysed"].sum()), int((group["analysed"] & group["holds"].fillna(False)).sum())
        low, high = wilson_interval(true, n)
        rows.append(
            {
                "suite": suite,
                "model": model,
                "prediction": number,
                "formula": formulas[suite, number],
                "n_items": len(group),
                "n_undefined": int(group["holds"].isna().sum()),
                "n_left_out_oov": int((~group["analysed"] & group["holds"].notna()).sum()),
                "n_analysed": n,
                "n_true": true,
                "accuracy": true / n if n else float("nan"),
                "ci_low": low,
                "ci_high": high,
                "ci_method": METHOD,
            }
        )
    return pd.DataFrame(rows, columns=ACCURACY_COLUMNS)
