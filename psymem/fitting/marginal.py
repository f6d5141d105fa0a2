"""Estimated marginal means and comparisons between them, as R's emmeans gives them.

A marginal mean is the model's prediction for a combination of categories, averaged with equal weights over the other
categories, numbers held at their mean. Degrees of freedom are the engine's (Satterthwaite for mixed models).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.fitted import Fitted
from psymem.fitting.formula.coding import model_matrix
from psymem.fitting.formula.design import ModelData
from psymem.fitting.formula.expression import names
from psymem.fitting.formula.transforms import Columns, Factor, Numbers, Value

ADJUSTMENTS = ("tukey", "holm", "bonferroni", "none")
WIDEST_GRID = 200_000


def marginal_means(
    fit: Fitted, by: str | Sequence[str], *, at: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Estimate the mean of every combination of categories of `by`.

    Parameters
    ----------
    fit
        A fitted model.
    by
        One or more categorical predictors.
    at
        Values at which numeric predictors are held, instead of their means.

    Returns
    -------
    pandas.DataFrame
        Columns of `by`, then estimate, se, df, ci_low, ci_high; ``attrs["notes"]`` says over which other categories the
        means are averaged, where numbers are held, and on which scale they are.
    """
    factors = _factors(fit, by)
    grid, weights = _means_weights(fit, factors, at or {})
    table, shift = linear_estimates(fit, weights), _mean_offset(fit)
    for name in ("estimate", "ci_low", "ci_high"):
        table[name] += shift
    found = pd.concat([grid, table[["estimate", "se", "df", "ci_low", "ci_high"]]], axis=1)
    found.attrs["notes"] = _notes(fit, factors, at or {})
    return found


def pairwise(
    fit: Fitted, by: str | Sequence[str], *, adjust: str = "tukey", at: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Compare the marginal means of `by` in pairs.

    Parameters
    ----------
    fit, by, at
        As for :func:`marginal_means`.
    adjust
        ``tukey``, ``holm``, ``bonferroni`` or ``none``; the p values are adjusted, intervals are per comparison.

    Returns
    -------
    pandas.DataFrame
        contrast ("none - double"), estimate, se, df, t, p, ci_low, ci_high; ``attrs["notes"]`` as for
        :func:`marginal_means`, and how p was adjusted.
    """
    if adjust not in ADJUSTMENTS:
        raise UnknownNameError("adjustment", adjust, ADJUSTMENTS)
    factors = _factors(fit, by)
    grid, weights = _means_weights(fit, factors, at or {})
    labels = grid.astype(str).agg(" ".join, axis=1).tolist()
    if len(labels) < 2:
        raise FitError(f"There is one marginal mean only ({labels[0]}); nothing can be compared.")
    pairs = list(combinations(range(len(labels)), 2))
    table = linear_estimates(fit, np.asarray([weights[i] - weights[j] for i, j in pairs]))
    table["p"] = adjusted(table, len(labels), adjust)
    table.insert(0, "contrast", [f"{labels[i]} - {labels[j]}" for i, j in pairs])
    table.attrs["notes"] = [*_notes(fit, factors, at or {}), _adjustment(adjust, len(labels), len(pairs))]
    return table


def _adjustment(adjust: str, means: int, tests: int) -> str:
    """Say for how many comparisons p was adjusted."""
    if adjust == "none" or tests == 1:
        return "p-values are not adjusted."
    if adjust == "tukey":
        return f"p-values are adjusted by Tukey's method for comparing {means} means; intervals are not adjusted."
    return f"p-values are adjusted ({adjust}) for {tests} tests; intervals are not adjusted."


def _notes(fit: Fitted, by: Sequence[str], at: Mapping[str, float]) -> list[str]:
    """Say what the means are averaged over, where numbers are held, and on which scale the means are."""
    assert fit.data is not None
    others, numbers = [], []
    for name in _needed(fit.data):
        if name in fit.levels and name not in by:
            others.append(name)
        elif name not in fit.levels:
            value = at.get(name, float(fit.data.columns.variables[name].matrix.mean()))  # type: ignore[union-attr]
            numbers.append(f"{name} = {value:.4g}")
    said = []
    if others:
        said.append(f"Averaged over the levels of {', '.join(others)}, each with the same weight.")
    if numbers:
        said.append(f"Numbers are held at {', '.join(numbers)}.")
    if fit.data.offset is not None:
        said.append(f"The offset is held at its mean, {_mean_offset(fit):.4g}.")
    scale = {"binomial": "the logit (log-odds) scale", "poisson": "the log scale"}.get(fit.spec.family)
    if scale is None and fit.data.parsed.response.kind != "name":
        scale = f"the scale of {fit.data.response_name}"
    return [*said, f"Results are on {scale}."] if scale else said


def _needed(data: ModelData) -> list[str]:
    """Columns of the fixed part."""
    return list(dict.fromkeys(n for node in data.parsed.fixed.factors for n in names(node)))


def contrast(fit: Fitted, weights: Mapping[str, float] | Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Estimate linear combinations of the fixed effects.

    Parameters
    ----------
    fit
        A fitted model.
    weights
        Term to weight, or a name to such a mapping for several combinations.

    Returns
    -------
    pandas.DataFrame
        contrast, estimate, se, df, t, p, ci_low, ci_high.
    """
    several = all(isinstance(w, Mapping) for w in weights.values())
    named: Mapping[str, Any] = weights if several else {"contrast": weights}
    terms = fit.coefficients.term.tolist()
    matrix = np.zeros((len(named), len(terms)))
    for k, one in enumerate(named.values()):
        for term, weight in one.items():
            if term not in terms:
                raise UnknownNameError("term", term, terms)
            matrix[k, terms.index(term)] = weight
    table = linear_estimates(fit, matrix)
    table.insert(0, "contrast", list(named))
    return table


def _mean_offset(fit: Fitted) -> float:
    """Mean of the offset over the rows, which emmeans adds to every mean."""
    assert fit.data is not None
    return 0.0 if fit.data.offset is None else float(fit.data.offset.mean())


def linear_estimates(fit: Fitted, weights: np.ndarray) -> pd.DataFrame:
    """Return estimate, se, df, t, p, ci_low, ci_high of each row of `weights` (m x p) times the fixed effects."""
    vcov = fit.vcov.to_numpy()
    estimate = weights @ fit.coefficients.estimate.to_numpy()
    se = np.sqrt(np.einsum("mi,ij,mj->m", weights, vcov, weights))
    df_of = getattr(fit.state, "df", None)
    df = df_of(weights, vcov) if df_of is not None else np.full(len(weights), np.inf)
    finite = np.minimum(df, 1e10)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimate / se
    half = stdtrit(finite, 0.5 + fit.spec.confidence / 2) * se
    p = 2 * stdtr(finite, -np.abs(t))
    low, high = estimate - half, estimate + half
    return pd.DataFrame(
        {"estimate": estimate, "se": se, "df": df, "t": t, "p": p, "ci_low": low, "ci_high": high}
    )


def adjusted(table: pd.DataFrame, n_means: int, adjust: str) -> np.ndarray:
    """Return adjusted p values of the pairwise comparisons among `n_means` means."""
    p, m = table.p.to_numpy(), len(table)
    if adjust == "none" or m == 1:
        return p
    if adjust == "bonferroni":
        return np.minimum(1.0, m * p)
    if adjust == "holm":
        return holm(p)
    from scipy.stats import studentized_range

    df = np.minimum(table["df"].to_numpy(), 1e5)
    return np.asarray(studentized_range.sf(np.abs(table.t.to_numpy()) * np.sqrt(2), n_means, df), dtype=float)


def holm(p: np.ndarray) -> np.ndarray:
    """Return p values adjusted by Holm's method."""
    order = np.argsort(p)
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
    return found


def _factors(fit: Fitted, by: str | Sequence[str]) -> list[str]:
    wanted = [by] if isinstance(by, str) else list(by)
    for name in wanted:
        if name not in fit.levels:
            raise UnknownNameError(
                "categorical predictor", name, fit.levels, "(marginal means are per category)"
            )
    return wanted


def _means_weights(fit: Fitted, by: list[str], at: Mapping[str, float]) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the combinations of `by`, and for each the weights on the fixed effects (mean over the other factors)."""
    data = fit.data
    if data is None:
        raise FitError("This fit does not hold its data, so marginal means cannot be computed.")
    if data.dropped_columns:
        raise FitError(
            f"Marginal means need every effect, but {', '.join(data.dropped_columns)} could not be estimated. "
            "Simplify the formula."
        )
    needed = _needed(data)
    others = [name for name in needed if name in fit.levels and name not in by]
    sizes = [len(fit.levels[name]) for name in [*by, *others]]
    if np.prod(sizes, dtype=float) > WIDEST_GRID:
        raise FitError(
            f"The categories of {', '.join([*by, *others])} have too many combinations ({np.prod(sizes):.0f})."
        )
    matrix = _grid_matrix(data, needed, [*by, *others], sizes, at)
    n_by = int(np.prod(sizes[: len(by)]))
    combinations_ = list(product(*(fit.levels[name] for name in by)))
    weights = matrix.reshape(n_by, -1, matrix.shape[1]).mean(axis=1)
    return pd.DataFrame(combinations_, columns=by), weights


def _grid_matrix(
    data: ModelData, needed: list[str], factors: list[str], sizes: list[int], at: Mapping[str, float]
) -> np.ndarray:
    """Return the fixed-effects matrix for all combinations of `factors`, the last varying fastest."""
    for name in at:
        if not isinstance(data.columns.variables.get(name), Numbers):
            raise UnknownNameError("numeric predictor", name, [n for n in needed if n not in factors])
    codes = np.indices(sizes).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), dtype=int)
    n = codes.shape[1]
    values: dict[str, Value] = {}
    for name in needed:
        fitted = data.columns.variables[name]
        if isinstance(fitted, Factor):
            values[name] = Factor(codes[factors.index(name)].astype(np.int32), fitted.levels)
        else:
            values[name] = Numbers(np.full((n, 1), at.get(name, float(fitted.matrix.mean()))))
    columns = Columns(values, np.arange(n) + 1, data.columns.memory)
    matrix, _, _ = model_matrix(data.parsed.fixed, columns, data.codings)
    return matrix
