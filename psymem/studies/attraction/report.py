"""One HTML file that holds everything about a run."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd

from psymem.reports import wording
from psymem.reports.page import (
    command_fact,
    facts_html,
    figure_html,
    model_facts,
    page,
    paragraph,
    section,
    software_facts,
)
from psymem.reports.references import ATTRACTION_ONLY, READING_ONLY, REFERENCES
from psymem.reports.tables import list_html, table_html
from psymem.studies.attraction.figures import by_item_note, means_note
from psymem.studies.attraction.methods import methods_paragraph, which_to_cite
from psymem.studies.attraction.people.report import human_html
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.attraction.sentences import result_sentences
from psymem.studies.attraction.tables import (
    all_tests_html,
    checks_html,
    effects_html,
    means_html,
    within_html,
)


def report_html(result: FactorialResult, images: Mapping[str, bytes]) -> str:
    """Return the report as one HTML page.

    Parameters
    ----------
    result
        The result.
    images
        Figures by file name, as PNG; the ones at page width are shown.
    """
    title = f"{', '.join(result.families)} on {_item_set(result).get('name', 'an item set')}"
    sections = [
        f"<h1>{escape(title)}</h1>",
        section("Manipulation checks", checks_html(result)),
        section("Effects at the critical word", effects_html(result)),
        section("What was run", _facts(result)),
        section("Items left out", _left_out(result)),
        section("Effects by a property of the items", within_html(result)),
        section("People's responses", human_html(result.human)),
        section("Figures", _figures(result, images)),
        section("All tests", all_tests_html(result)),
        section("Which test to cite", paragraph(which_to_cite(result))),
        section("Methods paragraph", f"<blockquote>{paragraph(methods_paragraph(result))}</blockquote>"),
        section("Results in words", _results(result)),
        section("Condition means", means_html(result)),
        section("What the fits say", _notes(result)),
        section("References", _references(result)),
    ]
    return page(title, sections)


def _item_set(result: FactorialResult) -> dict[str, Any]:
    return dict(result.about.get("item_set", {}))


def _facts(result: FactorialResult) -> str:
    item_set = _item_set(result)
    facts = [command_fact(), ("item set", str(item_set.get("name", "")))]
    facts += [("items file sha256", str(item_set["sha256"]))] if "sha256" in item_set else []
    facts += model_facts(result.about.get("models", []))
    facts += [
        ("measures", ", ".join(result.measures)),
        ("engine, alpha", f"{result.tests.engine}, {result.tests.alpha:g}"),
        *software_facts(),
    ]
    notes = item_set.get("notes", [])
    return facts_html(facts) + (list_html(notes) if notes else "")


def _left_out(result: FactorialResult) -> str:
    left, total = result.left_out, result.scores["item"].nunique()
    if left.empty:
        return paragraph(
            f"None: every target, attractor and critical word of all {total} items is in the vocabulary."
        )
    verdict = "kept on request" if result.keep_oov else "left out"
    intro = (
        f"{left['item'].nunique()} of {total} items have a target, attractor or critical word outside the "
        "vocabulary "
        f"of a model and were {verdict}, for all models alike."
    )
    rows = left[["item", "role", "word", "conditions", "models"]].astype(str).to_numpy().tolist()
    return paragraph(intro) + table_html(["item", "role", "word", "conditions", "models"], rows)


def _figures(result: FactorialResult, images: Mapping[str, bytes]) -> str:
    shown = []
    for name, image in images.items():
        if name.endswith("_column"):
            continue
        caption = by_item_note(result) if name.endswith("by_item") else means_note(result)
        column = f"; for one column of a page: {name}_column.pdf" if f"{name}_column" in images else ""
        shown.append(figure_html(image, caption, f"{name}.pdf{column}"))
    return "".join(shown)


def _results(result: FactorialResult) -> str:
    """List every effect in a sentence, by model and measure."""
    parts = []
    for (model, measure), sentences in result_sentences(result).items():
        parts.append(f"<h3>{escape(f'{wording.short_name(measure)}, {model}')}</h3>{list_html(sentences)}")
    return "".join(parts)


def _notes(result: FactorialResult) -> str:
    """List what fits warn of, once each with the number of fits."""
    notes = result.effects["note"].fillna("").replace("", pd.NA).dropna()
    if notes.empty:
        return paragraph("Every model converged without a warning.")
    counted = notes.value_counts()
    return "<ul>" + "".join(f"<li>{escape(str(n))} ({k}×)</li>" for n, k in counted.items()) + "</ul>"


def _references(result: FactorialResult) -> str:
    left = READING_ONLY if result.attraction else (*READING_ONLY, *ATTRACTION_ONLY)
    listed = sorted(text for key, text in REFERENCES.items() if key not in left)
    card = _item_set(result).get("card", {})
    listed += [f"Items: {card['citation']}"] if isinstance(card, dict) and "citation" in card else []
    return list_html(listed)
