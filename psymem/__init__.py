"""psymem: what a language model's memory and expectations say about human reading.

WORDS -> Trace -> SCORES -> Fit -> table and figure.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from psymem._version import __version__

_PUBLIC = {
    "load_corpus": "psymem.data.corpora.catalogue:load_corpus",
    "load_stimuli": "psymem.data.items.stimuli:load_stimuli",
    "load_backend": "psymem.backends.load:load_backend",
    "score": "psymem.scoring.score:score",
    "Reading": "psymem.scoring.reading:Reading",
    "fit": "psymem.fitting.fit:fit",
    "compare": "psymem.fitting.comparison:compare",
    "power": "psymem.fitting.power:power",
    "attraction": "psymem.studies.attraction.study:attraction",
    "Tests": "psymem.studies.attraction.significance:Tests",
    "reading": "psymem.studies.reading.study:reading",
    "StudySettings": "psymem.studies.reading.settings:StudySettings",
    "fixations": "psymem.studies.fixations.study:fixations",
    "FixationSettings": "psymem.studies.fixations.result:FixationSettings",
    "heads": "psymem.studies.heads:track_relation",
    "memory": "psymem.studies.memory.study:memory_decay",
    "suites": "psymem.studies.suites.study:run_suites",
    "pairs": "psymem.studies.suites.pairs:run_pairs",
    "run": "psymem.studies.study_file:run",
}
"""Public name -> where it stands; loaded on first use, so that ``import psymem`` stays light."""

_MODULES = ("checkpoints", "models", "plotting")
"""Modules that are public as they are."""

__all__ = ["__version__", *sorted(_PUBLIC), *_MODULES]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _MODULES:
        return import_module(f"psymem.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'psymem' has no attribute {name!r}")
    module, attribute = _PUBLIC[name].split(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
