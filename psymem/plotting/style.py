"""How figures look: sizes, fonts, colours that colour-blind readers can tell apart, and names with units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psymem.measures.columns import describe, split_column

COLUMN_WIDTH = 3.35
"""Inches; one column of a two-column page."""
FULL_WIDTH = 6.9
"""Inches; the whole width of a two-column page."""

HUMAN_LABELS = {
    "percent_judged_implausible": "judged implausible (%)",
    "percent_rejected": "rejected (judgement 1, %)",
    "mean_rt_ms": "response time (ms)",
}
"""Column of people's responses -> what an axis says; measures say it themselves."""


@dataclass(frozen=True)
class Look:
    """Colour and marker of one series; either alone tells the series apart."""

    colour: str
    marker: str


SERIES_LOOKS = (
    Look("#404040", "o"),
    Look("#0072B2", "s"),
    Look("#D55E00", "^"),
    Look("#009E73", "D"),
    Look("#CC79A7", "v"),
    Look("#E69F00", "P"),
    Look("#56B4E9", "X"),
)
"""From the palette of Okabe & Ito (2008)."""


def looks(series: Sequence[str]) -> dict[str, Look]:
    """Give each series its look, in order; more than seven series start again."""
    return {name: SERIES_LOOKS[i % len(SERIES_LOOKS)] for i, name in enumerate(series)}


def label(measure: str) -> str:
    """Axis label of a measure column, with its unit; a chosen head has a line of its own."""
    column, head = split_column(measure)
    known = describe(column)
    name = known.label if known else HUMAN_LABELS.get(column, column.replace("_", " "))
    return name + (f"\nhead {head}" if head else "")


@contextmanager
def paper_style() -> Iterator[None]:
    """Set sizes and fonts of a printed figure while the block runs; no text is smaller than 7 pt."""
    import matplotlib

    settings: dict[str, Any] = {
        "font.family": "DejaVu Sans",
        "font.size": 7.5,
        "axes.titlesize": 8,
        "axes.labelsize": 7.5,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "axes.unicode_minus": True,
        "pdf.fonttype": 42,
        "figure.dpi": 100,
        "savefig.dpi": 300,
    }
    with matplotlib.rc_context(settings):  # type: ignore[arg-type]
        yield
