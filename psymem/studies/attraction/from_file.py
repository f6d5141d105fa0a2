"""Factorial studies in TOML: an item set, models, measures and how effects are tested."""

from __future__ import annotations

from pathlib import Path

from psymem.scoring.reading import Reading
from psymem.studies.attraction.folder import tables
from psymem.studies.attraction.human import HumanSource
from psymem.studies.attraction.significance import Tests
from psymem.studies.attraction.study import FactorialStudy, attraction
from psymem.studies.study_file import Kind, Progress, StudyFile


def _run(file: StudyFile, out: Path, progress: Progress | None) -> FactorialStudy:
    human = file.settings("human", HumanSource, files=("path",)) if file.get("human") else None
    return attraction(
        file.get("models", ["cbr-rnn"]),
        file.beside(file.get("stimuli", "attraction-core")),
        out,
        measures=file.get("measures"),
        reading=file.settings("reading", Reading),
        tests=file.settings("tests", Tests),
        keep_oov=file.get("keep_oov", False),
        human=human,
        supertag_weight=file.get("supertag_weight"),
        seed=file.get("seed", 1),
        progress=progress,
    )


FACTORIAL = Kind(
    _run,
    tables,
    ("effects",),
    ("stimuli", "models", "measures", "keep_oov", "supertag_weight", "seed", "reading", "tests", "human"),
)
"""Items crossed with conditions."""
