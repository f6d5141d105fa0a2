"""Tables as people save them from a spreadsheet: read as text, or refused with the place that is wrong.

Comma, semicolon or tab. Nothing is guessed silently: what was normalised is in the notes, what is
ambiguous is an error. Row numbers are those a spreadsheet shows (the header is row 1).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from psymem.errors import DataError
from psymem.io.encoding import read_text
from psymem.io.pcibex import is_results, results_table

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
MISSING_NUMBERS = frozenset({"NA", "", "NaN"})
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Inf|inf)", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)
_ZERO_PADDED = re.compile(r"0\d+", re.ASCII)


@dataclass(frozen=True)
class Delimited:
    """A delimited file read as text.

    Attributes
    ----------
    frame
        One row per data row, all columns text, the index (named ``row``) holds the file's row numbers.
    path, separator
        The file and the character between its cells.
    notes
        What was normalised, one plain sentence each.
    """

    frame: pd.DataFrame
    path: Path
    separator: str
    notes: tuple[str, ...] = ()

    def at(self, row: Hashable, column: str) -> str:
        """Name a cell for a message: ``items.csv, row 5, column 'sentence'``."""
        return f"{self.path.name}, row {row}, column {column!r}"


def read_delimited(path: str | Path, *, separator: str | None = None, quoting: bool = True) -> Delimited:
    """Read a delimited file as text, whatever its cells look like ("null", "NA" and "true" stay words).

    Results files of PCIbex, whose columns are named in comments, are understood too (`psymem.io.pcibex`).
    Blanks around cells, empty rows and unnamed empty columns are dropped and noted; an empty cell is "".

    Parameters
    ----------
    path
        The file.
    separator
        ``","``, ``";"`` or tab; found from the file when not given.
    quoting
        False if quotation marks are ordinary characters.

    Raises
    ------
    DataError
        If the file is missing, a folder, empty, not text, has an ambiguous separator, ragged rows, NUL
        characters, an unclosed quotation mark, or a header with empty or repeated names.
    """
    path = Path(path)
    notes: list[str] = []
    text = read_text(path, notes)
    if separator is None and is_results(text):
        notes.append(f"{path.name} is a results file of PCIbex; its comments name the columns.")
        return Delimited(results_table(text, path), path, ",", tuple(notes))
    declared = re.match(r"sep=(.)\r?\n", text)
    if declared and separator is None:
        separator = declared[1]
    separator = separator or _find_separator(text, path, quoting)
    rows = _nonblank(_parse(text, path, separator, quoting), skip=1 if declared else 0)
    if not rows:
        raise DataError(f"{path} is empty: it has no header and no rows.")
    frame = _frame(rows, path, separator, notes)
    if separator != ",":
        notes.append(f"{path.name} is separated by {SEPARATORS.get(separator, repr(separator))}s.")
    return Delimited(frame, path, separator, tuple(notes))


def read_table(
    path: str | Path, *, separator: str | None = None, quoting: bool = True, file_rows: bool = False
) -> pd.DataFrame:
    """Read a delimited file and turn the columns that hold only numbers into numbers.

    In a numeric column "NA", "NaN" and "" are missing; text columns keep every cell as it is. Codes
    with padding zeros ("007") stay text. Decimal commas are read in files that are not separated by commas.

    Parameters
    ----------
    path, separator, quoting
        As `read_delimited`.
    file_rows
        Keep the file's row numbers as index (named ``row``), so that messages about a cell can name them.

    Returns
    -------
    pandas.DataFrame
        Columns int64, float64 or text; ``frame.attrs["notes"]`` lists what was normalised.

    Raises
    ------
    DataError
        As `read_delimited`; also if a column's commas may mark decimals or thousands.
    """
    read = read_delimited(path, separator=separator, quoting=quoting)
    notes = list(read.notes)
    columns = {c: _numbers_or_text(read, c, notes) for c in read.frame.columns}
    frame = pd.DataFrame(columns, index=read.frame.index)
    if not file_rows:
        frame = frame.reset_index(drop=True)
    frame.attrs["notes"] = notes
    return frame


# text to rows ----------------------------------------------------------------------------------------------
def _parse(text: str, path: Path, separator: str, quoting: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield row number and cells; a quoted cell may hold line ends, so rows are not lines."""
    lines = io.StringIO(text, newline="")
    if quoting:
        reader = csv.reader(lines, delimiter=separator, strict=True)
    else:
        reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
    row = 0
    while True:
        row += 1
        try:
            yield row, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what = (
                "a quotation mark that is never closed"
                if "unexpected end" in str(error)
                else f"bad quoting ({error})"
            )
            raise DataError(
                f"{path}, row {row}: {what}. Write a quotation mark inside a cell twice."
            ) from error


def _nonblank(rows: Iterator[tuple[int, list[str]]], skip: int) -> list[tuple[int, list[str]]]:
    return [(n, cells) for n, cells in rows if n > skip and "".join(cells).strip()]


def _find_separator(text: str, path: Path, quoting: bool) -> str:
    """Return the one separator that splits the header; if several do, the one that splits all rows alike."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = re.sub(r'"[^"]*"', "", header) if quoting else header
    splitting = [s for s in SEPARATORS if s in unquoted]
    if len(splitting) > 1:
        even = [s for s in splitting if _splits_evenly(text, path, s, quoting)]
        if len(even) != 1:
            names = " and ".join(SEPARATORS[s] for s in even or splitting)
            raise DataError(
                f"{path}: the separator is ambiguous, its header has {names}. "
                "Put names that contain a separator in quotation marks, or save the file as CSV."
            )
        return even[0]
    return splitting[0] if splitting else ","


def _splits_evenly(text: str, path: Path, separator: str, quoting: bool) -> bool:
    try:
        return len({len(cells) for _, cells in _nonblank(_parse(text, path, separator, quoting), 0)}) == 1
    except DataError:
        return False


def _frame(
    rows: Sequence[tuple[int, list[str]]], path: Path, separator: str, notes: list[str]
) -> pd.DataFrame:
    """Check that rows are as wide as the header and return them as text columns."""
    (_, header), body = rows[0], rows[1:]
    for row, cells in body:
        if len(cells) != len(header):
            name = SEPARATORS.get(separator, repr(separator))
            why = (
                f"A cell that contains a {name} has to be in quotation marks."
                if len(cells) > len(header)
                else "Is the file cut off? A missing value needs a cell too: leave it empty."
            )
            raise DataError(
                f"{path}, row {row}: it has {len(cells)} cell(s) but the header has {len(header)}. {why}"
            )
    if not body:
        raise DataError(f"{path} has a header but no rows.")
    table = [[c.strip() for c in cells] for _, cells in body]
    _note_changes(rows, table, path, notes)
    names = [h.strip() for h in header]
    kept = [i for i, name in enumerate(names) if name or any(cells[i] for cells in table)]
    if 0 in kept and not names[0] and len(kept) > 1 and _counts_rows([cells[0] for cells in table]):
        notes.append(f"The first column of {path.name}, row numbers without a name, was left out.")
        kept = kept[1:]
    _check_header([names[i] for i in kept], path)
    columns = {names[i]: pd.array([cells[i] for cells in table], dtype="str") for i in kept}
    return pd.DataFrame(columns, index=pd.Index([n for n, _ in body], name="row"))


def _note_changes(
    rows: Sequence[tuple[int, list[str]]], table: list[list[str]], path: Path, notes: list[str]
) -> None:
    blanks = [n for (n, cells), clean in zip(rows[1:], table, strict=True) if cells != clean]
    if blanks:
        notes.append(
            f"Blanks around cells of {path.name} were dropped in {len(blanks)} row(s), first row {blanks[0]}."
        )
    numbers = [n for n, _ in rows]
    gaps = sorted(set(range(numbers[0], numbers[-1])) - set(numbers))
    if gaps:
        notes.append(f"{len(gaps)} empty row(s) of {path.name} were skipped, the first is row {gaps[0]}.")


def _counts_rows(cells: Sequence[str]) -> bool:
    """Whether the cells count up by 1, as pandas and R write row names (from 0, from 1, or of a part of a table)."""
    if not re.fullmatch(r"\d{1,9}", cells[0], re.ASCII):
        return False
    start = int(cells[0])
    return list(cells) == [str(start + i) for i in range(len(cells))]


def _check_header(names: Sequence[str], path: Path) -> None:
    if "" in names:
        raise DataError(f"{path}, row 1: column {names.index('') + 1} has cells but no name in the header.")
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise DataError(f"{path}, row 1: the header has {', '.join(map(repr, repeated))} more than once.")


# text to numbers -------------------------------------------------------------------------------------------
def _numbers_or_text(read: Delimited, column: str, notes: list[str]) -> pd.Series:
    cells = read.frame[column]
    missing = cells.isin(MISSING_NUMBERS)
    values = cells[~missing]
    if values[values.str.startswith("0")].str.fullmatch(_ZERO_PADDED).any():
        return cells
    if values.str.fullmatch(_NUMBER).all():
        return _to_numbers(cells.mask(missing))
    if read.separator != "," and values.str.fullmatch(_DECIMAL_COMMA).all():
        return _to_numbers(_decimal_points(read, column, values, notes).reindex(cells.index))
    _note_almost_numeric(read, column, values, notes)
    return cells


def _to_numbers(cells: pd.Series) -> pd.Series:
    if cells.notna().all():
        with suppress(ValueError, OverflowError):
            return cells.astype("int64")
    return cells.astype("float64")


def _decimal_points(read: Delimited, column: str, values: pd.Series, notes: list[str]) -> pd.Series:
    with_comma = values[values.str.contains(",")]
    if with_comma.str.fullmatch(_THOUSANDS).all():
        raise DataError(
            f"{read.at(with_comma.index[0], column)}: the comma in {with_comma.iloc[0]!r} may mark decimals "
            "or thousands. Write decimals with a point and thousands with nothing."
        )
    notes.append(f"Column {column!r} of {read.path.name} has decimal commas, read as decimal points.")
    return values.str.replace(",", ".")


def _note_almost_numeric(read: Delimited, column: str, values: pd.Series, notes: list[str]) -> None:
    """Say why a column that is nearly all numbers stays text."""
    numeric = values.str.fullmatch(_NUMBER)
    if numeric.mean() >= 0.9:
        row, cell = values.index[~numeric][0], values[~numeric].iloc[0]
        notes.append(f"{read.at(row, column)}: {cell!r} is not a number, so the column is text.")
