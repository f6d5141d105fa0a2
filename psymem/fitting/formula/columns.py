"""From the columns of a table to numbers and categories, as R would read them, with checks that name the row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import FitError
from psymem.fitting.formula.transforms import Factor, Numbers, Value, number_labels

LARGEST = 1e100
"""Responses beyond this size (or all below its inverse) are refused: sums of squares would leave the floating range."""

MOSTLY_NUMBERS = 0.5
"""A text column in which more than this share of values are numbers is taken for a damaged column of numbers."""
MOST_CATEGORIES = 20
"""With at most this many different values that all come up again it is a factor: 0, 1, 2, 3+."""
SELDOM = 0.1
"""A text that comes up less often than this share of the median number's rows is taken for a slip of the pen."""


def as_factor(column: pd.Series, order: tuple[str, ...] | None = None) -> Factor:
    """Read a column as categories.

    Parameters
    ----------
    column
        Any column; its missing values get code -1.
    order
        The order wanted. Without it: that of a pandas categorical, numbers by size, text alphabetically with upper
        and lower case side by side, as R sorts.

    Raises
    ------
    FitError
        If the column has a value that `order` lacks.
    """
    codes, levels = _codes(column)
    if order is None:
        return Factor(codes, levels)
    unknown = [level for level in levels if level not in order]
    if unknown:
        raise FitError(
            f"Column {column.name!r} has the value {unknown[0]!r}, which is missing from the levels given "
            f"({', '.join(order)}). Add it, or leave its rows out with where."
        )
    lookup = np.append(np.asarray([order.index(level) for level in levels], dtype=np.int32), np.int32(-1))
    return Factor(lookup[codes], order)


def _codes(column: pd.Series) -> tuple[np.ndarray, tuple[str, ...]]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = column.cat.categories
        labels = number_labels(categories) if _is_number(categories) else [str(c) for c in categories]
        return column.cat.codes.to_numpy().astype(np.int32), tuple(labels)
    if _is_boolean(column):
        missing = column.isna().to_numpy()
        return np.where(missing, -1, column.fillna(False).astype(bool)).astype(np.int32), ("FALSE", "TRUE")
    codes, values = pd.factorize(column)
    if _is_number(values):
        order, labels = np.argsort(values), number_labels(values)
    else:
        labels = [str(v) for v in values]
        order = np.asarray(
            sorted(range(len(labels)), key=lambda k: (labels[k].casefold(), labels[k].swapcase())), dtype=int
        )
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order], rank[-1] = np.arange(len(order)), -1
    return rank[codes], tuple(labels[k] for k in order)


def _is_number(values: Any) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _is_boolean(column: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        return True
    return column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "boolean"


def as_predictor(
    column: pd.Series, order: tuple[str, ...] | None, categorical: bool, *, in_factor: bool = False
) -> Value:
    """Read a column of the right-hand side: numbers stay numbers, text and booleans become categories.

    The index of `column` holds row numbers, for messages. With `in_factor` the formula has the column in ``factor()``
    only, so that text is never taken for damaged numbers.

    Raises
    ------
    FitError
        If most of a text column are numbers and some are not: the first such row is named.
    """
    if categorical or isinstance(column.dtype, pd.CategoricalDtype) or _is_boolean(column):
        return as_factor(column, order)
    if _is_number(column):
        return Numbers(column.to_numpy(dtype=float, na_value=np.nan)[:, None])
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column):
        raise FitError(
            f"Column {column.name!r} holds dates or durations; turn it into numbers, for example days or ms."
        )
    if not in_factor:
        _refuse_comma_numbers(column)
        _refuse_damaged_numbers(column)
    return as_factor(column)


def _refuse_damaged_numbers(column: pd.Series) -> None:
    counts = column.value_counts(sort=False)
    wrong = pd.to_numeric(pd.Series(counts.index), errors="coerce").isna().to_numpy()
    if not len(counts) or not 0 < wrong.mean() < MOSTLY_NUMBERS:
        return
    often = max(2.0, SELDOM * float(counts[~wrong].median()))
    if len(counts) > MOST_CATEGORIES or (counts[wrong] < often).any():
        seldom = counts[wrong].sort_values(kind="stable").index[0]
        _raise_text(column, seldom, " If the column holds categories, write factor() around its name.")


def _refuse_comma_numbers(column: pd.Series) -> None:
    """Raise FitError for a column of numbers in which commas mark decimals or thousands."""
    values = pd.Series(pd.unique(column.dropna())).astype(str)
    with_comma = values[values.str.contains(",", regex=False)]
    if len(with_comma) and pd.to_numeric(values.str.replace(",", ""), errors="coerce").notna().all():
        row = column.index[int(np.flatnonzero((column.astype(str) == with_comma.iloc[0]).to_numpy())[0])]
        raise FitError(
            f"Column {column.name!r} has {with_comma.iloc[0]!r} in row {row}, a number with a comma, which may mark "
            "decimals or thousands. Write decimals with a point and thousands with nothing."
        )


def as_response(column: pd.Series, family: str) -> tuple[np.ndarray, str]:
    """Read the response as numbers; also return a note for the reader, or "".

    A boolean is 0 and 1; with the binomial family a column of two categories is 0 (first) and 1 (second).

    Raises
    ------
    FitError
        If it holds text (the first such row is named), or more than two categories.
    """
    if _is_number(column):
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
        _refuse_outside_family(column, numbers, family)
        return numbers, ""
    if _is_boolean(column) or family == "binomial":
        factor = as_factor(column)
        if len(factor.levels) > 2:
            raise FitError(
                f"The response {column.name!r} has {len(factor.levels)} categories; a binomial model needs two, or 0 and 1."
            )
        note = f"The response {column.name!r} counts {factor.levels[0]} as 0 and {factor.levels[-1]} as 1."
        return np.where(factor.codes < 0, np.nan, factor.codes).astype(float), note
    values = column.dropna()
    wrong = pd.to_numeric(values.astype(str), errors="coerce").isna()
    if wrong.any():
        _raise_text(column, values[wrong].iloc[0])
    return pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=float), ""


def as_counts(column: pd.Series) -> np.ndarray:
    """Read a column of ``cbind()`` as numbers.

    Raises
    ------
    FitError
        If it holds text; the first such row is named.
    """
    if _is_number(column) or _is_boolean(column):
        return column.astype(float).to_numpy(dtype=float, na_value=np.nan)
    values = column.dropna()
    wrong = pd.to_numeric(values.astype(str), errors="coerce").isna()
    if wrong.any():
        _raise_text(column, values[wrong].iloc[0])
    return pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=float)


def _refuse_outside_family(column: pd.Series, values: np.ndarray, family: str) -> None:
    """Raise FitError if a number cannot come from the family's distribution, naming the row."""
    if family == "gaussian":
        return
    finite = np.isfinite(values)
    if family == "binomial":
        wrong, expected = finite & ((values < 0) | (values > 1)), "0 and 1"
    else:
        wrong, expected = finite & ((values < 0) | (values != np.floor(values))), "counts: 0, 1, 2, ..."
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise FitError(
            f"The response {column.name!r} is {values[first]:g} in row {column.index[first]}; a {family} model needs "
            f"{expected}. For other numbers leave the family out."
        )


def _raise_text(column: pd.Series, value: Any, advice: str = "") -> None:
    row = column.index[int(np.flatnonzero((column == value).to_numpy())[0])]
    raise FitError(
        f"Column {column.name!r} has the text {str(value)!r} in row {row}, where a number is expected. "
        f"Correct it, or leave the cell empty if the value is missing.{advice}"
    )


def row_numbers(frame: pd.DataFrame) -> np.ndarray:
    """Return what messages call each row: the file's row numbers where the index is named "row", else 1, 2, ..."""
    if frame.index.name == "row" and pd.api.types.is_integer_dtype(frame.index):
        return frame.index.to_numpy()
    return np.arange(1, len(frame) + 1)


def refuse_extreme(name: str, values: np.ndarray, rows: np.ndarray) -> None:
    """Raise FitError if squares of a response would overflow, or vanish beside its own spread."""
    sizes = np.abs(values)
    first = int(sizes.argmax()) if len(values) else 0
    if len(values) and (sizes[first] > LARGEST or 0 < sizes[first] < 1 / LARGEST):
        raise FitError(
            f"{name!r} reaches {values[first]:g} (row {rows[first]}), too {'large' if sizes[first] > 1 else 'small'} "
            "to be squared on a computer. Correct the value, or measure it in another unit."
        )


def refuse_infinite(name: str, values: np.ndarray, rows: np.ndarray) -> None:
    """Raise FitError if a column of numbers has an infinite value, naming the row."""
    wrong = np.isinf(values)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise FitError(
            f"{name!r} is infinite in row {rows[first]} ({int(wrong.sum())} such "
            f"value{'s' if wrong.sum() > 1 else ''} in all). Leave such rows out with where, or mark them as missing."
        )


def drop_unused(factor: Factor) -> Factor:
    """Drop levels without rows, as lme4 does."""
    used = np.bincount(factor.codes, minlength=len(factor.levels)) > 0
    if used.all():
        return factor
    position = np.cumsum(used, dtype=np.int32) - 1
    return Factor(
        position[factor.codes], tuple(np.asarray(factor.levels, dtype=object)[used]), factor.contrast
    )


def cross(name: str, factors: Mapping[str, Factor]) -> Factor:
    """Return a grouping factor, crossing the parts of ``"b:a"`` (levels named ``"b1:a1"``)."""
    parts = [factors[part] for part in name.split(":")] if name not in factors else [factors[name]]
    result = parts[0]
    for part in parts[1:]:
        pairs = result.codes.astype(np.int64) * len(part.levels) + part.codes
        unique, codes = np.unique(pairs, return_inverse=True)
        first, second = np.divmod(unique, len(part.levels))
        levels = tuple(f"{result.levels[i]}:{part.levels[j]}" for i, j in zip(first, second, strict=True))
        result = Factor(codes.astype(np.int32), levels)
    return result


def read_weights(column: pd.Series, rows: np.ndarray) -> np.ndarray:
    """Return the weights as numbers; NaN where missing.

    Raises
    ------
    FitError
        For text, or a weight that is not positive; the row is named.
    """
    if column.dtype.kind not in "iuf":
        raise FitError(f"The weights {column.name!r} are not numbers.")
    values = column.to_numpy(dtype=float)
    wrong = (values <= 0) | np.isinf(values)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise FitError(
            f"The weights {column.name!r} have to be positive numbers; the one of row {rows[first]} is {values[first]:g}."
        )
    return values
