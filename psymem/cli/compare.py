"""``psymem compare``: one base model against larger ones, in the sample and held out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psymem.errors import NotNestedError, PsymemError

if TYPE_CHECKING:
    from psymem.fitting.comparison import Comparison
    from psymem.fitting.cross_validation import CrossValidation


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def compare(
        table: Path = typer.Argument(..., help="CSV or TSV file, one observation per row."),
        base: str = typer.Option(..., "--base", help="Formula of the base model, as in lme4."),
        full: list[str] = typer.Option(
            ..., "--full", help="Formula of a larger model; may be given several times."
        ),
        folds: int = typer.Option(0, "--folds", help="Folds of the cross-validation; 0 for none."),
        group_by: str = typer.Option(
            "", "--group-by", help="Column whose values are held out whole: text_id, item."
        ),
        complete_rows: bool = typer.Option(
            False, "--complete-rows", help="Use only rows that have every variable of every model."
        ),
        where: str | None = typer.Option(None, "--where", help="Rows to use: \"violation == 'double'\"."),
        levels: list[str] = typer.Option([], "--levels", help="Order of categories: attraction=none,double."),
        contrasts: list[str] = typer.Option(
            [], "--contrasts", help="Coding: attraction=sum (treatment, helmert)."
        ),
        family: str = typer.Option("gaussian", "--family", help="gaussian or binomial."),
        engine: str = typer.Option("profiled", "--engine", help="profiled, lme4, statsmodels or mixedlm."),
        correction: str = typer.Option(
            "holm", "--correction", help="For several models: holm, bonferroni or none."
        ),
        permutations: int = typer.Option(
            10_000, "--permutations", help="Sign flips of the permutation test."
        ),
        seed: int = typer.Option(1, "--seed", min=0, help="Seed of folds and permutations."),
        jobs: int = typer.Option(
            1, "--jobs", "-j", help="Processes; -1 for all cores. Does not change the result."
        ),
        out: Path | None = typer.Option(None, "--out", "-o", help="Folder for comparison.csv and the rest."),
        as_json: bool = typer.Option(False, "--json", help="Print the tables as JSON."),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="No messages."),
    ) -> None:
        """Compare models of the same rows with a base model.

        Likelihood-ratio tests from fits by maximum likelihood; with --folds also the log-likelihood per held-out
        observation (nats), and a paired permutation test over the groups that were held out whole.
        """
        from psymem.cli.model_options import model_options, read_rows
        from psymem.fitting.comparison import complete_rows as completed
        from psymem.fitting.cross_validation import group_column
        from psymem.fitting.fit import fit

        if bool(folds) != bool(group_by):
            raise PsymemError("--folds and --group-by go together, as in --folds 10 --group-by text_id.")
        frame = read_rows(table, quiet)
        options = model_options(levels, contrasts, where=where, family=family)
        if complete_rows:
            kept = completed(frame, [base, *full], **options)
            _say(f"{len(kept):,} of {len(frame):,} rows have every variable of every model.", quiet)
            frame = kept
        fits = [fit(frame, formula, reml=False, engine=engine, **options) for formula in (base, *full)]
        tests = _likelihood_ratio(fits, correction, may_fail=bool(folds), quiet=quiet)
        held_out = None
        if folds:
            chances = {"permutations": permutations, "seed": seed, "n_jobs": jobs, "correction": correction}
            held_out = _cross_validation(fits, group_column(frame, group_by), folds, quiet, chances)
        _show(tests, held_out, as_json, quiet)
        if out is not None:
            _save(tests, held_out, out, {"input": str(table), "options": options, "engine": engine})
            _say(f"Wrote the tables to {out}.", quiet)


def _say(message: str, quiet: bool) -> None:
    if not quiet:
        typer.echo(message, err=True)


def _likelihood_ratio(fits: list[Any], correction: str, *, may_fail: bool, quiet: bool) -> Comparison | None:
    """Test every model against the base; None if they are not nested and a cross-validation follows."""
    from psymem.fitting.comparison import compare

    try:
        return compare(fits[0], *fits[1:], correction=correction)
    except NotNestedError as error:
        if not may_fail:
            raise
        _say(f"No likelihood-ratio test: {error}", quiet)
        return None


def _cross_validation(
    fits: list[Any], groups: Any, folds: int, quiet: bool, chances: dict[str, Any]
) -> CrossValidation:
    """Cross-validate with a progress bar."""
    from psymem.cli.progress import counter, progress_bar
    from psymem.fitting.cross_validation import cross_validate

    with progress_bar(quiet, "fits") as advance:
        report = counter(advance, "cross-validation", folds * len(fits))
        return cross_validate(fits[0], fits[1:], groups, folds=folds, progress=report, **chances)


def _show(tests: Comparison | None, held_out: CrossValidation | None, as_json: bool, quiet: bool) -> None:
    from psymem.cli.frames import print_json, show

    tables = {}
    if tests is not None:
        tables["comparison"] = tests.table
    if held_out is not None:
        tables["cross_validation"] = held_out.table
    if as_json:
        print_json(tables, notes=list(tests.notes) if tests is not None else [])
        return
    first = next(iter(tables.values()))
    for row in first.itertuples():
        typer.echo(f"{row.model}: {row.formula}")
    if tests is not None:
        columns = [
            "model",
            "parameters",
            "loglik",
            "aic",
            "delta_loglik",
            "chi_square",
            "df",
            "p",
            "p_adjusted",
        ]
        show(tests.table[columns], f"\nLikelihood-ratio tests, {tests.base.n_obs:,} rows, maximum likelihood")
        for note in tests.notes:
            _say(note, quiet)
    if held_out is not None:
        title = f"\nHeld out: {held_out.folds} folds by {held_out.group_by}, nats per observation, seed {held_out.seed}"
        show(held_out.table.drop(columns="formula"), title)


def _save(
    tests: Comparison | None, held_out: CrossValidation | None, folder: Path, about: dict[str, Any]
) -> None:
    from psymem.io.outputs import write_table

    if tests is not None:
        fits = (tests.base, *tests.full)
        facts = {
            "correction": tests.correction,
            "notes": list(tests.notes),
            "versions": dict(tests.base.versions),
        }
        models = {
            f.formula: {"singular": f.singular, "converged": f.converged, "warnings": f.warnings}
            for f in fits
        }
        write_table(tests.table, folder / "comparison.csv", {**about, **facts, "models": models})
    if held_out is not None:
        names = ("folds", "group_by", "permutations", "seed")
        settings = {**about, **{n: getattr(held_out, n) for n in names}, "unit": "nats"}
        write_table(held_out.table, folder / "cross_validation.csv", settings)
        write_table(held_out.observations.rename_axis("row").reset_index(), folder / "held_out.csv", settings)
