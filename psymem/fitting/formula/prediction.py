"""Matrices for new rows, coded exactly as the rows that were fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.errors import FitError
from psymem.fitting.formula.coding import model_matrix
from psymem.fitting.formula.columns import as_factor, as_predictor
from psymem.fitting.formula.design import ModelData, RandomTerm
from psymem.fitting.formula.expression import names
from psymem.fitting.formula.missing import missing_text
from psymem.fitting.formula.transforms import Columns, Factor, Numbers, Value
from psymem.fitting.formula.variables import offset_of
from psymem.tables import require_columns


def fixed_part(data: ModelData, frame: pd.DataFrame, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fixed part of the prediction for `frame`, offset included, and which rows are complete (booleans).

    The others are NaN.

    Raises
    ------
    FitError
        For a category that the fitted rows lack.
    UnknownNameError
        For a column that is not there.
    """
    nodes = (*data.parsed.fixed.factors, *data.parsed.offsets)
    columns, complete = new_columns(
        data, frame, list(dict.fromkeys(n for node in nodes for n in names(node)))
    )
    matrix, _, _ = model_matrix(data.parsed.fixed, columns, data.codings)
    found = np.full(len(frame), np.nan)
    found[complete] = matrix[:, list(data.kept)] @ beta
    if (offset := offset_of(data.parsed, columns)) is not None:
        found[complete] += offset
    return found, complete


def new_columns(data: ModelData, frame: pd.DataFrame, needed: list[str]) -> tuple[Columns, np.ndarray]:
    """Read columns of new rows with the categories of the fitted ones; also return which rows are complete."""
    require_columns(frame, needed, "the table to predict for")
    complete = np.ones(len(frame), dtype=bool)
    values: dict[str, Value] = {}
    for name in needed:
        values[name] = _like(name, data.columns.variables[name], missing_text(frame[name]))
        value = values[name]
        complete &= value.codes >= 0 if isinstance(value, Factor) else ~np.isnan(value.matrix[:, 0])
    rows = np.flatnonzero(complete)
    chosen: dict[str, Value] = {
        n: Factor(v.codes[rows], v.levels) if isinstance(v, Factor) else Numbers(v.matrix[rows])
        for n, v in values.items()
    }
    return Columns(chosen, rows + 1, data.columns.memory), complete


def _like(name: str, fitted: Value, column: pd.Series) -> Value:
    """Read `column` as the fitted column was read."""
    if isinstance(fitted, Numbers):
        value = as_predictor(column, None, False)
        if isinstance(value, Factor) and value.levels != ("FALSE", "TRUE"):
            raise FitError(
                f"Column {name!r} holds text in the table to predict for; the model was fitted to numbers."
            )
        return value if isinstance(value, Numbers) else Numbers(value.codes.astype(float)[:, None])
    found = as_factor(column)
    unseen = [level for level in found.levels if level not in fitted.levels]
    used = set(np.unique(found.codes))
    unseen = [level for level in unseen if found.levels.index(level) in used]
    if unseen:
        row = int(np.flatnonzero(found.codes == found.levels.index(unseen[0]))[0]) + 1
        raise FitError(
            f"Column {name!r} has the value {unseen[0]!r} in row {row}, which the fitted rows lack; known are "
            f"{', '.join(fitted.levels)}. No effect was estimated for it."
        )
    return _recode(found, fitted.levels)


def _recode(found: Factor, levels: tuple[str, ...]) -> Factor:
    """Express `found` in other levels; missing and unknown ones get code -1."""
    position = {level: k for k, level in enumerate(levels)}
    lookup = np.asarray([position.get(level, -1) for level in found.levels] + [-1], dtype=np.int32)
    return Factor(lookup[found.codes], levels)


def random_columns(
    data: ModelData, term: RandomTerm, frame: pd.DataFrame, complete: np.ndarray, new_levels: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of one bar for the complete rows, and their levels (-1 for a new one).

    A row whose slope columns are missing gets no random effect.
    """
    bar = next(b for b in data.parsed.bars if b.name == term.group and _names_of(data, b) == term.names)
    needed = list(dict.fromkeys(n for factor in bar.terms.factors for n in names(factor)))
    rows = frame[complete]
    columns, usable = new_columns(data, rows, needed)
    values = np.zeros((len(rows), len(term.names)))
    values[usable], _, _ = model_matrix(bar.terms, columns, data.codings)
    codes = _level_codes(bar.group, term, rows)
    if new_levels == "error" and (codes < 0).any():
        row = int(np.flatnonzero(complete)[np.flatnonzero(codes < 0)[0]]) + 1
        raise FitError(
            f"Row {row} has a level of {term.group!r} that the fitted rows lack. Use new_levels='zero' to predict it "
            "without that random effect."
        )
    return values, codes


def _names_of(data: ModelData, bar: object) -> tuple[str, ...]:
    index = next(k for k, b in enumerate(data.parsed.bars) if b is bar)
    return data.random[index].names


def _level_codes(group: tuple[str, ...], term: RandomTerm, rows: pd.DataFrame) -> np.ndarray:
    require_columns(rows, group, "the table to predict for")
    parts = [as_factor(missing_text(rows[name])) for name in group]
    labels = np.asarray(parts[0].levels + ("",), dtype=object)[parts[0].codes]
    for part in parts[1:]:
        labels = labels + ":" + np.asarray(part.levels + ("",), dtype=object)[part.codes]
    return pd.Index(term.levels).get_indexer(labels).astype(np.int64)
