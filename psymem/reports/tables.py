"""Tables and lists as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """Return an HTML table of cells, which are escaped here; `classes` has one class per row."""
    cells = ["".join(f"<td>{escape(c)}</td>" for c in row) for row in rows]
    kinds = list(classes) or [""] * len(cells)
    body = "\n".join(
        f'<tr class="{k}">{c}</tr>' if k else f"<tr>{c}</tr>" for c, k in zip(cells, kinds, strict=True)
    )
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def list_html(entries: Iterable[str], kind: str = "") -> str:
    """Return an HTML list of entries, which are escaped here."""
    opening = f'<ul class="{kind}">' if kind else "<ul>"
    return opening + "".join(f"<li>{escape(e)}</li>" for e in entries) + "</ul>"
