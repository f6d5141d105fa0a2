"""Reading measures of words from fixations in the order of time.

A fixation is on one word or on none. A *run* is a stretch of fixations on one word without any other in between; a
look away from the words ends it too. A word is *entered in first pass* if no later word of the text has been fixated
before its first run. All measures of a word that was not are missing, except total reading time, first-run dwell
time and counts, and the word counts as skipped. (Terms and definitions: Rayner, 1998, Psychological Bulletin 124;
right-bounded time: Pickering, Traxler & Crocker, 2000, Journal of Memory and Language 43.)
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import COUNTS
from psymem.errors import DataError
from psymem.tables import WORDS, check, require_columns

SEQUENCE = ("subject", "text_id")
"""One reader's fixations on one text are one sequence."""

FIRST_PASS = (
    "first_fixation_duration",
    "gaze_duration",
    "single_fixation_duration",
    "go_past_time",
    "right_bounded_time",
)
"""Measures that only words entered in first pass have."""

MEASURES = (
    *FIRST_PASS,
    "first_run_dwell_time",
    "total_reading_time",
    "fixation_count",
    "regressions_in",
    "regressions_out",
    "first_pass_regressions_out",
    "skipped",
)


def reading_measures(fixations: pd.DataFrame, words: pd.DataFrame, *, corpus: str) -> pd.DataFrame:
    """Compute every measure of every word for every reader of its text.

    ================================ ==============================================================================
    ``first_fixation_duration``      duration of the first fixation, if the word is entered in first pass
    ``gaze_duration``                sum of the first run, if the word is entered in first pass
    ``single_fixation_duration``     ``gaze_duration`` where the first run is one fixation
    ``go_past_time``                 from entering the word in first pass until a later word is fixated: sum of all
                                     fixations, also those on earlier words
    ``right_bounded_time``           the part of ``go_past_time`` spent on the word itself
    ``first_run_dwell_time``         sum of the first run, whenever it happens
    ``total_reading_time``           sum of all fixations on the word
    ``fixation_count``               number of all fixations on the word
    ``regressions_in``, ``_out``     times the eyes moved to the word from a later one, from it to an earlier one
    ``first_pass_regressions_out``   those of ``regressions_out`` made before any later word was fixated
    ``skipped``                      the word was not entered in first pass
    ================================ ==============================================================================

    Parameters
    ----------
    fixations
        ``subject, text_id, word_id, duration_ms``, one row per fixation, in the order of time within each subject
        and text. ``word_id`` is missing for a fixation on no word. Blinks are not fixations and have no row.
    words
        WORDS of all texts; ``word_id`` increases in reading order.
    corpus
        Name for the column ``corpus``.

    Returns
    -------
    pandas.DataFrame
        READING: one row for each reader and word of the texts with fixations of this reader. Durations in ms, NaN
        where a word has none; counts are then 0.

    Raises
    ------
    UnknownNameError
        If a column is missing.
    DataError
        If `words` are no WORDS, a fixation is on a word that the text does not have (the first five are shown), or
        a duration is missing or negative.
    """
    require_columns(fixations, (*SEQUENCE, "word_id", "duration_ms"), "the fixations")
    check(words, WORDS)
    _check_durations(fixations)
    _check_words(fixations, words)
    numbered = fixations.assign(sequence=fixations.groupby(list(SEQUENCE), sort=False).ngroup())
    on_words = _sequences(numbered)
    rows = _words_of_readers(numbered, words, corpus)
    key = ["sequence", "word_id"]
    reading = rows.merge(_by_word(on_words), on=key, how="left", validate="one_to_one")
    reading = reading.merge(_go_past(on_words), on=key, how="left", validate="one_to_one")
    return _finished(reading)


def _check_durations(fixations: pd.DataFrame) -> None:
    wrong = ~(fixations["duration_ms"] >= 0)
    if wrong.any():
        row = fixations[wrong].iloc[0]
        raise DataError(
            f"{int(wrong.sum())} fixation(s) have a negative or missing duration, the first of reader {row['subject']} "
            f"in text {row['text_id']}, on word {row['word_id']}: {row['duration_ms']}. Durations are times in ms."
        )


def _check_words(fixations: pd.DataFrame, words: pd.DataFrame) -> None:
    known = pd.MultiIndex.from_frame(words[list(WORDS.key)])
    seen = fixations.loc[fixations["word_id"].notna(), list(WORDS.key)].drop_duplicates()
    unknown = seen[~pd.MultiIndex.from_frame(seen.astype({"word_id": "int64"})).isin(known)]
    if len(unknown):
        shown = "; ".join(f"text {r.text_id}, word {int(r.word_id)}" for r in unknown.head(5).itertuples())
        raise DataError(
            f"There are fixations on {len(unknown)} word(s) that the texts do not have: {shown}. "
            "Check that texts and fixations belong to the same release."
        )


def _sequences(fixations: pd.DataFrame) -> pd.DataFrame:
    """Return the fixations on words with what each of them is in its sequence.

    Columns added: ``run`` (its number), ``first_pass`` (of a first-pass run), ``farthest`` (the last word of the text
    fixated so far), ``regression_in``, ``regression_out`` (the eyes came from a later word, go to an earlier one),
    ``first_pass_regression_out`` (go to an earlier one before any later word was fixated).
    """
    ordered = fixations.sort_values("sequence", kind="stable")
    on_word = ordered["word_id"].notna().to_numpy()
    away = np.cumsum(~on_word)[on_word]
    frame = ordered.loc[on_word, ["sequence", "word_id", "duration_ms"]].reset_index(drop=True)
    number, word = frame["sequence"].to_numpy(), frame["word_id"].to_numpy("int64")
    # previous fixation: of the same sequence, and with no look away from the words in between
    same = np.r_[False, number[1:] == number[:-1]][: len(frame)]
    next_to = same & np.r_[False, away[1:] == away[:-1]][: len(frame)]
    before = np.r_[0, word[:-1]][: len(frame)]
    starts_run = ~(next_to & (word == before))
    # every sequence is lifted above all words of the one before, so one running maximum serves for all
    low, span = (word.min(), np.ptp(word) + 1) if len(word) else (0, 1)
    farthest = np.maximum.accumulate(word - low + number * span) - number * span + low
    farthest_before = np.where(same, np.r_[0, farthest[:-1]][: len(frame)], low - 1)
    run = np.cumsum(starts_run)
    back = next_to & (word < before)
    frame["run"] = run
    frame["first_pass"] = (starts_run & (word > farthest_before))[starts_run][run - 1]
    frame["farthest"] = farthest
    frame["regression_in"] = back
    frame["regression_out"] = np.r_[back[1:], False][: len(frame)]
    frame["first_pass_regression_out"] = frame["regression_out"] & (word == farthest)
    return frame.astype({"word_id": "int64"})


def _by_word(fixations: pd.DataFrame) -> pd.DataFrame:
    """Measures from a word's own fixations."""
    key = ["sequence", "word_id"]
    every = fixations.groupby(key, sort=False)
    in_first_run = fixations[fixations["run"] == every["run"].transform("min")].groupby(key, sort=False)
    measures = pd.DataFrame(
        {
            "first_fixation_duration": every["duration_ms"].first(),
            "first_run_dwell_time": in_first_run["duration_ms"].sum(),
            "first_run_fixation_count": in_first_run["duration_ms"].size(),
            "first_pass": every["first_pass"].first(),
            "total_reading_time": every["duration_ms"].sum(),
            "fixation_count": every["duration_ms"].size(),
            "regressions_in": every["regression_in"].sum(),
            "regressions_out": every["regression_out"].sum(),
            "first_pass_regressions_out": every["first_pass_regression_out"].sum(),
        }
    )
    return measures.reset_index()


def _go_past(fixations: pd.DataFrame) -> pd.DataFrame:
    """Sums from entering a word in first pass, which makes it the farthest, until another word is the farthest."""
    on_it = fixations["duration_ms"].where(fixations["word_id"] == fixations["farthest"], 0)
    sums = (
        fixations.assign(on_it=on_it)
        .groupby(["sequence", "farthest"], sort=False)[["duration_ms", "on_it"]]
        .sum()
    )
    names = {"farthest": "word_id", "duration_ms": "go_past_time", "on_it": "right_bounded_time"}
    return sums.reset_index().rename(columns=names)


def _words_of_readers(fixations: pd.DataFrame, words: pd.DataFrame, corpus: str) -> pd.DataFrame:
    """Rows of READING without measures: all words of the texts that a reader has fixations in."""
    read = fixations[["sequence", *SEQUENCE]].drop_duplicates("sequence")
    rows = read.merge(words[[*WORDS.key, "word"]], on="text_id", how="inner", validate="many_to_many")
    rows.insert(0, "corpus", pd.Series(corpus, index=rows.index, dtype="str"))
    return rows


def _finished(reading: pd.DataFrame) -> pd.DataFrame:
    """Mask what only words entered in first pass have; missing counts are 0."""
    first_pass = reading["first_pass"].eq(True)
    reading["gaze_duration"] = reading["first_run_dwell_time"]
    single = reading["first_run_fixation_count"] == 1
    reading["single_fixation_duration"] = reading["gaze_duration"].where(single)
    for column in FIRST_PASS:
        reading[column] = reading[column].astype("float64").where(first_pass)
    for column in COUNTS:
        reading[column] = reading[column].fillna(0).astype("int64")
    reading["skipped"] = ~first_pass
    return reading[["corpus", *SEQUENCE, "word_id", "word", *MEASURES]]
