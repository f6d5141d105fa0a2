"""A page of panels with a note below them, laid out once so that every format looks alike."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psymem.plotting.style import Look

LETTERS_PER_INCH = 18.5
"""Characters of the note in an inch, at 7 pt."""
LINE = 0.125
"""Inches from line to line of the note."""


def panel_page(
    rows: int, columns: int, width: float, panel_height: float, *, note: str = "", legend: int = 0
) -> tuple[Figure, list[Axes]]:
    """Make a figure with `rows` x `columns` panels, the note below and `legend` lines between them.

    Parameters
    ----------
    rows, columns
        Panels.
    width, panel_height
        Inches.
    note
        What the marks and bars are.
    legend
        Lines kept free for a legend.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = textwrap.wrap(note, int(width * LETTERS_PER_INCH))
    foot = LINE * len(lines) + 0.06
    bottom = foot + 0.17 * legend + (0.05 if legend else 0.0)
    height = rows * panel_height + bottom
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    engine = figure.get_layout_engine()
    engine.set(rect=(0, bottom / height, 1, 1 - bottom / height), w_pad=0.04, h_pad=0.05)  # type: ignore
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    figure.text(
        0.01, 0.03 / height, "\n".join(lines), fontsize=7, va="bottom", color="0.25", linespacing=1.15
    )
    figure.legend_height = foot / height  # type: ignore[attr-defined]
    return figure, axes


def add_legend(figure: Figure, looks: dict[str, Look], per_line: int) -> None:
    """Write the legend between panels and note, `per_line` entries in a line; nothing for a single series."""
    from matplotlib.lines import Line2D

    if len(looks) < 2:
        return
    marks = [
        Line2D([], [], linestyle="none", marker=look.marker, color=look.colour, markersize=4, label=name)
        for name, look in looks.items()
    ]
    figure.legend(  # type: ignore[call-overload]
        handles=marks,
        loc="lower center",
        bbox_to_anchor=(0.5, figure.legend_height),  # type: ignore[attr-defined]
        ncols=per_line,
        frameon=False,
        handletextpad=0.1,
        handlelength=1.2,
        columnspacing=0.9,
        borderaxespad=0.1,
        labelspacing=0.25,
    )


def freeze(figure: Figure) -> Figure:
    """Lay the figure out once and for all."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def wrapped(text: str, letters: int) -> str:
    """Break a title into lines."""
    return "\n".join(textwrap.wrap(text, letters, break_on_hyphens=False)) or text


def legend_lines(names: Sequence[str], width: float) -> tuple[int, int]:
    """Entries that fit in a line of `width` inches, and the lines that `names` need; (1, 0) for fewer than two."""
    if len(names) < 2:
        return 1, 0
    longest = max(map(len, names)) + 5
    per_line = max(1, min(len(names), int(width * LETTERS_PER_INCH) // longest))
    return per_line, -(-len(names) // per_line)
