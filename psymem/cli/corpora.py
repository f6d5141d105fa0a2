"""``psymem corpora``: list, show, fetch, check corpora of human reading."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psymem.cli.corpus_options import AVERAGED, COLUMNS, KEEP, MS_PER_UNIT, TEXTS, ZERO, reader_settings

if TYPE_CHECKING:
    from psymem.data.corpora.corpus import Corpus

AS_JSON = typer.Option(False, "--json", help="Print JSON instead of text.")
NAME = typer.Argument(help="Name of a corpus (psymem corpora list).")
HOW = {"none": "by hand", "direct": "psymem corpora fetch", "archive": "psymem corpora fetch"}


def register(app: typer.Typer) -> None:
    """Add the command group to the application."""
    group = typer.Typer(no_args_is_help=True, help="Corpora of human reading: list, show, fetch, check.")
    group.command("list")(list_corpora)
    group.command("show")(show)
    group.command("fetch")(fetch)
    group.command("check")(check)
    app.add_typer(group, name="corpora")


def list_corpora(as_json: bool = AS_JSON) -> None:
    """List the corpora that psymem can read, their licences and how to get them."""
    import pandas as pd

    from psymem.cli.frames import show as show_frame
    from psymem.data.corpora.catalogue import read_card
    from psymem.errors import PsymemError
    from psymem.registry import CORPORA

    rows = []
    for name in CORPORA.names():
        try:
            card = read_card(name)
        except PsymemError as error:  # one that is damaged hides no other
            typer.echo(str(error), err=True)
            continue
        get = HOW.get(card["fetch"], "by hand")
        rows.append({"name": name, "title": card["title"], "get": get, "licence": card["licence"]})
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    show_frame(pd.DataFrame(rows))


def show(name: str = NAME, as_json: bool = AS_JSON) -> None:
    """Show what a corpus is, its licence, how to cite it, where to get it and which files are needed."""
    from psymem.data.corpora.catalogue import read_card, sample_folder

    card = read_card(name)
    sample = sample_folder(name)
    if as_json:
        typer.echo(
            json.dumps({**card, "sample": str(sample) if sample else None}, ensure_ascii=False, indent=2)
        )
        return
    typer.echo(f"{card['title']} ({name})")
    typer.echo(f"\n{card.get('description', '').strip()}\n")
    for field in ("licence", "citation", "address", "get"):
        if card[field]:
            typer.echo(f"{field}: {card[field]}")
    if card["fetch"] == "none":
        typer.echo(f"fetch: no. {card['why_not_fetched']}".rstrip())
    else:
        typer.echo(f"fetch: psymem corpora fetch {name}")
    for file in card["files"]:
        optional = " (may be missing)" if file.get("optional") else ""
        typer.echo(f"file: {file['name']}: {file['holds']}{optional}")
    typer.echo(f"reader tested on: {card.get('checked_on', 'unknown')}")
    if sample:
        typer.echo(f"invented sample in this format: {sample}")


def fetch(
    name: str = NAME,
    folder: Path = typer.Argument(None, help="Where to. Default: psymem's data folder."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print no notes."),
) -> None:
    """Download a corpus that anybody may download, and verify it; others are never fetched."""
    from psymem.data.corpora.fetch import fetch_corpus

    path, notes = fetch_corpus(name, folder)
    typer.echo(str(path))
    if not quiet:
        for note in notes:
            typer.echo(note, err=True)
        typer.echo(f"Read it with: psymem corpora check {name} {path}", err=True)


def check(
    name: str = NAME,
    folder: Path = typer.Argument(None, help="Folder of the corpus, or the file of a plain table."),
    sample: bool = typer.Option(False, "--sample", help="Check the invented sample that comes with psymem."),
    columns: list[str] = COLUMNS,
    zero: str = ZERO,
    averaged: bool = AVERAGED,
    keep: list[str] = KEEP,
    ms_per_unit: float = MS_PER_UNIT,
    texts: Path = TEXTS,
    as_json: bool = AS_JSON,
) -> None:
    """Read a corpus and say what is there: files, readers, texts, words, measures, and what was mended or left out."""
    from psymem.data.corpora.catalogue import found_files, load_corpus

    place = _place(name, folder, sample)
    files = found_files(name, place)
    if not as_json:
        for file in files:
            state = file["path"] or ("not there (may be missing)" if file["optional"] else "MISSING")
            typer.echo(f"{file['name']}: {state}")
    start = time.perf_counter()
    settings = reader_settings(columns, zero, averaged, keep, ms_per_unit=ms_per_unit, texts=texts)
    corpus = load_corpus(name, place, **settings)
    facts = {"files": files, **_facts(corpus), "seconds": round(time.perf_counter() - start, 1)}
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    _print_facts(facts)


def _place(name: str, folder: Path | None, sample: bool) -> Path:
    """Return the folder to read; raises DataError if none was given and none was fetched."""
    from psymem.data.corpora.catalogue import sample_folder
    from psymem.errors import DataError
    from psymem.io.download import data_folder

    if sample:
        found = sample_folder(name)
        if found is None:
            raise DataError(f"The corpus {name!r} has no sample.")
        return found
    if folder is not None:
        return folder.expanduser()
    from psymem.data.corpora.catalogue import read_card

    read_card(name)
    fetched = data_folder() / "corpora" / name
    if not fetched.is_dir():
        raise DataError(
            f"Say where the corpus {name!r} is: psymem corpora check {name} FOLDER. How to get it: "
            f"psymem corpora show {name}."
        )
    return fetched


def _facts(corpus: Corpus) -> dict[str, Any]:
    """Return counts of a corpus and, per measure, how many values it has and their mean."""
    reading, words = corpus.reading, corpus.words
    measures = [
        {"measure": m, "values": int(reading[m].notna().sum()), "mean": round(float(reading[m].mean()), 1)}
        for m in corpus.measures
    ]
    return {
        "corpus": corpus.name,
        "readers": 0 if corpus.averaged else int(reading["subject"].nunique()),
        "averaged": corpus.averaged,
        "texts": int(words["text_id"].nunique()),
        "sentences": len(words[["text_id", "sentence_id"]].drop_duplicates()),
        "words": len(words),
        "rows": len(reading),
        "skipped": int(reading["skipped"].sum()),
        "measures": measures,
        "notes": list(corpus.notes),
    }


def _print_facts(facts: dict[str, Any]) -> None:
    readers = "means over readers" if facts["averaged"] else f"{facts['readers']:,} readers"
    texts = f"{facts['texts']:,} texts, {facts['sentences']:,} sentences, {facts['words']:,} words"
    typer.echo(f"{readers}; {texts}")
    typer.echo(f"{facts['rows']:,} rows, {facts['skipped']:,} of them skipped")
    for m in facts["measures"]:
        unit = "of 100" if m["measure"].endswith("_scaled") else "ms"
        typer.echo(f"{m['measure']}: {m['values']:,} values, mean {m['mean']:g} {unit}")
    for note in facts["notes"]:
        typer.echo(f"note: {note}")
    typer.echo(f"read in {facts['seconds']:g} s")
