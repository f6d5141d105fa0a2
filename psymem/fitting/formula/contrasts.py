"""Coding of categories as numbers: treatment, sum, Helmert and custom matrices, named as R names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import FitError, UnknownNameError

NAMED = ("treatment", "sum", "helmert")


@dataclass(frozen=True)
class Contrast:
    """How the categories of one column become columns of numbers.

    Parameters
    ----------
    name
        ``treatment``, ``sum``, ``helmert`` or ``custom``.
    matrix
        Rows (one per category, in the order of the levels) of a custom coding; empty otherwise.
    columns
        Names of the columns of a custom coding.
    """

    name: str
    matrix: tuple[tuple[float, ...], ...] = ()
    columns: tuple[str, ...] = ()

    def as_dict(self) -> Any:
        """Return the name, or the columns of a custom coding."""
        if self.name != "custom":
            return self.name
        return {c: [row[j] for row in self.matrix] for j, c in enumerate(self.columns)}

    def coding(self, column: str, levels: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the coding matrix (levels x columns) and the suffixes R appends to the column's name.

        Raises
        ------
        FitError
            If a custom matrix has another number of rows than there are levels, or no full rank.
        """
        n = len(levels)
        if self.name == "treatment":
            return np.eye(n)[:, 1:], levels[1:]
        numbered = tuple(str(k + 1) for k in range(n - 1))
        if self.name == "sum":
            return np.vstack([np.eye(n - 1), -np.ones((1, n - 1))]), numbered
        if self.name == "helmert":
            matrix = np.triu(-np.ones((n, n - 1)))
            matrix[np.arange(1, n), np.arange(n - 1)] = np.arange(1, n)
            return matrix, numbered
        return self._custom(column, levels)

    def _custom(self, column: str, levels: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
        matrix = np.asarray(self.matrix, dtype=float)
        if len(matrix) != len(levels):
            raise FitError(
                f"The contrast matrix of {column!r} has {len(matrix)} rows; it needs one for each of the "
                f"{len(levels)} levels {', '.join(levels)}, in this order."
            )
        if np.linalg.matrix_rank(np.column_stack([np.ones(len(matrix)), matrix])) <= matrix.shape[1]:
            raise FitError(
                f"The contrast matrix of {column!r} is not of full rank together with the intercept; "
                "no column may be constant or follow from the others."
            )
        return matrix, self.columns


TREATMENT = Contrast("treatment")


def as_contrast(column: str, value: Any) -> Contrast:
    """Turn what a user gives into a Contrast.

    Parameters
    ----------
    column
        The column it is for, used in messages.
    value
        A name, a Contrast, a mapping from new column names to weights (one per level), a frame
        (rows are levels), or a two-dimensional array (levels x columns).
    """
    if isinstance(value, Contrast):
        return value
    if isinstance(value, str):
        name = value.removeprefix("contr.").lower()
        if name not in NAMED:
            raise UnknownNameError("contrast coding", value, NAMED)
        return Contrast(name)
    if isinstance(value, (Mapping, pd.DataFrame)):
        frame = pd.DataFrame(value)
        matrix, columns = frame.to_numpy(), tuple(str(c) for c in frame.columns)
    else:
        matrix = np.asarray(value)
        columns = tuple(str(k + 1) for k in range(matrix.shape[-1] if matrix.ndim else 0))
    if (
        matrix.ndim != 2
        or not np.issubdtype(matrix.dtype, np.number)
        or not np.isfinite(matrix.astype(float)).all()
    ):
        raise FitError(
            f"The contrast matrix of {column!r} has to be a table of finite numbers, levels x columns."
        )
    return Contrast("custom", tuple(tuple(float(v) for v in row) for row in matrix), columns)
