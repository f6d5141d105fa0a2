"""Sequences of vectors made into one vector each: tree-structured PCA and what it is compared with.

Everything here is scikit-learn: transformers that fit into its pipelines. The names are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "TreePCA": "psymem.reduction.tree_pca",
    "MeanOfPositions": "psymem.reduction.mean_of_positions",
    "fixed_length": "psymem.reduction.segments",
    "determinant_ratio": "psymem.reduction.information",
    "sentence_vectors": "psymem.reduction.sentences",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
