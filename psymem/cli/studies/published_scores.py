"""``psymem timkey2023-table6`` and the like: one command per published table in analyses/."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psymem.replications.published_scores import PublishedResult


def register(app: typer.Typer) -> None:
    """Add a command for every study, named like its file."""
    from psymem.replications.published_scores import load_study, study_names

    for name in study_names():
        _add(app, name, load_study(name).title)


def _add(app: typer.Typer, name: str, title: str) -> None:
    @app.command(name, help=f"{title}. Computed again from the released scores.")
    def published_table(
        source: Path | None = typer.Option(
            None, "--from", help="A copy of the released scores; fetched otherwise."
        ),
        out: Path | None = typer.Option(None, "--out", "-o", help="Folder; results/NAME by default."),
        engine: str = typer.Option("profiled", "--engine", help="profiled or lme4."),
        alpha: float = typer.Option(
            0.05, "--significance", help="Level of significance for the agreement with people."
        ),
        seed: int = typer.Option(1, "--seed", help="Recorded with the results; nothing here is random."),
        as_json: bool = typer.Option(False, "--json", help="Print effects and disagreements as JSON."),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="No messages."),
    ) -> None:
        from psymem.io.download import data_folder, download
        from psymem.replications.published_report import save
        from psymem.replications.published_scores import load_study, recompute

        study = load_study(name)
        path = source or download(study.url, study.sha256, data_folder() / "scores" / study.file)
        result = recompute(study, path, engine=engine, alpha=alpha)
        folder = out or Path("results") / name
        written = save(result, folder, engine=engine, alpha=alpha, seed=seed, scores=str(path))
        _show(result, as_json)
        if not quiet:
            typer.echo(f"Wrote {', '.join(map(str, written))}.", err=True)


def _show(result: PublishedResult, as_json: bool) -> None:
    from psymem.cli.frames import print_json, show
    from psymem.replications.published_report import disagreements_as_text

    if as_json:
        print_json(
            {"effects": result.effects}, disagreements=list(result.disagreements), notes=list(result.notes)
        )
        return
    columns = ["effect", "subtraction", "structure", "estimate", "se", "df", "t", "p", "p_holm", "consistent"]
    for measure, part in result.effects.groupby("measure", sort=False):
        show(part[columns], f"\n{result.study.title.split(':')[0]}: {measure}")
    typer.echo(f"\nPrinted table and data:\n{disagreements_as_text(result)}")
