"""Reading studies: how much models' measures explain of reading times, beyond length and frequency.

`reading_study` is the whole way from corpora and models to tables, figures and a report; `analyse_corpus` starts from
scores that exist already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.data.corpus import Corpus
from psymem.designs.by_reader import reader_effects
from psymem.designs.effect_shape import Shape, effect_shape
from psymem.designs.model_measures import Predictor, add_measures, measures_of, read_scores
from psymem.designs.predictive_power import Power, StudyRows, predictive_power
from psymem.designs.study_rows import study_rows, word_predictors
from psymem.designs.study_scores import Models, ScoringPlan, score_corpus
from psymem.designs.study_settings import StudySettings
from psymem.errors import DataError, FitError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Analysis:
    """One response of one corpus.

    Attributes
    ----------
    corpus
        Name of the corpus.
    settings
        The settings, with the response.
    averaged
        Whether the data are means over readers.
    rows
        What was fitted.
    exclusions
        What was left out (`psymem.designs.exclusions.EXCLUSION_COLUMNS`).
    scales
        Mean and standard deviation of every predictor.
    power
        What each measure adds.
    shapes
        Predictor -> the shape of its effect; instances are left out.
    readers
        Effects of each reader; None unless asked for.
    predictors
        The measures.
    notes
        Plain sentences.
    """

    corpus: str
    settings: StudySettings
    averaged: bool
    rows: StudyRows
    exclusions: pd.DataFrame
    scales: pd.DataFrame
    power: Power
    shapes: Mapping[tuple[str, str], Shape]
    readers: pd.DataFrame | None
    predictors: tuple[Predictor, ...]
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Corpus and response."""
        return f"{self.corpus}: {self.settings.response}"

    @property
    def facts(self) -> dict[str, Any]:
        """Counts of what was analysed."""
        frame = self.rows.frame
        return {
            "corpus": self.corpus,
            "response": self.settings.response,
            "rows": len(frame),
            "readers": 0 if self.averaged else int(frame["subject"].nunique()),
            "texts": int(frame["text_id"].nunique()),
            "words": int(frame["word_token"].nunique()),
        }


@dataclass(frozen=True)
class ReadingStudy:
    """All that comes out of a reading study.

    Attributes
    ----------
    analyses
        One for each corpus and response.
    scores
        Corpus -> SCORES of all its words.
    about
        Corpora with their cards and notes, models with checksums, settings.
    """

    analyses: tuple[Analysis, ...]
    scores: Mapping[str, pd.DataFrame]
    about: Mapping[str, Any] = field(default_factory=dict)

    def _gathered(self, tables: Callable[[Analysis], pd.DataFrame]) -> pd.DataFrame:
        parts = []
        for analysis in self.analyses:
            part = tables(analysis).copy()
            part.insert(0, "response", analysis.settings.response)
            part.insert(0, "corpus", analysis.corpus)
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    @property
    def delta_loglik(self) -> pd.DataFrame:
        """What each measure adds, over corpora and responses."""
        return self._gathered(lambda a: a.power.table)

    @property
    def coefficients(self) -> pd.DataFrame:
        """Effects of the measures, over corpora and responses."""
        return self._gathered(lambda a: a.power.coefficients)

    @property
    def base_coefficients(self) -> pd.DataFrame:
        """Coefficients of the base models."""
        return self._gathered(lambda a: a.power.base.coefficients)

    @property
    def exclusions(self) -> pd.DataFrame:
        """What was left out."""
        return self._gathered(lambda a: a.exclusions)

    @property
    def predictors(self) -> pd.DataFrame:
        """Mean and standard deviation of every predictor."""
        return self._gathered(lambda a: a.scales)

    @property
    def readers(self) -> pd.DataFrame | None:
        """Effects by reader, where they were asked for and there are readers."""
        if all(a.readers is None for a in self.analyses):
            return None
        return self._gathered(lambda a: a.readers if a.readers is not None else pd.DataFrame())

    def shape_table(self, which: str) -> pd.DataFrame:
        """Return ``test``, ``curve`` or ``bins`` of every shape, with corpus, response, model and measure."""
        parts = []
        for analysis in self.analyses:
            for (model, measure), shape in analysis.shapes.items():
                about = {"corpus": analysis.corpus, "response": analysis.settings.response}
                part = getattr(shape, which).assign(**about, model=model, measure=measure)
                parts.append(part[[*about, "model", "measure", *getattr(shape, which).columns]])
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def figures(self) -> dict[str, Figure]:
        """Draw the figures, by file name."""
        from psymem.designs.study_figures import figures

        return figures(self)

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables with sidecars, figures and report into `folder`, all or none; return the paths."""
        from psymem.designs.study_folder import save

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
    return [said, f"{how} was fitted."]


def reading_study(
    corpora: Sequence[Corpus],
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
        Tables of scores made elsewhere (`psymem.designs.model_measures.read_scores`), for a single corpus.
    out
        Folder for the results; nothing is written without it.
    progress
        Called while models read and while fits are made.

    Raises
    ------
    PsymemError
        For anything that cannot be read, scored or fitted.
    """
    from psymem.outputs import check_writable

    if out is not None:
        check_writable(Path(out))
    if not models and not scores:
        raise DataError("There is nothing to explain reading times with: give models or tables of scores.")
    if scores and len(corpora) > 1:
        raise DataError("Tables of scores belong to one corpus; analyse the corpora one at a time.")
    wanted = [settings] if isinstance(settings, StudySettings) else list(settings)
    analyses, all_scores, about = [], {}, {"corpora": [_facts(c) for c in corpora]}
    for corpus in corpora:
        own, facts = score_corpus(corpus, models, plan, Path(out) if out else None, progress)
        tables = [read_scores(path, corpus.words) for path in scores]
        together = pd.concat([t for t in (own, *tables) if t is not None], ignore_index=True)
        all_scores[corpus.name] = together
        about |= {"scoring": facts, "scores": [str(path) for path in scores]}
        for setting in wanted:
            report = _labelled(progress, f"{corpus.name}, {setting.response}")
            analyses.append(
                analyse_corpus(corpus, together, setting, jobs=plan.workers.jobs, progress=report)
            )
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
