"""The notebooks run from top to bottom, use public functions only and are committed without output."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest

import psymem

REPOSITORY = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
SECONDS = 300
"""How long one cell may take."""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    """The code cells of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def names_of_psymem(source: str) -> set[str]:
    """What a piece of code uses of psymem: attributes of the package, and modules it imports besides."""
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "psymem":
            used.add(node.attr)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "psymem":
            used |= {alias.name for alias in node.names} if node.module == "psymem" else {node.module or ""}
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names if alias.name.startswith("psymem.")}
    return used


def test_there_are_notebooks():
    assert NOTEBOOKS


@each_notebook
def test_outputs_are_stripped(path: Path):
    assert [(cell.execution_count, cell.outputs) for cell in code_cells(path)] == [(None, [])] * len(
        code_cells(path)
    )


@each_notebook
def test_only_public_names_are_used(path: Path):
    used = set().union(*(names_of_psymem(cell.source) for cell in code_cells(path)))
    assert used
    assert used <= set(psymem.__all__)


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("import psymem\npsymem.score(psymem.fit)", {"score", "fit"}),
        ("from psymem import fit as f", {"fit"}),
        (
            "from psymem.fitting.profiled.engine import x\nimport psymem.models.hf",
            {"psymem.fitting.profiled.engine", "psymem.models.hf"},
        ),
    ],
)
def test_what_counts_as_used(source: str, used: set[str]):
    assert names_of_psymem(source) == used


@pytest.mark.slow
@each_notebook
def test_notebook_runs(path: Path, tmp_path: Path):
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    model = notebook.metadata.get("psymem", {}).get("model")
    if model and not any(c.name.split("/")[0] == model for c in psymem.checkpoints.bundled()):
        pytest.skip(f"the model {model} is not bundled")
    nbclient.NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert list(tmp_path.iterdir()) == []
