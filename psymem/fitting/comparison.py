"""Comparing models of the same rows: likelihood-ratio tests of one base model against larger ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from psymem.errors import FitError, NotNestedError
from psymem.fitting.formula.design import ModelData, RandomTerm, build
from psymem.fitting.multiplicity import adjust
from psymem.fitting.result import Fit
from psymem.fitting.spec import make_spec
from psymem.fitting.threads import run_engine

COMPARISON_COLUMNS = (
    "model", "formula", "n_obs", "parameters", "loglik", "aic", "bic",
    "delta_loglik", "delta_loglik_per_obs", "chi_square", "df", "p", "p_adjusted",
)  # fmt: skip
"""Columns of Comparison.table; the first row is the base, whose test columns are NaN."""

SAME_SPACE = 1e-7
"""Largest relative residual with which a column still counts as a combination of others."""


@dataclass(frozen=True)
class Comparison:
    """Likelihood-ratio tests of a base model against one or more models that contain it.

    Parameters
    ----------
    base, full
        The fits that were compared, all by maximum likelihood.
    table
        One row per model, columns :data:`COMPARISON_COLUMNS`; log-likelihoods in nats.
    correction
        How ``p_adjusted`` corrects for the number of models tested.
    notes
        Plain sentences for the reader.
    """

    base: Fit
    full: tuple[Fit, ...]
    table: pd.DataFrame = field(repr=False)
    correction: str = "holm"
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Formulas first, as an anova of lme4 prints them, then the tests."""
        formulas = [f"{row.model}: {row.formula}" for row in self.table.itertuples()]
        shown = self.table.drop(columns=["formula", "n_obs", "bic", "delta_loglik_per_obs"])
        head = f"Models of the same {self.base.n_obs:,} rows, by maximum likelihood"
        return "\n".join(
            [head, *formulas, "", shown.to_string(index=False, na_rep="", formatters=_FORMATS), *self.notes]
        )


def _p_text(p: float) -> str:
    """Write a p-value as this field does; empty if missing."""
    if np.isnan(p):
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


_FORMATS = {
    "loglik": "{:.2f}".format,
    "aic": "{:.1f}".format,
    "delta_loglik": lambda v: "" if np.isnan(v) else f"{v:.2f}",
    "chi_square": lambda v: "" if np.isnan(v) else f"{v:.2f}",
    "df": lambda v: "" if np.isnan(v) else f"{v:.0f}",
    "p": _p_text,
    "p_adjusted": _p_text,
}


def compare(base: Fit, *full: Fit, correction: str = "holm") -> Comparison:
    """Test models against a base model that they contain, by their likelihood ratio.

    Fits by REML are fitted again by maximum likelihood, since restricted likelihoods of different fixed effects
    cannot be compared.

    Parameters
    ----------
    base
        The smaller model.
    full
        One or more models of the same response and the same rows, each containing the base.
    correction
        For several models: "holm", "bonferroni" or "none".

    Raises
    ------
    FitError
        If a model has other rows or another response than the base.
    NotNestedError
        If a model does not contain the base.
    """
    if not full:
        raise FitError("There is nothing to compare the base model with; give at least one larger model.")
    for model in full:
        check_same_rows(base, model)
        check_nested(base, model)
    fits = [by_maximum_likelihood(fit) for fit in (base, *full)]
    return Comparison(fits[0], tuple(fits[1:]), _table(fits, correction), correction, tuple(_notes(fits)))


def by_maximum_likelihood(fit: Fit) -> Fit:
    """Return `fit` itself if it was made by maximum likelihood, else the same model fitted again by it."""
    if not fit.spec.reml or fit.spec.family != "gaussian" or not _data(fit).random:
        return fit
    spec = fit.spec.changed(reml=False)
    return run_engine(spec, _data(fit))


def _table(fits: Sequence[Fit], correction: str) -> pd.DataFrame:
    base = fits[0]
    table = pd.DataFrame(
        {
            "model": ["base", *(f"full {i}" if len(fits) > 2 else "full" for i in range(1, len(fits)))],
            "formula": [fit.formula for fit in fits],
            "n_obs": [fit.n_obs for fit in fits],
            "parameters": [fit.n_parameters for fit in fits],
            "loglik": [fit.loglik for fit in fits],
            "aic": [fit.aic for fit in fits],
            "bic": [fit.bic for fit in fits],
        }
    )
    tested = table.index > 0
    table["delta_loglik"] = (table.loglik - base.loglik).where(tested)
    table["delta_loglik_per_obs"] = table.delta_loglik / base.n_obs
    table["chi_square"] = (2 * table.delta_loglik).clip(lower=0)
    table["df"] = (table.parameters - base.n_parameters).where(tested).astype(float)
    table["p"] = stats.chi2.sf(table.chi_square, table.df)
    table["p_adjusted"] = adjust(table.p, correction)
    return table[list(COMPARISON_COLUMNS)]


def _notes(fits: Sequence[Fit]) -> list[str]:
    """Say what a reader should know before citing the table."""
    notes = []
    for fit in fits:
        if fit.loglik < fits[0].loglik - 1e-6:
            notes.append(
                f"The likelihood of {fit.formula} came out lower than that of the base it contains: its optimiser stopped "
                "too early, so its test means nothing."
            )
        if not fit.converged:
            notes.append(f"The model {fit.formula} did not converge; do not cite its test.")
        elif fit.singular:
            notes.append(f"The fit of {fit.formula} is singular.")
    if any(len(_variance_columns(fit)) > len(_variance_columns(fits[0])) for fit in fits[1:]):
        notes.append(
            "A test that adds variances is conservative (a variance cannot be negative): the true p is smaller, about "
            "half for one added variance."
        )
    return notes


def complete_rows(frame: pd.DataFrame, formulas: Sequence[str], **options: Any) -> pd.DataFrame:
    """Return the rows of `frame` in which every variable of every formula is present.

    Models fitted to what this returns have identical rows, so that :func:`compare` accepts them.

    Parameters
    ----------
    frame
        One row per observation, with an index that has no repeats.
    formulas
        lme4 formulas.
    options
        As in :func:`psymem.fit`: ``where``, ``levels``, ``contrasts``, ``family``.
    """
    rows = frame.index
    for formula in formulas:
        rows = rows.intersection(build(frame, make_spec(formula, **options)).index, sort=False)
    return frame.loc[frame.index.isin(rows)]


# what may be compared --------------------------------------------------------------------------------------
def _data(fit: Fit) -> ModelData:
    if fit.data is None:
        raise FitError(
            f"The fit of {fit.formula} does not carry its rows, so it cannot be compared; fit it again."
        )
    return fit.data


def check_same_rows(base: Fit, full: Fit) -> None:
    """Refuse two fits of different rows, responses or families, with the counts."""
    if base.spec.family != full.spec.family or _engine_kind(base) != _engine_kind(full):
        raise FitError(
            f"Log-likelihoods can only be compared within one family and engine; the base is {base.spec.family} by "
            f"{base.engine}, {full.formula} is {full.spec.family} by {full.engine}."
        )
    ours, theirs = _data(base).index, _data(full).index
    if len(ours) != len(theirs) or not ours.equals(theirs):
        common = len(ours.intersection(theirs))
        raise FitError(
            f"The models were fitted to different rows: {base.formula} to {len(ours):,}, {full.formula} to "
            f"{len(theirs):,}, of which {common:,} are the same. Compare them on the rows where every variable of both "
            "is present (complete_rows in Python, --complete-rows on the command line)."
        )
    if base.spec.weights != full.spec.weights:
        raise FitError(
            f"The models weight their rows differently ({base.spec.weights or 'not at all'}; "
            f"{full.spec.weights or 'not at all'}), so their likelihoods differ in kind."
        )
    if not np.array_equal(_data(base).response, _data(full).response) or not _same(
        _data(base).trials, _data(full).trials
    ):
        raise FitError(
            f"The models have different responses, so their likelihoods differ in kind: {base.formula}; {full.formula}."
        )


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))


def same_offset(base: Fit, full: Fit) -> bool:
    """Whether both models have the same offset, or none."""
    return _same(_data(base).offset, _data(full).offset)


def _engine_kind(fit: Fit) -> str:
    return fit.engine.split(" ")[0]


def check_nested(base: Fit, full: Fit) -> None:
    """Refuse a pair in which the larger model cannot be turned into the base by dropping parameters."""
    if not same_offset(base, full):
        raise NotNestedError(
            f"{full.formula} does not contain the base {base.formula}: their offsets differ. Give both the same offset()."
        )
    missing = not_contained(_data(base), _data(full))
    if missing:
        swapped = not not_contained(_data(full), _data(base))
        advice = (
            "It is the other way round: give the smaller model as the base."
            if swapped
            else "A likelihood-ratio test needs a model that contains the base; held-out likelihood (--folds) does not."
        )
        raise NotNestedError(
            f"{full.formula} does not contain the base {base.formula}: it lacks {', '.join(missing)}. {advice}"
        )
    if full.n_parameters <= base.n_parameters:
        raise NotNestedError(
            f"{full.formula} and the base {base.formula} are the same model, so there is nothing to test."
        )


def not_contained(small: ModelData, large: ModelData) -> list[str]:
    """Name the fixed columns and random effects of `small` that `large` cannot express."""
    missing = [small.names[j] for j in columns_outside(small.fixed, large.fixed)]
    for term in small.random:
        if not any(
            _same_grouping(term, other) and not len(columns_outside(term.columns, other.columns))
            for other in large.random
        ):
            missing.append(f"({' + '.join(term.names)} | {term.group})")
    return missing


def columns_outside(columns: np.ndarray, space: np.ndarray) -> np.ndarray:
    """Positions of the columns that are no linear combination of those of `space`."""
    if not space.shape[1]:
        return np.arange(columns.shape[1])
    basis = np.linalg.qr(space / np.maximum(np.abs(space).max(axis=0), 1e-300))[0]
    rest = columns - basis @ (basis.T @ columns)
    return np.flatnonzero(np.linalg.norm(rest, axis=0) > SAME_SPACE * np.linalg.norm(columns, axis=0))


def _same_grouping(a: RandomTerm, b: RandomTerm) -> bool:
    return a.group == b.group and len(a.levels) == len(b.levels)


def _variance_columns(fit: Fit) -> list[str]:
    return [f"{t.group} {n}" for t in _data(fit).random for n in t.names]
