"""Model matrices as R's model.matrix makes them: which factors get contrasts, column order and names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from psymem.errors import FitError
from psymem.fitting.formula.contrasts import TREATMENT, Contrast
from psymem.fitting.formula.expression import deparse
from psymem.fitting.formula.terms import Terms
from psymem.fitting.formula.transforms import Columns, Factor, Value, evaluate

INTERCEPT = "(Intercept)"


def model_matrix(
    terms: Terms, columns: Columns, contrasts: Mapping[str, Contrast], *, every: Contrast | None = None
) -> tuple[np.ndarray, tuple[str, ...], tuple[int, ...]]:
    """Return the matrix (n x p), its column names as in R, and the index of the term each column belongs to.

    Parameters
    ----------
    terms
        Terms to code.
    columns
        Columns the terms refer to.
    contrasts
        Coding per column; treatment where none is given.
    every
        Coding of all categorical columns, in place of theirs.

    Raises
    ------
    FitError
        If a factor has a single level.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # refused below, with the row
        values = [evaluate(factor, columns) for factor in terms.factors]
    labels = [deparse(factor) for factor in terms.factors]
    for label, value in zip(labels, values, strict=True):
        _refuse_not_finite(label, value, columns)
    full = _full_dummies(terms, values)
    n = len(columns.rows)
    pieces: list[np.ndarray] = []
    names: list[str] = []
    assign: list[int] = []
    for k, term in enumerate(terms.terms):
        block, suffixes = np.ones((n, 1)), [INTERCEPT] if not term else [""]
        for factor in term:
            coded, coded_names = _code(
                labels[factor], values[factor], every or contrasts, (k, factor) in full
            )
            block = (coded[:, :, None] * block[:, None, :]).reshape(n, -1)
            suffixes = [f"{left}:{right}" if left else right for right in coded_names for left in suffixes]
        pieces.append(block)
        names += suffixes
        assign += [k] * len(suffixes)
    return (pieces[0] if len(pieces) == 1 else np.hstack(pieces)), tuple(names), tuple(assign)


def _refuse_not_finite(label: str, value: Value, columns: Columns) -> None:
    """Raise FitError if arithmetic in the formula overflowed or divided by zero, naming the row."""
    if isinstance(value, Factor):
        return
    wrong = ~np.isfinite(value.matrix).all(axis=1)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise FitError(
            f"{label} is not a finite number in row {columns.rows[first]} ({int(wrong.sum())} such "
            f"value{'s' if wrong.sum() > 1 else ''} in all). Leave such rows out with where, or transform the "
            "column first."
        )


def _full_dummies(terms: Terms, values: list[Value]) -> set[tuple[int, int]]:
    """Return (term, factor) pairs coded by one dummy per level, by the rule of R's model.matrix.

    A factor gets contrasts if the term without it is part of an earlier term; without an intercept the first
    factor of all is coded by dummies.
    """
    found: set[tuple[int, int]] = set()
    for k, term in enumerate(terms.terms):
        for factor in term:
            rest = set(term) - {factor}
            if rest and not any(rest <= set(earlier) for earlier in terms.terms[:k]):
                found.add((k, factor))
    if not terms.intercept:
        pairs = ((k, f) for k, term in enumerate(terms.terms) for f in term if isinstance(values[f], Factor))
        found.update(list(pairs)[:1])
    return found


def _code(
    label: str, value: Value, contrasts: Mapping[str, Contrast] | Contrast, full: bool
) -> tuple[np.ndarray, list[str]]:
    """Return the columns of one factor or number and their names."""
    if not isinstance(value, Factor):
        return value.matrix, [label + suffix for suffix in value.suffixes]
    if full:
        matrix, suffixes = np.eye(len(value.levels)), value.levels
    else:
        if len(value.levels) < 2:
            only = f"only {value.levels[0]!r}" if value.levels else "no value"
            raise FitError(
                f"{label!r} has one level in the rows used ({only}), so it has no effect to estimate. "
                "Take it out of the formula, or use more rows."
            )
        every = contrasts if isinstance(contrasts, Contrast) else None
        contrast = every or value.contrast or contrasts.get(label, TREATMENT)  # type: ignore[union-attr]
        matrix, suffixes = contrast.coding(label, value.levels)
    return matrix[value.codes], [label + suffix for suffix in suffixes]


def independent_columns(matrix: np.ndarray, tolerance: float = 1e-7) -> list[int]:
    """Return the columns R keeps: each whose part outside the earlier kept ones is not negligible.

    The rule is that of R's ``qr(x, tol = 1e-7)`` (LINPACK with limited pivoting), which lme4 and lm use.

    Parameters
    ----------
    matrix
        n x p with n >= 1.
    tolerance
        Smallest remaining share of a column's length.
    """
    norms = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    scaled = matrix / np.where(norms > 0, norms, 1.0)
    triangle = np.asarray(np.linalg.qr(scaled, mode="r"))
    kept = [k for k in range(matrix.shape[1]) if norms[k] > 0]
    while True:
        reduced = np.asarray(np.linalg.qr(triangle[:, kept], mode="r"))
        size = np.zeros(len(kept))
        size[: min(reduced.shape)] = np.abs(np.diag(reduced))
        weak = np.flatnonzero(size < tolerance)
        if not len(weak):
            return kept
        kept.pop(int(weak[0]))
