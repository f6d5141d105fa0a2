"""What comes out of a reading study: one analysis per corpus and response, and their tables together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from psymem.studies.reading.effect_shape import Shape
from psymem.studies.reading.model_measures import Predictor
from psymem.studies.reading.predictive_power import Power
from psymem.studies.reading.rows import StudyRows
from psymem.studies.reading.settings import StudySettings


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
        What was left out (`psymem.studies.reading.exclusions.EXCLUSION_COLUMNS`).
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
class ReadingResult:
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
