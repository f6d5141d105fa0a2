"""Tables and lists as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psymem.reports.render import render


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """Return an HTML table of cells, which are escaped here; `classes` has one class per row."""
    cells = list(rows)
    return render("table", head, list(zip(list(classes) or [""] * len(cells), cells, strict=True)))


def list_html(entries: Iterable[str], kind: str = "") -> str:
    """Return an HTML list of entries, which are escaped here."""
    return render("entries", entries, kind)
