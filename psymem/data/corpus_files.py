"""Files of a published corpus: found in a folder, read as text cells, and refused with the place that is wrong.

For files of up to some hundred megabytes: only the columns a reader needs are kept. Row numbers are those a
spreadsheet shows (the header is row 1).
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.encoding import read_text
from psymem.errors import DataError
from psymem.tables import require_columns

MISSING = frozenset({"NA", "NaN", "", "."})
"""Cells without a value: R's and Python's, an empty one, and the one of EyeLink's Data Viewer."""

SHOWN = 5


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
    for level in ("*", "*/*"):
        inside = sorted(p for p in folder.glob(level) if p.is_file() and not p.name.startswith("."))
        for pattern in patterns:
            fitting = [p for p in inside if Path(p.name.lower()).match(pattern.lower())]
            if fitting:
                return fitting
    raise DataError(
        f"{folder} does not hold the corpus {corpus!r}. Looked for {' or '.join(patterns)}; found {_listed(folder)}. "
        f"Where to get it: psymem corpora show {corpus}."
    )


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
    wanted = sorted({*(header.index(c) for c in columns), len(header) - 1})
    frame = _parsed(text, path, wanted, separator, quoting)
    frame = frame.set_axis([header[i] for i in wanted], axis="columns")
    frame.index = pd.RangeIndex(2, len(frame) + 2, name="row")
    frame = _whole_rows(frame, path)
    return frame[list(columns)]


def columns_of(path: Path, *, separator: str = ",", quoting: bool = True) -> list[str]:
    """Return the names in the first row of a delimited file."""
    return _header(_text(path, []), path, separator, quoting)


def _text(path: Path, notes: list[str]) -> str:
    """Return the text; a file in two encodings is decoded line by line."""
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        mixed = _mixed(content, path, notes)
        if mixed is not None:
            return mixed
    return read_text(path, notes).removeprefix("\ufeff")


def _mixed(content: bytes, path: Path, notes: list[str]) -> str | None:
    """Return the text of a file with lines in UTF-8 and lines in Windows-1252, None if it is none."""
    if b"\0" in content:
        return None
    lines, kinds = [], {"utf-8": 0, "cp1252": 0}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.isascii():
            lines.append(line.decode("ascii"))
            continue
        kind = _kind(line)
        if kind is None:
            return None
        kinds[kind] = kinds[kind] or number
        lines.append(line.decode(kind))
    if not all(kinds.values()):
        return None
    notes.append(
        f"{path.name} mixes two encodings: row {kinds['utf-8']} is UTF-8, row {kinds['cp1252']} Windows-1252; "
        "every row was read as what it is."
    )
    return "\n".join(lines)


def _kind(line: bytes) -> str | None:
    for kind in ("utf-8", "cp1252"):
        try:
            line.decode(kind)
        except UnicodeDecodeError:
            continue
        return kind
    return None


def _header(text: str, path: Path, separator: str, quoting: bool) -> list[str]:
    first = text[: text.find("\n")] if "\n" in text else text
    if not first.strip():
        raise DataError(f"{path} is empty: it has no header and no rows.")
    line = [first.rstrip("\r")]
    read = (
        csv.reader(line, delimiter=separator)
        if quoting
        else csv.reader(line, delimiter=separator, quoting=csv.QUOTE_NONE)
    )
    return [c.strip() for c in next(read)]


def _parsed(text: str, path: Path, wanted: list[int], separator: str, quoting: bool) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.StringIO(text),
                sep=separator,
                quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
                header=None,
                skiprows=1,
                usecols=wanted,
                dtype="str",
                keep_default_na=False,
                na_values=[],
                skip_blank_lines=False,
                index_col=False,
            )
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path} has a header but no rows.") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise DataError(f"{path} is damaged or cut off: {str(error).strip()}. Get the file again.") from error


def _whole_rows(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Refuse rows with too few cells, drop blank lines."""
    blank = (frame.isna() | (frame == "")).all(axis=1)
    frame = frame[~blank]
    if frame.empty:
        raise DataError(f"{path} has a header but no rows.")
    short = frame.isna().any(axis=1)
    if short.any():
        raise DataError(
            f"{path}, row {short.index[short][0]}: it has fewer cells than the header; the file may have been cut off "
            "while it was copied. Get it again."
        )
    return frame


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
