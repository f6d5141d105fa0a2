"""Which cells of a table of observations are missing: the same for a file, a data frame and the exported R script.

R reads ``NA`` as missing in every kind of column, pandas an empty cell too; the exported script tells R so
(``na.strings = c("NA", "")``). Other text ("null", "nan", "none") may be a category and stays one. Columns of words
are read elsewhere and keep every cell.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

MISSING_TEXT = ("NA", "")
"""Text that stands for a missing value in a table of observations."""


def with_missing(frame: pd.DataFrame, columns: Iterable[str] | None = None) -> pd.DataFrame:
    """Return `frame` with "NA" and empty text missing in `columns` (all by default)."""
    wanted = frame.columns if columns is None else [c for c in dict.fromkeys(columns) if c in frame]
    changed = {}
    for name in wanted:
        column = frame[name]
        if isinstance(column, pd.Series) and (found := missing_text(column)) is not column:
            changed[name] = found
    return frame.assign(**changed) if changed else frame


def missing_text(column: pd.Series) -> pd.Series:
    """Return `column` with "NA" and empty text missing; the same object where there is none."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        absent = [text for text in MISSING_TEXT if text in column.cat.categories]
        return column.cat.remove_categories(absent) if absent else column
    if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
        return column
    absent = column.isin(MISSING_TEXT)
    return column.mask(absent) if absent.any() else column
