"""``psymem power``: how often an experiment of another size would find each effect."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import typer

from psymem.errors import PsymemError


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def power(
        table: Path = typer.Argument(..., help="CSV or TSV file of the pilot, one observation per row."),
        formula: str = typer.Option(..., "--formula", "-f", help="Model, as in lme4."),
        size: list[str] = typer.Option(
            [], "--size", help="Levels of a grouping column: item=60, or item=30,60,90 for several designs."
        ),
        effect: list[str] = typer.Option(
            [], "--effect", help="True size of a term in place of its estimate: x=0.1."
        ),
        term: list[str] = typer.Option(
            [], "--term", help="Term to report; all but the intercept by default."
        ),
        simulations: int = typer.Option(
            1000, "--simulations", "-n", help="Experiments to simulate per design."
        ),
        alpha: float = typer.Option(0.05, "--significance", help="Level of significance."),
        interval: str = typer.Option("clopper-pearson", "--interval", help="clopper-pearson or wilson."),
        where: str | None = typer.Option(None, "--where", help="Rows to use: \"violation == 'double'\"."),
        levels: list[str] = typer.Option([], "--levels", help="Order of categories: attraction=none,double."),
        contrasts: list[str] = typer.Option(
            [], "--contrasts", help="Coding: attraction=sum (treatment, helmert)."
        ),
        family: str = typer.Option("gaussian", "--family", help="gaussian or binomial."),
        engine: str = typer.Option("profiled", "--engine", help="profiled, lme4 or mixedlm."),
        seed: int = typer.Option(1, "--seed", min=0, help="Seed of the simulations."),
        jobs: int = typer.Option(
            -1, "--jobs", "-j", help="Processes; -1 for all cores. Does not change the result."
        ),
        out: Path | None = typer.Option(None, "--out", "-o", help="CSV file for the table."),
        as_json: bool = typer.Option(False, "--json", help="Print the table as JSON."),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress and no messages."),
    ) -> None:
        """Simulate experiments from a fitted model, with other numbers of items, subjects or model instances.

        The estimates of the pilot are taken as the truth, unless --effect says otherwise. A significant pilot
        overestimates its effect: prefer the smallest effect that would interest you.
        """
        from psymem.cli.model_options import model_options, numbers, read_rows
        from psymem.fitting.fit import fit

        designs = _designs(numbers(size, "--size", "item=60"))
        effects = {t: values[0] for t, values in numbers(effect, "--effect", "x=0.1").items()}
        frame = read_rows(table, quiet)
        options = model_options(levels, contrasts, where=where, family=family)
        pilot = fit(frame, formula, engine=engine, **options)
        for warning in () if quiet else pilot.warnings:
            typer.echo(f"Pilot: {warning}", err=True)
        settings = {
            "alpha": alpha,
            "interval": interval,
            "seed": seed,
            "n_jobs": jobs,
            "simulations": simulations,
        }
        done = _simulate(pilot, frame, designs, quiet, effects=effects, terms=term or None, **settings)
        _show(done, as_json, formula)
        if out is not None:
            from psymem.io.outputs import write_table

            about = {
                "input": str(table),
                "formula": formula,
                "effects": effects,
                "engine": engine,
                "options": options,
            }
            write_table(done, out, {**about, **settings, "pilot": pilot.coefficients.to_dict("records")})


def _designs(sizes: dict[str, list[float]]) -> list[dict[str, int]]:
    """Return every combination of the sizes asked for; one design, the pilot's own, if there are none."""
    for column, values in sizes.items():
        if any(v != int(v) for v in values):
            raise PsymemError(
                f"--size needs whole numbers of levels; {column!r} was given {', '.join(map(str, values))}."
            )
    return [dict(zip(sizes, map(int, combination), strict=True)) for combination in product(*sizes.values())]


def _simulate(pilot: Any, frame: Any, designs: list[dict[str, int]], quiet: bool, **settings: Any) -> Any:
    """Run every design with a progress bar; return one table with a column n_<group> per grouping factor."""
    import pandas as pd

    from psymem.cli.progress import counter, progress_bar
    from psymem.fitting.power import power

    tables = []
    with progress_bar(quiet, "experiments") as advance:
        for sizes in designs:
            name = ", ".join(f"{n} {g}" for g, n in sizes.items()) or "the pilot's design"
            report = counter(advance, name, settings["simulations"])
            result = power(pilot, frame, sizes=sizes, progress=report, **settings)
            design = {f"n_{group}": n for group, n in result.sizes.items()}
            tables.append(
                result.table.assign(n_obs=result.n_obs, **design)[[*design, "n_obs", *result.table.columns]]
            )
    return pd.concat(tables, ignore_index=True)


def _show(table: Any, as_json: bool, formula: str) -> None:
    from psymem.cli.frames import print_json, show

    if as_json:
        print_json({"power": table}, formula=formula)
        return
    hidden = ["significant", "mean_estimate", "sd_estimate"]
    show(table.drop(columns=hidden), formula)
