"""Grouped K-fold cross-validation of one base model against larger ones.

Whole texts (or items, or subjects) are held out together, so that a model is judged on material that it has not
seen. Each model is fitted by maximum likelihood to the remaining rows; what counts is the log-likelihood per
held-out observation, and whether its difference from the base is more than chance over groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from psymem.errors import FitError
from psymem.fitting.comparison import check_same_rows
from psymem.fitting.formula.design import ModelData
from psymem.fitting.held_out import log_likelihood, training_rows
from psymem.fitting.multiplicity import adjust
from psymem.fitting.result import Fit
from psymem.fitting.spec import FitSpec
from psymem.fitting.threads import run_engine
from psymem.parallel import in_processes
from psymem.tables import require_columns

MOST_EXACT_GROUPS = 12
"""Up to this many groups the permutation test goes through every sign flip instead of drawing some."""


@dataclass(frozen=True)
class CrossValidation:
    """Held-out log-likelihoods of several models on the same folds.

    Parameters
    ----------
    table
        One row per model: model, formula, held_out_loglik_per_obs, delta_per_obs (against the base), groups_better
        (share of groups in which it beats the base), p (paired permutation test over groups, two-sided),
        p_adjusted. Nats.
    observations
        One row per observation: group, fold and each model's held-out log-likelihood; index as in the table given.
    folds, group_by, permutations, seed
        The settings.
    """

    table: pd.DataFrame = field(repr=False)
    observations: pd.DataFrame = field(repr=False)
    folds: int
    group_by: str
    permutations: int
    seed: int

    def __str__(self) -> str:
        """Settings and the table."""
        head = f"{self.folds}-fold cross-validation, whole {self.group_by} held out, seed {self.seed}"
        return f"{head}\n{self.table.to_string(index=False, na_rep='')}"


def cross_validate(
    base: Fit,
    full: Sequence[Fit],
    groups: pd.Series,
    *,
    folds: int = 10,
    permutations: int = 10_000,
    seed: int = 1,
    n_jobs: int = 1,
    correction: str = "holm",
    progress: Callable[[int], None] | None = None,
) -> CrossValidation:
    """Compare models by the likelihood of rows that they were not fitted to.

    Parameters
    ----------
    base, full
        Fits of the same rows; they need not be nested.
    groups
        What is held out together, aligned with the index of the table that was fitted; its name is reported.
    folds
        Number of folds K.
    permutations
        Number of random sign flips of the group differences.
    seed
        Seed of the folds and of the permutations.
    n_jobs
        Processes; the result does not depend on it.
    correction
        Correction of the permutation p-values for several models.
    progress
        Called with the number of fits done since the last call; there are models x folds of them.

    Raises
    ------
    FitError
        If there are fewer groups than folds, the models' rows differ, or a fold cannot be fitted.
    """
    for fit in full:
        check_same_rows(base, fit)
    if base.data is None or not groups.index.is_unique:
        raise FitError(
            "Cross-validation needs fits that carry their rows, and a table whose index has no repeats."
        )
    rows = base.data.index
    group = groups.loc[rows].reset_index(drop=True)
    _check_groups(group, groups.name, folds)
    fold = assign_folds(group, folds, seed)
    models = [base, *full]
    observations = pd.DataFrame({"group": group.to_numpy(), "fold": fold}, index=rows)
    for name, values in zip(_names(models), _held_out(models, fold, folds, n_jobs, progress), strict=True):
        observations[name] = values
    table = _table(models, observations, permutations, seed, correction)
    return CrossValidation(table, observations, folds, str(groups.name), permutations, seed)


def group_column(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return the column that groups are held out by, or say that it is not there."""
    require_columns(frame, [name])
    return frame[name]


def _check_groups(group: pd.Series, name: object, folds: int) -> None:
    if group.isna().any():
        raise FitError(
            f"{int(group.isna().sum()):,} rows have no value in {name!r}, the column that groups are held out by."
        )
    if not 2 <= folds <= group.nunique():
        raise FitError(
            f"{folds} folds were asked for, and {name!r} has {group.nunique()} different values; the number of folds has to "
            "lie between 2 and the number of groups."
        )


def assign_folds(group: pd.Series, folds: int, seed: int) -> np.ndarray:
    """Give every row the fold (0 ... K-1) of its group; groups in random order, each to the fold with fewest rows."""
    sizes = group.value_counts(sort=False).sort_index()
    order = np.random.default_rng(seed).permutation(len(sizes))
    filled, fold_of = np.zeros(folds), {}
    for position in order:
        fold = int(np.argmin(filled))
        fold_of[sizes.index[position]] = fold
        filled[fold] += sizes.iloc[position]
    return group.map(fold_of).to_numpy(dtype=int)


def _held_out(
    models: Sequence[Fit], fold: np.ndarray, folds: int, n_jobs: int, progress: Callable[[int], None] | None
) -> list[np.ndarray]:
    from joblib import delayed

    tasks = [(m, k) for m in range(len(models)) for k in range(folds)]
    work = (
        delayed(_one_fold)(models[m].spec.changed(reml=False), models[m].data, np.flatnonzero(fold == k), k)
        for m, k in tasks
    )
    done = in_processes(work, n_jobs)
    values = [np.full(len(fold), np.nan) for _ in models]
    for (m, k), part in zip(tasks, done, strict=True):
        values[m][fold == k] = part
        if progress is not None:
            progress(1)
    return values


def _one_fold(spec: FitSpec, data: ModelData, held_out: np.ndarray, number: int) -> np.ndarray:
    kept = np.setdiff1d(np.arange(len(data.response)), held_out)
    try:
        fit = run_engine(spec, training_rows(data, kept))
    except FitError as error:
        raise FitError(f"Fold {number + 1}: {error}") from error
    return log_likelihood(fit, data, held_out)


def _names(models: Sequence[Fit]) -> list[str]:
    return ["base", *(f"full {i}" if len(models) > 2 else "full" for i in range(1, len(models)))]


def _table(
    models: Sequence[Fit], observations: pd.DataFrame, permutations: int, seed: int, correction: str
) -> pd.DataFrame:
    rows = []
    for name, fit in zip(_names(models), models, strict=True):
        difference = (
            (observations[name] - observations["base"])
            .groupby(observations["group"], sort=True)
            .sum()
            .to_numpy()
        )
        tested = name != "base"
        rows.append(
            {
                "model": name,
                "formula": fit.formula,
                "held_out_loglik_per_obs": observations[name].mean(),
                "delta_per_obs": difference.sum() / len(observations) if tested else np.nan,
                "groups_better": (difference > 0).mean() if tested else np.nan,
                "p": permutation_p(difference, permutations, seed) if tested else np.nan,
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(p_adjusted=adjust(table.p, correction))


def permutation_p(difference: np.ndarray, permutations: int, seed: int) -> float:
    """Two-sided p of a paired permutation test of the sum of the differences.

    Under the null hypothesis each group's difference is as likely to have the other sign. With at most
    :data:`MOST_EXACT_GROUPS` groups every pattern of signs is tried and p is exact; else random ones are drawn and p is
    (1 + number at least as large) / (1 + permutations), which is never 0.
    """
    observed = abs(difference.sum())
    slack = 1e-12 * np.abs(difference).sum()
    n = len(difference)
    if n <= MOST_EXACT_GROUPS:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float((np.abs(signs @ difference) >= observed - slack).mean())
    rng = np.random.default_rng([seed, 1])
    larger = 0
    for start in range(0, permutations, 1000):
        signs = 1 - 2 * rng.integers(0, 2, size=(min(1000, permutations - start), n))
        larger += int((np.abs(signs @ difference) >= observed - slack).sum())
    return (1 + larger) / (1 + permutations)
