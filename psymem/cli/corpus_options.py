"""Options about a corpus: how its files are to be understood, and what of it enters an analysis."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psymem.errors import DataError, PsymemError

if TYPE_CHECKING:
    from psymem.data.corpora.corpus import Corpus

COLUMNS = typer.Option(
    [],
    "--columns",
    help="Names of a table's columns, such as word=WORD,gaze_duration=GD; text_id=item+model joins two; may be repeated.",
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
LANGUAGE = typer.Option(
    "",
    "--language",
    help="Language of wordfreq's list, such as de. Default: that of the corpus, for a table of your own English (en).",
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
        name, given, column = (part.strip() for part in pair.partition("="))
        if not name or not given or (not column and name != "word_id"):  # word_id= : there is none
            raise DataError(f"--columns {pair}: write NAME=COLUMN, psymem's name first, such as word=WORD.")
        if name in named:
            raise DataError(f"--columns was given {name!r} twice.")
        named[name] = column
    return named


def load_corpora(names: Sequence[str], folders: Sequence[Path], own: Mapping[str, Any]) -> list[Corpus]:
    """Read corpora, each with those of the settings that its reader takes; of several tables each is called by its folder.

    Parameters
    ----------
    names, folders
        Corpora and where their files are; the name of a bundled sample for a folder.
    own
        From `reader_settings`.

    Raises
    ------
    PsymemError
        If a setting is none of any of these corpora.
    """
    from psymem.data.corpora.catalogue import load_corpus, settings_of

    takes = {name: settings_of(name) for name in names}
    _refuse_settings([k for k in own if not any(k in known for known in takes.values())], names)
    loaded = []
    for name, folder in zip(names, folders, strict=True):
        given = {k: v for k, v in own.items() if k in takes[name]}
        if name == "csv" and list(names).count("csv") > 1:
            given["called"] = folder.stem
        found = folder_or_sample(folder)
        loaded.append(load_corpus(name, found, **given))
        if found != folder:  # a bundled sample, whose own card says its language
            card = tomllib.loads((found / "card.toml").read_text(encoding="utf-8"))
            loaded[-1].card["language_code"] = card["language_code"]
    return loaded


def _refuse_settings(settings: Sequence[str], names: Sequence[str]) -> None:
    """Refuse settings that readers of other corpora take."""
    from psymem.data.corpora.catalogue import settings_of
    from psymem.registry import CORPORA

    if not settings:
        return
    options = ", ".join("--name" if k == "called" else f"--{k.replace('_', '-')}" for k in settings)
    takers = [n for n in CORPORA.names() if set(settings) <= set(settings_of(n))]
    whose = "csv, a table of your own" if takers == ["csv"] else " or ".join(sorted(takers))
    belongs = "belongs" if len(settings) == 1 else "belong"
    raise PsymemError(f"{options} {belongs} to --corpus {whose}; --corpus {' and '.join(names)} was given.")


def folder_or_sample(given: Path) -> Path:
    """Return the folder, or the sample of invented data that is bundled under this name."""
    bundled = Path(str(files("psymem.corpora"))) / given.name
    return bundled if not given.exists() and given.name == str(given) and bundled.is_dir() else given


def edges(leave_out: str) -> list[str]:
    """Return the edges whose words are left out; none for ``none``."""
    return [] if leave_out.strip() in ("none", "") else [edge.strip() for edge in leave_out.split(",")]
