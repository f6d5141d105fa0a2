"""``psymem score``: words in, one row per word and model out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psymem.cli.options import expanded, made_of, print_notes
from psymem.errors import PsymemError
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    import pandas as pd

    from psymem.scoring.score import Run


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("score")(expanded(score))


def score(
    model: list[str] = typer.Option(
        ["cbr-rnn"], "--model", "-m", help="Model name, folder or hub id; may be given several times."
    ),
    text: Path | None = typer.Option(
        None,
        "--text",
        help="Text file; every line is a text. In a file with lines that say !ARTICLE, each opens a text, "
        "and every other line is a sentence.",
    ),
    stimuli: str | None = typer.Option(None, "--stimuli", help="Item set: a name or a file."),
    table: Path | None = typer.Option(None, "--table", help="CSV or TSV file with one word per row."),
    word_column: str = typer.Option("word", help="Column of --table that holds the words."),
    text_column: str = typer.Option("text_id", help="Column of --table that says which text a word is in."),
    measure: list[str] = typer.Option(
        [],
        "--measure",
        help="Measure; may be given several times. See psymem models show. Default: surprisal, and for models that "
        "read words in pieces surprisal-uncorrected, n-tokens and context-length.",
    ),
    reading: Reading = made_of(Reading),
    out: Path | None = typer.Option(
        None, "--out", "-o", help="CSV file to write; standard output otherwise."
    ),
    seed: int = typer.Option(1, help="Recorded with the results; scoring draws no random numbers."),
    as_json: bool = typer.Option(False, "--json", help="Print rows as JSON, one per line."),
    words_at_once: int | None = typer.Option(
        None,
        min=1,
        help="Words after which results are safe on disk (--out); a killed run goes on there.",
    ),
    jobs: int = typer.Option(
        1, "--jobs", "-j", help="Processes; -1 for all cores. Does not change the scores."
    ),
    dask: str = typer.Option("", "--dask", help="Scheduler of a Dask cluster: tcp://HOST:PORT."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress and no messages."),
) -> None:
    """Score words: surprisal and attention of every word under one or more models.

    With --out, an interrupted run that is started again goes on where it stopped.

    A table needs a column of words and may have text_id (or --text-column), sentence_id and word_id; its
    other columns are kept. Where no sentence numbers are given, sentences are found by the rule of
    psymem.sentences.
    """
    from psymem.cli.progress import progress_bar
    from psymem.measures.base import with_heads
    from psymem.scoring.parallel import Workers, compute_parts
    from psymem.scoring.score import Run

    workers = Workers(jobs, dask)
    words = _words(text, stimuli, table, word_column, text_column)
    chosen = (
        with_heads(measure, reading.heads, reading.query)
        if measure or reading.heads or reading.query
        else None
    )
    run = Run(words, model, chosen, lower_case=reading.lower_case, **reading.settings)
    with progress_bar(quiet or out is None, "sentences") as progress:
        if out is None:
            _print(compute_parts(run, workers=workers, words_at_once=words_at_once), as_json)
        else:
            compute = partial(
                compute_parts, run, workers=workers, words_at_once=words_at_once, progress=progress
            )
            parts = run.parts(words_at_once)
            about = {"input": str(text or stimuli or table), "seed": seed}
            rows = _write(parts, run, out, about, compute, quiet)
    if quiet:
        return
    print_notes(run.notes())
    if out is not None:
        typer.echo(
            f"Wrote {rows} rows to {out} and where they come from to {out.with_suffix('.json')}.",
            err=True,
        )


def _words(
    text: Path | None, stimuli: str | None, table: Path | None, word_column: str, text_column: str
) -> pd.DataFrame:
    """Read the words to score from whichever source was given."""
    given = [
        name
        for name, value in (("--text", text), ("--stimuli", stimuli), ("--table", table))
        if value is not None
    ]
    if len(given) != 1:
        found = f"{' and '.join(given)} were given" if given else "none was given"
        raise PsymemError(f"Give one of --text, --stimuli and --table; {found}.")
    from psymem.data.words import texts as sources

    if text is not None:
        return sources.words_from_text(text)
    if stimuli is not None:
        from psymem.data.items.stimuli import load_stimuli

        return load_stimuli(stimuli)
    return sources.words_from_table(table, word_column=word_column, text_column=text_column)  # type: ignore[arg-type]


def _write(
    parts: Sequence[Callable[[], pd.DataFrame]],
    run: Run,
    out: Path,
    extra: dict,
    compute: Callable[[Sequence[int]], Iterator[pd.DataFrame]],
    quiet: bool,
) -> int:
    """Write rows and sidecar, going on where an earlier run stopped; returns the number of rows."""
    from psymem._version import __version__
    from psymem.scoring.resumable import frame_digest, write_resumably

    def resumed(there: int) -> None:
        if not quiet:
            typer.echo(f"Going on after {there} of {len(parts)} parts, finished by an earlier run.", err=True)

    about = {**run.provenance(), **extra}
    identity = {**about, "words": frame_digest(run.words), "parts": len(parts), "psymem": __version__}
    return write_resumably(parts, out, about, identity, resumed=resumed, compute=compute)


def _print(pieces: object, as_json: bool) -> None:
    """Print rows as CSV or as JSON lines."""
    for number, piece in enumerate(pieces):  # type: ignore[arg-type, var-annotated]
        if as_json:
            sys.stdout.write(piece.to_json(orient="records", lines=True, force_ascii=False))
        else:
            sys.stdout.write(piece.to_csv(index=False, header=number == 0, na_rep="NA", lineterminator="\n"))
