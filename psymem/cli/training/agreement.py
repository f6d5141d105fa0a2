"""``psymem train agreement-sentences``: choose sentences in which number agreement can be learnt."""

from __future__ import annotations

from pathlib import Path

import typer

from psymem.cli.training.options import QUIET, TEXT_HELP


def add(train: typer.Typer) -> None:
    """Add the command to ``psymem train``."""
    train.command("agreement-sentences")(agreement_sentences)


def agreement_sentences(
    out: Path = typer.Option(
        ..., help="File to write, .tsv or .tsv.gz; for --emphasised of `train cbr-rnn`."
    ),
    text: list[Path] = typer.Option(
        [], help=f"{TEXT_HELP} Only is, are, was, were, has, have, does, do are looked at."
    ),
    verbs_too: list[Path] = typer.Option(
        [], help="Text whose lexical verbs are looked at as well; may be repeated."
    ),
    each: int = typer.Option(
        15_000, help="Most sentences without a noun of the other number between, of each kind and number."
    ),
    pipeline: str = typer.Option("en_core_web_sm", help="spaCy pipeline that is installed."),
    seed: int = typer.Option(1, min=0, help="Decides which sentences, and their order."),
    as_json: bool = typer.Option(False, "--json", help="Print the counts as JSON."),
    quiet: bool = QUIET,
) -> None:
    """Choose the sentences of a text that show with which noun a verb agrees, and mark the verb.

    All in which a noun of the other number stands between subject and verb, and as many others of each kind (nouns of
    the same number between, none between) with singular as with plural subjects. Needs spaCy.
    """
    import json

    from psymem.cli.progress import progress_bar
    from psymem.train.text.agreement import AgreementChoice, write_agreement_sentences

    choice = AgreementChoice(tuple(text), tuple(verbs_too), each, seed, pipeline)
    with progress_bar(quiet, "sentences") as advance:

        def show(done: int, total: int) -> None:
            if advance is not None:
                advance("parsing", done, total)

        counts = write_agreement_sentences(choice, out, progress=show)
    if as_json:
        typer.echo(json.dumps({"file": str(out), "sentences": counts}))
        return
    for kind, n in counts.items():
        typer.echo(f"{n:>8,}  {kind}")
    typer.echo(str(out))
