"""``psymem tmpca-tables``: one command per set of published tables on reduced sequences in analyses/."""

from __future__ import annotations

from pathlib import Path

import typer

from psymem.cli.options import JSON, QUIET
from psymem.errors import PsymemError


def register(app: typer.Typer) -> None:
    """Add a command for every set of tables, named like its file."""
    from psymem.replications.analyses import (
        studies_of,
    )  # the tables' own module needs pandas, which help must not wait for

    for name, study in studies_of("text-classification").items():
        _add(app, name, study["title"])


def _add(app: typer.Typer, name: str, title: str) -> None:
    @app.command(name, help=f"{title}. Texts as word vectors, reduced to one vector each and classified.")
    def tables_command(
        data: list[str] = typer.Option(
            ..., help="Collection and its folder, such as sms-spam=FOLDER; repeatable."
        ),
        out: Path | None = typer.Option(
            None, "--out", "-o", help="Folder of runs and tables; results/NAME by default. It resumes."
        ),
        seeds: str = typer.Option("1-5", help="Seeds, such as 1-3 or 1,4."),
        positions: list[int] = typer.Option([4, 8, 16, 32], help="Length N of sequences; repeatable."),
        width: int = typer.Option(10, help="Width of word vectors, and of the result."),
        minimum_count: int = typer.Option(2, help="Occurrences from which a word has a vector."),
        epochs: int = typer.Option(5, help="Passes over the training texts for word vectors."),
        as_json: bool = JSON,
        quiet: bool = QUIET,
    ) -> None:
        from psymem.cli.frames import print_json, show
        from psymem.replications.language_model_runs import seeds_from
        from psymem.replications.tree_pca_report import orderings_in_words, save
        from psymem.replications.tree_pca_tables import ReductionSettings, load_tables, run_all, summarise

        tables, folder = load_tables(name), out or Path("results") / name
        settings = ReductionSettings(tuple(dict.fromkeys(positions)), width, minimum_count, epochs)
        collections = _collections(data)
        say = (lambda message: None) if quiet else (lambda message: typer.echo(message, err=True))
        records = run_all(collections, settings, seeds_from(seeds), folder, say)
        result = summarise(tables, settings, collections, records)
        written = save(result, folder)
        if as_json:
            parts = {
                "accuracies": result.accuracies,
                "times": result.times,
                "information": result.information,
            }
            print_json({**parts, "energy": result.energy, "orderings": result.orderings})
        elif not quiet:
            show(result.accuracies, f"{tables.title}: accuracy (%)")
            show(result.times, "\nSeconds of fitting, PCA over tree-structured PCA")
            show(result.information, "\nRatios of determinants")
            show(orderings_in_words(result.orderings), "\nOrderings of the paper")
        say(f"Wrote {', '.join(map(str, written))}.")


def _collections(given: list[str]) -> list:  # type: ignore[type-arg]
    """Read NAME=FOLDER options."""
    from psymem.data.words.labelled_texts import read_labelled_texts

    found = {}
    for text in given:
        name, equals, folder = text.partition("=")
        if not equals or not name or not folder or "/" in name:
            raise PsymemError(
                f"--data {text!r} is not understood; expected NAME=FOLDER, such as sms-spam=data."
            )
        if name in found:
            raise PsymemError(f"--data names {name!r} twice.")
        found[name] = read_labelled_texts(Path(folder), name)
    return list(found.values())
