"""``psymem fit``: a mixed model fitted to a table, as lme4 would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from psymem.fitting.result import Fit


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def fit(
        table: Path = typer.Argument(..., help="CSV or TSV file, one observation per row."),
        formula: str = typer.Option(
            ..., "--formula", "-f", help="As in lme4: 'y ~ x + (1 + x | subject) + (1 | item)'."
        ),
        where: str | None = typer.Option(None, "--where", help="Rows to use: \"violation == 'double'\"."),
        levels: list[str] = typer.Option(
            [], "--levels", help="Order of categories, reference first: attraction=none,double."
        ),
        contrasts: list[str] = typer.Option(
            [],
            "--contrasts",
            help="Coding: attraction=sum (treatment, helmert), or attraction=FILE.csv: a column 'level', then one "
            "column of weights per contrast.",
        ),
        ml: bool = typer.Option(False, "--ml", help="Maximum likelihood instead of REML."),
        family: str = typer.Option("gaussian", "--family", help="gaussian, binomial or poisson."),
        engine: str = typer.Option("profiled", "--engine", help="profiled, lme4, statsmodels or mixedlm."),
        group: str | None = typer.Option(
            None, "--group", help="With --engine statsmodels: fit a GEE, grouped by this column."
        ),
        intervals: str = typer.Option("wald", "--intervals", help="wald or profile."),
        confidence: float = typer.Option(0.95, "--confidence", help="Level of the intervals."),
        means: list[str] = typer.Option(
            [], "--means", help="Marginal means and pairwise comparisons of this predictor; repeatable."
        ),
        adjust: str = typer.Option("tukey", "--adjust", help="For --means: tukey, holm, bonferroni or none."),
        out: Path | None = typer.Option(
            None,
            "--out",
            "-o",
            help="File for the coefficients: .csv (with a .json beside it), .tex, .html, or .R (the script that refits).",
        ),
        seed: int = typer.Option(
            1, "--seed", help="Recorded with the results; fitting draws no random numbers."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print everything as JSON."),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="No messages; with --out no summary either."),
    ) -> None:
        """Fit a mixed-effects model.

        Prints the summary that lme4 users know: variance components, then estimates with Satterthwaite degrees of
        freedom, t, p and confidence intervals.
        """
        from psymem.cli.model_options import model_options, read_rows
        from psymem.fitting.fit import fit as fit_model

        frame = read_rows(table, quiet)
        coded = [_with_file(one) for one in contrasts]
        options = model_options(
            levels,
            [one for one in coded if isinstance(one, str)],
            where=where,
            family=family,
            engine=engine,
            group=group,
        )
        for column, weights in (one for one in coded if not isinstance(one, str)):
            options["contrasts"][column] = weights
        found = fit_model(frame, formula, reml=not ml, intervals=intervals, confidence=confidence, **options)
        if out is None or not quiet:
            _show(found, means, adjust, as_json)
        if out is not None:
            _save(found, out, {"input": str(table), "seed": seed}, table)
            if not quiet:
                typer.echo(f"Wrote {out}.", err=True)


def _with_file(given: str) -> str | tuple[str, dict[str, list[float]]]:
    """Read ``column=FILE.csv`` as a table of weights; anything else is returned as it is.

    Raises
    ------
    DataError
        If the file is not a table of numbers.
    """
    from psymem.errors import DataError
    from psymem.io.delimited import read_table

    column, _, value = given.partition("=")
    if not value.strip().lower().endswith((".csv", ".tsv")):
        return given
    weights = read_table(value.strip())
    if "level" in weights:
        weights = weights.drop(columns="level")
    wrong = [str(name) for name in weights if weights[name].dtype.kind not in "if"]
    if wrong:
        raise DataError(f"{value}: column {wrong[0]!r} of the contrasts of {column!r} has to hold numbers.")
    return column.strip(), {str(name): weights[name].astype(float).tolist() for name in weights}


def _show(found: Fit, means: list[str], adjust: str, as_json: bool) -> None:
    """Print the summary, or everything as JSON."""
    tables = {name: (found.marginal_means(name), found.pairwise(name, adjust=adjust)) for name in means}
    if as_json:
        typer.echo(json.dumps(_everything(found, tables), indent=2, ensure_ascii=False, allow_nan=False))
        return
    typer.echo(found.summary())
    for name, (mean, pairs) in tables.items():
        typer.echo(f"\nMarginal means of {name}:\n{mean.to_string(index=False)}")
        typer.echo(f"\nPairwise comparisons ({adjust}):\n{pairs.to_string(index=False)}")


def _everything(found: Fit, tables: dict[str, Any]) -> Any:
    from psymem.io.outputs import plain

    return plain(
        {
            "coefficients": found.coefficients.to_dict("records"),
            **found.as_dict(),
            "marginal_means": {name: mean.to_dict("records") for name, (mean, _) in tables.items()},
            "pairwise": {name: pairs.to_dict("records") for name, (_, pairs) in tables.items()},
        }
    )


def _save(found: Fit, out: Path, provenance: dict[str, Any], table: Path) -> None:
    """Write the file that the ending of `out` asks for."""
    from psymem.io.outputs import write_table, write_text

    texts = {".tex": found.to_latex, ".html": found.to_html, ".r": lambda: found.to_r(str(table))}
    if (make := texts.get(out.suffix.lower())) is not None:
        write_text(out, make())
    else:
        write_table(found.coefficients, out, {**provenance, **found.as_dict()})
