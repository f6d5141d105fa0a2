"""Memory responses: decay with distance, and what is left of earlier words at each word of a text."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from psymem.plotting.style import FULL_WIDTH, Look, looks, paper_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

PANELS = {
    "retention": "retention (share of what a word wrote)",
    "share": "share of all that is remembered",
}
LOWEST_SHARE = 1e-4
"""Shares below it are drawn as if they were there."""
LONGEST_WORD = 12
"""Letters of a word that fit beside a heat map."""


def decay_figure(decay: pd.DataFrame) -> Figure:
    """Draw retention and share against distance, a line per model.

    Parameters
    ----------
    decay
        ``model, response, distance_words`` and median, quartiles and interval of ``retention`` and ``share``.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with paper_style():
        figure = Figure(figsize=(FULL_WIDTH, 2.95), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, 2)
        for ax, quantity in zip(axes, PANELS, strict=True):
            draw_decay(decay, quantity, ax)
        axes[0].axhline(0.5, color="0.6", linewidth=0.6, linestyle=(0, (2, 2)), zorder=1)
        axes[0].set_ylim(0, max(1.02, 1.05 * float(decay["retention_median"].max())))
        axes[1].set_yscale("log")
        axes[1].set_ylim(max(LOWEST_SHARE, 0.5 * float(_positive(decay["share_median"]).min())), 1.0)
        handles, labels = axes[0].get_legend_handles_labels()
        columns = 4 if max(map(len, labels)) < 24 else 2
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)
        figure.text(0.01, 0.01, _what_is_drawn(decay), fontsize=7, va="bottom", color="0.25")
        figure.get_layout_engine().set(rect=(0, 0.07, 1, 0.93))  # type: ignore[union-attr, call-arg]
    return figure


def _what_is_drawn(decay: pd.DataFrame) -> str:
    """Name lines, bands and bars."""
    bars = "bars: 95% interval of the median, bootstrap over texts"
    if decay[["retention_ci_low", "share_ci_low"]].isna().all(axis=None):
        bars = "no intervals: too few texts"
    return f"Lines: medians over words; bands: the middle half of the words; {bars}."


def _positive(values: pd.Series) -> pd.Series:
    """Values above 0; 1 where there is none."""
    above = values[values > 0]
    return above if len(above) else pd.Series([1.0])


def draw_decay(decay: pd.DataFrame, quantity: str, ax: Axes) -> Axes:
    """Draw medians with the middle half of the words around them, and the interval of the median as a bar.

    Parameters
    ----------
    decay
        As in `decay_figure`.
    quantity
        "retention" or "share".
    ax
        Where to draw.
    """
    for model, look in looks(list(dict.fromkeys(decay["model"]))).items():
        of_model = decay[decay["model"] == model]
        _draw_model(of_model, quantity, ax, look)
    ax.set_xlabel("distance (words)")
    ax.set_ylabel(PANELS[quantity])
    ax.set_xlim(-0.02 * decay["distance_words"].max(), 1.02 * max(1, decay["distance_words"].max()))
    return ax


def _draw_model(rows: pd.DataFrame, quantity: str, ax: Axes, look: Look) -> None:
    """Draw one model."""
    linearised = (rows["response"] == "linearised").all()
    x, middle = rows["distance_words"], rows[f"{quantity}_median"]
    ax.fill_between(
        x, rows[f"{quantity}_q25"], rows[f"{quantity}_q75"], color=look.colour, alpha=0.13, linewidth=0
    )
    ax.plot(
        x,
        middle,
        color=look.colour,
        marker=look.marker,
        markersize=3,
        markevery=max(1, len(rows) // 10),
        linewidth=1.1,
        linestyle="--" if linearised else "-",
        label=shown_name(str(rows["model"].iloc[0]), linearised),
        zorder=3,
    )
    low, high = rows[f"{quantity}_ci_low"], rows[f"{quantity}_ci_high"]
    bars = np.stack([(middle - low).clip(lower=0), (high - middle).clip(lower=0)])
    some = slice(None, None, max(1, len(rows) // 10))
    if np.isfinite(bars).any():
        ax.errorbar(
            x.iloc[some],
            middle.iloc[some],
            yerr=bars[:, some],
            linestyle="none",
            ecolor=look.colour,
            elinewidth=0.9,
            capsize=1.6,
            capthick=0.7,
            zorder=4,
        )


def share_heatmap(pairs: pd.DataFrame) -> Figure:
    """Draw what part of all that is remembered at each word each earlier word has, a panel per model.

    Parameters
    ----------
    pairs
        ``model, response, text_id, at_word_id, at_word, of_word_id, of_word, share``.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    models = list(dict.fromkeys(pairs["model"]))
    columns = min(2, len(models))
    rows = -(-len(models) // columns)
    side = min((FULL_WIDTH - 0.5) / columns, 1.2 + 0.125 * pairs["at_word_id"].nunique())
    with paper_style():
        figure = Figure(figsize=(side * columns + 0.5, side * rows + 0.25), layout="constrained")
        FigureCanvasAgg(figure)
        axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
        for ax, model in zip(axes, models, strict=False):
            image = draw_shares(pairs[pairs["model"] == model], ax)
        for ax in axes[len(models) :]:
            ax.set_visible(False)
        bar = figure.colorbar(image, ax=axes.tolist(), shrink=0.6, label="share of what is remembered")
        bar.outline.set_visible(False)  # type: ignore[operator]
        figure.suptitle(f"text {pairs['text_id'].iloc[0]}", fontsize=8)
    return figure


def draw_shares(pairs: pd.DataFrame, ax: Axes) -> AxesImage:
    """Draw one model: words in reading order from top to bottom, what is left of earlier ones from left to right."""
    grid = pairs.pivot(index="at_word_id", columns="of_word_id", values="share")
    words = pairs.drop_duplicates("at_word_id").set_index("at_word_id")["at_word"].reindex(grid.index)
    image = ax.imshow(grid.to_numpy(), vmin=0, vmax=1, cmap="Blues", aspect="equal")
    short = [w if len(w) <= LONGEST_WORD else w[: LONGEST_WORD - 1] + "…" for w in words]
    ax.set_xticks(range(len(short)), short, rotation=90)
    ax.set_yticks(range(len(short)), short)
    ax.tick_params(length=0)
    linearised = (pairs["response"] == "linearised").all()
    ax.set_title(shown_name(str(pairs["model"].iloc[0]), linearised))
    ax.set_xlabel("what is left of")
    ax.set_ylabel("when reading")
    return image


def shown_name(model: str, linearised: bool = False) -> str:
    """What a figure calls a model: its name, or the folder of its run."""
    path = PurePath(model)
    if len(path.parts) > 2:  # a name of ours or of the hub has two parts at most
        model = path.parent.name if path.name == "model" else path.name
    return model + (" (linearised)" if linearised else "")
