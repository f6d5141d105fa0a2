"""Columns of a very large spreadsheet, read while it is unpacked: Excel's .xlsx, or its sheet saved as CSV.

Libraries for .xlsx make an object of every cell, or keep the whole sheet, which takes minutes and several gigabytes
where a sheet has three quarters of a million rows and 57 columns. Here only the wanted cells are looked at, and each
distinct cell is decoded once.
"""

from __future__ import annotations

import csv
import html
import re
import zipfile
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from psymem.errors import DataError
from psymem.tables import require_columns

CHUNK = 1 << 22
"""Bytes of XML looked at together."""

_NAMESPACE = re.compile(r"^\{[^}]*\}")
_ROW_END = b"</row>"
_CELL = rb'<c ([^>]*? )??r="(%s)([0-9]+)"([^>]*/>|[^>]*>.*?</c>)'
_TYPE = re.compile(r'\bt="(\w+)"')
_VALUE = re.compile(r"<v[^>]*>([^<]*)</v>")
_TEXT = re.compile(r"<t[^>]*>([^<]*)</t>")


def read_columns(path: Path, columns: Sequence[str], notes: list[str], *, sheet: str) -> pd.DataFrame:
    """Read columns of a sheet, or of a CSV file, as text.

    Parameters
    ----------
    path
        An .xlsx file, or a CSV file with commas in UTF-8 or Windows-1252.
    columns
        Columns that have to be there.
    notes
        What was normalised is added here.
    sheet
        Name of the sheet of an .xlsx file; if the file has but one, its name does not matter.

    Returns
    -------
    pandas.DataFrame
        Categories of text, "" where a cell is empty. Cells that Excel has as a truth value or an error are
        "TRUE", "FALSE", "#NAME?" and so on. The index, named ``row``, holds the rows of the spreadsheet.

    Raises
    ------
    DataError
        If the file is missing, damaged, cut off or empty, or lacks the sheet.
    UnknownNameError
        If a column is missing.
    """
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    try:
        if path.suffix.lower() == ".csv":
            return _csv_columns(path, columns, notes)
        with zipfile.ZipFile(path) as book:
            return _sheet_columns(book, path, columns, sheet)
    except (zipfile.BadZipFile, zlib.error, EOFError, ElementTree.ParseError, KeyError, OSError) as error:
        raise DataError(
            f"{path} is damaged or was cut off while it was copied ({error}). Get the file again."
        ) from error


# .xlsx -----------------------------------------------------------------------------------------------------
def _sheet_columns(book: zipfile.ZipFile, path: Path, columns: Sequence[str], sheet: str) -> pd.DataFrame:
    part = _part_of_sheet(book, path, sheet)
    shared = _shared_strings(book)
    with book.open(part) as stream:
        rows = _complete_rows(stream)
        head = next(rows, b"")
        header = _header(head, shared)
        if not header:
            raise DataError(f"{path}: the sheet {sheet!r} is empty: it has no header and no rows.")
        require_columns(pd.DataFrame(columns=list(header)), columns, f"{path}, sheet {sheet!r}")
        wanted = {header[c].encode(): c for c in columns}
        read = _Cells(wanted)
        read.add(head)
        for block in rows:
            read.add(block)
    frame = read.frame(columns, shared)
    if frame.empty:
        raise DataError(f"{path}: the sheet {sheet!r} has a header but no rows.")
    return frame


def _part_of_sheet(book: zipfile.ZipFile, path: Path, sheet: str) -> str:
    """Path of the sheet's XML inside the file."""
    targets = {e.get("Id"): e.get("Target", "") for e in _elements(book, "xl/_rels/workbook.xml.rels")}
    found = {}
    for element in _elements(book, "xl/workbook.xml"):
        if _NAMESPACE.sub("", element.tag) == "sheet":
            reference = next(
                v for k, v in element.attrib.items() if _NAMESPACE.sub("", k) == "id" and "}" in k
            )
            found[element.get("name", "")] = targets[reference]
    if sheet not in found and len(found) != 1:
        raise DataError(f"{path} has no sheet called {sheet!r}; it has {', '.join(map(repr, found))}.")
    target = found.get(sheet) or next(iter(found.values()))
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _elements(book: zipfile.ZipFile, part: str) -> Iterator[ElementTree.Element]:
    with book.open(part) as stream:
        for _, element in ElementTree.iterparse(stream):
            yield element


def _shared_strings(book: zipfile.ZipFile) -> list[str]:
    """Return the strings that cells name by number; a string may be several runs of formatted text."""
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    strings: list[str] = []
    for element in _elements(book, "xl/sharedStrings.xml"):
        tag = _NAMESPACE.sub("", element.tag)
        if tag == "rPh":  # how the characters are pronounced is no part of the string
            element.clear()
        elif tag == "si":
            strings.append("".join(t.text or "" for t in element.iter() if _NAMESPACE.sub("", t.tag) == "t"))
            element.clear()
    return strings


def _complete_rows(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield pieces of the sheet that end with a row."""
    rest = b""
    while block := stream.read(CHUNK):
        rest += block
        cut = rest.rfind(_ROW_END)
        if cut >= 0:
            yield rest[: cut + len(_ROW_END)]
            rest = rest[cut + len(_ROW_END) :]


def _header(block: bytes, shared: Sequence[str]) -> dict[str, str]:
    """Return names of the first row's cells and the letters of their columns."""
    first = block[: block.find(_ROW_END)]
    cells = re.findall(_CELL % rb"[A-Z]+", first, re.DOTALL)
    return {
        _decoded((before + tail).decode("utf-8"), shared).strip(): letters.decode()
        for before, letters, _, tail in cells
    }


class _Cells:
    """Codes of the cells of the wanted columns, and what each code stands for."""

    def __init__(self, wanted: Mapping[bytes, str]) -> None:
        longest_first: list[bytes] = sorted(wanted, key=len, reverse=True)
        letters = b"|".join(longest_first)
        self.cell = re.compile(_CELL % letters, re.DOTALL)
        self.store: dict[bytes, tuple[dict[bytes, int], array[int], array[int]]] = {
            letter: ({}, array("i"), array("i")) for letter in wanted
        }
        self.names = wanted

    def add(self, block: bytes) -> None:
        store = self.store
        for before, letters, row, tail in self.cell.findall(block):
            distinct, codes, rows = store[letters]
            codes.append(distinct.setdefault(before + tail if before else tail, len(distinct)))
            rows.append(int(row))

    def frame(self, columns: Sequence[str], shared: Sequence[str]) -> pd.DataFrame:
        by_name = {self.names[letter]: stored for letter, stored in self.store.items()}
        last = max((rows[-1] for _, _, rows in by_name.values() if rows), default=1)
        read = {c: _category(*by_name[c], last, shared) for c in columns}
        frame = pd.DataFrame(read, index=pd.RangeIndex(1, last + 1, name="row")).iloc[1:]
        blank = np.logical_and.reduce([(frame[c] == "").to_numpy() for c in columns])
        rows = frame[~blank] if blank.any() else frame
        return rows.apply(lambda column: column.cat.remove_unused_categories())


def _category(
    distinct: Mapping[bytes, int], codes: array[int], rows: array[int], last: int, shared: Sequence[str]
) -> pd.Categorical:
    """Return one column, its cells in their rows; different cells may decode to the same text."""
    texts = [_decoded(tail.decode("utf-8"), shared) for tail in distinct] + [""]
    recoded, categories = pd.factorize(pd.array(texts, dtype="str"))
    column = np.full(last, recoded[-1], dtype=np.int32)
    column[np.frombuffer(rows, dtype=np.intc) - 1] = recoded[np.frombuffer(codes, dtype=np.intc)]
    return pd.Categorical.from_codes(column, categories=pd.Index(categories, dtype="str"))


def _decoded(tail: str, shared: Sequence[str]) -> str:
    """Return the text of a cell from the rest of its element."""
    kind = _TYPE.search(tail[: tail.find(">")])
    if kind is not None and kind[1] == "inlineStr":
        return html.unescape("".join(_TEXT.findall(tail)))
    value = _VALUE.search(tail)
    if value is None:
        return ""
    if kind is None or kind[1] == "n":
        return value[1].removesuffix(".0")
    if kind[1] == "s":
        return shared[int(value[1])]
    if kind[1] == "b":
        return "TRUE" if value[1] == "1" else "FALSE"
    return html.unescape(value[1])


# CSV -------------------------------------------------------------------------------------------------------
def _csv_columns(path: Path, columns: Sequence[str], notes: list[str]) -> pd.DataFrame:
    encoding = _encoding(path, notes)
    try:
        header = pd.read_csv(path, nrows=0, encoding=encoding).columns.tolist()
        require_columns(pd.DataFrame(columns=header), columns, str(path))
        frame = pd.read_csv(
            path,
            usecols=list(columns),
            dtype="str",
            keep_default_na=False,
            na_values=[],
            encoding=encoding,
            index_col=False,
        )
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path} is empty: it has no header and no rows.") from error
    except (pd.errors.ParserError, ValueError) as error:
        raise DataError(
            f"{path} is damaged or was cut off ({str(error).strip()}). Get the file again."
        ) from error
    if frame.empty:
        raise DataError(f"{path} has a header but no rows.")
    frame.index = pd.RangeIndex(2, len(frame) + 2, name="row")
    cells = next(csv.reader([_last_line(path, encoding)]), [])
    if len(cells) != len(header):
        raise DataError(
            f"{path}, row {frame.index[-1]}: it has {len(cells)} cell(s) but the header has {len(header)}; the file may "
            "have been cut off while it was copied. Get it again."
        )
    return frame[list(columns)].astype("category")


def _last_line(path: Path, encoding: str) -> str:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - CHUNK))
        return stream.read().rstrip(b"\r\n").rpartition(b"\n")[2].decode(encoding)


def _encoding(path: Path, notes: list[str]) -> str:
    with path.open(encoding="utf-8-sig") as stream:
        try:
            while stream.read(CHUNK):
                pass
        except UnicodeDecodeError:
            notes.append(f"{path.name} was read as Windows-1252 text.")
            return "cp1252"
    return "utf-8-sig"
