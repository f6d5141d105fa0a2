"""What a fixation-predicting network is trained on: each word's total reading time as one of 12 levels, per token.

"Longer Fixations, More Computation" (Findings of EMNLP 2023), sections 3.2 and 4.1: total reading times are divided
by the corpus's mean and averaged over readers, a reader who did not fixate a word counting 0 ms; the words of the
corpus are cut at their quantiles into levels of equal size, 0 the shortest; a token that has a letter or digit in it
takes the level of its word, any other (punctuation) a small one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import LONGEST_MS, Corpus
from psymem.errors import DataError, PsymemWarning

LEVELS = 12
"""Levels of the duration scale, numbered 0..11."""
MEASURE = "total_reading_time"
SHORTEST_MS = 30.0
KEY = ["text_id", "word_id"]

Split = Callable[[Sequence[str]], list[list[str]]]
"""Words to the tokens of each."""


@dataclass(frozen=True)
class LevelledSentence:
    """One sentence of a reading corpus as tokens.

    Attributes
    ----------
    tokens
        Its n tokens.
    levels
        (n,) float: 0..11, NaN where the corpus has no reading time of the word.
    mean, variance
        (n,) float: reading time of the token's word over the corpus's mean, average and variance over readers; 0
        and infinite where a token is no word, NaN where the word was read by too few.
    """

    tokens: list[str]
    levels: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def word_durations(corpus: Corpus) -> pd.DataFrame:
    """Return one row per word of the text with its reading time averaged over readers.

    Returns
    -------
    pandas.DataFrame
        The corpus's words with ``mean_duration`` and ``duration_variance`` (both relative to the corpus's mean;
        readers who did not fixate the word count 0; the variance is the sample variance, NaN for one reader) and
        ``n_readers`` (0 where nobody's data exist).

    Raises
    ------
    DataError
        If the corpus has no total reading times, or they cannot be milliseconds.
    """
    if MEASURE not in corpus.reading.columns:
        have = ", ".join(corpus.measures) or "no durations"
        raise DataError(
            f"The corpus {corpus.name!r} has no total reading times, from which fixations are predicted; it has {have}."
        )
    reading = corpus.reading[[*KEY, "subject", MEASURE]].copy()
    check_durations(corpus.name, reading)
    times = reading[MEASURE].fillna(0.0)
    reading["relative"] = times / times.mean()
    grouped = reading.groupby(KEY, as_index=False)["relative"].agg(["mean", "var", "size"])
    grouped = grouped.rename(
        columns={"mean": "mean_duration", "var": "duration_variance", "size": "n_readers"}
    )
    words = corpus.words.merge(grouped, on=KEY, how="left", validate="one_to_one")
    words["n_readers"] = words["n_readers"].fillna(0).astype(int)
    return words


def check_durations(name: str, reading: pd.DataFrame) -> None:
    """Refuse total reading times that are no milliseconds; negative ones never get as far as this.

    Parameters
    ----------
    name
        Name of the corpus, for the message.
    reading
        READING with ``total_reading_time``.

    Raises
    ------
    DataError
        If the longest time is shorter than any fixation, or longer than a minute.
    """
    longest = reading[MEASURE].max()
    if np.isnan(longest):
        raise DataError(f"No word of the corpus {name!r} has a total reading time: nobody fixated any.")
    if not longest >= SHORTEST_MS:
        raise DataError(
            f"The longest total reading time of the corpus {name!r} is {longest:g}; times in ms were expected. Are they "
            "in seconds, or scaled? --ms-per-unit 1000 reads seconds in a table of your own."
        )
    if longest > LONGEST_MS:
        row = reading.loc[reading[MEASURE].idxmax()]
        raise DataError(
            f"The corpus {name!r} has a total reading time of {longest:g} ms for reader {row['subject']}, text "
            f"{row['text_id']}, word {row['word_id']}; at most {LONGEST_MS:g} ms was expected. Mend or drop it."
        )


def check_levels(k: int) -> int:
    """Return how many of the 12 levels one of `k` components spans, 12 // k.

    Raises
    ------
    DataError
        If `k` is not between 1 and 12.

    Warns
    -----
    PsymemWarning
        If 12 is no multiple of `k`: the last component is then active on more levels than the others.
    """
    if not 1 <= k <= LEVELS:
        raise DataError(
            f"{k} is no number of fixation levels: the duration scale has {LEVELS} levels, so it has to be between 1 "
            f"and {LEVELS}."
        )
    if LEVELS % k:
        warnings.warn(
            f"{LEVELS} levels of duration cannot be shared equally by {k}: each gets {LEVELS // k} level(s), the last "
            f"{LEVELS - (k - 1) * (LEVELS // k)}. Divisors of {LEVELS} avoid this.",
            PsymemWarning,
            stacklevel=2,
        )
    return LEVELS // k


def quantile_levels(values: np.ndarray, k: int = LEVELS) -> np.ndarray:
    """Return (n,) level of each value: cut at the k-quantiles, on the 12-level scale; NaN stays NaN.

    A value that equals a quantile belongs above it. Level q of k becomes q * (12 // k).
    """
    span = check_levels(k)
    known = values[~np.isnan(values)]
    edges = np.quantile(known, np.linspace(0, 1, k + 1)[1:-1]) if len(known) else np.empty(0)
    levels = np.searchsorted(edges, values, side="right") * float(span)
    return np.where(np.isnan(values), np.nan, levels)


def levelled_sentences(
    corpus: Corpus, split: Split, *, k: int = LEVELS, punctuation_level: int = 0, least_readers: int = 1
) -> list[LevelledSentence]:
    """Return the sentences of a corpus as tokens with the levels of their words.

    Parameters
    ----------
    corpus
        A corpus with total reading times.
    split
        Words to tokens, those that a network reads.
    k
        Levels to tell apart.
    punctuation_level
        Level of a token without letter or digit (the released program: 1).
    least_readers
        Words with fewer readers have no level, mean and variance.

    Raises
    ------
    DataError
        If the corpus has no usable reading times, or `punctuation_level` or `k` is out of range.
    """
    if not 0 <= punctuation_level < LEVELS:
        raise DataError(f"Level {punctuation_level} is out of range; levels go from 0 to {LEVELS - 1}.")
    words = word_durations(corpus)
    few = words["n_readers"] < least_readers
    words.loc[few, ["mean_duration", "duration_variance"]] = np.nan
    words["level"] = quantile_levels(words["mean_duration"].to_numpy(float), k)
    if words["level"].isna().all():
        raise DataError(
            f"No word of the corpus {corpus.name!r} has total reading times of {least_readers} reader(s) or more."
        )
    if not words["mean_duration"].std() > 0:
        raise DataError(
            f"All words of the corpus {corpus.name!r} have the same mean total reading time, so none can be told from "
            "another by it."
        )
    words["tokens"] = split(words["word"].tolist())
    words = words.sort_values(KEY, kind="stable")
    return [
        _sentence(sentence, punctuation_level)
        for _, sentence in words.groupby(["text_id", "sentence_id"], sort=False)
    ]


def _sentence(words: pd.DataFrame, punctuation_level: int) -> LevelledSentence:
    """Hand each word's level, mean and variance on to its tokens."""
    tokens = [t for pieces in words["tokens"] for t in pieces]
    n = words["tokens"].map(len).to_numpy()
    is_word = np.array([re.search(r"\w", t) is not None for t in tokens], bool)
    level, mean, variance = (
        np.repeat(words[c].to_numpy(float), n) for c in ("level", "mean_duration", "duration_variance")
    )
    return LevelledSentence(
        tokens,
        np.where(is_word, level, float(punctuation_level)),
        np.where(is_word, mean, 0.0),
        np.where(is_word, variance, np.inf),
    )
