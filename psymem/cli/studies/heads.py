"""``psymem heads``: which attention heads track a dependency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psymem.cli.options import NOTHING_RANDOM, QUIET, expanded, made_of, print_notes
from psymem.errors import PsymemError
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.data.words.parses import ParsedSentence
    from psymem.studies.heads import HeadsResult

SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the command ``heads``."""
    app.command("heads")(expanded(heads))


def heads(
    model: str = typer.Option("cbr-rnn/1", "--model", "-m", help="Model name, folder or hub id."),
    relation: str = typer.Option(
        "nsubj", help="Relation as in Universal Dependencies; nsubj includes nsubj:pass."
    ),
    conllu: list[Path] = typer.Option(
        [], help="Parsed sentences (CoNLL-U); may be repeated. Default: a small sample."
    ),
    text: Path = typer.Option(None, help="Plain text, parsed with spaCy, in place of --conllu."),
    parser: str = typer.Option("en_core_web_sm", help="spaCy pipeline for --text."),
    order: str = typer.Option(
        "dependent-first",
        help="dependent-first (the verb attends to a subject before it), head-first, or both.",
    ),
    reading: Reading = made_of(Reading, leaving=("heads",)),
    out: Path = typer.Option(None, "--out", "-o", help="Folder for tables and figure."),
    seed: int = NOTHING_RANDOM,
    as_json: bool = typer.Option(False, "--json", help="Print the tables as JSON."),
    quiet: bool = QUIET,
) -> None:
    """Find the attention heads in which a verb attends to its subject, or any word to its dependent.

    For every head: how often the word attended to most is the right one, with its interval, beside the rule
    that always points a fixed number of words back; and the mean weight on the right word.
    """
    from dataclasses import replace

    from psymem.cli.progress import progress_bar
    from psymem.studies.heads import track_relation

    sentences = _sentences(conllu, text, parser)
    if reading.lower_case:
        sentences = [replace(s, words=tuple(w.lower() for w in s.words)) for s in sentences]
    with progress_bar(quiet, "sentences") as progress:
        result = track_relation(
            model,
            sentences,
            relation,
            order=order,
            query=reading.query or "first",
            progress=progress,
            **reading.settings,
        )
    source = [str(p) for p in (*conllu, *([text] if text else []))] or ["dependencies-sample"]
    result.about.update(input=source, lower_case=reading.lower_case, seed=seed)
    if out is not None:
        result.save(out)
    if as_json:
        from psymem.cli.frames import print_json

        print_json({"heads": result.table, "baselines": result.baselines}, model=result.model)
    elif not quiet:
        _show(result, out)
    if not quiet:
        print_notes(result.about["notes"])


def _sentences(conllu: list[Path], text: Path | None, parser: str) -> list[ParsedSentence]:
    """Read or parse the sentences."""
    from psymem.data.words.parses import parse_text, read_conllu, sample

    if conllu and text is not None:
        raise PsymemError("Give --conllu or --text, not both.")
    if text is not None:
        return parse_text(text, parser)
    return [s for path in conllu for s in read_conllu(path)] if conllu else sample()


def _show(result: HeadsResult, out: Path | None) -> None:
    """Print the best heads and the baselines."""
    from psymem.cli.frames import show

    ranked = result.table.sort_values(["accuracy", "mean_weight"], ascending=False, kind="stable")
    columns = ["layer", "head", "accuracy", "ci_low", "ci_high", "mean_weight"]
    title = f"{result.relation} ({len(result.cases)} dependencies), {result.model}"
    show(ranked.head(SHOWN)[columns], f"{title}: heads by accuracy, 95% Wilson intervals")
    rule = result.baseline
    typer.echo(
        f"Baseline: always {rule['offset']:.0f} back {rule['accuracy']:.3f} "
        f"[{rule['ci_low']:.3f}, {rule['ci_high']:.3f}]; "
        f"even choice {result.baselines['accuracy'].iloc[-1]:.3f}."
    )
    if out is not None:
        typer.echo(f"Tables and figure: {out}")
