"""Shares of successful retrievals against distance and words in between, beside chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from psymem.plotting.style import FULL_WIDTH, looks, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 7
"""Models and heads that are drawn: as many as looks differ."""
AXES = {"length": "distance (words)", "between": "{kind} in between"}


def dependency_figure(shares: pd.DataFrame, relation: str, kind: str) -> Figure:
    """Draw four panels: among all words and among those of a kind, by distance and by words in between.

    Parameters
    ----------
    shares
        ``model, n_models, head, among, by, bin, share, ci_low, ci_high, chance``.
    relation, kind
        For titles: "nsubj", "nouns".
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = shown_lines(shares)
    with paper_style():
        figure = Figure(figsize=(FULL_WIDTH, 4.9), layout="constrained")
        FigureCanvasAgg(figure)
        for row, (among, title) in zip(
            figure.subplots(2, 2, sharey=True),
            (("words", "among all words before"), ("candidates", f"among {kind}")),
            strict=True,
        ):
            for ax, (by, label) in zip(row, AXES.items(), strict=True):
                draw_shares(shares[shares["among"].eq(among) & shares["by"].eq(by)], lines, ax)
                ax.set_xlabel(label.format(kind=kind))
                ax.set_title(title)
            row[0].set_ylabel("largest weight on the right word")
        handles, labels = row[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4), frameon=False)
        figure.suptitle(relation, fontsize=8)
    return figure


def shown_lines(shares: pd.DataFrame) -> list[tuple[str, str]]:
    """(model, head) of the lines: the best first where there are more than can be told apart."""
    whole = shares[shares["by"].eq("all") & shares["among"].eq("candidates")]
    names = list(zip(whole["model"], whole["head"].astype(str), strict=True))
    if len(names) <= MOST_LINES:
        return names
    best = whole.sort_values("share", ascending=False, kind="stable").head(MOST_LINES)
    return list(zip(best["model"], best["head"].astype(str), strict=True))


def draw_shares(shares: pd.DataFrame, lines: list[tuple[str, str]], ax: Axes) -> Axes:
    """Draw one line with intervals for each model and head, and chance, which is that of the first."""
    bins = list(dict.fromkeys(shares["bin"]))
    bins = sorted(bins, key=lambda b: int(b.rstrip("+")))
    looked = looks([f"{model} {head}" for model, head in lines])
    spread = 0.5 / max(len(lines), 1)
    for place, ((model, head), look) in enumerate(zip(lines, looked.values(), strict=True)):
        own = shares[shares["model"].eq(model) & shares["head"].astype(str).eq(head)].set_index("bin")
        own = own.reindex([b for b in bins if b in own.index])
        x = [bins.index(b) + spread * (place - (len(lines) - 1) / 2) for b in own.index]
        half = [(own["share"] - own["ci_low"]).clip(lower=0), (own["ci_high"] - own["share"]).clip(lower=0)]
        ax.errorbar(
            x, own["share"], yerr=half, color=look.colour, marker=look.marker, markersize=3, linewidth=1,
            elinewidth=0.7, label=_name(own, model, head),
        )  # fmt: skip
        if not place:
            chance = [bins.index(b) for b in own.index]
            ax.plot(chance, own["chance"], color="0.5", linestyle=(0, (2, 2)), linewidth=1, label="chance")
    ax.set_xticks(range(len(bins)), bins)
    ax.set_ylim(-0.02, 1.02)
    return ax


def _name(own: pd.DataFrame, model: str, head: str) -> str:
    many = int(own["n_models"].iloc[0]) if len(own) else 1
    return model + (f" ({many} instances)" if many > 1 else "") + ("" if head == "mean" else f", head {head}")
