"""The studies in analyses/: TOML files, each of a kind, whose stem in kebab-case is the name of a command."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from psymem.errors import UnknownNameError


def studies_of(kind: str) -> dict[str, dict[str, Any]]:
    """Return the contents of all studies of a kind by name, in the order of their names."""
    found: dict[str, dict[str, Any]] = {}
    for entry in sorted(files("psymem.analyses").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml"):
            content = tomllib.loads(entry.read_text("utf-8"))
            if content.get("kind") == kind:
                found[entry.name.removesuffix(".toml").replace("_", "-")] = content
    return found


def find_study(kind: str, name: str) -> dict[str, Any]:
    """Return the content of one study; raises UnknownNameError if there is none of that name and kind."""
    found = studies_of(kind)
    if name not in found:
        raise UnknownNameError("published table", name, found)
    return found[name]
