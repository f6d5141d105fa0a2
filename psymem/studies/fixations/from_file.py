"""Comparisons of fixations in TOML: a corpus, fixation-guided models and the settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from psymem.errors import DataError
from psymem.scoring.reading import Reading
from psymem.studies.common.corpora_of_file import corpora_of
from psymem.studies.fixations.folder import tables
from psymem.studies.fixations.result import FixationSettings
from psymem.studies.fixations.study import FixationStudy, fixations
from psymem.studies.reading.settings import StudySettings
from psymem.studies.study_file import Kind, Progress, StudyFile


def _run(file: StudyFile, out: Path, progress: Progress | None) -> FixationStudy:
    corpora = corpora_of(file)
    if len(corpora) > 1:
        raise DataError(
            f"{file.path} names {len(corpora)} corpora; fixations are compared one corpus at a time."
        )
    models_fitted = file.settings("mixed_models", StudySettings, files=("frequencies", "ngram"))
    how = file.settings("reading", Reading)
    scores = [file.beside(name) for name in file.get("scores", [])]
    return fixations(
        corpora[0],
        file.get("models", [] if scores else ["fgp-lstm"]),
        replace(file.settings("settings", FixationSettings), study=models_fitted),
        surprisal_of=file.get("surprisal_of", []),
        scores=scores,
        out=out,
        progress=progress,
        lower_case=how.lower_case,
        **how.settings,
    )


FIXATIONS = Kind(
    _run,
    tables,
    ("correlations", "gains", "spread", "rare_words"),
    ("corpus", "models", "surprisal_of", "scores", "settings", "mixed_models", "reading"),
)
"""Model fixations beside people's."""
