"""Reading studies: how much models' measures explain of reading times, beyond length and frequency.

`reading` is the whole way from corpora and models to tables, figures and a report; `analyse_corpus` starts from
scores that exist already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.errors import DataError, FitError
from psymem.studies.common.corpus_scores import Models, ScoringPlan, score_corpus
from psymem.studies.reading.by_reader import reader_effects
from psymem.studies.reading.effect_shape import Shape, effect_shape
from psymem.studies.reading.figures import figures
from psymem.studies.reading.folder import save
from psymem.studies.reading.model_measures import Predictor, add_measures, measures_of, read_scores
from psymem.studies.reading.predictive_power import predictive_power
from psymem.studies.reading.result import Analysis, ReadingResult
from psymem.studies.reading.rows import StudyRows, require_response, study_rows, word_predictors
from psymem.studies.reading.settings import StudySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class ReadingStudy(ReadingResult):
    """A reading study that can be drawn and saved."""

    def figures(self) -> dict[str, Figure]:
        """Draw the figures, by file name."""
        return figures(self)

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables with sidecars, figures and report into `folder`, all or none; return the paths."""
        return save(self, Path(folder))


def analyse_corpus(
    corpus: Corpus,
    scores: pd.DataFrame,
    settings: StudySettings = StudySettings(),
    *,
    measures: Sequence[str] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Analysis:
    """Analyse one response of a corpus with scores that exist already.

    Parameters
    ----------
    corpus
        The corpus.
    scores
        SCORES of its words, one row per word and model.
    settings
        How.
    measures
        Columns of `scores`; all its measures by default.
    jobs
        Processes for the cross-validation.
    progress
        Called with what is done, how much, and how much there is.

    Raises
    ------
    PsymemError
        If no row is left, a column is not there, or the base model cannot be fitted.
    """
    words = word_predictors(corpus.words, settings)
    words, predictors = add_measures(
        words,
        scores,
        list(measures or measures_of(scores)),
        spillover=settings.spillover,
        within=settings.within,
        keep_oov=settings.keep_oov,
    )
    rows, selection, scales = study_rows(corpus, words, predictors, settings)
    power = predictive_power(rows, predictors, jobs=jobs, progress=progress)
    shapes, notes = _shapes(rows, predictors, scales)
    readers = None
    if settings.by_reader and not corpus.averaged:
        readers = reader_effects(rows, [p for p in predictors if not p.instance])
    return Analysis(
        corpus.name,
        settings,
        corpus.averaged,
        rows,
        selection.table,
        scales,
        power,
        shapes,
        readers,
        tuple(predictors),
        (*_data_notes(corpus, rows), *power.notes, *notes),
    )


def _shapes(
    rows: StudyRows, predictors: Sequence[Predictor], scales: pd.DataFrame
) -> tuple[dict[tuple[str, str], Shape], list[str]]:
    """Shape of the effect of each family's measures."""
    found, notes = {}, []
    units = scales.set_index("column")
    for predictor in predictors:
        if predictor.instance:
            continue
        own = units.loc[predictor.columns[0]]
        try:
            shape = effect_shape(rows, predictor, float(own["subtracted"]), float(own["divided_by"]))
            found[(predictor.model, predictor.measure)] = shape
        except FitError as error:
            notes.append(f"No check of linearity for {predictor.measure} of {predictor.model}: {error}")
    return found, notes


def _data_notes(corpus: Corpus, rows: StudyRows) -> list[str]:
    """Say what a reader has to know about averaged data."""
    if not corpus.averaged:
        return []
    said = (
        "The data are means over readers, so differences between readers are not in the model and it generalises over "
        "words, not over readers."
    )
    weights = rows.settings.weights
    kind = "linear model" if not rows.random else "linear mixed model"
    how = (
        f"A {kind} weighted by {weights}"
        if weights
        else f"A {kind} with equal weights, since the table has no number of readers per word (--weights COLUMN)"
    )
    readers = (
        ["There are no readers, so no effects by reader (--by-reader)."] if rows.settings.by_reader else []
    )
    return [said, f"{how} was fitted.", *readers]


def reading(
    corpora: Corpus | Sequence[Corpus],
    models: Models = (),
    settings: StudySettings | Sequence[StudySettings] = StudySettings(),
    *,
    plan: ScoringPlan = ScoringPlan(),
    scores: Sequence[str | Path] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> ReadingStudy:
    """Score the words of corpora and analyse their reading times.

    Parameters
    ----------
    corpora
        From `psymem.load_corpus`.
    models
        Names, folders or backends; "cbr-rnn" is the mean over its instances, with the spread over them.
    settings
        One analysis for each, such as one per response.
    plan
        Measures, and how models read and who computes.
    scores
        Tables of scores made elsewhere (`psymem.studies.reading.model_measures.read_scores`), for a single corpus.
    out
        Folder for the results; nothing is written without it.
    progress
        Called while models read and while fits are made.

    Raises
    ------
    PsymemError
        For anything that cannot be read, scored or fitted.
    """
    corpora = [corpora] if isinstance(corpora, Corpus) else list(corpora)
    from psymem.io.outputs import check_writable

    if out is not None:
        check_writable(Path(out))
    if not models and not scores:
        raise DataError("There is nothing to explain reading times with: give models or tables of scores.")
    if scores and len(corpora) > 1:
        raise DataError("Tables of scores belong to one corpus; analyse the corpora one at a time.")
    wanted = [settings] if isinstance(settings, StudySettings) else list(settings)
    for corpus in corpora:  # before models read for hours
        for setting in wanted:
            require_response(corpus, setting)
    analyses: list[Analysis] = []
    all_scores: dict[str, pd.DataFrame] = {}
    about: dict[str, Any] = {"corpora": [_facts(c) for c in corpora]}
    for corpus in corpora:
        tables = [read_scores(path, corpus.words) for path in scores]  # refused before models read
        own, facts = score_corpus(corpus, models, plan, Path(out) if out else None, progress)
        together = pd.concat([t for t in (own, *tables) if t is not None], ignore_index=True)
        all_scores[corpus.name] = together
        about |= {"scoring": facts, "scores": [str(path) for path in scores]}
        for setting in wanted:
            report = _labelled(progress, f"{corpus.name}, {setting.response}")
            done = analyse_corpus(corpus, together, setting, jobs=plan.workers.jobs, progress=report)
            analyses.append(replace(done, notes=(*done.notes, *facts.get("notes", ()))))
    study = ReadingStudy(tuple(analyses), all_scores, about)
    if out is not None:
        study.save(out)
    return study


def _labelled(progress: Progress | None, name: str) -> Progress | None:
    """Progress that says which analysis it is about."""
    return None if progress is None else lambda what, done, total: progress(f"{name}: {what}", done, total)


def _facts(corpus: Corpus) -> dict[str, Any]:
    """What identifies a corpus, for the report and the sidecars."""
    return {
        "name": corpus.name,
        "card": dict(corpus.card),
        "averaged": corpus.averaged,
        "words": len(corpus.words),
        "rows": len(corpus.reading),
        "notes": list(corpus.notes),
    }


def with_responses(settings: StudySettings, responses: Sequence[str]) -> list[StudySettings]:
    """The same settings for several responses."""
    return [replace(settings, response=response) for response in dict.fromkeys(responses)]
