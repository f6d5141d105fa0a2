"""Heat maps of attention heads: layers in rows, heads in columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pandas as pd

from psymem.plotting.style import FULL_WIDTH, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = {"accuracy": "most attended word is right", "mean_weight": "weight on the right word"}
NUMBERS_UP_TO = 16
"""Heads in a row up to which cells carry their number."""


def heads_figure(table: pd.DataFrame, *, title: str = "", note: str = "") -> Figure:
    """Draw accuracy and mean weight of each head.

    Parameters
    ----------
    table
        ``layer, head, accuracy, mean_weight``.
    title, note
        Above and below the panels.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    layers = table["layer"].nunique()
    lines = textwrap.wrap(note, int(FULL_WIDTH * 18.5))
    foot = 0.125 * len(lines) + 0.06
    height = 0.9 + 0.21 * max(layers, 3) + foot
    with paper_style():
        figure = Figure(figsize=(FULL_WIDTH, height), layout="constrained")
        FigureCanvasAgg(figure)
        figure.get_layout_engine().set(rect=(0, foot / height, 1, 1 - foot / height))  # type: ignore
        for ax, column in zip(figure.subplots(1, 2), PANELS, strict=True):
            draw_heads(table, column, ax)
        figure.suptitle(title, fontsize=8)
        figure.text(0.01, 0.03 / height, "\n".join(lines), fontsize=7, va="bottom", color="0.25")
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def draw_heads(table: pd.DataFrame, column: str, ax: Axes) -> Axes:
    """Draw one value of each head as a heat map from 0 to 1."""
    grid = table.pivot(index="layer", columns="head", values=column)
    image = ax.imshow(grid.to_numpy(), vmin=0, vmax=1, cmap="Blues", aspect="auto")
    ax.set_title(PANELS.get(column, column))
    ax.set_xlabel("head")
    ax.set_ylabel("layer")
    for axis, count in ((ax.xaxis, grid.shape[1]), (ax.yaxis, grid.shape[0])):
        step = 1 if count <= NUMBERS_UP_TO else 5
        axis.set_ticks(range(0, count, step))
    colours = image.figure.colorbar(image, ax=ax, shrink=0.9)
    colours.outline.set_visible(False)  # type: ignore[operator]
    return ax
