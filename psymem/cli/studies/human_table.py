"""People's own trials in the terminal: their effects, and how well the measures predict them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from psymem.reports.wording import short_name, stars
from psymem.studies.attraction.people.fits import SLOPES
from psymem.studies.attraction.people.report import APPROXIMATION, scale

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from psymem.studies.attraction.people.analysis import HumanAnalysis


SHORT_LABELS = {
    "agreement-attraction": "Agreement (B-A)",
    "semantic-attraction": "Semantic (D-C)",
    "interaction": "Semantic - agreement",
    "double-attraction": "Double (F-E)",
    "agreement-in-double": "Agreement, double (H-E)",
    "semantic-in-double": "Semantic, double (G-E)",
    "additivity": "Additivity (F-G-H+E)",
}


def print_human(human: HumanAnalysis, console: Console) -> None:
    """Print both tables and what a reader has to know about them."""
    unit = scale(human)
    console.print(f"humans: {unit}", markup=False, soft_wrap=True)
    console.print(_effects(human))
    console.print(f"humans, predicted by: {unit} per standard deviation", markup=False, soft_wrap=True)
    console.print(_predictors(human))
    about = human.about
    lines = [
        f"Your trials: {about['trials_analysed']} of {about['trials_with_response']} analysed, {about['subjects']} "
        f"subjects, {about['items']} items.",
        *map(str, about["notes"]),
        *([APPROXIMATION] if human.approximate else []),
    ]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _effects(human: HumanAnalysis) -> Table:
    table = _table("Effect")
    for _, row in human.effects.iterrows():
        slopes = row["structure"] == SLOPES
        name = "  with slopes" if slopes else SHORT_LABELS.get(str(row["effect"]), str(row["effect"]))
        table.add_row(name, *_cells(row), style="dim" if slopes else None)
    return table


def _predictors(human: HumanAnalysis) -> Table:
    table = _table("Measure")
    for _, row in human.predictors.iterrows():
        table.add_row(f"{short_name(str(row['measure']))}, {row['model']}", *_cells(row))
    return table


def _table(first: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in ("estimate", "SE", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _cells(row: pd.Series) -> list[str]:
    if pd.isna(row["estimate"]):
        return ["not estimable", "", ""]
    p = "<.001" if row["p"] < 0.001 else f"{row['p']:.3f}".removeprefix("0")
    return [f"{row['estimate']:z.3f}{stars(row['p'])}", f"{row['se']:.3f}", p]
