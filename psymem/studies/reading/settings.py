"""Every decision of a reading study, with its default; the report prints all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from psymem.data.corpora.corpus import SCALED, Corpus
from psymem.data.words.frequencies import ENGLISH, check_language
from psymem.errors import DataError, UnknownNameError
from psymem.fitting.multiplicity import METHODS

SCALES = ("raw", "log")
STANDARDISE = ("z", "centre", "none")
EDGES = ("sentence-first", "sentence-last", "line-first", "line-last")
WORD_INTERCEPTS = ("token", "type", "none")
SELF_PACED = "self_paced_reading_time"
CUT_OFFS = {"eye": (80.0, 3000.0), "self-paced": (100.0, 3000.0)}
"""Shortest and longest duration in ms that is kept; those of self-paced reading are Futrell et al.'s (2021)."""


@dataclass(frozen=True)
class StudySettings:
    """How reading times are analysed.

    Parameters
    ----------
    response
        Column of READING, in ms.
    scale
        "raw" (ms) or "log" (natural logarithm of ms).
    shortest, longest
        Durations outside are left out; by default 80 to 3000 ms for eye movements, 100 to 3000 ms for self-paced
        reading, and none for averages over readers. 0 and infinity switch them off.
    leave_out
        Which words at edges are left out: "sentence-first", "sentence-last", "line-first", "line-last" (lines where the
        corpus has them).
    keep_oov
        Keep words that a model does not know (their surprisal is that of ``<unk>``).
    spillover
        How many words before the word enter with their length, frequency and measure.
    spillover_within
        "sentence" or "text": what words before have to share.
    standardise
        "z" (centre, divide by the standard deviation of the rows analysed), "centre" or "none".
    punctuation_in_length
        Whether the punctuation around a word counts in its length.
    frequencies, language
        Table of frequencies (see `psymem.data.words.frequencies`), or the language of wordfreq's list, such as "de"; by
        default that of the corpus's card, or else English, and the notes say so.
    ngram, ngram_order
        Text to train an n-gram model on, whose surprisal joins the base model; its order.
    base
        Your own fixed effects instead of the base model's: "length * log_frequency + position".
    random_effects
        Your own random effects instead of those by subject and word: "(1 | subject) + (1 | text_id)"; "none" for a
        linear model.
    word_intercepts
        Words whose intercepts vary: "token" (each place in the text), "type" (each spelling) or "none".
    levels, contrasts
        Order and coding of categories in `base`; treatment coding by default.
    weights
        Column of weights for averages, such as the number of readers.
    correction
        Over all models and measures of one response: "holm", "bonferroni" or "none".
    folds, group_by
        Cross-validation: number of folds (0 for none), and what is held out whole: "text_id" or "sentence".
    permutations, seed
        Of the flips of signs (held-out tests and intervals), and of the folds.
    engine
        Fitting engine.
    alpha
        Significance level in the report.
    by_reader
        Whether each reader's own effects are estimated.
    """

    response: str = "gaze_duration"
    scale: str = "raw"
    shortest: float | None = None
    longest: float | None = None
    leave_out: Sequence[str] = EDGES
    keep_oov: bool = False
    spillover: int = 2
    spillover_within: str = "sentence"
    standardise: str = "z"
    punctuation_in_length: bool = False
    frequencies: str | Path | None = None
    language: str = ""
    ngram: str | Path | None = None
    ngram_order: int = 3
    base: str | None = None
    random_effects: str | None = None
    word_intercepts: str = "token"
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contrasts: Mapping[str, Any] = field(default_factory=dict)
    weights: str | None = None
    correction: str = "holm"
    folds: int = 10
    group_by: str = "text_id"
    permutations: int = 10_000
    seed: int = 1
    engine: str = "profiled"
    alpha: float = 0.05
    by_reader: bool = False

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        choices = {
            "scale": (self.scale, SCALES),
            "way to standardise": (self.standardise, STANDARDISE),
            "kind of word intercepts": (self.word_intercepts, WORD_INTERCEPTS),
            "unit of spillover": (self.spillover_within, ("sentence", "text")),
            "unit to hold out": (self.group_by, ("text_id", "sentence")),
            "correction for multiple tests": (self.correction, tuple(METHODS)),
        }
        for kind, (given, known) in choices.items():
            if given not in known:
                raise UnknownNameError(kind, given, known)
        for edge in self.leave_out:
            if edge not in EDGES:
                raise UnknownNameError("kind of word to leave out", edge, EDGES)
        if not 0 <= self.spillover <= 10:
            raise DataError(f"spillover is {self.spillover}; it is a number of words from 0 to 10.")
        if self.folds == 1 or self.folds < 0:
            raise DataError(f"folds is {self.folds}; it is 0 (no cross-validation) or at least 2.")
        low = 0.0 if self.shortest is None else self.shortest
        high = float("inf") if self.longest is None else self.longest
        if not low < high:
            raise DataError(
                f"shortest is {low:g} and longest {high:g}, which no duration in ms can fulfil; the "
                "shortest has to be below the longest."
            )
        if self.seed < 0:
            raise DataError(f"seed is {self.seed}; it is a whole number of at least 0.")
        check_language(self.language)
        if not 0 < self.alpha < 1:
            raise DataError(f"alpha is {self.alpha}; it lies between 0 and 1, as in 0.05.")

    @property
    def within(self) -> tuple[str, ...]:
        """Columns that words before share."""
        return ("text_id", "sentence_id") if self.spillover_within == "sentence" else ("text_id",)

    @property
    def response_column(self) -> str:
        """Name of the response in formulas."""
        return self.response if self.scale == "raw" else f"log_{self.response}"

    @property
    def unit(self) -> str:
        """Unit of the response: ms, unless it was published scaled to 0-100 (`psymem.data.corpora.corpus.SCALED`)."""
        unit = "points of 100" if self.response in SCALED else "ms"
        return unit if self.scale == "raw" else f"log {unit}"

    @property
    def effect_unit(self) -> str:
        """Unit of a predictor's effect."""
        return f"{self.unit} per {'SD' if self.standardise == 'z' else 'unit'}"

    def of_corpus(self, corpus: Corpus) -> StudySettings:
        """Return the settings with the language of the corpus, where none was given."""
        return replace(self, language=self.language or corpus.card.get("language_code") or ENGLISH)

    def language_notes(self, corpus: Corpus) -> list[str]:
        """Say so if nobody has said in which language the words are."""
        if self.language or self.frequencies or corpus.card.get("language_code"):
            return []
        return [
            f"Word frequencies are those of English: nobody said in which language the corpus {corpus.name} is. Choose "
            "wordfreq's list of another one with --language, such as de."
        ]

    def cut_offs(self, averaged: bool) -> tuple[float, float]:
        """Shortest and longest duration kept, in ms; averages over readers have none by default."""
        kind = "self-paced" if self.response == SELF_PACED else "eye"
        low, high = (0.0, float("inf")) if averaged else CUT_OFFS[kind]
        low = low if self.shortest is None else self.shortest
        return low, high if self.longest is None else self.longest

    def described(self, averaged: bool) -> list[tuple[str, str]]:
        """Every setting in words, for the report."""
        low, high = self.cut_offs(averaged)
        kept = "all" if low <= 0 and high == float("inf") else f"{low:g} to {high:g} ms"
        words = {0: "none", 1: "1 word"}.get(self.spillover, f"{self.spillover} words")
        scaled = {
            "z": "centred, divided by the standard deviation of the rows analysed",
            "centre": "centred",
            "none": "as they are",
        }[self.standardise]
        frequency = (
            f"table {self.frequencies}"
            if self.frequencies
            else f"Zipf scale of wordfreq, language {self.language or ENGLISH}"
        )
        return [
            ("response", f"{self.response}, {self.unit.replace('log', 'natural logarithm of')}"),
            ("durations kept", kept),
            ("words left out", ", ".join(self.leave_out) or "none at edges"),
            ("words unknown to a model", "kept" if self.keep_oov else "left out, also as spillover"),
            ("spillover", f"{words}, within the {self.spillover_within}"),
            ("predictors", scaled),
            (
                "length",
                f"characters, {'with' if self.punctuation_in_length else 'without'} punctuation around the word",
            ),
            ("log frequency", frequency),
            ("n-gram baseline", f"order {self.ngram_order}, {self.ngram}" if self.ngram else "none"),
            ("contrast coding", self._coding()),
            (
                "correction for several tests",
                f"{self.correction}, over the models and measures of a response",
            ),
            ("cross-validation", f"{self.folds} folds by {self.group_by}" if self.folds else "none"),
            ("permutations, seed", f"{self.permutations:,}, {self.seed}"),
            ("engine, alpha", f"{self.engine}, {self.alpha:g}"),
        ]

    def _coding(self) -> str:
        given = [f"{k}: {v}" for k, v in self.contrasts.items()]
        return "; ".join(
            [*given, "treatment coding of other categories (the base model has none by default)"]
        )
