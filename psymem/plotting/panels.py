"""A page of panels with a note below them, laid out once so that every format looks alike."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psymem.plotting.style import COLUMN_WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psymem.plotting.style import Look

LETTERS_PER_INCH = 18.5
"""Characters of the note in an inch, at 7 pt."""
LINE = 0.125
"""Inches from line to line of the note."""
PAGE_HEIGHT = 9.0
"""Inches that the panels of a figure may be high, on a page of 11 with margins and a caption."""
LOWEST_PANEL = 1.3
"""Inches below which panels are not squeezed to fit on a page."""


@dataclass(frozen=True)
class Grid:
    """How panels are arranged.

    Attributes
    ----------
    rows, columns
        Of panels.
    panel_height
        Inches.
    letters
        Characters that fit in the title of a panel.
    crowded
        Whether there are more panels than fit on a page as usual, so that labels that all axes share are written once.
    """

    rows: int
    columns: int
    panel_height: float
    letters: int
    crowded: bool

    @classmethod
    def of(cls, panels: int, width: float, panel_height: float) -> Grid:
        """Arrange panels in one column, or two on a whole page; where they would be too high, in one more and lower."""
        usual = 1 if width <= COLUMN_WIDTH else min(2, panels)
        crowded = -(-panels // usual) * panel_height > PAGE_HEIGHT
        columns = usual + crowded
        rows = -(-panels // columns)
        height = min(panel_height, max(PAGE_HEIGHT / rows, LOWEST_PANEL)) if crowded else panel_height
        return cls(rows, columns, height, int(46 * (usual / columns if crowded else 1)), crowded)


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


def assigned(axes: Sequence[Axes], panels: Sequence[str]) -> Iterator[tuple[Axes, str]]:
    """Give every panel its axes, in order; those left over are hidden."""
    for ax, panel in zip(axes, [*panels, *[""] * (len(axes) - len(panels))], strict=True):
        ax.set_visible(bool(panel))
        if panel:
            yield ax, panel


def outer_labels(figure: Figure, grid: Grid) -> None:
    """Where it is crowded, write axis labels that all panels share once: at the left, and below the lowest panels."""
    shown = [ax for ax in figure.axes if ax.get_visible()]
    if not grid.crowded:
        return
    if len({ax.get_ylabel() for ax in shown}) == 1:
        first = shown[0].yaxis.label
        figure.supylabel(first.get_text(), fontsize=first.get_fontsize())
        for ax in shown:
            ax.set_ylabel("")
    if len({ax.get_xlabel() for ax in shown}) == 1:
        for ax in shown[: -grid.columns]:
            ax.set_xlabel("")


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
