"""Options that every command about models shares: reading the table, levels, contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psymem.errors import PsymemError

if TYPE_CHECKING:
    import pandas as pd

    from psymem.fitting.result import Fit

FORCE = typer.Option(False, "--force", help="Print and write fits that did not converge.")


def read_rows(path: Path, quiet: bool) -> pd.DataFrame:
    """Read a table, saying on standard error what was normalised."""
    from psymem.io.delimited import read_table

    frame = read_table(path, file_rows=True)
    if not quiet:
        for note in frame.attrs.get("notes", ()):
            typer.echo(note, err=True)
    return frame


def refuse_unconverged(fits: Sequence[Fit], force: bool) -> None:
    """Raise FitError if a fit did not converge, with what its engine says, unless the user insists.

    Its estimates are where a search stopped: off by several standard errors, and nothing in the table shows it.
    """
    from psymem.errors import FitError

    for fit in fits:
        if fit.converged or force:
            continue
        notes = fit.data.notes if fit.data is not None else ()
        said = " ".join(w for w in fit.warnings if w not in notes)
        raise FitError(
            f"The fit of {fit.formula} did not converge, so no table is given. {said} Simplify the random effects, rescale "
            "predictors or choose another engine; --force shows the numbers all the same."
        )


def model_options(levels: Sequence[str], contrasts: Sequence[str], **others: Any) -> dict[str, Any]:
    """Turn ``--levels attraction=none,double`` and ``--contrasts attraction=sum`` into options of a fit.

    A coding of one's own gives each new column a weight per level: ``--contrasts "length=long:-0.5,0.5"``.
    """
    ordered = {k: v.split(",") for k, v in assignments(levels, "--levels", "attraction=none,double").items()}
    coded = {k: _coding(k, v) for k, v in assignments(contrasts, "--contrasts", "attraction=sum").items()}
    return {**others, "levels": {k: [x.strip() for x in v] for k, v in ordered.items()}, "contrasts": coded}


def _coding(factor: str, value: str) -> str | dict[str, list[float]]:
    """Read the name of a coding, or ``column:weight,weight;column:weight,weight``, a weight per level."""
    if ":" not in value:
        return value
    columns = {}
    for part in value.split(";"):
        name, _, weights = part.partition(":")
        try:
            columns[name.strip()] = [float(w) for w in weights.split(",")]
        except ValueError:
            raise PsymemError(
                f"--contrasts was given the weights {weights!r} for {factor}; they have to be numbers "
                f"separated by commas, one for each level, as in '{factor}=late:-0.5,0.5'."
            ) from None
    return columns


def assignments(values: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Split every ``name=value``.

    Raises
    ------
    PsymemError
        If one has no ``=``, or a name is given twice.
    """
    found: dict[str, str] = {}
    for value in values:
        name, separator, content = value.rpartition("=")
        if not separator or not name.strip() or not content.strip():
            raise PsymemError(f"{option} was given {value!r}; it has to look like {example!r}.")
        if name.strip() in found:
            raise PsymemError(f"{option} was given {name.strip()!r} twice.")
        found[name.strip()] = content.strip()
    return found


def numbers(values: Sequence[str], option: str, example: str) -> dict[str, list[float]]:
    """Split every ``name=1,2,3`` into numbers."""
    found = {}
    for name, content in assignments(values, option, example).items():
        try:
            found[name] = [float(cell) for cell in content.split(",")]
        except ValueError:
            raise PsymemError(
                f"{option} was given {content!r} for {name!r}; it has to be a number."
            ) from None
    return found
