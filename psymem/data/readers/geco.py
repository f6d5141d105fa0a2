"""The Ghent Eye-Tracking Corpus, English part read by monolinguals (Cop, Dirix, Drieghe & Duyck, 2017).

``MonolingualReadingData.xlsx`` (sheet DATA) has one row per reader and word, ``EnglishMaterial.xlsx`` the sentence
and place on the screen of most words; either may have been saved as CSV. A text is one page (a trial), named
``PART-TRIAL``, so text 1-5, word 2 is WORD_ID 1-5-2.

GECO's durations are those of the first *run* on a word, whenever it happens. WORD_SKIP says which words were not
entered in first pass: `first_fixation_duration`, `gaze_duration`, `go_past_time` and `right_bounded_time` are missing
there, and `first_run_dwell_time` and `total_reading_time` are not.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import find_file
from psymem.data.readers.geco_material import material_words, read_material, shown, split_word_ids
from psymem.errors import DataError
from psymem.io.spreadsheet import read_columns
from psymem.tables import WORDS

NAME = "geco"
READERS = 14
READING_FILES = ("MonolingualReadingData.xlsx", "MonolingualReadingData.csv")
MATERIAL_FILES = (
    "EnglishMaterial.xlsx",
    "EnglishMaterials.xlsx",
    "EnglishMaterial.csv",
    "EnglishMaterial_corrected.csv",
)
MISSING = "."

FIRST_PASS = {
    "first_fixation_duration": "WORD_FIRST_FIXATION_DURATION",
    "gaze_duration": "WORD_GAZE_DURATION",
    "go_past_time": "WORD_GO_PAST_TIME",
    "right_bounded_time": "WORD_SELECTIVE_GO_PAST_TIME",
}
"""Measures that are missing where WORD_SKIP is 1."""

ANY_TIME = {"first_run_dwell_time": "WORD_GAZE_DURATION", "total_reading_time": "WORD_TOTAL_READING_TIME"}
COUNTS = {"fixation_count": "WORD_FIXATION_COUNT"}
SKIP = "WORD_SKIP"
COLUMNS = (
    "PP_NR",
    "WORD_ID",
    "WORD",
    *FIRST_PASS.values(),
    "WORD_TOTAL_READING_TIME",
    *COUNTS.values(),
    SKIP,
)


def read(folder: Path) -> Corpus:
    """Read GECO from the folder of its two files.

    Returns
    -------
    Corpus
        14 readers in the published release. `words` also has `part`, `trial`, `line_first` and `line_last`.

    Raises
    ------
    DataError
        If a file is missing or damaged, a cell is not what it should be (named by row and column), a reader has two
        different rows for one word, or the two files hold different words.
    """
    folder = Path(folder)
    notes: list[str] = []
    path = find_file(folder, READING_FILES, NAME)
    material_path = find_file(folder, MATERIAL_FILES, NAME)
    data = read_columns(path, COLUMNS, notes, sheet="DATA")
    data = _one_row_per_word(data, path, notes)
    data = data.join(split_word_ids(data["WORD_ID"], path))
    material = read_material(material_path, notes)
    words = material_words(_words_seen(data, notes), material, notes)
    reading = _reading(data, words, path)
    _note_gaps(reading, words, notes)
    return Corpus(NAME, words, reading, notes=tuple(notes))


def _one_row_per_word(data: pd.DataFrame, path: Path, notes: list[str]) -> pd.DataFrame:
    """Drop rows that say the same again; refuse a second row that says something else."""
    repeated = data.duplicated(["PP_NR", "WORD_ID"])
    if not repeated.any():
        return data
    other = repeated & ~data.duplicated()
    if other.any():
        row = other.index[other][0]
        reader, word = data.at[row, "PP_NR"], data.at[row, "WORD_ID"]
        first = data.index[(data["PP_NR"] == reader) & (data["WORD_ID"] == word)][0]
        raise DataError(
            f"{path}, rows {first} and {row}: reader {reader} has two different rows for word {word}. Remove one."
        )
    notes.append(
        f"{int(repeated.sum())} row(s) of {path.name} say the same as an earlier one and were dropped, the first is "
        f"row {repeated.index[repeated][0]}."
    )
    return data[~repeated]


def _words_seen(data: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Words as the readers' rows have them: the most frequent spelling of each WORD_ID."""
    key = list(WORDS.key)
    spelt = data.groupby([*key, "WORD"], observed=True, sort=False).size().rename("readers").reset_index()
    spelt["word"] = spelt["WORD"].astype("str").str.strip()
    spelt = spelt.sort_values("readers", ascending=False, kind="stable")
    several = spelt[spelt.duplicated(key, keep=False) & spelt.duplicated(key)]
    if len(several):
        notes.append(
            f"Readers' rows spell {len(several)} word(s) in several ways; the most frequent was taken: {shown(several)}."
        )
    return spelt.drop_duplicates(key)[[*key, "word"]]


def _reading(data: pd.DataFrame, words: pd.DataFrame, path: Path) -> pd.DataFrame:
    rows = pd.DataFrame(
        {"subject": data["PP_NR"].astype("str"), "text_id": data["text_id"]}, index=data.index
    )
    rows["word_id"] = data["word_id"]
    skipped = _numbers(data, SKIP, path)
    wrong = ~skipped.isin([0, 1])
    if wrong.any():
        row = wrong.index[wrong][0]
        raise DataError(f"{path}, row {row}, column {SKIP!r}: {data.at[row, SKIP]!r} is neither 0 nor 1.")
    rows["skipped"] = skipped == 1
    for measure, column in FIRST_PASS.items():
        rows[measure] = _times(data, column, path).mask(rows["skipped"])
    for measure, column in ANY_TIME.items():
        rows[measure] = _times(data, column, path)
    for measure, column in COUNTS.items():
        rows[measure] = _numbers(data, column, path).fillna(0).astype("int64")
    kept = rows.merge(words[[*WORDS.key, "word"]], on=list(WORDS.key), how="inner", validate="many_to_one")
    kept.insert(0, "corpus", pd.Series(NAME, index=kept.index, dtype="str"))
    ordered = ["corpus", "subject", *WORDS.key, "word", *FIRST_PASS, *ANY_TIME, *COUNTS, "skipped"]
    return kept[ordered]


def _times(data: pd.DataFrame, column: str, path: Path) -> pd.Series:
    """Return a column of times; a word of 0 ms was not fixated."""
    values = _numbers(data, column, path)
    return values.mask(values == 0)


def _numbers(data: pd.DataFrame, column: str, path: Path) -> pd.Series:
    """Return a column as floats of at least 0, "." as NaN; each distinct cell is looked at once."""
    cells = data[column].cat
    texts = cells.categories.to_series().str.strip()
    values = pd.to_numeric(texts, errors="coerce").to_numpy("float64")
    wrong = (np.isnan(values) & ~texts.isin([MISSING, ""]).to_numpy()) | (values < 0)
    bad = np.isin(cells.codes, np.flatnonzero(wrong))
    if bad.any():
        row = data.index[bad][0]
        what = "is negative" if values[cells.codes.to_numpy()[bad][0]] < 0 else "is not a number"
        raise DataError(
            f"{path}, row {row}, column {column!r}: {data.at[row, column]!r} {what} ({int(bad.sum())} such cell(s)). "
            f"Times are in ms, a missing value is {MISSING!r}."
        )
    return pd.Series(values[cells.codes.to_numpy()], index=data.index)


def _note_gaps(reading: pd.DataFrame, words: pd.DataFrame, notes: list[str]) -> None:
    """Say which readers and words the corpus should have and does not."""
    readers = reading["subject"].unique()
    if len(readers) != READERS:
        notes.append(
            f"There are {len(readers)} reader(s) ({', '.join(sorted(readers))}); the corpus has {READERS}."
        )
    texts = reading.groupby("subject")["text_id"].nunique()
    lacking = texts[texts < words["text_id"].nunique()]
    if len(lacking):
        counts = ", ".join(f"{s} {words['text_id'].nunique() - n}" for s, n in lacking.items())
        notes.append(f"Readers without data for some pages (number of pages): {counts}.")
    read = words.merge(
        reading[list(WORDS.key)].drop_duplicates(), how="left", indicator=True, on=list(WORDS.key)
    )
    unread = read[read["_merge"] == "left_only"]
    if len(unread):
        notes.append(f"{len(unread)} word(s) of the text have no row of any reader: {shown(unread)}.")
    late = reading["skipped"] & reading["total_reading_time"].notna()
    notes.append(
        f"{int(late.sum())} word(s) of a reader were skipped in first pass and looked at later: they have a first-run "
        "dwell time and a total reading time only."
    )
