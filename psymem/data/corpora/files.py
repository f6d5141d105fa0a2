"""Files of a published corpus: found in a folder, read as text cells, and refused with the place that is wrong.

For files of up to some hundred megabytes: only the columns a reader needs are kept. Row numbers are those a
spreadsheet shows (the header is row 1).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.errors import DataError
from psymem.io.encoding import read_text
from psymem.tables import require_columns

MISSING = frozenset({"NA", "NaN", "", "."})
"""Cells without a value: R's and Python's, an empty one, and the one of EyeLink's Data Viewer."""

SHOWN = 5
JOIN = "+"
"""Between the names of columns that together are a key, and between their cells."""


def find_file(folder: Path, names: Sequence[str], corpus: str) -> Path:
    """Return the first of `names` in `folder` or one folder below, whatever their case.

    Raises
    ------
    DataError
        If there is none; the message says what was looked for and what was found.
    """
    found = find_files(folder, names, corpus)
    return found[0]


def find_files(folder: Path, patterns: Sequence[str], corpus: str) -> list[Path]:
    """Return the files of `folder`, or else one folder below, that fit the first pattern that any fits.

    Patterns are file names with ``*`` and ``?``; case does not count. Raises as `find_file`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise DataError(
            f"{folder} {what}. Give the folder that holds the files of the corpus {corpus!r}: "
            f"{' or '.join(patterns)} (psymem corpora show {corpus})."
        )
    fitting = fitting_files(folder, patterns)
    if fitting:
        return fitting
    raise DataError(
        f"{folder} does not hold the corpus {corpus!r}. Looked for {' or '.join(patterns)}; found {_listed(folder)}. "
        f"Where to get it: psymem corpora show {corpus}."
    )


def fitting_files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Return what `find_files` would, [] if there is none."""
    for level in ("*", "*/*", "*/*/*"):
        inside = sorted(p for p in folder.glob(level) if p.is_file() and not p.name.startswith("."))
        for pattern in patterns:
            fitting = [p for p in inside if Path(p.name.lower()).match(pattern.lower())]
            if fitting:
                return fitting
    return []


def _listed(folder: Path) -> str:
    names = sorted(p.name + "/" * p.is_dir() for p in folder.iterdir() if not p.name.startswith("."))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) or "nothing") + more


def read_cells(
    path: Path, columns: Sequence[str], notes: list[str], *, separator: str = ",", quoting: bool = True
) -> pd.DataFrame:
    """Read columns of a delimited file as text; "null", "NA" and "true" stay what they are.

    Parameters
    ----------
    path
        The file: UTF-8 or Windows-1252, also mixed by line.
    columns
        Columns that have to be there, in the order of the result.
    notes
        What was normalised is added here.
    separator, quoting
        The character between cells, and whether quotation marks may enclose them.

    Returns
    -------
    pandas.DataFrame
        Text cells; the index, named ``row``, holds the file's row numbers.

    Raises
    ------
    DataError
        If the file is missing, empty, damaged, or has a row with too few cells (as where it was cut off).
    UnknownNameError
        If a column is missing.
    """
    text = _text(path, notes)
    header = _header(text, path, separator, quoting)
    require_columns(pd.DataFrame(columns=header), columns, str(path))
    wanted = sorted({header.index(c) for c in columns})
    _refuse_uneven_rows(_sizes(text, len(header), separator, quoting), wanted[-1] + 1, len(header), path)
    frame = _parsed(text, path, wanted, separator, quoting)
    frame = frame.set_axis([header[i] for i in wanted], axis="columns")
    frame.index = pd.RangeIndex(2, len(frame) + 2, name="row")
    frame = frame[~(frame == "").all(axis=1)]
    if frame.empty:
        raise DataError(f"{path} has a header but no rows.")
    if not text.endswith("\n"):
        notes.append(
            f"{path.name} does not end with a line end; if the last row is not whole, get the file again."
        )
    return frame[list(columns)]


def columns_of(path: Path, *, separator: str = ",", quoting: bool = True) -> list[str]:
    """Return the names in the first row of a delimited file."""
    return _header(_text(path, []), path, separator, quoting)


def _text(path: Path, notes: list[str]) -> str:
    text = read_text(path, notes).removeprefix("\ufeff")
    return text if "\n" in text else text.replace("\r", "\n")  # line ends of old Macs


def _header(text: str, path: Path, separator: str, quoting: bool) -> list[str]:
    first = text[: text.find("\n")] if "\n" in text else text
    if not first.strip():
        raise DataError(f"{path} is empty: it has no header and no rows.")
    return [c.strip() for c in next(_cells(first.rstrip("\r"), separator, quoting))]


def _parsed(text: str, path: Path, wanted: list[int], separator: str, quoting: bool) -> pd.DataFrame:
    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
            header=None,
            skiprows=1,
            usecols=wanted,
            dtype="str",
            na_filter=False,
            skip_blank_lines=False,
        )
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path} has a header but no rows.") from error
    except (pd.errors.ParserError, ValueError) as error:
        raise DataError(f"{path} is damaged or cut off: {str(error).strip()}. Get the file again.") from error


def _refuse_uneven_rows(sizes: Iterator[int], needed: int, width: int, path: Path) -> None:
    """Raise DataError for the first row with too few or too many cells; pandas would mend it without a word.

    A row may lack cells that are not needed, except the last, which then was cut off.
    """
    size = row = 0
    try:
        for number, found in enumerate(sizes, start=1):
            if found:
                row, size = number, found
            if size < needed or size > width:
                break
    except csv.Error as error:
        raise DataError(f"{path}: {error}; the file may have been cut off. Get it again.") from error
    if size != width:
        raise DataError(
            f"{path}, row {row}: it has {size} cells, the header {width}; the file may have been cut off or changed while "
            "it was copied. Get it again."
        )


def _sizes(text: str, width: int, separator: str, quoting: bool) -> Iterator[int]:
    """Count the cells of each row, 0 for a blank line; empty cells beyond the header do not count."""
    rows: Iterator[list[str]]
    if quoting and '"' in text:
        rows = _cells(text, separator, quoting)
    else:
        rows = (line.rstrip("\r").split(separator) for line in text.split("\n"))
    for cells in rows:
        size = len(cells)
        while size > width and not cells[size - 1].strip():
            size -= 1
        yield 0 if cells in ([], [""]) else size


def _cells(text: str, separator: str, quoting: bool) -> Iterator[list[str]]:
    lines = io.StringIO(text, newline="")
    if quoting:
        return csv.reader(lines, delimiter=separator, strict=True)
    return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)


def with_joined(cells: pd.DataFrame, names: Iterable[str], path: Path) -> pd.DataFrame:
    """Return text cells with a column for each of `names` that joins others: "item+model" holds "3+gpt2".

    Raises
    ------
    UnknownNameError
        If one of the joined columns is missing.
    """
    for name in names:
        if len(parts := parts_of(name, cells.columns)) > 1:
            require_columns(cells, parts, str(path))
            cells = cells.assign(**{name: cells[parts[0]].str.cat([cells[p] for p in parts[1:]], sep=JOIN)})
    return cells


def parts_of(name: str, has: Iterable[str]) -> list[str]:
    """Return the columns that "item+model" joins; a column of this very name is itself."""
    return [name] if name in has else [part.strip() for part in name.split(JOIN)]


# cells to values -------------------------------------------------------------------------------------------
def numbers(cells: pd.Series, path: Path, *, missing: frozenset[str] = MISSING) -> pd.Series:
    """Return text cells as floats, missing ones as NaN; the index holds the file's rows.

    Raises
    ------
    DataError
        For the first cell that is neither a number nor missing.
    """
    given = cells.mask(cells.isin(missing))
    values = pd.to_numeric(given, errors="coerce").astype("float64")
    wrong = (values.isna() & given.notna()) | np.isinf(values)
    if wrong.any():
        row = wrong.index[wrong][0]
        raise DataError(
            f"{path}, row {row}, column {cells.name!r}: {cells[row]!r} is not a number. A missing value is written NA."
        )
    return values


def durations(cells: pd.Series, path: Path, *, missing: frozenset[str] = MISSING) -> pd.Series:
    """Return times of at least 0 as floats; raises DataError for the first that is negative or no number."""
    values = numbers(cells, path, missing=missing)
    negative = values < 0
    if negative.any():
        row = negative.index[negative][0]
        raise DataError(
            f"{path}, row {row}, column {cells.name!r}: {cells[row]} is negative ({int(negative.sum())} such cell(s)). "
            "Durations are times in ms; mend the file."
        )
    return values


def whole_numbers(cells: pd.Series, path: Path) -> pd.Series:
    """Return text cells as int64; raises DataError for the first that is missing or no whole number."""
    values = numbers(cells, path)
    wrong = values.isna() | (values % 1 != 0)
    if wrong.any():
        row = wrong.index[wrong][0]
        raise DataError(f"{path}, row {row}, column {cells.name!r}: {cells[row]!r} is not a whole number.")
    return values.astype("int64")


def refuse_repeated(frame: pd.DataFrame, key: Sequence[str], path: Path) -> None:
    """Raise DataError if two rows of the file have the same key; both are named."""
    repeated = frame.duplicated(list(key))
    if not repeated.any():
        return
    row = repeated.index[repeated][0]
    same = (frame[list(key)] == frame.loc[row, list(key)]).all(axis=1)
    named = ", ".join(f"{k} {frame.loc[row, k]}" for k in key)
    raise DataError(
        f"{path}, row {row}: {named} is already in row {same.index[same][0]} ({int(repeated.sum())} repeated row(s)). "
        "Each reader reads a word once; remove one of the rows."
    )
