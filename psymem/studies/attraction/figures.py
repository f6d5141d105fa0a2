"""The figures of a factorial result, by file name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psymem.measures.columns import by_head
from psymem.plotting.figures import by_item_figure, in_rows, means_figure, page_width
from psymem.plotting.style import COLUMN_WIDTH
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.plotted import HUMANS
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.means import interval_name
from psymem.studies.common.rows import display_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def stem(result: FactorialResult) -> str:
    """Beginning of the figures' file names: "attraction" for conditions A-H, else "conditions"."""
    return "attraction" if is_attraction_set(result) else "conditions"


def is_attraction_set(result: FactorialResult) -> bool:
    """Whether the conditions are A-H (the user's own formula may still replace the effects)."""
    return result.attraction_items


def figures(result: FactorialResult) -> dict[str, Figure]:
    """Draw all figures.

    Returns
    -------
    dict
        ``attraction`` (page width), ``attraction_column`` (column width) and ``attraction_by_item``; for
        other designs the names begin with ``conditions``, and the last is missing where no factor has two
        levels.
    """
    name = stem(result)
    panels = list(dict.fromkeys(result.plotted["panel"]))
    wide = _rows_of_models(result)
    about = {"legend_title": legend_title(result), "note": means_note(result)}
    drawn = {
        name: means_figure(result.plotted, wide, width=page_width(len(wide[0])), **about),
        f"{name}_column": means_figure(
            result.plotted, in_rows(panels, min(2, len(panels))), width=COLUMN_WIDTH, **about
        ),
    }
    labels, blocks = effect_labels(result), list(by_head(result.measures).values())
    if labels:
        drawn[f"{name}_by_item"] = by_item_figure(
            result.by_item,
            result.by_item_summary,
            labels,
            titles={m: display_name(m) for m in result.models},
            blocks=blocks,
            width=page_width(max(map(len, blocks)) + 1),
            note=by_item_note(result),
        )
    return drawn


def _rows_of_models(result: FactorialResult) -> list[list[str]]:
    """Lay out a row of panels per model, and one per chosen attention head, with people in the first place."""
    shown = result.plotted.drop_duplicates("panel")
    people = list(shown.loc[shown["model"] == HUMANS, "panel"])
    rows = [
        list(shown.loc[(shown["model"] == model) & shown["measure"].isin(block), "panel"])
        for model in result.models
        for block in by_head(result.measures).values()
    ]
    rows = [row for row in rows if row]
    longest = max(map(len, rows))
    filled = [row + [""] * (longest - len(row)) for row in rows]
    return [[*(people if i == 0 else [""] * len(people)), *row] for i, row in enumerate(filled)]


def legend_title(result: FactorialResult) -> str:
    """Say what the series of the figure of means are."""
    if is_attraction_set(result):
        return "attractor"
    return " × ".join(result.factors[1:] or result.factors)


def means_note(result: FactorialResult) -> str:
    """Say what the bars of the figure of means are."""
    blocks = ("violation",) if is_attraction_set(result) else ()
    note = f"Bars: {interval_name(blocks)}, at the critical word, {result.n_items} items."
    if result.human is not None:
        people = result.human.about
        return (
            f"{note} Humans: {people['trials_analysed']} trials of {people['subjects']} subjects on "
            f"{people['items']} items; bars: {result.human.means['interval'].iloc[0]}."
        )
    if not is_attraction_set(result):
        return note
    return note + " Humans: 95% intervals as published by Laurinavichyute & von der Malsburg (2022)."


def by_item_note(result: FactorialResult) -> str:
    """Say what the dots and bars of the by-item figure are."""
    averaged = " (instances averaged)" if any(len(i) > 1 for i in result.instances.values()) else ""
    alone = " Violating sentences alone, their controls not subtracted." if result.controlled else ""
    return (
        f"Dots: the {result.n_items} items{averaged}. Black: mean over items with its 95% t interval.{alone}"
    )


def effect_labels(result: FactorialResult) -> dict[str, str]:
    """Effect -> label of its row in the by-item figure."""
    found = list(dict.fromkeys(result.by_item["effect"]))
    if not is_attraction_set(result):
        return {e: e for e in found}
    return {
        e.name: f"{e.label}\n{e.subtraction.replace('-', '−')}" for e in ATTRACTION_EFFECTS if e.name in found
    }
