"""From word scores to one value per item, condition, region and model instance."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from psymem.errors import DataError
from psymem.tables import require_columns

NEEDED_ROLES = ("target", "attractor", "critical")
"""Roles whose word has to be in the vocabulary."""

CRITICAL = "critical"
SPILLOVER = "spillover"


def model_family(name: str) -> str:
    """Name that instances share: "cbr-rnn" for "cbr-rnn/1"; any other name is a family of its own."""
    instance = re.fullmatch(r"([A-Za-z0-9_.-]+)/\d+", name)
    return instance.group(1) if instance else name


def family_names(models: Iterable[str]) -> dict[str, str]:
    """Instance -> what its table is called: the family, or the instance's own name if it is there alone."""
    names = list(dict.fromkeys(models))
    families = [model_family(n) for n in names]
    return {n: n if families.count(f) == 1 else f for n, f in zip(names, families, strict=True)}


def out_of_vocabulary(scores: pd.DataFrame) -> pd.DataFrame:
    """List the out-of-vocabulary words that make an item unusable.

    Parameters
    ----------
    scores
        SCORES with ``item``, ``role`` and ``oov``.

    Returns
    -------
    pandas.DataFrame
        One row per item, role and word: ``item, role, word, conditions, models`` (the last two joined by
        commas).
    """
    if "oov" not in scores.columns:
        return pd.DataFrame(columns=["item", "role", "word", "conditions", "models"])
    bad = scores[scores["oov"].astype(bool) & has_role(scores, *NEEDED_ROLES)]
    listed = bad.groupby(["item", "role", "word"], sort=False).agg(
        conditions=("condition", lambda c: ",".join(sorted(set(c)))),
        models=("model", lambda m: ",".join(sorted(set(m)))),
    )
    return listed.reset_index()


def display_name(model: str) -> str:
    """Name of a model in figures: the last two parts of a path, other names as they are."""
    parts = [p for p in re.split(r"[/\\]", model) if p]
    return "/".join(parts[-2:]) if len(parts) > 2 or model.startswith(("/", ".", "~")) else model


def has_role(words: pd.DataFrame, *roles: str) -> pd.Series:
    """Whether each word has one of `roles` (a cell can hold several, separated by blanks)."""
    cells = {cell: not set(roles).isdisjoint(str(cell).split()) for cell in words["role"].unique()}
    return words["role"].map(cells).astype(bool)


def leave_out_items(scores: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Drop every item with an out-of-vocabulary target, attractor or critical word, for all models alike.

    Returns
    -------
    kept, left_out : pandas.DataFrame
        The remaining scores, and the words that were the reason (see `out_of_vocabulary`).

    Raises
    ------
    DataError
        If no item remains.
    """
    left_out = out_of_vocabulary(scores)
    kept = scores[~scores["item"].isin(left_out["item"])]
    if kept.empty and len(scores):
        words = sorted(left_out["word"].unique())
        listed = ", ".join(words[:10]) + (", ..." if len(words) > 10 else "")
        raise DataError(
            f"All {scores['item'].nunique()} items have a target, attractor or critical word outside the "
            f"vocabulary of the model ({listed}), so nothing is left to analyse. "
            "Use other items or another model, or keep them with --keep-oov."
        )
    return kept, left_out


OWN_COLUMNS = (
    "model, region, measure, effect, value, analysed, oov, mean, sd, spread, centred, everything, ci_low, ci_high, "
    "item_ci_low, item_ci_high, n_items, interval, _region"
).split(", ")
"""Names of columns of the tables of results, which a factor cannot have."""


def refuse_own_names(factors: Sequence[str], measures: Sequence[str]) -> None:
    """Raise DataError if a factor is called like a column of the results."""
    taken = [f for f in factors if f in (*OWN_COLUMNS, *measures)]
    if taken:
        raise DataError(
            f"The items have a factor called {taken[0]!r}, a name that the tables of results use themselves. "
            "Rename this column of the items file."
        )


def refuse_single_item(scores: pd.DataFrame, left_out: pd.DataFrame) -> None:
    """Raise DataError if fewer than two items can be analysed, naming those that were left out."""
    items = list(scores["item"].unique())
    if len(items) > 1:
        return
    words = ", ".join(sorted(left_out["word"].unique()))
    why = (
        f" {left_out['item'].nunique()} left out for words outside the vocabulary: {words}." if words else ""
    )
    raise DataError(
        f"There is one item to analyse ({items[0]!r}); effects are tested over items, so at least two are needed.{why}"
        + (" Keep such items with --keep-oov, or use other words." if words else "")
    )


def region_rows(
    scores: pd.DataFrame, measures: Sequence[str], factors: Sequence[str], covariates: Sequence[str] = ()
) -> pd.DataFrame:
    """Return one row per model instance, item, condition and region with the value of each measure.

    Regions are "critical" and those of the spillover words ("spillover_1", ...). Where a region has several
    words, surprisal is their sum and every other measure their mean.

    Raises
    ------
    DataError
        If a text has no critical word.
    """
    require_columns(
        scores, ["model", "text_id", "item", "condition", "region", "role", *factors, *measures], "the scores"
    )
    critical, spillover = has_role(scores, CRITICAL), has_role(scores, SPILLOVER)
    without = set(scores["text_id"]) - set(scores.loc[critical, "text_id"])
    if without:
        raise DataError(
            f"{len(without)} text(s) have no word with the role 'critical', the first is "
            f"{sorted(without)[0]!r}. Mark the word at which the measures are read."
        )
    words = scores.assign(region=scores["region"].where(~critical, CRITICAL))[critical | spillover]
    keys = ["model", "item", "condition", *factors, *covariates, "region"]
    how = {m: _sum_or_nan if m.startswith("surprisal") else "mean" for m in measures}
    return words.groupby(keys, sort=False, observed=True, dropna=False).agg(how).reset_index()


def _sum_or_nan(values: pd.Series) -> float:
    return float(values.sum(skipna=False))


def regions_of(rows: pd.DataFrame) -> list[str]:
    """Return "critical" and then the spillover regions in order."""
    found = rows["region"].unique()
    return [CRITICAL, *sorted((r for r in found if r != CRITICAL), key=_region_order)]


def _region_order(region: str) -> tuple[int, str]:
    number = re.search(r"(\d+)$", region)
    return (int(number.group(1)) if number else 0, region)


def covariates_of(scores: pd.DataFrame, formula: str | None, known: Sequence[str]) -> dict[str, pd.Series]:
    """Return columns that the user's formula names beside factors and measures; numbers where all cells are numbers."""
    named = re.findall(r"[^\W\d]\w*", formula or "")
    keys = ("model", "item", "condition", "region")
    found = [c for c in dict.fromkeys(named) if c in scores.columns and c not in known and c not in keys]
    as_numbers = {c: pd.to_numeric(scores[c], errors="coerce") for c in found}
    return {c: scores[c] if as_numbers[c].isna().any() else as_numbers[c] for c in found}
