"""What tree-structured PCA keeps after each stage, and accuracy against the number of positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.plotting.style import FULL_WIDTH, looks, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = {"tree-pca": "tree PCA", "pca": "PCA", "mean": "mean", "embedding-bag": "bag of embeddings"}

SPREAD = 0.08
"""Octaves of N by which methods are drawn apart, so that equal values do not hide each other."""


def reduction_figure(energy: pd.DataFrame, accuracies: pd.DataFrame) -> Figure:
    """Draw, for each collection, energy by stage above and accuracy by N below.

    Parameters
    ----------
    energy
        ``collection, grams, positions, stage, energy``.
    accuracies
        ``collection, grams, method, positions, accuracy, ci_low, ci_high``; a method without positions is a level line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    collections = list(dict.fromkeys(accuracies["collection"]))
    with paper_style():
        figure = Figure(figsize=(FULL_WIDTH, 4.8), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(2, len(collections), squeeze=False)
        for place, name in enumerate(collections):
            upper, lower = axes[:, place]
            draw_energy(energy[energy["collection"] == name], upper)
            draw_accuracy(accuracies[accuracies["collection"] == name], lower)
            upper.set_title(name)
            if not place:
                upper.set_ylabel("energy left (%)")
                lower.set_ylabel("accuracy (%)")
        axes[0, 0].legend(frameon=False, loc="lower left")
        handles, labels = axes[1, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_energy(energy: pd.DataFrame, ax: Axes) -> Axes:
    """Draw energy after each stage, at the greatest N, a line for each kind of word."""
    longest = energy[energy["positions"] == energy["positions"].max()]
    for grams, look in looks(list(dict.fromkeys(longest["grams"]))).items():
        own = longest[longest["grams"] == grams]
        ax.plot(
            [0, *own["stage"]],
            [100, *own["energy"]],
            color=look.colour,
            marker=look.marker,
            label=grams,
            **_LINE,
        )
    ax.set_xlabel(f"stage (N = {int(energy['positions'].max())})")
    ax.set_ylim(0, 105)
    return ax


def draw_accuracy(accuracies: pd.DataFrame, ax: Axes) -> Axes:
    """Draw accuracy against N: colour and marker for the method, dashes for bigrams."""
    for method, look in looks(list(METHODS)).items():
        for grams, dashes in (("unigrams", "-"), ("bigrams", "--")):
            own = accuracies[accuracies["method"].eq(method) & accuracies["grams"].eq(grams)]
            text = METHODS[method] + (", bigrams" if grams == "bigrams" else "")
            if own["positions"].isna().all():
                for value in own["accuracy"]:
                    ax.axhline(value, color=look.colour, linestyle=dashes, linewidth=0.8, label=text)
                continue
            known = own.astype({"positions": int})
            shift = 2 ** (SPREAD * (list(METHODS).index(method) - 1))
            half = [known["accuracy"] - known["ci_low"], known["ci_high"] - known["accuracy"]]
            ax.errorbar(
                known["positions"] * shift, known["accuracy"], yerr=half, color=look.colour, marker=look.marker,
                linestyle=dashes, label=text, capsize=1.5, **_LINE,
            )  # fmt: skip
    ax.set_xscale("log", base=2)
    ax.set_xlabel("positions, N")
    ticks = sorted({int(n) for n in accuracies["positions"].dropna()})
    ax.set_xticks(ticks, [str(n) for n in ticks])
    return ax


_LINE: dict[str, Any] = {"linewidth": 1.0, "markersize": 3.0}
