"""``psymem fgp-table2``: one command per published table of sentiment accuracies in analyses/."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add a command for every table, named like its file."""
    from psymem.replications.analyses import (
        studies_of,
    )  # the table's own module needs pandas, which help must not wait for

    for name, study in studies_of("sentiment").items():
        _add(app, name, study["title"])


def _add(app: typer.Typer, name: str, title: str) -> None:
    @app.command(name, help=f"{title}. Trained again, with the epoch chosen on the test texts and not.")
    def table_command(
        data: Path = typer.Option(..., help="Folder of the corpus's files (IITB Sentiment Analysis-II)."),
        out: Path | None = typer.Option(
            None, "--out", "-o", help="Folder of runs and tables; results/NAME by default. It resumes."
        ),
        seeds: str = typer.Option("1-3", help="Seeds, such as 1-3 or 1,4."),
        width: list[int] = typer.Option([30, 50, 100, 200], help="Width of a component; repeatable."),
        components: list[int] = typer.Option([3, 6, 12], help="Components of FGP; repeatable."),
        epochs: int = typer.Option(30, help="Passes over the training texts."),
        embedding_width: int = typer.Option(100, help="Width of embeddings."),
        predictor: Path | None = typer.Option(
            None, help="Model of `psymem train fixation-predictor`; without it that row is left out."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print rows and orderings as JSON."),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="No messages."),
    ) -> None:
        from psymem.cli.frames import print_json, show
        from psymem.registry import CORPORA
        from psymem.replications.language_model_runs import seeds_from
        from psymem.replications.sentiment_report import save
        from psymem.replications.sentiment_table import SentimentRuns, load_table, summarise, train_all

        table, folder = load_table(name), out or Path("results") / name
        corpus = CORPORA.load(table.corpus)(data)
        runs = SentimentRuns(tuple(width), tuple(components), epochs, embedding_width, predictor)
        say = (lambda message: None) if quiet else (lambda message: typer.echo(message, err=True))
        finished = train_all(table, runs, corpus, seeds_from(seeds), folder, say=say)
        result = summarise(table, runs, finished, corpus.words["text_id"].nunique())
        written = save(result, folder)
        if as_json:
            print_json({"rows": result.rows, "orderings": result.orderings})
        else:
            show(result.rows.drop(columns="model"), table.title)
            show(result.orderings, "\nOrderings of the paper")
        say(f"Wrote {', '.join(map(str, written))}.")
