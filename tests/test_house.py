"""The house: no module imports itself by a detour, no room is crowded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "psymem"
MOST_MODULES = 20
MOST_LINES = 500


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Modules of ours that a file imports anywhere: at its top, in functions and for type checkers only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                yield below if below in known else str(node.module)


def graph() -> dict[str, set[str]]:
    """Module -> the modules that it imports."""
    known = modules()
    return {name: set(imports(path, known)) - {name} for name, path in known.items()}


def test_no_module_imports_itself_by_a_detour():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(f"these modules import one another: {' <- '.join(error.args[1])}")


def test_no_folder_is_crowded():
    crowded = {}
    for folder in {path.parent for path in modules().values()}:
        count = len(list(folder.glob("*.py")))
        if count > MOST_MODULES:
            crowded[folder.relative_to(PACKAGE.parent).as_posix()] = count
    assert crowded == {}


def test_no_module_is_longer_than_its_subject():
    long = {
        n: k
        for n, p in modules().items()
        if (k := len(p.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}


def test_every_package_says_what_it_is_for():
    for path in PACKAGE.rglob("__init__.py"):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert said, path
        assert "architecture notes" not in said, path
