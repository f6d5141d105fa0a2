"""``psymem pairs``: minimal pairs such as those of BLiMP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psymem.cli.options import MODELS, NOTHING_RANDOM, QUIET, expanded, made_of, print_notes
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.studies.suites.pairs import PairsResult

SHOWN = [
    *("model", "paradigm", "n_analysed", "n_left_out_oov", "share_left_out_oov", "n_ties", "accuracy"),
    *("ci_low", "ci_high"),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("pairs")(expanded(pairs))


def pairs(
    paths: list[Path] = typer.Argument(
        ...,
        metavar="FILE|FOLDER...",
        help="JSON lines as in BLiMP, tables with the columns good and bad, or folders of them.",
    ),
    model: list[str] = MODELS,
    keep_oov: bool = typer.Option(
        False, "--keep-oov", help="Keep pairs with a word that is out of a model's vocabulary."
    ),
    reading: Reading = made_of(Reading, leaving=("heads", "query")),
    out: Path = typer.Option(
        None, "--out", "-o", help="Folder for the results. Default: results/pairs/MODEL."
    ),
    seed: int = NOTHING_RANDOM,
    as_json: bool = typer.Option(False, "--json", help="Print accuracies as JSON."),
    quiet: bool = QUIET,
) -> None:
    """Compare minimal pairs, and say how often the acceptable sentence is more probable.

    Adds up the log-probabilities of all words of each sentence; equally probable sentences count as half right.
    Writes accuracy.csv (over all pairs and by paradigm), pairs.csv and words_left_out.csv.
    """
    from psymem.cli.folders import results_folder
    from psymem.cli.progress import progress_bar
    from psymem.studies.suites.pairs import run_pairs

    folder = out or results_folder("pairs", model)
    with progress_bar(quiet, "sentences") as progress:
        result = run_pairs(
            paths, model, folder, keep_oov=keep_oov, reading=reading, seed=seed, progress=progress
        )
    if as_json:
        from psymem.cli.frames import print_json

        print_json({"accuracy": result.accuracy, "words_left_out": result.left_out}, out=str(folder))
    elif not quiet:
        _show(result, folder)
    if not quiet:
        print_notes(result.about["notes"])


def _show(result: PairsResult, folder: Path) -> None:
    """Print accuracies, and what the reader has to know about them."""
    from psymem.cli.frames import show
    from psymem.studies.common.unknown_words import listed

    title = "Share of pairs whose acceptable sentence is more probable, 95% Wilson score intervals"
    show(result.accuracy[SHOWN], title)
    if len(result.left_out):
        what = "were kept" if result.keep_oov else "were left out"
        typer.echo(
            f"Pairs with words out of vocabulary {what}: {listed(list(result.left_out['word']))}.", err=True
        )
    typer.echo(f"Results are in {folder}.", err=True)
