"""Whole figures of a factorial design: panels of condition means, and the effects item by item."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from psymem.plotting.by_item import draw_by_item
from psymem.plotting.conditions import draw_conditions
from psymem.plotting.style import COLUMN_WIDTH, FULL_WIDTH, Look, label, looks, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def means_figure(
    plotted: pd.DataFrame,
    layout: Sequence[Sequence[str]],
    *,
    width: float = FULL_WIDTH,
    legend_title: str = "",
    note: str = "",
) -> Figure:
    """Draw one panel of condition means for each ``panel`` of the table.

    Parameters
    ----------
    plotted
        ``panel, title, measure, condition, group, group_title, series, mean, ci_low, ci_high``, rows in
        drawing order.
    layout
        Rows of panel names; "" leaves a place free.
    width
        Inches.
    legend_title
        What the series are.
    note
        What the bars are; written below the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    series_looks = looks(list(dict.fromkeys(plotted["series"])))
    lines = textwrap.wrap(note, int(width * 18.5))
    legend, foot = 0.24, 0.125 * len(lines) + 0.04
    height = len(layout) * 2.0 + legend + foot
    with paper_style():
        figure, axes = _grid(len(layout), len(layout[0]), width, height, bottom=legend + foot)
        for ax, panel in zip(axes, (p for row in layout for p in row), strict=True):
            ax.set_visible(bool(panel))
            if panel:
                _panel(ax, plotted[plotted["panel"] == panel], series_looks)
        _legend(figure, series_looks, legend_title, y=foot / height)
        figure.text(
            0.01, 0.03 / height, "\n".join(lines), fontsize=7, va="bottom", color="0.25", linespacing=1.15
        )
        _freeze(figure)
    return figure


def by_item_figure(
    values: pd.DataFrame,
    summary: pd.DataFrame,
    effect_labels: Mapping[str, str],
    *,
    titles: Mapping[str, str],
    blocks: Sequence[Sequence[str]] = (),
    width: float = FULL_WIDTH,
    note: str = "",
) -> Figure:
    """Draw each effect item by item: one row of panels per model and block, one panel per measure.

    Parameters
    ----------
    values, summary
        From `psymem.studies.common.means.by_item_effects` and `by_item_summary`, one region.
    effect_labels
        Effect name -> what the axis says, from top to bottom.
    titles
        Model -> title of its panels.
    blocks
        Measures of each row of a model; all in one row if not given.
    width
        Inches.
    note
        Written below the panels.
    """
    models = list(dict.fromkeys(values["model"]))
    blocks = blocks or [list(dict.fromkeys(values["measure"]))]
    rows = [(model, block) for model in models for block in blocks]
    columns = max(map(len, blocks))
    lines = textwrap.wrap(note, int(width * 18.5))
    foot = 0.125 * len(lines) + 0.06
    panel_height = 0.27 * len(effect_labels) + 0.85
    height = panel_height * len(rows) + foot
    with paper_style():
        figure, axes = _grid(len(rows), columns, width, height, bottom=foot)
        for row, (model, block) in enumerate(rows):
            for column in range(columns):
                ax = axes[row * columns + column]
                ax.set_visible(column < len(block))
                if column >= len(block):
                    continue
                measure = block[column]
                _by_item_panel(ax, values, summary, (model, measure), effect_labels)
                ax.set_title(titles.get(model, model))
                if column:
                    ax.set_yticklabels([])
        figure.text(
            0.01, 0.03 / height, "\n".join(lines), fontsize=7, va="bottom", color="0.25", linespacing=1.15
        )
        _freeze(figure)
    return figure


def _freeze(figure: Figure) -> None:
    """Lay the figure out once, so that saving it in several formats is quick and gives the same layout."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _by_item_panel(
    ax: Axes,
    values: pd.DataFrame,
    summary: pd.DataFrame,
    which: tuple[str, str],
    effect_labels: Mapping[str, str],
) -> None:
    model, measure = which
    own = [f[(f["model"] == model) & (f["measure"] == measure)] for f in (values, summary)]
    draw_by_item(own[0], own[1], ax, list(effect_labels))
    ax.set_yticklabels(list(effect_labels.values()))
    ax.set_xlabel(f"effect on\n{label(measure)}")


def _grid(rows: int, columns: int, width: float, height: float, bottom: float) -> tuple[Figure, list[Axes]]:
    """Make a figure whose panels leave `bottom` inches free below them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    padding = {"w_pad": 0.04, "h_pad": 0.04, "wspace": 0.03}
    engine = figure.get_layout_engine()
    engine.set(rect=(0, bottom / height, 1, 1 - bottom / height), **padding)  # type: ignore
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.ravel())


def _panel(ax: Axes, part: pd.DataFrame, series_looks: Mapping[str, Look]) -> None:
    draw_conditions(part, ax, series_looks)
    first = part.iloc[0]
    ax.set_title(first["title"])
    ax.set_ylabel(label(first["measure"]))
    ax.set_xlabel(first["group_title"], labelpad=13 if (part["group"] != "").any() else 2)


def _legend(figure: Figure, series_looks: Mapping[str, Look], title: str, y: float) -> None:
    """Put the legend in one line below the panels."""
    from matplotlib.lines import Line2D

    if len(series_looks) < 2:
        return
    heading = [Line2D([], [], linestyle="none", label=f"{title}:")] if title else []
    marks = [
        Line2D([], [], linestyle="none", marker=look.marker, color=look.colour, markersize=4, label=name)
        for name, look in series_looks.items()
    ]
    figure.legend(
        handles=heading + marks,
        loc="lower center",
        bbox_to_anchor=(0.5, y),
        ncols=len(heading + marks),
        frameon=False,
        handletextpad=0.0,
        handlelength=1.3,
        columnspacing=0.7,
        borderaxespad=0.1,
    )


def in_rows(panels: Sequence[str], columns: int) -> list[list[str]]:
    """Lay panels out in rows of `columns`, the last row filled up with free places."""
    padded = [*panels, *[""] * (-len(panels) % columns)]
    return [padded[i : i + columns] for i in range(0, len(padded), columns)]


def page_width(columns: int) -> float:
    """Width in inches of a figure with this many panels beside one another: a column to a page."""
    return min(FULL_WIDTH, max(COLUMN_WIDTH, 1.725 * columns))
