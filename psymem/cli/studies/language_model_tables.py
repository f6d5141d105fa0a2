"""``psymem fgp-table1`` and the like: one command per published table of language models in analyses/."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psymem.replications.language_model_report import TableResult

BY_PRESET = "by --preset"


def register(app: typer.Typer) -> None:
    """Add a command for every table, named like its file."""
    from psymem.replications.language_models import load_table, table_names

    for name in table_names():
        _add(app, name, load_table(name).title)


def _add(app: typer.Typer, name: str, title: str) -> None:
    @app.command(name, help=f"{title}. Its models trained on your text, as large as you like.")
    def table_command(
        text: list[Path] = typer.Option(..., help="Text to train on (.txt, .txt.gz, .conllu) or folder."),
        held_out: list[Path] = typer.Option(..., help="Text by which the best weights are chosen."),
        test: list[Path] = typer.Option(..., help="Text of which perplexities are."),
        out: Path | None = typer.Option(
            None, "--out", "-o", help="Folder of runs and tables; results/NAME by default. It resumes."
        ),
        row: list[str] = typer.Option([], help="Model of the table to train; repeatable; default: all."),
        seeds: str = typer.Option("1-3", help="Seeds, such as 1-3 or 1,4."),
        parameters: str = typer.Option(
            "1M", help="Weights of each model besides the embedding; sets widths."
        ),
        preset: str = typer.Option("paper", help="Recipe: paper, or sentences; see psymem train lstm."),
        max_tokens: int = typer.Option(0, help="Words to train on, repetitions counted; 0: by --epochs."),
        epochs: int | None = typer.Option(None, help=f"Passes over the text; {BY_PRESET}: 50, 1."),
        vocabulary_size: int = typer.Option(50_000, help="Most frequent words to know."),
        minimum_count: int | None = typer.Option(None, help=f"Occurrences of a known word; {BY_PRESET}."),
        embedding_width: int | None = typer.Option(None, help=f"Width of embeddings; {BY_PRESET}: 100, 176."),
        embeddings: Path | None = typer.Option(None, help="Word vectors to start from, GloVe's text format."),
        components: int | None = typer.Option(None, help=f"Components of FGP; {BY_PRESET}: 12, 4."),
        batching: str | None = typer.Option(None, help=f"sentences or stream; {BY_PRESET}."),
        stream_rows: int = typer.Option(64, help="Rows of the stream."),
        piece_length: int = typer.Option(100, help="Mean words that gradients go back in a stream."),
        learning_rate: float | None = typer.Option(None, help=f"Peak rate of Adam; {BY_PRESET}."),
        warmup_steps: int = typer.Option(200, help="Steps of rising learning rate, linear schedule."),
        sampled_words: int | None = typer.Option(None, help="Competitors of the sampled softmax; 0: exact."),
        precision: str | None = typer.Option(None, help=f"auto, bf16 or fp32; {BY_PRESET}."),
        predictor: Path | None = typer.Option(
            None, help="Model of `psymem train fixation-predictor`, for rows with fixed durations."
        ),
        fixation_corpus: str = typer.Option("", help="Reading corpus of the multi-task rows."),
        fixation_data: Path | None = typer.Option(None, help="Folder of that corpus's files."),
        train: bool = typer.Option(True, help="--no-train: only the tables of what is finished."),
        threads: int = typer.Option(0, help="Processor threads; 0 leaves it to torch."),
        as_json: bool = typer.Option(False, "--json", help="Print rows and orderings as JSON."),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="No messages."),
    ) -> None:
        given = dict(locals())
        from psymem.replications.language_model_report import summarise
        from psymem.replications.language_model_runs import (
            RunSettings,
            by_main_process,
            chosen_rows,
            finished_runs,
            seeds_from,
            train_rows,
        )
        from psymem.replications.language_models import load_table

        table, folder = load_table(name), out or Path("results") / name
        options = {k: given[k] for k in PASSED_ON} | {"rows": stream_rows}
        settings = RunSettings(
            tuple(text),
            tuple(held_out),
            tuple(test),
            parameters,
            preset,
            options,
            predictor=predictor,
            fixation_corpus=fixation_corpus,
            fixation_data=fixation_data,
            threads=threads,
        )
        numbers = seeds_from(seeds)
        if train:
            say = (lambda message: None) if quiet else (lambda message: typer.echo(message, err=True))
            train_rows(chosen_rows(table, row), settings, numbers, folder, say)
        if not by_main_process():
            return
        result = summarise(table, settings, numbers, finished_runs(table.rows, numbers, folder), folder)
        written = result.save(folder)
        _show(result, as_json)
        if not quiet:
            typer.echo(f"Wrote {', '.join(map(str, written))}.", err=True)


PASSED_ON = (
    "max_tokens", "epochs", "vocabulary_size", "minimum_count", "embedding_width", "embeddings", "components",
    "batching", "piece_length", "learning_rate", "warmup_steps", "sampled_words", "precision",
)  # fmt: skip


def _show(result: TableResult, as_json: bool) -> None:
    from psymem.cli.frames import print_json, show
    from psymem.replications.language_model_report import size_in_words

    if as_json:
        tables = {"rows": result.rows, "orderings": result.orderings}
        print_json(tables, size=size_in_words(result), trigram=result.trigram)
        return
    typer.echo(size_in_words(result))
    show(result.rows.drop(columns="model"), f"\n{result.table.title}")
    show(result.orderings.drop(columns=["n_better", "n_worse"]), "\nOrderings of the paper")
    typer.echo(f"\nTrigram model: perplexity {result.trigram['perplexity']:.2f}")
