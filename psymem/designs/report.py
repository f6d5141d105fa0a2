"""One HTML file that holds everything about a run: it loads nothing from elsewhere and can be mailed."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem._version import __version__
from psymem.designs import wording
from psymem.designs.citing import which_to_cite
from psymem.designs.figures import by_item_note, means_note
from psymem.designs.human_report import human_html
from psymem.designs.references import ATTRACTION_ONLY, READING_ONLY, REFERENCES
from psymem.designs.report_tables import effects_html, list_html, means_html, table_html, within_html
from psymem.outputs import base_provenance

if TYPE_CHECKING:
    from psymem.designs.factorial import FactorialResult

STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font: 12.5px/1.4 system-ui, sans-serif; margin: .8rem 0; }
th, td { padding: .25rem .45rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
thead th { border-bottom: 1.5px solid #222; } tbody tr:last-child td { border-bottom: 1.5px solid #222; }
tr.slopes td { color: #666; border-bottom: 1px solid #e4e4e4; }
.scroll { overflow-x: auto; }
td.text { text-align: left; white-space: normal; } .small { font-size: .85rem; color: #555; }
blockquote { border-left: 3px solid #0072B2; margin: .8rem 0; padding: .1rem 1rem; background: #f4f8fb; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
figcaption { font-size: .85rem; color: #555; }
code { font-size: .85em; overflow-wrap: anywhere; }
"""


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
        _section("What was run", _facts(result)),
        _section("Items left out", _left_out(result)),
        _section("Effects at the critical word", effects_html(result)),
        _section("Effects by a property of the items", within_html(result)),
        _section("People's responses", human_html(result.human)),
        _section("Figures", _figures(result, images)),
        _section("Which version to cite", _paragraph(which_to_cite(result))),
        _section(
            "Methods paragraph", f"<blockquote>{_paragraph(wording.methods_paragraph(result))}</blockquote>"
        ),
        _section("Results in words", _results(result)),
        _section("Condition means", means_html(result)),
        _section("What the fits say", _notes(result)),
        _section("References", _references(result)),
    ]
    body = "\n".join(s for s in sections if s)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _section(heading: str, content: str) -> str:
    return f"<h2>{heading}</h2>\n{content}" if content and content != "<p></p>" else ""


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _item_set(result: FactorialResult) -> dict[str, Any]:
    return dict(result.about.get("item_set", {}))


def _facts(result: FactorialResult) -> str:
    item_set, run = _item_set(result), base_provenance()
    facts = [("command", run["command"]), ("item set", str(item_set.get("name", "")))]
    facts += [("items file sha256", str(item_set["sha256"]))] if "sha256" in item_set else []
    facts += [(f"model {m.get('model', '')}", _model_fact(m)) for m in result.about.get("models", [])]
    facts += [
        ("measures", ", ".join(result.measures)),
        ("engine, alpha", f"{result.tests.engine}, {result.tests.alpha:g}"),
        ("psymem", f"{__version__}, Python {run['python']}"),
        ("packages", ", ".join(f"{k} {v}" for k, v in run["packages"].items())),
    ]
    rows = "".join(
        f'<tr><td>{escape(k)}</td><td class="text"><code>{escape(v)}</code></td></tr>' for k, v in facts
    )
    notes = "".join(f"<li>{escape(n)}</li>" for n in item_set.get("notes", []))
    return f"<table><tbody>{rows}</tbody></table>" + (f"<ul>{notes}</ul>" if notes else "")


def _model_fact(about: Any) -> str:
    flat = {k: v for k, v in dict(about).items() if isinstance(v, (str, int, float))}
    return ", ".join(f"{k} {v}" for k, v in flat.items())


def _left_out(result: FactorialResult) -> str:
    left, total = result.left_out, result.scores["item"].nunique()
    if left.empty:
        return _paragraph(
            f"None: every target, attractor and critical word of all {total} items is in the vocabulary."
        )
    verdict = "kept on request" if result.keep_oov else "left out"
    intro = (
        f"{left['item'].nunique()} of {total} items have a target, attractor or critical word outside the "
        "vocabulary "
        f"of a model and were {verdict}, for all models alike."
    )
    rows = left[["item", "role", "word", "conditions", "models"]].astype(str).to_numpy().tolist()
    return _paragraph(intro) + table_html(["item", "role", "word", "conditions", "models"], rows)


def _figures(result: FactorialResult, images: Mapping[str, bytes]) -> str:
    shown = []
    for name, image in images.items():
        if name.endswith("_column"):
            continue
        caption = by_item_note(result) if name.endswith("by_item") else means_note(result)
        column = f"; for one column of a page: {name}_column.pdf" if f"{name}_column" in images else ""
        encoded = base64.b64encode(image).decode("ascii")
        shown.append(
            f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{encoded}">'
            f"<figcaption>{escape(name)}.pdf{column}</figcaption></figure>"
        )
    return "".join(shown)


def _results(result: FactorialResult) -> str:
    """List every effect in a sentence, by model and measure."""
    parts = []
    for (model, measure), sentences in wording.result_sentences(result).items():
        parts.append(f"<h3>{escape(f'{wording.short_name(measure)}, {model}')}</h3>{list_html(sentences)}")
    return "".join(parts)


def _notes(result: FactorialResult) -> str:
    """List what fits warn of, once each with the number of fits."""
    notes = result.effects["note"].fillna("").replace("", pd.NA).dropna()
    if notes.empty:
        return _paragraph("Every model converged without a warning.")
    counted = notes.value_counts()
    return "<ul>" + "".join(f"<li>{escape(str(n))} ({k}×)</li>" for n, k in counted.items()) + "</ul>"


def _references(result: FactorialResult) -> str:
    left = READING_ONLY if result.attraction else (*READING_ONLY, *ATTRACTION_ONLY)
    listed = sorted(text for key, text in REFERENCES.items() if key not in left)
    card = _item_set(result).get("card", {})
    listed += [f"Items: {card['citation']}"] if isinstance(card, dict) and "citation" in card else []
    return list_html(listed)
