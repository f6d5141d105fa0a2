"""Options that say how the reader of a corpus is to understand its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

COLUMNS = typer.Option(
    [],
    "--columns",
    help="Names of a plain table's columns, such as word=WORD,gaze_duration=GD; may be repeated.",
)
ZERO = typer.Option(None, "--zero", help="What a time of 0 is in a plain table: unread or time.")
AVERAGED = typer.Option(False, "--averaged", help="The values are means over readers.")
KEEP = typer.Option([], "--keep", help="Further columns of a plain table to carry along with the words.")
MS_PER_UNIT = typer.Option(
    None, "--ms-per-unit", help="What 1 is in ms: 1000 for seconds, 2 for samples at 500 Hz."
)
TEXTS = typer.Option(None, "--texts", help="File of all words of a plain table's texts.")


def reader_settings(
    columns: Sequence[str] = (),
    zero: str | None = None,
    averaged: bool = False,
    keep: Sequence[str] = (),
    *,
    ms_per_unit: float | None = None,
    texts: Path | None = None,
) -> dict[str, Any]:
    """Return the settings that were given, for `psymem.load_corpus`.

    Raises
    ------
    DataError
        If `columns` is not ``NAME=COLUMN``.
    """
    given: dict[str, Any] = {
        "columns": _named(columns),
        "zero": zero,
        "averaged": averaged or None,
        "keep": [k for cell in keep for k in cell.split(",")],
        "ms_per_unit": ms_per_unit,
        "texts": texts,
    }
    return {name: value for name, value in given.items() if value not in (None, [], {})}


def _named(columns: Sequence[str]) -> dict[str, str]:
    from psymem.errors import DataError

    pairs = [pair for cell in columns for pair in cell.split(",")]
    for pair in pairs:
        if "=" not in pair:
            raise DataError(f"--columns {pair}: write NAME=COLUMN, psymem's name first, such as word=WORD.")
    return {name.strip(): column.strip() for name, column in (p.split("=", 1) for p in pairs)}
