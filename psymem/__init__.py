"""psymem: what a language model's memory and expectations say about human reading.

WORDS -> Trace -> SCORES -> Fit -> table and figure.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from psymem._version import __version__

_PUBLIC = {
    "load_corpus": "psymem.data.corpora.catalogue",
    "load_stimuli": "psymem.data.items.stimuli",
    "load_backend": "psymem.backends.load",
    "score": "psymem.scoring.score",
    "fit": "psymem.fitting.fit",
    "compare": "psymem.fitting.comparison",
    "attraction": "psymem.studies.attraction.study",
    "reading": "psymem.studies.reading.study",
    "fixations": "psymem.studies.fixations.study",
}

__all__ = [
    "__version__",
    "attraction",
    "checkpoints",
    "compare",
    "fit",
    "fixations",
    "load_backend",
    "load_corpus",
    "load_stimuli",
    "reading",
    "score",
]


def __getattr__(name: str) -> Any:
    """Load a public function on first use, so that ``import psymem`` stays light."""
    if name == "checkpoints":
        return import_module("psymem.checkpoints")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'psymem' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
