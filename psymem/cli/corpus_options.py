"""Options about a corpus: how its files are to be understood, and what of it enters an analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import typer

from psymem.errors import DataError, PsymemError

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
TEXTS = typer.Option(
    None,
    "--texts",
    help="File of all words of a plain table's texts, if they are not in texts.csv beside it.",
)
FREQUENCIES = typer.Option(
    None,
    "--frequencies",
    help="CSV file of frequencies: word and count, per_million, zipf or log_frequency. Default: wordfreq.",
)
RANDOM_EFFECTS = typer.Option(
    None, "--random", help="Your own random effects: '(1|subject) + (1|text_id)'; none for a linear model."
)
WEIGHTS = typer.Option(None, "--weights", help="Column of weights for means, such as the number of readers.")
ENGINE = typer.Option("profiled", "--engine", help="Fitting engine: profiled or lme4 (needs R).")
EDGES = "sentence-first,sentence-last,line-first,line-last"


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
    named: dict[str, str] = {}
    for pair in (pair for cell in columns for pair in cell.split(",")):
        name, _, column = (part.strip() for part in pair.partition("="))
        if not name or not column:
            raise DataError(f"--columns {pair}: write NAME=COLUMN, psymem's name first, such as word=WORD.")
        if name in named:
            raise DataError(f"--columns was given {name!r} twice.")
        named[name] = column
    return named


def refuse_settings(given: Mapping[str, Any], instead: str) -> None:
    """Refuse settings of a plain table for a corpus in a format of its own.

    Raises
    ------
    PsymemError
        If there are any; `instead` says what was given for --corpus.
    """
    if given:
        options = ", ".join("--name" if k == "called" else f"--{k.replace('_', '-')}" for k in given)
        raise PsymemError(f"{options} belong to --corpus csv, a table of your own; {instead}.")


def folder_or_sample(given: Path) -> Path:
    """Return the folder, or the sample of invented data that is bundled under this name."""
    bundled = Path(str(files("psymem.corpora"))) / given.name
    return bundled if not given.exists() and given.name == str(given) and bundled.is_dir() else given


def edges(leave_out: str) -> list[str]:
    """Return the edges whose words are left out; none for ``none``."""
    return [] if leave_out.strip() in ("none", "") else [edge.strip() for edge in leave_out.split(",")]
