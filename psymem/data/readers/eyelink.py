"""Interest-area reports of EyeLink's Data Viewer, one interest area a word.

The report's first-fixation, first-run and regression-path durations are those of the first *run*, whenever it
happened. They become first-pass measures (``first_fixation_duration, gaze_duration, go_past_time,
single_fixation_duration, right_bounded_time``) only where the word was not skipped in first pass (``IA_SKIP`` 0, or
``IA_FIRST_FIX_PROGRESSIVE`` 1); ``first_run_dwell_time`` is kept for every word that was read. Missing is ``.``; a dwell
time of 0 is a word that was not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import (
    columns_of,
    durations,
    find_files,
    numbers,
    parts_of,
    read_cells,
    refuse_repeated,
    whole_numbers,
    with_joined,
)
from psymem.data.corpora.words import drop_differing, text_order, with_sentences
from psymem.data.words.gaps import BEFORE
from psymem.errors import DataError, UnknownNameError

NAME = "eyelink"
FILES = ("*.txt", "*.tsv", "*.xls", "*.csv")
"""Data Viewer writes tab-separated text, also under the ending .xls."""

SUBJECT = "RECORDING_SESSION_LABEL"
TEXTS = (
    "text_id",
    "Text_ID",
    "item",
    "ITEM",
    "itemid",
    "item_id",
    "page_name",
    "trial_id",
    "TRIAL_LABEL",
    "TRIAL_INDEX",
)
"""Columns that may say which text was read; the first that is there, unless `columns` names one."""

RENAMED = ("subject", "text_id", "sentence_id", "word")
FIRST_RUN = {
    "first_fixation_duration": "IA_FIRST_FIXATION_DURATION",
    "gaze_duration": "IA_FIRST_RUN_DWELL_TIME",
    "go_past_time": "IA_REGRESSION_PATH_DURATION",
    "right_bounded_time": "IA_SELECTIVE_REGRESSION_PATH_DURATION",
}
"""First-pass measure and the column whose values it has where the word was not skipped."""

COUNTED = {
    "fixation_count": "IA_FIXATION_COUNT",
    "regressions_in": "IA_REGRESSION_IN_COUNT",
    "regressions_out": "IA_REGRESSION_OUT_FULL_COUNT",
    "first_pass_regressions_out": "IA_REGRESSION_OUT_COUNT",
}
"""Data Viewer's IA_REGRESSION_OUT_COUNT ends where a later area is fixated; the one with FULL in its name counts all."""
MEASURED = (
    *FIRST_RUN.values(),
    *COUNTED.values(),
    "IA_DWELL_TIME",
    "IA_SKIP",
    "IA_FIRST_FIX_PROGRESSIVE",
    "IA_FIRST_RUN_FIXATION_COUNT",
)


def read(folder: Path, *, columns: Mapping[str, str] | None = None) -> Corpus:
    """Read an interest-area report, or a folder of them.

    Parameters
    ----------
    folder
        The file, or a folder with one report or one for each reader.
    columns
        ``subject``, ``text_id``, ``sentence_id`` or ``word`` to the report's column; by default
        RECORDING_SESSION_LABEL, the first of `TEXTS` that is there, none, and IA_LABEL. Two columns that are the key
        together are joined: ``{"text_id": "paragraph_id+repeated_reading_trial"}``.

    Returns
    -------
    Corpus
        The corpus.

    Raises
    ------
    DataError
        If a file is no interest-area report, or areas are not words, or the same text has different words.
    UnknownNameError
        If a column is missing.
    """
    columns = dict(columns or {})
    for name in columns:
        if name not in RENAMED:
            raise UnknownNameError("column to be named", name, RENAMED)
    notes: list[str] = []
    paths = find_files(folder, FILES, NAME) if Path(folder).is_dir() else [Path(folder)]
    parts = [_read_one(path, columns, notes) for path in paths]
    rows = with_same_labels(pd.concat(parts, ignore_index=True), notes)
    words = words_of_areas(rows, notes)
    if "sentence_id" not in words:
        words = with_sentences(words)
    return Corpus(NAME, words, reading_of_areas(rows, words, NAME), notes=tuple(dict.fromkeys(notes)))


def _read_one(path: Path, columns: Mapping[str, str], notes: list[str]) -> pd.DataFrame:
    separator = "," if path.suffix.lower() == ".csv" else "\t"
    quoting = separator == ","
    has = columns_of(path, separator=separator, quoting=quoting)
    if not any(c.startswith("IA_") for c in has):
        raise DataError(
            f"{path} is no interest-area report: it has no column that begins with IA_, but {', '.join(has[:8])}."
        )
    text = columns.get("text_id") or next((c for c in TEXTS if c in has), "text_id")
    own = {
        "subject": columns.get("subject", SUBJECT),
        "text_id": text,
        "label": columns.get("word", "IA_LABEL"),
        **({"sentence_id": columns["sentence_id"]} if "sentence_id" in columns else {}),
    }
    measured = [c for c in MEASURED if c in has]
    named = [part for column in own.values() for part in parts_of(column, has)]
    wanted = list(dict.fromkeys([*named, "IA_ID", "IA_DWELL_TIME", *measured]))
    cells = read_cells(path, wanted, notes, separator=separator, quoting=quoting)
    cells = with_joined(cells, own.values(), path)
    if "text_id" not in columns:
        notes.append(
            f"The column {text} says which text was read; another one can be named: --columns text_id=COLUMN."
        )
    rows = pd.DataFrame({name: cells[column].str.strip() for name, column in own.items()})
    rows["area"] = whole_numbers(cells["IA_ID"], path)
    refuse_repeated(rows, ["subject", "text_id", "area"], path)
    return rows.join(measures_of_areas(cells, path, notes))


def measures_of_areas(cells: pd.DataFrame, path: Path, notes: list[str]) -> pd.DataFrame:
    """Return durations, counts and ``skipped`` from the report's ``IA_`` columns, as far as they are there.

    Parameters
    ----------
    cells
        Text cells of one report; ``IA_DWELL_TIME`` has to be there.
    path
        The report, for messages.
    notes
        What is not as it seems is added here.
    """
    total = durations(cells["IA_DWELL_TIME"], path)
    total = total.mask(total == 0)
    skipped = _skipped(cells, total, path, notes)
    made: dict[str, pd.Series] = {}
    for measure, column in FIRST_RUN.items():
        if column in cells:
            values = durations(cells[column], path)
            values = values.mask((values == 0) | total.isna())
            if measure == "gaze_duration":
                made["first_run_dwell_time"] = values
            if skipped is not None:
                made[measure] = values.mask(skipped)
    if skipped is not None and {"IA_FIRST_RUN_FIXATION_COUNT", "IA_FIRST_RUN_DWELL_TIME"} <= set(
        cells.columns
    ):
        single = numbers(cells["IA_FIRST_RUN_FIXATION_COUNT"], path) == 1
        made["single_fixation_duration"] = made["gaze_duration"].where(single)
    made["total_reading_time"] = total
    for measure, column in COUNTED.items():
        if column in cells:
            made[measure] = numbers(cells[column], path)
    made["skipped"] = total.isna() if skipped is None else skipped
    return pd.DataFrame(made)


def _skipped(cells: pd.DataFrame, total: pd.Series, path: Path, notes: list[str]) -> pd.Series | None:
    """Return whether a word was skipped in first pass, None if the report does not say."""
    if "IA_SKIP" in cells:
        skipped = numbers(cells["IA_SKIP"], path)
        later = int(((skipped == 1) & total.notna()).sum())
        if later:
            notes.append(
                f"IA_SKIP is about first pass: {later} word(s) of {path.name} skipped then were read later and have total "
                "reading time and first-run dwell time, but no first-pass measure."
            )
        return (skipped != 0) | total.isna()
    if "IA_FIRST_FIX_PROGRESSIVE" in cells:
        return numbers(cells["IA_FIRST_FIX_PROGRESSIVE"], path) != 1
    notes.append(
        "Without IA_SKIP or IA_FIRST_FIX_PROGRESSIVE nobody can tell first-pass reading from later runs: there is no gaze "
        "duration, but first_run_dwell_time."
    )
    return None


# areas to words --------------------------------------------------------------------------------------------
def words_of_areas(
    rows: pd.DataFrame, notes: list[str], *, signs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return WORDS (``sentence_id`` if `rows` have it) with ``area``, the number of the interest area.

    Words are numbered from 1 in the order of the areas; where areas are missing, ``words_missing_before`` says how many.
    An area that holds several words becomes several words, which nobody has times for; their ``area`` is missing.

    Parameters
    ----------
    rows
        ``text_id, area, label``, one row per reader and area.
    notes
        What is not as it seems is added here.
    signs
        ``text_id, area`` of areas that are there and hold no word.

    Raises
    ------
    DataError
        If hardly any area is a word.
    """
    areas = text_order(_areas(rows).rename(columns={"area": "word_id"})).rename(columns={"word_id": "area"})
    pieces = areas["label"].str.split()
    sizes = pieces.str.len()
    if (sizes == 1).mean() < 0.5:
        raise DataError(
            f"{int((sizes != 1).sum())} of {len(areas)} interest areas hold several words or none, such as "
            f"{areas.loc[sizes != 1, 'label'].iloc[0]!r}. psymem needs a report with one interest area a word."
        )
    if (sizes != 1).any():
        shown = "; ".join(
            f"text {r.text_id}, area {r.area}: {r.label!r}" for r in areas[sizes != 1].head(5).itertuples()
        )
        notes.append(
            f"{int((sizes != 1).sum())} interest area(s) hold several words or none; the words are in the text, their "
            f"times were left out: {shown}."
        )
    words = areas.assign(word=pieces, area=areas["area"].astype("Int64").mask(sizes != 1)).drop(
        columns="label"
    )
    words[BEFORE] = _areas_missing_before(areas, signs)
    words = words.explode("word").dropna(subset=["word"]).reset_index()
    words[BEFORE] = words[BEFORE].where(
        ~words["index"].duplicated(), 0
    )  # of an area with several words, the first
    words["word"] = words["word"].astype("str")
    words["word_id"] = words.groupby("text_id", sort=False).cumcount() + 1
    first = [
        "text_id",
        *(["sentence_id"] if "sentence_id" in words else []),
        "word_id",
        "word",
        "area",
        BEFORE,
    ]
    return words[first]


def _areas_missing_before(areas: pd.DataFrame, signs: pd.DataFrame | None) -> pd.Series:
    """Return how many numbers are missing before each area, those of signs not counted."""
    every = areas[["text_id", "area"]].assign(index=areas.index)
    if signs is not None and len(signs):
        every = pd.concat([every, signs[["text_id", "area"]]]).sort_values("area", kind="stable")
    steps = every.groupby("text_id", sort=False)["area"].diff()
    own = (steps.fillna(1) - 1).clip(lower=0)[every["index"].notna().to_numpy()]
    return own.set_axis(every["index"].dropna().astype("int64")).astype("int64").reindex(areas.index)


def _areas(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each area once, with the label that most readers have there."""
    kept = ["text_id", "area", "label", *(["sentence_id"] if "sentence_id" in rows else [])]
    counted = rows[kept].assign(readers=rows.groupby(["text_id", "area", "label"])["label"].transform("size"))
    commonest = counted.sort_values("readers", ascending=False, kind="stable").drop_duplicates(
        ["text_id", "area"]
    )
    return commonest.sort_index(kind="stable")[kept]


def with_same_labels(rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Leave out the few rows whose label is not the one that most readers have in that area.

    Raises
    ------
    DataError
        If more than 1% of the areas have different labels (`psymem.data.corpora.words.drop_differing`).
    """
    names = {"area": "word_id", "label": "word"}
    between = "readers of the same text (is text_id the right column?)"
    kept = drop_differing(rows.rename(columns=names), _areas(rows).rename(columns=names), between, notes)
    return kept.rename(columns={new: old for old, new in names.items()})


def reading_of_areas(rows: pd.DataFrame, words: pd.DataFrame, corpus: str) -> pd.DataFrame:
    """Return READING: the rows of areas that are one word, with the number of the word."""
    own = words.loc[words["area"].notna(), ["text_id", "area", "word_id", "word"]].astype({"area": "int64"})
    reading = rows.merge(own, on=["text_id", "area"], how="inner", validate="many_to_one")
    reading.insert(0, "corpus", pd.Series(corpus, index=reading.index, dtype="str"))
    first = ["corpus", "subject", "text_id", "word_id", "word"]
    measures = [c for c in reading.columns if c not in (*first, "area", "label", "sentence_id", "skipped")]
    return reading[[*first, *measures, "skipped"]]
