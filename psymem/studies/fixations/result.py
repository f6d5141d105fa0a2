"""How model fixations and human ones are compared, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from psymem.errors import DataError
from psymem.studies.common.intervals import RESAMPLES
from psymem.studies.fixations.models import FixationFits
from psymem.studies.reading.settings import StudySettings


@dataclass(frozen=True)
class FixationSettings:
    """How model fixations and human times are compared.

    Parameters
    ----------
    unread
        What a reader contributes to a word's mean time without having fixated it: nothing ("left-out") or 0 ms ("zero",
        as networks are trained).
    rare_below
        Zipf frequency below which a word is of low frequency; 4 is 10 in a million (van Heuven et al., 2014).
    sentences
        Sentences of the figure as ``TEXT:SENTENCE``; `n_sentences` drawn at random by default.
    n_sentences
        How many to draw.
    mixed_models
        Whether mixed models are fitted.
    study
        Settings of the mixed models; the response is always the corpus's total reading time.
    resamples, seed
        Of the bootstrap over texts, and of the drawing of sentences.
    """

    unread: str = "left-out"
    rare_below: float = 4.0
    sentences: Sequence[str] = ()
    n_sentences: int = 4
    mixed_models: bool = True
    study: StudySettings = field(default_factory=StudySettings)
    resamples: int = RESAMPLES
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if self.rare_below != self.rare_below:
            raise DataError("rare_below is no number; it is a Zipf frequency such as 4.")
        for name, least in (("n_sentences", 1), ("resamples", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise DataError(f"{name} is {getattr(self, name)}; it is a whole number of at least {least}.")


@dataclass(frozen=True)
class FixationResult:
    """All that comes out of a comparison of model and human fixations.

    Attributes
    ----------
    corpus
        Name of the corpus.
    words
        One row per word and model: fixation with its measure and unit, human mean time, predictors
        (`psymem.studies.fixations.words.model_words`).
    correlations, by_text
        Rank correlations, mean over texts and one by one.
    fits
        Mixed models of total reading times.
    spread
        Variance of model and human durations.
    rare_words
        Words of low against high frequency.
    plotted
        The numbers of the figure.
    settings
        The settings.
    about
        Corpus, models with checksums, response, notes.
    """

    corpus: str
    words: pd.DataFrame
    correlations: pd.DataFrame
    by_text: pd.DataFrame
    fits: FixationFits
    spread: pd.DataFrame
    rare_words: pd.DataFrame
    plotted: pd.DataFrame
    settings: FixationSettings = FixationSettings()
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """Models, families before their instances."""
        return list(dict.fromkeys(self.words["model"]))

    @property
    def not_causal(self) -> list[str]:
        """Models whose values at a word depend on later words."""
        return [m for m, own in self.words.groupby("model", sort=False) if not own["causal"].all()]
