"""The figure of sentences whose words are shaded by duration, models above people.

Shades are of one hue, from white to a blue on which black letters stay readable, so that they can be told apart without
colour vision and in print.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from psymem.plotting.style import FULL_WIDTH, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIGHT, DARK = (255, 255, 255), (90, 158, 212)
"""Ends of the scale; black on the darker one has a contrast of 7:1."""
FONT = 7.5
LINE, GAP, BETWEEN = 0.19, 0.05, 0.16
"""Inches: height of a row of words, space between wrapped lines, space between sentences."""
LABEL = 1.25
"""Inches kept for the names of models."""
LETTERS = 20
"""Characters of a name in a line of the margin."""


def shade_colour(shade: float) -> str:
    """Colour of a shade between 0 and 1 as #rrggbb.

    >>> shade_colour(0.0), shade_colour(1.0)
    ('#ffffff', '#5a9ed4')
    """
    mixed = (round(a + (b - a) * shade) for a, b in zip(LIGHT, DARK, strict=True))
    return "#" + "".join(f"{c:02x}" for c in mixed)


def sentences_figure(
    table: pd.DataFrame, *, names: dict[str, str], note: str, width: float = FULL_WIDTH
) -> Figure:
    """Draw the sentences.

    Parameters
    ----------
    table
        ``text_id, sentence_id, word_id, word, source, value, unit, scale_low, scale_high, shade``: one row per word and
        source, the sources in the order in which they are drawn.
    names
        What each source is called in the margin.
    note
        Text below the figure.
    width
        Inches.
    """
    import textwrap

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sources = list(dict.fromkeys(table["source"]))
    with paper_style():
        blocks = _blocks(table, width - LABEL - 0.05)
        note_lines = textwrap.wrap(note, int(width * 18.5))
        foot = 0.125 * len(note_lines) + 0.1
        legend = 0.26 * len(sources) + 0.1
        per_line = LINE * len(sources) + GAP
        body = sum(len(lines) * per_line + BETWEEN for lines in blocks)
        height = body + legend + foot + 0.08
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_xlim(0, width)
        ax.set_ylim(0, height)
        ax.axis("off")
        top = height - 0.06
        for lines in blocks:
            top = _draw_block(ax, lines, names, top) - BETWEEN
        _draw_legend(ax, table, names, foot + legend - 0.06)
        ax.text(0.04, 0.05, "\n".join(note_lines), fontsize=7, va="bottom", color="0.25", linespacing=1.15)
        return figure


def _blocks(table: pd.DataFrame, space: float) -> list[list[list[pd.DataFrame]]]:
    """Sentences, each a list of lines, each a list of rows (one table per source) of words that fit into `space`."""
    blocks = []
    for _, sentence in table.groupby(["text_id", "sentence_id"], sort=False):
        rows = [own.reset_index(drop=True) for _, own in sentence.groupby("source", sort=False)]
        widths = [_word_width(w) for w in rows[0]["word"]]
        starts, line, x = [], [], 0.0
        for number, own in enumerate(widths):
            if x + own > space and x > 0:
                line.append(number)
                x = 0.0
            starts.append(x)
            x += own
        edges = [0, *line, len(widths)]
        rows = [r.assign(x=starts, width=widths) for r in rows]
        blocks.append([[r.iloc[a:b] for r in rows] for a, b in pairwise(edges)])
    return blocks


def _word_width(word: str) -> float:
    """Width of a word with the blank after it, inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    path = TextPath((0, 0), word.replace("$", r"\$"), size=FONT, prop=FontProperties(family="DejaVu Sans"))
    return float(path.get_extents().width) / 72 + 0.09


def _draw_block(ax: Axes, lines: list[list[pd.DataFrame]], names: dict[str, str], top: float) -> float:
    """Draw one sentence below `top`; return where it ends."""
    from matplotlib.patches import Rectangle

    y = top
    for line in lines:
        for row in line:
            y -= LINE
            name = names[row["source"].iloc[0]]
            shown = name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
            ax.text(LABEL - 0.08, y + LINE / 2, shown, ha="right", va="center", fontsize=7, color="0.3")
            for cell in row.itertuples():
                known = cell.shade == cell.shade
                box = Rectangle(
                    (LABEL + cell.x, y + 0.01),
                    cell.width,
                    LINE - 0.02,
                    facecolor=shade_colour(cell.shade) if known else "white",
                    edgecolor="none",
                )
                ax.add_patch(box)
                ax.text(
                    LABEL + cell.x + cell.width / 2,
                    y + LINE / 2 - 0.005,
                    cell.word.replace("$", r"\$"),
                    ha="center",
                    va="center_baseline",
                    fontsize=FONT,
                    color="black" if known else "0.55",
                    style="normal" if known else "italic",
                )
        y -= GAP
    return y


def _draw_legend(ax: Axes, table: pd.DataFrame, names: dict[str, str], top: float) -> None:
    """A bar of shades for every source, its ends with their unit."""
    from matplotlib.patches import Rectangle

    y, bar, steps = top, 1.6, 64
    for source, own in table.groupby("source", sort=False):
        y -= 0.26
        first = own.iloc[0]
        low, high = (_rounded(first[c]) for c in ("scale_low", "scale_high"))
        ax.text(LABEL - 0.08, y + 0.08, names[str(source)][:LETTERS], ha="right", va="center", fontsize=7)
        ax.text(LABEL + 0.42, y + 0.08, f"≤ {low}", ha="right", va="center", fontsize=7)
        for k in range(steps):
            patch = Rectangle(
                (LABEL + 0.5 + bar * k / steps, y + 0.015),
                bar / steps * 1.02,
                0.13,
                facecolor=shade_colour(k / (steps - 1)),
                edgecolor="none",
            )
            ax.add_patch(patch)
        ax.add_patch(
            Rectangle((LABEL + 0.5, y + 0.015), bar, 0.13, facecolor="none", edgecolor="0.5", linewidth=0.5)
        )
        ax.text(LABEL + 0.58 + bar, y + 0.08, f"≥ {high} {first['unit']}", va="center", fontsize=7)


def _rounded(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
