"""Results files of PCIbex and Ibex: rows without a header, their columns named in comments above them.

    # 1. Results reception time.
    # 2. MD5 hash of participant's IP address.
    ...
    1619973769,313362cc...,PennController,1,0,...

A comment names the columns of all rows below it, up to the next one; one that begins with a later number replaces the
columns from there on. Commas inside cells are written ``%2C``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pandas as pd

from psymem.errors import DataError

_COLUMN = re.compile(r"#\s*(\d+)\.\s*(.+?)\.?\s*")
WORDS = ("Word", "Value", "Parameter")
"""Columns in which NULL may be a word."""


def is_results(text: str) -> bool:
    """Whether a text begins with comments, one of which names a first column."""
    for line in text.splitlines():
        if not line.startswith("#"):
            return False
        if (found := _COLUMN.fullmatch(line)) and found[1] == "1":
            return True
    return False


def results_table(text: str, path: Path) -> pd.DataFrame:
    """Return the rows as text cells, with all columns of all comments; the index, named ``row``, holds the file's lines.

    A column that a row does not have is "", and so is NULL outside `WORDS`.

    Raises
    ------
    DataError
        If there is no row, or one has another number of cells than the comments above it name.
    """
    rows = list(_rows(text, path))
    if not rows:
        raise DataError(f"{path} has comments that name columns, but no rows.")
    names = list(dict.fromkeys(name for _, cells in rows for name in cells))
    columns = {name: pd.array([cells.get(name, "") for _, cells in rows], dtype="str") for name in names}
    return pd.DataFrame(columns, index=pd.Index([n for n, _ in rows], name="row"))


def _rows(text: str, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            if found := _COLUMN.fullmatch(line):
                columns = [*columns[: int(found[1]) - 1], found[2]]
            continue
        if not line.strip():
            continue
        cells = line.split(",")
        if len(cells) != len(columns):
            raise DataError(
                f"{path}, row {number}: it has {len(cells)} cells, the comments above it name {len(columns)} columns. The "
                "file may have been cut off or changed in a spreadsheet; download it again."
            )
        yield number, {name: _cell(name, cell) for name, cell in zip(_distinct(columns), cells, strict=True)}


def _distinct(columns: list[str]) -> list[str]:
    """Number names that come again."""
    return [
        name if name not in columns[:i] else f"{name} {columns[:i].count(name) + 1}"
        for i, name in enumerate(columns)
    ]


def _cell(name: str, cell: str) -> str:
    cell = unquote(cell.strip())
    return "" if cell == "NULL" and name not in WORDS else cell
