"""``psymem dependency``: does retrieval find the subject, by distance and by the nouns in between."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psymem.cli.options import JSON, MODELS, QUIET, expanded, made_of, print_notes
from psymem.errors import PsymemError
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.data.words.parses import ParsedSentence
    from psymem.progress import Progress
    from psymem.studies.dependency.study import DependencyResult

SHOWN = ["model", "head", "among", "bin", "share", "ci_low", "ci_high", "chance", "excess_ci_low", "n_cases"]


def register(app: typer.Typer) -> None:
    """Add the command ``dependency``."""
    app.command("dependency")(expanded(dependency))


@dataclass(frozen=True)
class _Source:
    """Where sentences come from."""

    conllu: list[Path]
    text: Path | None
    words: list[Path]
    parser: str


def dependency(
    model: list[str] = MODELS,
    relation: str = typer.Option(
        "nsubj",
        help="nsubj (active), nsubj:pass, obj, acl:relcl (relative clauses), reflexive, or another of Universal "
        "Dependencies.",
    ),
    conllu: list[Path] = typer.Option(
        [], help="Parsed sentences (CoNLL-U); may be repeated. Default: a small sample."
    ),
    words: list[Path] = typer.Option(
        [],
        help="Text in words already, parsed with spaCy as it is: a sentence a line, or a word a line; may be repeated.",
    ),
    text: Path = typer.Option(None, help="Running text, parsed with spaCy."),
    parser: str = typer.Option("en_core_web_sm", help="spaCy pipeline for --words and --text."),
    order: str = typer.Option(
        "", help="dependent-first, head-first or both; otherwise what is usual for the relation."
    ),
    mixed_model: str = typer.Option(
        "auto", help="Engine of the mixed logistic model: auto, lme4, mixedlm or none."
    ),
    reading: Reading = made_of(Reading),
    out: Path = typer.Option(
        None, "--out", "-o", help="Folder for tables and figure; a killed run goes on there."
    ),
    seed: int = typer.Option(1, help="Draws sentences for the mixed model where there are very many."),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Does retrieval find the subject? How often a verb attends most to it, by distance and nouns in between.

    Among all words before the verb and among the nouns before it, each beside chance, for every model and for the
    instances of a family together; models without attention are looked at by what their cells still hold of each word.
    """
    from psymem.cli.folders import results_folder
    from psymem.cli.progress import progress_bar
    from psymem.io.outputs import check_writable
    from psymem.studies.dependency.study import SuccessModel, track_dependency

    source = _Source(conllu, text, words, parser)
    named = _named(source)
    out = out or results_folder("dependency", model, named[0] if len(named) == 1 else "")
    check_writable(out)  # before anything is parsed
    success = SuccessModel(mixed_model, seed)
    with progress_bar(quiet, "sentences") as progress:
        result = track_dependency(
            model,
            _sentences(source, progress),
            relation,
            order=order,
            reading=reading,
            success=success,
            out=out,
            resumed=None if quiet else _resumed,
            progress=progress,
        )
    result.about.update(input=named, parser=parser if text or words else None, seed=seed)
    result.save(out)
    if as_json:
        from psymem.cli.frames import print_json

        print_json({"shares": result.shares, "model": result.model, "left_out": result.left_out})
    elif not quiet:
        _show(result, out)
    if not quiet:
        print_notes(result.about["notes"])


def _resumed(there: int) -> None:
    typer.echo(f"Going on after {there} part(s) that an earlier run has finished.", err=True)


def _named(source: _Source) -> list[str]:
    """Files given, or the sample."""
    given = [name for name in ("conllu", "text", "words") if getattr(source, name)]
    if len(given) > 1:
        raise PsymemError(f"Give one of --conllu, --words and --text; --{' and --'.join(given)} were given.")
    files = [*source.conllu, *source.words, *([source.text] if source.text else [])]
    return [str(f) for f in files] or ["dependencies-sample"]


def _sentences(source: _Source, progress: Progress | None) -> list[ParsedSentence]:
    """Read or parse the sentences."""
    from psymem.data.words import parses

    if source.words:
        sentences = [words for path in source.words for words in parses.read_words(path)]
        return parses.parse_words(sentences, source.parser, progress)
    if source.text is not None:
        return parses.parse_text(source.text, source.parser)
    return [s for path in source.conllu for s in parses.read_conllu(path)] or parses.sample()


def _show(result: DependencyResult, out: Path) -> None:
    """Print the shares in all and by words in between, of families where there are several instances."""
    from psymem.cli.frames import show

    kind, relation = result.about["kind"], result.about["relation"]
    table = result.shares.assign(
        among=result.shares["among"].replace({"words": "all words", "candidates": kind})
    )
    pooled = set(table.loc[table["n_models"] > 1, "model"])
    single = table["model"].map(lambda name: name.rpartition("/")[0] in pooled)
    shown = table[~single]
    for by, title in (
        (
            "all",
            f"{relation}: share of cases with the largest weight on the right word; 95% intervals over sentences",
        ),
        ("length", "\nBy distance in words"),
        ("between", f"\nBy {kind} in between"),
    ):
        show(shown[shown["by"] == by][SHOWN], title)
    left = result.left_out.pivot_table(index="reason", values="n", aggfunc="max", sort=False)
    told = "; ".join(f"{reason} {int(n):,}" for reason, n in left["n"].items() if n)
    typer.echo(
        f"\nCases: {told} (the largest of the models). A share is above chance where excess_ci_low is above 0."
    )
    if len(result.model):
        columns = ["model", "head", "among", "meaning", "odds_ratio", "estimate", "ci_low", "ci_high", "p"]
        model = result.model.assign(
            among=result.model["among"].replace({"words": "all words", "candidates": kind})
        )
        show(
            model[columns], f"\nMixed logistic model ({model['formula'].iloc[0]}; {model['engine'].iloc[0]})"
        )
    typer.echo(f"\nTables and figure: {out}")
