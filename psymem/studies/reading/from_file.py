"""Reading studies in TOML: corpora, models, measures and every decision of the analysis."""

from __future__ import annotations

from pathlib import Path

from psymem.scoring.parallel import Workers
from psymem.scoring.reading import Reading
from psymem.studies.common.corpora_of_file import corpora_of
from psymem.studies.common.corpus_scores import ScoringPlan
from psymem.studies.reading.folder import tables
from psymem.studies.reading.settings import StudySettings
from psymem.studies.reading.study import ReadingStudy, reading, with_responses
from psymem.studies.study_file import Kind, Progress, StudyFile


def _run(file: StudyFile, out: Path, progress: Progress | None) -> ReadingStudy:
    settings = file.settings("settings", StudySettings, files=("frequencies", "ngram"))
    scores = [file.beside(name) for name in file.get("scores", [])]
    return reading(
        corpora_of(file),
        file.get("models", [] if scores else ["cbr-rnn"]),
        with_responses(settings, file.get("responses", [settings.response])),
        plan=ScoringPlan(
            file.get("measures", ["surprisal"]),
            file.settings("reading", Reading),
            file.settings("workers", Workers),
        ),
        scores=scores,
        out=out,
        progress=progress,
    )


READING = Kind(
    _run,
    tables,
    ("delta_loglik", "coefficients"),
    ("corpus", "models", "measures", "responses", "scores", "settings", "reading", "workers"),
)
"""How much measures explain of reading times."""
