"""``psymem run my_study.toml``: a study that is written down, of any kind; those in analyses/ are commands of their own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import typer

from psymem.cli.options import JSON, QUIET

OUT = typer.Option(None, "--out", "-o", help="Folder for the results. Default: results/NAME.")


def register(app: typer.Typer) -> None:
    """Add the command ``run``, and one for each study of a kind that it knows among the analyses."""
    app.command("run")(run)
    for path in _bundled():
        _add(app, path)


def run(
    study: Path = typer.Argument(
        ..., metavar="STUDY.toml", help="The study: its kind, data, models and settings."
    ),
    out: Path | None = OUT,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Run a study that is written down in a file, with every setting; its kind is factorial, reading or fixations.

    Files that it names are looked for beside it. The results are those of psymem attraction, reading or fixations.
    """
    _run(study, out, as_json, quiet)


def _bundled() -> list[Path]:
    """Studies in analyses/ of a kind that `run` knows."""
    import tomllib

    from psymem.registry import STUDY_KINDS

    paths = sorted(Path(str(files("psymem.analyses"))).glob("*.toml"))
    return [p for p in paths if tomllib.loads(p.read_text("utf-8")).get("kind") in STUDY_KINDS.names()]


def _add(app: typer.Typer, path: Path) -> None:
    @app.command(path.stem.replace("_", "-"), help=f"Run the study {path.name}.")
    def bundled(out: Path | None = OUT, as_json: bool = JSON, quiet: bool = QUIET) -> None:
        _run(path, out, as_json, quiet)


def _run(path: Path, out: Path | None, as_json: bool, quiet: bool) -> None:
    from psymem.cli.frames import print_json, show
    from psymem.cli.progress import progress_bar
    from psymem.registry import STUDY_KINDS
    from psymem.studies import study_file

    file = study_file.read_study(path)
    folder = out or study_file.results_of(file)
    with progress_bar(quiet, "steps") as progress:
        result = study_file.run(file, folder, progress)
    kind = STUDY_KINDS.load(file.kind)
    tables = {name: table for name, table in kind.tables(result).items() if name in kind.shown}
    if as_json:
        print_json(tables, kind=file.kind, out=str(folder))
    elif not quiet:
        for name, table in tables.items():
            show(table, name)
        typer.echo(f"Report: {folder / 'report.html'}")
