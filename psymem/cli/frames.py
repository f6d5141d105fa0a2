"""Showing a table on the terminal, or printing it as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

DIGITS = {
    "df": 1, "num_df": 0, "den_df": 1, "f": 2, "t": 2, "chi_square": 2, "loglik": 2, "delta_loglik": 2, "aic": 1,
    "bic": 1, "power": 3,
}  # fmt: skip
"""Decimals of columns that do not need four significant digits."""


def show(frame: pd.DataFrame, title: str = "") -> None:
    """Print a table in columns, numbers as this field writes them; missing values stay empty, nothing is cut off."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in frame.columns:
        table.add_column(
            column, no_wrap=True, justify="right" if frame[column].dtype.kind in "if" else "left"
        )
    for row in frame.itertuples(index=False):
        table.add_row(*(escape(cell(v, str(c))) for v, c in zip(row, frame.columns, strict=True)))
    console = Console(highlight=False)
    if title:
        console.print(escape(title), soft_wrap=True)
    console.width = max(
        console.width, console.measure(table, options=console.options.update(width=1000)).maximum
    )
    console.print(table)


def cell(value: Any, column: str) -> str:
    """Write one value."""
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):  # also pd.NA, of which nothing may be asked
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    if column == "p" or column.startswith("p_"):
        return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
    return f"{value:.{DIGITS[column]}f}" if column in DIGITS else f"{value:.4g}"


def print_json(tables: Mapping[str, pd.DataFrame], **facts: Any) -> None:
    """Print tables as lists of rows, and facts beside them; missing values are null."""
    rows = {
        name: json.loads(frame.to_json(orient="records", double_precision=15))
        for name, frame in tables.items()
    }
    typer.echo(json.dumps({**facts, **rows}, indent=2, ensure_ascii=False))
