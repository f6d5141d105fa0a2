"""``psymem suite``: test suites in the format of SyntaxGym."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psymem.cli.options import MODELS, NOTHING_RANDOM, QUIET, expanded, made_of, print_notes
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.studies.suites.study import SuiteResult

SHOWN = ["suite", "model", "prediction", "n_analysed", "n_left_out_oov", "accuracy", "ci_low", "ci_high"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("suite")(expanded(suite))


def suite(
    path: Path = typer.Argument(..., metavar="FILE|FOLDER", help="A suite (JSON), or a folder of suites."),
    model: list[str] = MODELS,
    keep_oov: bool = typer.Option(
        False, "--keep-oov", help="Keep items with a word that is out of a model's vocabulary."
    ),
    uncorrected: bool = typer.Option(
        False, "--uncorrected", help="Surprisal without the correction for word boundaries."
    ),
    export: bool = typer.Option(
        False, "--export", help="Also write each suite as SyntaxGym JSON with the values of its regions."
    ),
    reading: Reading = made_of(Reading, leaving=("heads", "query")),
    out: Path = typer.Option(
        None, "--out", "-o", help="Folder for the results. Default: results/suite/MODEL."
    ),
    seed: int = NOTHING_RANDOM,
    as_json: bool = typer.Option(False, "--json", help="Print accuracies and items as JSON."),
    quiet: bool = QUIET,
) -> None:
    """Run SyntaxGym suites, and say in how many items each prediction holds.

    Reads every sentence, adds up surprisal (bits) within regions and tests the suite's formulas in each item.
    Writes accuracy.csv, items.csv, regions.csv, items_left_out.csv and scores.csv.
    """
    from psymem.cli.folders import results_folder
    from psymem.cli.progress import progress_bar
    from psymem.studies.suites.study import run_suites

    folder = out or results_folder("suite", model)
    with progress_bar(quiet, "sentences") as progress:
        result = run_suites(
            path,
            model,
            folder,
            keep_oov=keep_oov,
            corrected=not uncorrected,
            export=export,
            reading=reading,
            seed=seed,
            progress=progress,
        )
    if as_json:
        from psymem.cli.frames import print_json

        tables = {"accuracy": result.accuracy, "mean_accuracy": result.mean_accuracy, "items": result.items}
        print_json(tables, out=str(folder))
    elif not quiet:
        _show(result, folder)
    if not quiet:
        print_notes(result.about["notes"])


def _show(result: SuiteResult, folder: Path) -> None:
    """Print accuracies, and what the reader has to know about them."""
    from psymem.cli.frames import show
    from psymem.studies.common.unknown_words import listed

    show(result.accuracy[SHOWN], "Share of items in which the prediction holds, 95% Wilson score intervals")
    for row in result.mean_accuracy.itertuples():
        if row.n_predictions > 1:
            typer.echo(
                f"{row.model}: mean accuracy {row.mean_accuracy:.3f} of {row.n_predictions} predictions"
            )
    for note in (n for s in result.suites for n in s.notes):
        typer.echo(note, err=True)
    words = list(result.left_out["word"].unique())
    if words:
        n_items = len(result.left_out[["suite", "item"]].drop_duplicates())
        what = "were kept" if result.keep_oov else "were left out"
        typer.echo(f"{n_items} item(s) with words out of vocabulary {what}: {listed(words)}.", err=True)
    typer.echo(f"Results are in {folder}.", err=True)
