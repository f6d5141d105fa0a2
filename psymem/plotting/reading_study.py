"""Figures of a reading study: what measures add, how long their effect lasts, its shape, and how readers differ.

Each function takes the plotted numbers as a table and draws exactly these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from psymem.plotting.panels import (
    Grid,
    add_legend,
    assigned,
    freeze,
    legend_lines,
    outer_labels,
    panel_page,
    wrapped,
)
from psymem.plotting.style import COLUMN_WIDTH, FULL_WIDTH, Look, label, looks, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_COLOUR, SPLINE_COLOUR = "#404040", "#0072B2"


def power_figure(table: pd.DataFrame, *, axis: str, note: str, width: float = COLUMN_WIDTH) -> Figure:
    """Draw what each measure of each model adds, one panel per corpus and response.

    Parameters
    ----------
    table
        ``panel, model, measure, instance_of, value, ci_low, ci_high``; rows with ``instance_of`` are single instances,
        drawn as open dots on the row of their family.
    axis
        Label of the x axis, with the unit.
    note
        What dots and bars are.
    width
        Inches.
    """
    panels = list(dict.fromkeys(table["panel"]))
    shown = looks(list(dict.fromkeys(table.loc[table["instance_of"] == "", "model"])))
    most = max(len(_rows_of(table[table["panel"] == p])) for p in panels)
    one = table["measure"].nunique() == 1
    axis = f"{label(table['measure'].iloc[0])}: {axis}" if one else axis
    columns = 1 if width <= COLUMN_WIDTH else min(2, len(panels))
    rows = -(-len(panels) // columns)
    with paper_style():
        figure, axes = panel_page(rows, columns, width, 0.8 + 0.34 * most, note=note)
        for ax, panel in assigned(axes, panels):
            _draw_power(table[table["panel"] == panel], ax, shown, name_measure=not one)
            ax.set_title(panel)
            ax.set_xlabel(axis)
        return freeze(figure)


def _rows_of(part: pd.DataFrame) -> list[tuple[str, str]]:
    """(model, measure) of each row of a panel, from top to bottom."""
    own = part[part["instance_of"] == ""]
    return list(own[["measure", "model"]].drop_duplicates().itertuples(index=False, name=None))


def _draw_power(part: pd.DataFrame, ax: Axes, shown: dict[str, Look], *, name_measure: bool) -> None:
    places = {row: -k for k, row in enumerate(_rows_of(part))}
    for row in part.itertuples():
        family = row.instance_of or row.model
        at, look = places[(row.measure, family)], shown[family]
        if row.instance_of:
            ax.plot(
                row.value,
                at + 0.25,
                "o",
                markersize=3,
                markerfacecolor="none",
                color=look.colour,
                markeredgewidth=0.7,
            )
            continue
        if np.isfinite(row.ci_low) and np.isfinite(row.ci_high):
            ax.plot([row.ci_low, row.ci_high], [at, at], color=look.colour, linewidth=1.0)
        ax.plot(row.value, at, look.marker, markersize=4.5, color=look.colour)
    ax.axvline(0, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
    ax.set_ylim(-len(places) + 0.45, 0.6)
    names = [f"{wrapped(m, 24)}\n{label(x)}" if name_measure else wrapped(m, 16) for x, m in places]
    ax.set_yticks(list(places.values()), names)
    ax.tick_params(axis="y", length=0)


def spillover_figure(table: pd.DataFrame, *, note: str, width: float = COLUMN_WIDTH) -> Figure:
    """Draw the effect of each measure at the word and at the words before, one panel per corpus, response and measure.

    Parameters
    ----------
    table
        ``panel, model, measure, words_back, estimate, ci_low, ci_high, unit``.
    note
        What the bars are.
    width
        Inches.
    """
    panels = list(dict.fromkeys(table["panel"]))
    shown = looks(list(dict.fromkeys(table["model"])))
    grid = Grid.of(len(panels), width, 1.75)
    per_line, lines = legend_lines(list(shown), width)
    with paper_style():
        figure, axes = panel_page(grid.rows, grid.columns, width, grid.panel_height, note=note, legend=lines)
        for ax, panel in assigned(axes, panels):
            _draw_spillover(table[table["panel"] == panel], ax, shown, grid)
        outer_labels(figure, grid)
        add_legend(figure, shown, per_line)
        return freeze(figure)


def _draw_spillover(part: pd.DataFrame, ax: Axes, shown: dict[str, Look], grid: Grid) -> None:
    models = [m for m in shown if m in set(part["model"])]
    for number, model in enumerate(models):
        own, look = part[part["model"] == model], shown[model]
        x = own["words_back"] + 0.14 * (number - (len(models) - 1) / 2)
        bars = [own["estimate"] - own["ci_low"], own["ci_high"] - own["estimate"]]
        ax.errorbar(
            x,
            own["estimate"],
            yerr=bars,
            marker=look.marker,
            markersize=4,
            color=look.colour,
            linewidth=0.6,
            linestyle=":",
            elinewidth=1.0,
            capsize=1.6,
        )
    ax.axhline(0, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
    most = int(part["words_back"].max())
    if grid.crowded:
        ax.set_xticks(range(most + 1))
        ax.set_xlabel("words before it")
    else:
        ax.set_xticks(range(most + 1), ["word itself", *(f"{k} before" for k in range(1, most + 1))])
    ax.set_xlim(-0.5, most + 0.5)
    first = part.iloc[0]
    ax.set_title(wrapped(str(first["panel"]), grid.letters))
    ax.set_ylabel(f"effect of {label(first['measure'])}\n({first['unit']})")


def shape_figure(
    curve: pd.DataFrame, bins: pd.DataFrame, *, note: str, width: float = COLUMN_WIDTH
) -> Figure:
    """Draw the shape of each effect: line, spline with its band, and binned means.

    Parameters
    ----------
    curve
        ``panel, measure, unit, x, line, spline, spline_low, spline_high``.
    bins
        ``panel, x, mean, ci_low, ci_high``.
    note
        What line, curve, band and dots are.
    width
        Inches.
    """
    panels = list(dict.fromkeys(curve["panel"]))
    grid = Grid.of(len(panels), width, 1.9)
    with paper_style():
        figure, axes = panel_page(grid.rows, grid.columns, width, grid.panel_height, note=note)
        for ax, panel in assigned(axes, panels):
            _draw_shape(curve[curve["panel"] == panel], bins[bins["panel"] == panel], ax, grid)
        outer_labels(figure, grid)
        return freeze(figure)


def _draw_shape(curve: pd.DataFrame, bins: pd.DataFrame, ax: Axes, grid: Grid) -> None:
    ax.fill_between(
        curve["x"], curve["spline_low"], curve["spline_high"], color=SPLINE_COLOUR, alpha=0.18, linewidth=0
    )
    ax.plot(curve["x"], curve["spline"], color=SPLINE_COLOUR, linewidth=1.2)
    ax.plot(curve["x"], curve["line"], color=LINE_COLOUR, linewidth=0.9, linestyle="--")
    bars = [bins["mean"] - bins["ci_low"], bins["ci_high"] - bins["mean"]]
    ax.errorbar(
        bins["x"],
        bins["mean"],
        yerr=bars,
        linestyle="none",
        marker="o",
        markersize=3,
        color="0.35",
        elinewidth=0.7,
    )
    first = curve.iloc[0]
    ax.set_title(wrapped(str(first["panel"]), grid.letters))
    ax.set_xlabel(label(first["measure"]))
    ax.set_ylabel(f"effect on the time ({first['unit']})")


def readers_figure(table: pd.DataFrame, *, note: str, width: float = FULL_WIDTH) -> Figure:
    """Draw the effect in each reader, sorted, one panel per corpus, response, measure and model.

    Parameters
    ----------
    table
        ``panel, subject, measure, unit, estimate, ci_low, ci_high``.
    note
        What the bars are.
    width
        Inches.
    """
    panels = list(dict.fromkeys(table["panel"]))
    width = width if len(panels) > 1 else COLUMN_WIDTH
    grid = Grid.of(len(panels), width, 1.9)
    with paper_style():
        figure, axes = panel_page(grid.rows, grid.columns, width, grid.panel_height, note=note)
        for ax, panel in assigned(axes, panels):
            _draw_readers(table[table["panel"] == panel].sort_values("estimate"), ax, grid)
        outer_labels(figure, grid)
        return freeze(figure)


def _draw_readers(own: pd.DataFrame, ax: Axes, grid: Grid) -> None:
    at = np.arange(len(own))
    bars = [own["estimate"] - own["ci_low"], own["ci_high"] - own["estimate"]]
    ax.errorbar(
        at,
        own["estimate"],
        yerr=bars,
        linestyle="none",
        marker="o",
        markersize=3,
        color="#0072B2",
        elinewidth=0.8,
    )
    ax.axhline(0, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
    few = len(own) <= 20
    ax.set_xticks(at if few else [], list(own["subject"]) if few else [], rotation=90 if few else 0)
    first = own.iloc[0]
    ax.set_title(wrapped(str(first["panel"]), grid.letters))
    ax.set_xlabel("readers" if few else f"{len(own)} readers, by effect")
    ax.set_ylabel(f"effect of {label(first['measure'])}\n({first['unit']})")
