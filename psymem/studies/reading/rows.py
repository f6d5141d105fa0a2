"""From a corpus and the models' scores to the rows that every model of a reading study is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.words.frequencies import ENGLISH, log_frequency
from psymem.data.words.ngram import train_ngram
from psymem.data.words.predictors import PREVIOUS, bare, position, previous, word_length
from psymem.errors import DataError, UnknownNameError
from psymem.fitting.fit import fit
from psymem.fitting.result import Fit
from psymem.studies.reading.exclusions import Selection, exclude_incomplete, exclude_readings, with_edges
from psymem.studies.reading.model_measures import Predictor
from psymem.studies.reading.settings import StudySettings
from psymem.tables import TEXT_KEY, require_columns

SPILLING = ("length", "log_frequency", "ngram_surprisal_bits")
"""Base predictors that also enter for the words before."""
UNITS = {"length": "characters", "log_frequency": "log10 per billion", "position": "words", "bits": "bits"}


@dataclass(frozen=True)
class StudyRows:
    """Rows ready to be fitted, and the formulas that fit them.

    Parameters
    ----------
    frame
        Rows with standardised predictors; the index has no repeats.
    fixed
        Fixed effects of the base model.
    random
        Random effects: "" for a linear model.
    settings
        The settings.
    """

    frame: pd.DataFrame = field(repr=False)
    fixed: str
    random: str
    settings: StudySettings

    def formula(self, extra: Sequence[str] = (), random: str | None = None) -> str:
        """Formula of the base model and further fixed effects."""
        random = self.random if random is None else random
        parts = [self.fixed, *extra, *([random] if random else [])]
        return f"{self.settings.response_column} ~ {' + '.join(parts)}"

    def fit(self, formula: str, *, reml: bool = False) -> Fit:
        """Fit a formula to the rows."""
        s = self.settings
        options = {"levels": s.levels, "contrasts": s.contrasts, "weights": s.weights}
        return fit(self.frame, formula, reml=reml, engine=s.engine, **options)  # type: ignore[arg-type]

    @property
    def groups(self) -> pd.Series:
        """What is held out whole."""
        if self.settings.group_by == "text_id":
            return self.frame["text_id"]
        return (self.frame["text_id"] + ":" + self.frame["sentence_id"].astype(str)).rename("sentence")

    @property
    def folds(self) -> int:
        """Folds of the cross-validation: as many as asked for, or as there are groups; 0 where there is one group."""
        groups = int(self.groups.nunique())
        return min(self.settings.folds, groups) if groups > 1 else 0


def word_predictors(words: pd.DataFrame, settings: StudySettings) -> pd.DataFrame:
    """Return WORDS with what the base model knows about each word, and the words before it.

    Parameters
    ----------
    words
        All words of the texts in reading order.
    settings
        Length, frequencies, n-gram model, spillover.

    Returns
    -------
    pandas.DataFrame
        `words` with ``length, log_frequency, position``, ``ngram_surprisal_bits`` if asked for, those of the words
        before, ``word_token, word_type`` and the edges of sentences.
    """
    found = with_edges(words)
    found["length"] = word_length(found["word"], punctuation=settings.punctuation_in_length)
    language = settings.language or ENGLISH
    found["log_frequency"] = log_frequency(found["word"], settings.frequencies, language=language)
    found["position"] = position(found)
    found["position_back"] = position(found, settings.within)
    if settings.ngram is not None:
        found["ngram_surprisal_bits"] = train_ngram(settings.ngram, settings.ngram_order).surprisal(found)
    spilling = [c for c in SPILLING if c in found]
    found = found.join(previous(found, spilling, settings.spillover, within=settings.within))
    found["word_token"] = found["text_id"] + ":" + found["word_id"].astype(str)
    found["word_type"] = [(bare(word) or word).lower() for word in found["word"]]
    return found


def base_columns(words: pd.DataFrame, settings: StudySettings) -> list[str]:
    """Columns of the base model, in the order of its formula."""
    found = ["position"]
    for name in (c for c in SPILLING if c in words):
        found += [name, *(PREVIOUS.format(name=name, back=k) for k in range(1, settings.spillover + 1))]
    return found


def study_rows(
    corpus: Corpus, words: pd.DataFrame, predictors: Sequence[Predictor], settings: StudySettings
) -> tuple[StudyRows, Selection, pd.DataFrame]:
    """Join readers' times with the words, leave out what is excluded, and standardise the predictors.

    Parameters
    ----------
    corpus
        The corpus.
    words
        From `word_predictors`, with the columns of `predictors`.
    predictors
        The models' measures.
    settings
        The settings.

    Returns
    -------
    rows
        What is fitted.
    selection
        What was left out.
    scales : pandas.DataFrame
        ``column, measure, model, mean, sd`` of every predictor over the rows analysed, before it was standardised.

    Raises
    ------
    DataError
        If the corpus has no such response or no row is left; UnknownNameError for a column that is not there.
    """
    require_response(corpus, settings)
    keep = [c for c in words if c not in ("word", *TEXT_KEY) and c not in corpus.reading]
    joined = corpus.reading.merge(
        words[[*TEXT_KEY, *keep]], on=list(TEXT_KEY), how="left", validate="many_to_one"
    )
    chosen = exclude_readings(joined, settings, corpus.averaged)
    base = base_columns(words, settings)
    if settings.base is not None:
        from psymem.fitting.formula.terms import parse_formula

        base = sorted(parse_formula(f"y ~ {settings.base}").predictors)
        require_columns(chosen.frame, base, "the rows of the study")
    measures = {f"{p.measure} of {p.model}": p.columns for p in predictors}
    exclude_incomplete(chosen, base, measures, settings.spillover)
    frame = chosen.frame.reset_index(drop=True)
    if settings.scale == "log":
        frame[settings.response_column] = np.log(frame[settings.response])
    numeric = [c for c in base if frame[c].dtype.kind in "if"]
    frame, scales = _standardised(frame, [*numeric, *(c for p in predictors for c in p.columns)], settings)
    scales = _named(scales, predictors)
    fixed = settings.base or " + ".join(base)
    return StudyRows(frame, fixed, random_effects(frame, settings), settings), chosen, scales


def require_response(corpus: Corpus, settings: StudySettings) -> None:
    """Raise UnknownNameError if the corpus has no such response."""
    if settings.response not in corpus.measures:
        raise UnknownNameError(
            "response",
            settings.response,
            corpus.measures,
            f"(durations of the corpus {corpus.name}; name one with --response.)",
        )


def random_effects(frame: pd.DataFrame, settings: StudySettings) -> str:
    """Random effects of the base model, as far as the rows can tell them apart.

    Intercepts by subject (with two readers or more), and by word token where words have been read by several readers,
    or by word type where words come up again.
    """
    if settings.random_effects is not None:
        return "" if settings.random_effects.strip() == "none" else settings.random_effects
    readers = frame["subject"].nunique()
    found = ["(1 | subject)"] if readers > 1 else []
    column = f"word_{settings.word_intercepts}"
    if readers > 1 and column in frame and frame[column].nunique() < len(frame):
        found.append(f"(1 | {column})")
    return " + ".join(found)


def _standardised(
    frame: pd.DataFrame, columns: Sequence[str], settings: StudySettings
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Centre and scale columns over the rows analysed, and keep what they were."""
    values = frame[list(columns)].astype(float)
    mean, sd = values.mean(), values.std(ddof=1)
    constant = sd.index[~(sd > 1e-12 * mean.abs().clip(lower=1e-300))]
    if len(constant):
        raise DataError(
            f"{', '.join(constant)} has the same value in all {len(frame):,} rows that are left, so it explains nothing. "
            "Loosen the exclusions, or name other fixed effects with --base."
        )
    scales = pd.DataFrame({"column": values.columns, "mean": mean.to_numpy(), "sd": sd.to_numpy()})
    if settings.standardise == "none":
        return frame, scales.assign(subtracted=0.0, divided_by=1.0)
    divisor = sd if settings.standardise == "z" else 1.0
    scaled = (values - mean) / divisor
    divided = sd.to_numpy() if settings.standardise == "z" else 1.0
    whole = frame.assign(
        **scaled
    ).copy()  # in one piece: each of hundreds of columns would stay one of its own
    return whole, scales.assign(subtracted=mean.to_numpy(), divided_by=divided)


def _named(scales: pd.DataFrame, predictors: Sequence[Predictor]) -> pd.DataFrame:
    """Say which measure of which model a column is."""
    about = {c: (p.measure, p.model, k) for p in predictors for k, c in enumerate(p.columns)}
    named = [about.get(c, (c, "", None)) for c in scales["column"]]
    return scales.assign(
        measure=[m for m, _, _ in named], model=[m for _, m, _ in named], words_back=[k for _, _, k in named]
    )
