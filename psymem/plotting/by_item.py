"""Effects item by item, beside their mean over items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ITEM_COLOUR = "#0072B2"
SPREAD = 0.26


def spread_out(values: np.ndarray) -> np.ndarray:
    """Offsets across the axis that keep near values apart, in [-1, 1]; the same values give the same offsets.

    Values in order take the places of the van der Corput sequence, so that neighbours lie far apart.
    """
    order = np.argsort(values, kind="stable")
    sequence = np.empty(len(values))
    for rank, i in enumerate(order, start=1):
        sequence[i] = sum(int(bit) / 2.0 ** (k + 1) for k, bit in enumerate(reversed(f"{rank:b}")))
    return 2.0 * sequence - 1.0


def draw_by_item(values: pd.DataFrame, summary: pd.DataFrame, ax: Axes, effects: Sequence[str]) -> Axes:
    """Draw one row per effect: a dot for each item, and the mean with its interval.

    Parameters
    ----------
    values
        ``effect, item, value``.
    summary
        ``effect, mean, ci_low, ci_high``.
    ax
        Where to draw.
    effects
        Effects from top to bottom.

    Returns
    -------
    matplotlib.axes.Axes
        `ax`; x values are those of the frames, unchanged (the height of a dot within its row has no meaning).
    """
    ax.axvline(0, color="0.6", linewidth=0.7, zorder=1)
    for row, effect in enumerate(effects):
        x = values.loc[values["effect"] == effect, "value"].dropna().to_numpy(float)
        ax.scatter(
            x, row + SPREAD * spread_out(x), s=7, color=ITEM_COLOUR, alpha=0.45, linewidths=0, zorder=2
        )
    shown = summary.set_index("effect").reindex(list(effects))
    bars = [shown["mean"] - shown["ci_low"], shown["ci_high"] - shown["mean"]]
    ax.errorbar(
        shown["mean"],
        np.arange(len(effects)),
        xerr=bars,
        linestyle="none",
        marker="o",
        markersize=4.5,
        markeredgecolor="white",
        markeredgewidth=0.6,
        color="black",
        elinewidth=1.3,
        capsize=2.2,
        zorder=4,
    )
    ax.set_ylim(len(effects) - 0.5, -0.5)
    ax.set_yticks(range(len(effects)), list(effects))
    ax.tick_params(axis="y", length=0)
    return ax
