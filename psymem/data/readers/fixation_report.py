"""Fixation reports: one row for each fixation, from which every measure of every word is computed here.

Known without a word are the columns of EyeLink's Data Viewer (also as published: Provo, CELER, OneStop), of the UCL corpus
(``eyetracking.fix.txt``) and of the Beijing Sentence Corpus (``BSC.EMD.txt``); others are named by `columns`. The words
come from ``texts.csv`` (``text_id, word_id, word``) or ``stimuli.txt`` (``sent_nr, sentence``) beside the report, else
from the labels of the fixations; then words that nobody fixated are missing, and the notes say so. What each measure is:
`psymem.data.corpora.fixations`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import (
    MISSING,
    columns_of,
    durations,
    find_files,
    numbers,
    parts_of,
    read_cells,
    with_joined,
)
from psymem.data.corpora.fixations import reading_measures
from psymem.data.corpora.words import drop_differing, with_sentences
from psymem.data.readers.eyelink import TEXTS, with_same_labels, words_of_areas
from psymem.data.readers.ucl import words_of_sentences
from psymem.data.words.texts import words_from_table
from psymem.errors import DataError, UnknownNameError

NAME = "fixation-report"
FILES = ("*fix*.txt", "*.EMD*.txt", "*fix*.tsv", "*fix*.csv", "*.txt", "*.tsv", "*.xls", "*.csv")
WORD_FILES = ("texts.csv", "stimuli.txt")
KNOWN: Mapping[str, Sequence[str]] = {
    "subject": ("RECORDING_SESSION_LABEL", "subj_nr", "subject", "reader", "participant_id", "id"),
    "text_id": (*TEXTS, "sent_nr", "sn"),
    "word_id": (
        "CURRENT_FIX_INTEREST_AREA_INDEX",
        "CURRENT_FIX_INTEREST_AREA_ID",
        "word_pos",
        "word_id",
        "wn",
    ),
    "duration": ("CURRENT_FIX_DURATION", "fix_dur", "duration_ms", "duration", "dur"),
    "order": ("CURRENT_FIX_INDEX", "CURRENT_FIX_START", "fix_nr", "fix_num", "fixation_index"),
    "word": ("CURRENT_FIX_INTEREST_AREA_LABEL", "word"),
}
"""What a column is called, the first that is there; `columns` names others."""

NEEDED = ("subject", "text_id", "word_id", "duration")
AWAY = frozenset({*MISSING, "nan", "-1", "0"})
"""Cells of a fixation on no word."""

MAC = re.compile(r"[a-z][\u00d2-\u00d5][a-z]|[\u00d2\u00d4][A-Za-z]|[a-z][,.]?\u00d3")
"""Quotation marks of old Macs read as Windows-1252: don\u00d5t."""


def read(folder: Path, *, columns: Mapping[str, str] | None = None, texts: Path | None = None) -> Corpus:
    """Read a fixation report, or a folder with one or one for each reader.

    Parameters
    ----------
    folder
        The file or folder.
    columns
        ``subject, text_id, word_id, duration, order`` (of the fixations in time; that of the rows where there is none)
        or ``word`` to the report's column. Keys of two columns are joined: ``{"text_id": "item+model"}``.
    texts
        File of all words; ``texts.csv`` or ``stimuli.txt`` beside the report by default.

    Raises
    ------
    DataError
        If a file is no fixation report, a cell is wrong, two fixations have the same place in time, or the words differ.
    UnknownNameError
        If a column is missing.
    """
    columns = dict(columns or {})
    for name in columns:
        if name not in KNOWN:
            raise UnknownNameError("column to be named", name, KNOWN)
    notes: list[str] = []
    folder = Path(folder)
    paths = (
        [p for p in find_files(folder, FILES, NAME) if p.name not in WORD_FILES]
        if folder.is_dir()
        else [folder]
    )
    if not paths:
        raise DataError(f"{folder} holds texts and no fixation report (psymem corpora show {NAME}).")
    fixations = pd.concat([_read_one(path, columns, notes) for path in paths], ignore_index=True)
    words = _words(fixations, texts or _beside(paths[0]), columns, notes)
    placed = fixations.merge(
        words.loc[words["area"].notna(), ["text_id", "area", "word_id"]].astype({"area": "float64"}),
        on=["text_id", "area"],
        how="left",
        validate="many_to_one",
    )
    reading = reading_measures(placed, words, corpus=NAME)
    return Corpus(NAME, words, reading, notes=tuple(dict.fromkeys(notes)))


def _read_one(path: Path, columns: Mapping[str, str], notes: list[str]) -> pd.DataFrame:
    """Return ``subject, text_id, area, label, duration_ms`` in the order of time; area is NaN on no word."""
    separator = "," if path.suffix.lower() == ".csv" else "\t"
    quoting = separator == ","
    has = columns_of(path, separator=separator, quoting=quoting)
    own = _own_columns(has, columns, path, notes)
    wanted = list(dict.fromkeys(part for column in own.values() for part in parts_of(column, has)))
    cells = with_joined(
        read_cells(path, wanted, notes, separator=separator, quoting=quoting), own.values(), path
    )
    frame = pd.DataFrame({"subject": cells[own["subject"]], "text_id": cells[own["text_id"]]})
    frame["area"] = _areas(cells[own["word_id"]], path)
    if "word" in own:
        frame["label"] = _labels(cells[own["word"]], path, notes)
    frame["duration_ms"] = durations(cells[own["duration"]], path)
    if "order" in own:
        frame = _in_time(frame, numbers(cells[own["order"]], path), own, path)
    instant = ~(frame["duration_ms"] > 0)
    if instant.any():
        notes.append(
            f"{int(instant.sum())} fixation(s) of {path.name} of 0 ms or without a duration were left out."
        )
    return frame[~instant]


def _own_columns(
    has: Sequence[str], columns: Mapping[str, str], path: Path, notes: list[str]
) -> dict[str, str]:
    """Return what the report calls each column; raises UnknownNameError for one that is needed and not there."""
    own = {}
    for name, known in KNOWN.items():
        found = columns.get(name) or next((c for c in known if c in has), None)
        if found is None and name in NEEDED:
            raise UnknownNameError(
                "column",
                name,
                has,
                f"These are the columns of {path}. Say which column it is: --columns {name}=COLUMN.",
            )
        if found is not None:
            own[name] = found
    if "text_id" not in columns:
        notes.append(
            f"The column {own['text_id']} says which text was read; another one can be named: --columns text_id=COLUMN."
        )
    if "order" not in own:
        notes.append(f"Fixations of {path.name} are in the order of its rows; no column says when they were.")
    return own


def _areas(cells: pd.Series, path: Path) -> pd.Series:
    values = numbers(cells.str.strip().mask(cells.str.strip().isin(AWAY), "NA"), path)
    wrong = values.notna() & ((values % 1 != 0) | (values < 0))
    if wrong.any():
        row = wrong.index[wrong][0]
        raise DataError(
            f"{path}, row {row}, column {cells.name!r}: {cells[row]!r} is not the number of a word."
        )
    return values


def _labels(cells: pd.Series, path: Path, notes: list[str]) -> pd.Series:
    """Return labels; those of old Macs, which were read as Windows-1252, in their own encoding."""
    labels = cells.str.split("\t").str[0].str.strip()
    if not any(MAC.search(label) for label in labels[~labels.map(str.isascii)].unique()):
        return labels
    notes[:] = [n for n in notes if not n.startswith(f"{path.name} was read as Windows-1252")]
    notes.append(f"{path.name} was read as text of an old Mac (MacRoman).")
    mended = {w: w.encode("cp1252").decode("mac_roman") for w in labels.unique() if not w.isascii()}
    return labels.replace(mended)


def _in_time(frame: pd.DataFrame, order: pd.Series, own: Mapping[str, str], path: Path) -> pd.DataFrame:
    """Sort by time within readers and texts; refuse two fixations at once."""
    timed = frame.assign(order=order)
    repeated = timed.duplicated(["subject", "text_id", "order"])
    if repeated.any():
        row = timed.loc[repeated].iloc[0]
        raise DataError(
            f"{path}, row {repeated.index[repeated][0]}: reader {row['subject']} has fixation {row['order']:g} of text "
            f"{row['text_id']} twice ({int(repeated.sum())} such row(s)). If a text was read more than once, "
            f"{own['text_id']!r} alone does not say which reading it is: join two columns, --columns text_id=ONE+OTHER."
        )
    keys = timed.groupby(["subject", "text_id"], sort=False).ngroup()
    return (
        timed.assign(keys=keys).sort_values(["keys", "order"], kind="stable").drop(columns=["keys", "order"])
    )


# words -----------------------------------------------------------------------------------------------------
def _beside(path: Path) -> Path | None:
    return next((path.with_name(n) for n in WORD_FILES if path.with_name(n).is_file()), None)


def _words(
    fixations: pd.DataFrame, texts: Path | None, columns: Mapping[str, str], notes: list[str]
) -> pd.DataFrame:
    """Return WORDS with ``area``, of a file of all words or of the labels."""
    on_areas = fixations.dropna(subset=["area"])
    if texts is None:
        if "label" not in fixations:
            raise DataError(
                "The fixation report has no column of words, and there is no texts.csv with text_id, word_id and word "
                "beside it. Give one of them (--columns word=COLUMN, or --texts FILE)."
            )
        rows = with_same_labels(
            on_areas.astype({"area": "int64"}).drop_duplicates(["subject", "text_id", "area"]), notes
        )
        notes.append(
            "The words are those that anybody fixated; give all words of the texts in a file texts.csv."
        )
        return with_sentences(words_of_areas(rows, notes))
    words = words_of_sentences(texts, notes) if texts.suffix == ".txt" else words_from_table(texts)
    notes += words.attrs.get("notes", [])
    words = words[words["text_id"].isin(fixations["text_id"].unique())].reset_index(drop=True)
    if "label" in on_areas:
        named = on_areas[on_areas["label"] != ""].astype({"area": "int64"})
        named = named.rename(columns={"area": "word_id", "label": "word"})
        drop_differing(
            named, words, f"fixations and {texts.name}", notes
        )  # refuses what does not belong together
    return words.assign(area=words["word_id"])
