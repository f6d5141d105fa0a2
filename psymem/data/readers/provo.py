"""The Provo Corpus (Luke & Christianson, 2018): 84 people read 55 short passages.

The file is an EyeLink interest-area report with norms beside it, in Windows-1252. Its column ``Word`` was mangled
(*true* became TRUE), so words are those of ``IA_LABEL``; ``Word_Number`` counts from 2, has gaps and is given twice in
text 18, ``Word_Unique_ID`` QID2687 names two words: the key is the text and the interest area.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import MISSING, find_file, read_cells, refuse_repeated, whole_numbers
from psymem.data.corpora.words import note_missing_readers
from psymem.data.readers.eyelink import measures_of_areas, reading_of_areas, with_same_labels, words_of_areas

NAME = "provo"
FILES = ("Provo_Corpus-Eyetracking_Data.csv", "provo.csv")
READERS = 84
OWN = ("Participant_ID", "Text_ID", "Word_Number", "Sentence_Number", "Word", "IA_ID", "IA_LABEL")
MEASURED = (
    "IA_FIRST_FIXATION_DURATION",
    "IA_FIRST_RUN_DWELL_TIME",
    "IA_FIRST_RUN_FIXATION_COUNT",
    "IA_DWELL_TIME",
    "IA_FIXATION_COUNT",
    "IA_SKIP",
    "IA_REGRESSION_IN_COUNT",
    "IA_REGRESSION_OUT_COUNT",
    "IA_REGRESSION_OUT_FULL_COUNT",
    "IA_REGRESSION_PATH_DURATION",
)
NO_WORD = frozenset({"?", "\ufffd"})
"""Labels of areas around a sign that could not be shown."""


def read(folder: Path) -> Corpus:
    """Read ``Provo_Corpus-Eyetracking_Data.csv``.

    Returns
    -------
    Corpus
        First-pass measures only of words that were not skipped in first pass; ``first_run_dwell_time`` of all that
        were read. WORDS have ``area``, the number of the interest area (IA_ID).

    Raises
    ------
    DataError
        If the file is missing, damaged, or has a wrong value, repeated rows or different words in one area.
    """
    notes: list[str] = []
    path = find_file(folder, FILES, NAME)
    cells = read_cells(path, [*OWN, *MEASURED], notes)
    rows = pd.DataFrame(
        {
            "subject": cells["Participant_ID"],
            "text_id": cells["Text_ID"],
            "area": whole_numbers(cells["IA_ID"], path),
            "label": cells["IA_LABEL"].str.strip(),
        }
    )
    refuse_repeated(rows, ["subject", "text_id", "area"], path)
    rows["number"], rows["sentence_id"] = cells["Word_Number"], cells["Sentence_Number"]
    rows["mangled"] = cells["Word"]
    rows, signs = _without_signs(rows.join(measures_of_areas(cells, path, notes)), notes)
    rows = with_same_labels(rows, notes)
    _note_words(rows, notes)
    note_missing_readers(rows["subject"].unique(), READERS, notes)
    measured = rows.drop(columns=["number", "mangled"])
    words = words_of_areas(measured, notes, signs=signs)
    words["sentence_id"] = _sentences(words)
    return Corpus(NAME, words, reading_of_areas(measured, words, NAME), notes=tuple(notes))


def _without_signs(rows: pd.DataFrame, notes: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Leave out areas that hold no word; return the other rows, and ``text_id, area`` of these."""
    sign = rows["label"].isin(NO_WORD)
    places = rows.loc[sign, ["text_id", "area"]].drop_duplicates()
    if sign.any():
        shown = "; ".join(f"text {r.text_id}, area {r.area}" for r in places.head(5).itertuples())
        notes.append(f"{len(places)} area(s) hold a sign that is no word and were left out: {shown}.")
    return rows[~sign].reset_index(drop=True), places


def _note_words(rows: pd.DataFrame, notes: list[str]) -> None:
    """Note what the file says twice and differently about a word."""
    once = rows.drop_duplicates(["text_id", "area"])
    numbered = once[~once["number"].isin(MISSING)]
    twice = numbered[numbered.duplicated(["text_id", "number"], keep=False)]
    if len(twice):
        shown = "; ".join(
            f"text {r.text_id}, number {r.number}: area {r.area} {r.label!r}"
            for r in twice.head(5).itertuples()
        )
        notes.append(f"Word_Number is given twice in a text, so words are known by their area: {shown}.")
    mangled = once[~once["mangled"].isin(MISSING) & (once["mangled"] != once["label"])]
    mangled = mangled[mangled["mangled"].str.lower() == mangled["label"].str.lower().str.strip(".,;:!?\"'()")]
    mangled = mangled[mangled["mangled"].isin(("TRUE", "FALSE"))]
    if len(mangled):
        notes.append(
            f"The column Word has {mangled['mangled'].iloc[0]} for {mangled['label'].iloc[0]!r} ({len(mangled)} such "
            "word(s)); words are those of IA_LABEL."
        )


def _sentences(words: pd.DataFrame) -> pd.Series:
    """Sentence numbers; the first word of a text and the words in gaps have none and get their neighbours'."""
    known = pd.to_numeric(words["sentence_id"], errors="coerce")
    by_text = known.groupby(words["text_id"], sort=False)
    return by_text.ffill().groupby(words["text_id"], sort=False).bfill().fillna(1).astype("int64")
