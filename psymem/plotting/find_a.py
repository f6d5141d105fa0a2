"""The "find A" task: accuracy and what is left of a letter against length, and its decay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from psymem.plotting.style import FULL_WIDTH, looks, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPREAD = 0.9
"""Letters by which cells are drawn apart, so that equal values do not hide each other."""
LOWEST = 1e-6
"""What is smaller is drawn at the lower edge."""
LINES = {"srn": (0, (1, 1)), "gru": (0, (6, 1.5, 1, 1.5)), "elstm": (0, (4, 2))}
"""Dashes of decay curves, so that cells that do the same are all seen; others are solid."""


def find_a_figure(networks: pd.DataFrame, summary: pd.DataFrame, responses: pd.DataFrame) -> Figure:
    """Draw three panels: balanced accuracy by length, retention at the end by length, decay at the greatest length.

    Parameters
    ----------
    networks
        ``cell, length, balanced_accuracy, retention``, a row per network: the dots.
    summary
        ``cell, length, balanced_accuracy_mean, retention_median``: the lines.
    responses
        ``cell, seed, letters_since, retention``: a line per network.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cells = list(dict.fromkeys(summary["cell"]))
    with paper_style():
        figure = Figure(figsize=(FULL_WIDTH, 2.6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, 3)
        draw_by_length(networks, summary, ("balanced_accuracy", "balanced_accuracy_mean"), axes[0], cells)
        axes[0].axhline(0.5, color="0.6", linewidth=0.6, linestyle=(0, (2, 2)), zorder=1)
        axes[0].set_ylabel("balanced accuracy")
        axes[0].set_ylim(min(0.47, float(networks["balanced_accuracy"].min())) - 0.02, 1.03)
        shown = networks.assign(retention=networks["retention"].clip(lower=LOWEST))
        middle = summary.assign(retention_median=summary["retention_median"].clip(lower=LOWEST))
        decay = responses.assign(retention=responses["retention"].clip(lower=LOWEST))
        draw_by_length(shown, middle, ("retention", "retention_median"), axes[1], cells)
        _logarithmic(axes[1])
        axes[1].set_ylabel("retention of a first A at the end")
        draw_decay_of_a(decay, axes[2], cells)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(cells), frameon=False)
    return figure


def draw_by_length(
    networks: pd.DataFrame, summary: pd.DataFrame, columns: tuple[str, str], ax: Axes, cells: list[str]
) -> Axes:
    """Draw a dot per network and a line through `columns[1]` of the summary; dots of cells stand side by side."""
    for place, (cell, look) in enumerate(looks(cells).items()):
        shift = SPREAD * (place - (len(cells) - 1) / 2)
        dots, line = (f[f["cell"] == cell] for f in (networks, summary))
        ax.scatter(
            dots["length"] + shift,
            dots[columns[0]],
            s=6,
            color=look.colour,
            alpha=0.4,
            linewidths=0,
            zorder=2,
        )
        ax.plot(
            line["length"] + shift,
            line[columns[1]],
            color=look.colour,
            marker=look.marker,
            markersize=3.5,
            linewidth=1.1,
            label=f"{cell} (linearised)" if cell == "srn" and columns[0] == "retention" else cell,
            zorder=3,
        )
    ax.set_xlabel("letters in a string, T")
    ax.set_xticks(
        sorted(set(summary["length"]))[1::2]
        if summary["length"].nunique() > 5
        else sorted(set(summary["length"]))
    )
    return ax


def draw_decay_of_a(responses: pd.DataFrame, ax: Axes, cells: list[str]) -> Axes:
    """Draw the retention of an A read first after each further letter, a line per network."""
    for cell, look in looks(cells).items():
        for _, network in responses[responses["cell"] == cell].groupby("seed"):
            ax.plot(
                network["letters_since"],
                network["retention"],
                color=look.colour,
                linewidth=1.1 if cell in LINES else 1.8,
                alpha=0.9 if cell in LINES else 0.55,
                linestyle=LINES.get(cell, "-"),
            )
    _logarithmic(ax)
    ax.set_xlabel(f"letters since the A (T = {responses['length'].iloc[0]})")
    ax.set_ylabel("retention (srn: linearised)")
    return ax


def _logarithmic(ax: Axes) -> None:
    """Give an axis of retention a logarithmic scale that says where it ends."""
    ax.set_yscale("log")
    exponents = range(round(math.log10(LOWEST)), 1, 2)
    names = [f"$10^{{{e}}}$" if e else "1" for e in exponents]
    ax.set_yticks([10.0**e for e in exponents], ["≤ " + names[0], *names[1:]])
    ax.minorticks_off()
