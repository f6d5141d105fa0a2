"""Condition means with intervals, conditions side by side in groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from psymem.plotting.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 0.7
"""Space between groups, in steps between conditions."""
LONGEST_TICK_LABEL = 3
"""Characters of a condition's name that fit at a tick; longer ones are left to group names and legend."""


def positions(frame: pd.DataFrame) -> dict[str, float]:
    """Place the conditions of `frame` (columns ``condition, group``) on the x axis, groups apart."""
    places: dict[str, float] = {}
    at, last = 0.0, None
    for condition, group in frame[["condition", "group"]].drop_duplicates().itertuples(index=False):
        at += 1.0 + (GAP if last is not None and group != last else 0.0)
        places[condition], last = at, group
    return places


def draw_conditions(frame: pd.DataFrame, ax: Axes, series_looks: Mapping[str, Look]) -> Axes:
    """Draw the mean and interval of each condition, and a dotted line at the first mean of each group.

    Parameters
    ----------
    frame
        One row per condition, in drawing order: ``condition, group, series, mean, ci_low, ci_high``.
    ax
        Where to draw.
    series_looks
        Series -> colour and marker.

    Returns
    -------
    matplotlib.axes.Axes
        `ax`; the plotted numbers are those of `frame`, unchanged.
    """
    places = positions(frame)
    for _, group in frame.groupby("group", sort=False):
        at = [places[c] for c in group["condition"]]
        ax.plot(
            [at[0], at[-1]], [group["mean"].iloc[0]] * 2, color="0.6", linewidth=0.6, linestyle=":", zorder=1
        )
    for series, part in frame.groupby("series", sort=False):
        look = series_looks[str(series)]
        at = [places[c] for c in part["condition"]]
        bars = [part["mean"] - part["ci_low"], part["ci_high"] - part["mean"]]
        ax.errorbar(
            at,
            part["mean"],
            yerr=bars,
            linestyle="none",
            marker=look.marker,
            markersize=4,
            color=look.colour,
            elinewidth=1.0,
            capsize=1.6,
            capthick=0.8,
            label=str(series),
            zorder=3,
        )
    _name_conditions(ax, frame, places)
    return ax


def _name_conditions(ax: Axes, frame: pd.DataFrame, places: Mapping[str, float]) -> None:
    """Write condition names at the ticks, if they are short enough to stand there, and group names below."""
    short = max(map(len, places)) <= LONGEST_TICK_LABEL
    ax.set_xticks(list(places.values()), list(places) if short else [""] * len(places))
    ax.tick_params(axis="x", length=0, pad=2)
    ax.set_xlim(0.4, max(places.values()) + 0.6)
    for group, part in frame.groupby("group", sort=False):
        at = [places[c] for c in part["condition"]]
        if group:
            ax.annotate(
                str(group),
                (sum(at) / len(at), 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -12),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=7,
            )
