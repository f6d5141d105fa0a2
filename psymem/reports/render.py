"""The HTML of reports: what is text is escaped here, and nowhere else."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any


@cache
def _macros() -> Any:
    """Macros of ``templates/page.html``."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    environment = Environment(
        loader=PackageLoader("psymem.reports", "templates"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["html"] = Markup  # HTML already, made by another macro
    return environment.get_template("page.html").module


def render(macro: str, *values: Any) -> str:
    """Return the HTML of a macro as plain text, so that it can be joined with other HTML."""
    return "".join(getattr(_macros(), macro)(*values))
