"""What every report is made of: one HTML file that loads nothing from elsewhere and can be mailed."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from psymem._version import __version__
from psymem.io.outputs import base_provenance
from psymem.reports.render import render
from psymem.reports.wording import p_value

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


def page(title: str, parts: Iterable[str], style: str = "") -> str:
    """Return an HTML page of the parts that are not empty; the title is escaped here."""
    return render("page", title, STYLE + style, [part for part in parts if part])


def section(heading: str, content: str) -> str:
    """Return a section; "" without content."""
    return render("section", heading, content) if content and content != "<p></p>" else ""


def paragraph(text: str) -> str:
    """Return a paragraph of text, which is escaped here."""
    return render("paragraph", text)


def facts_html(facts: Sequence[tuple[str, str]]) -> str:
    """Return a table of facts by name, both escaped here."""
    return render("facts", facts)


def model_facts(models: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return what identifies each model of a provenance."""
    return [(f"model {m.get('model', '')}", _flat(m)) for m in models]


def _flat(about: Mapping[str, Any]) -> str:
    return ", ".join(f"{k} {v}" for k, v in about.items() if isinstance(v, (str, int, float)))


def scores_facts(paths: Iterable[object]) -> list[tuple[str, str]]:
    """Return what is to be known about scores that psymem has not made."""
    warning = "psymem cannot tell whether they look at later words"
    return [("scores made elsewhere", f"{path} ({warning})") for path in paths]


def command_fact() -> tuple[str, str]:
    """Return the command that was run."""
    return ("command", base_provenance()["command"])


def software_facts() -> list[tuple[str, str]]:
    """Return versions."""
    run = base_provenance()
    return [
        ("psymem", f"{__version__}, Python {run['python']}"),
        ("packages", ", ".join(f"{k} {v}" for k, v in run["packages"].items())),
    ]


def figure_html(png: bytes, alternative: str, caption: str) -> str:
    """Return a figure with its image inside; the texts are escaped here."""
    return render("figure", base64.b64encode(png).decode("ascii"), alternative, caption)


def p_cell(p: Any) -> str:
    """Return a p for a cell of a table; "" where there is none."""
    return "" if pd.isna(p) else p_value(p).removeprefix("= ")
