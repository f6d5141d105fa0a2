"""The UCL corpus (Frank et al., 2013): 361 sentences of novels, 205 of them read with eye tracking.

Two experiments with other readers each: eye movements (``eyetracking.RT.txt``) and self-paced reading
(``selfpacedreading.RT.txt``); ``stimuli.txt`` has the sentences. Files are tab-separated. A time of 0 or NaN is a word
that was not fixated in first pass.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import DURATIONS, Corpus
from psymem.data.corpora.files import (
    MISSING,
    durations,
    find_file,
    read_cells,
    refuse_repeated,
    whole_numbers,
)
from psymem.data.corpora.words import drop_differing, note_missing_readers

EYE, SELF_PACED = "ucl", "ucl-self-paced"
EYE_FILE, SELF_PACED_FILE, STIMULI = "eyetracking.RT.txt", "selfpacedreading.RT.txt", "stimuli.txt"
READERS = {EYE: 43, SELF_PACED: 117}
KEYS = ("subj_nr", "sent_nr", "word_pos", "word")
EYE_MEASURES = {
    "first_fixation_duration": "RTfirstfix",
    "gaze_duration": "RTfirstpass",
    "right_bounded_time": "RTrightbound",
    "go_past_time": "RTgopast",
}


def read(folder: Path) -> Corpus:
    """Read the eye-tracking experiment (`read_self_paced` for the other).

    Returns
    -------
    Corpus
        First fixation, gaze (first pass), right-bounded and go-past durations. A text is one sentence of
        ``stimuli.txt``; sentences that nobody read are left out.

    Raises
    ------
    DataError
        If a file is missing or damaged, a cell is wrong, or words differ from the sentences.
    """
    return _read(Path(folder), EYE, EYE_FILE, EYE_MEASURES)


def read_self_paced(folder: Path) -> Corpus:
    """Read the self-paced reading experiment (errors as `read`)."""
    return _read(Path(folder), SELF_PACED, SELF_PACED_FILE, {"self_paced_reading_time": "RT"})


def _read(folder: Path, name: str, file: str, measures: dict[str, str]) -> Corpus:
    notes: list[str] = []
    path = find_file(folder, (file,), name)
    cells = read_cells(path, [*KEYS, *measures.values()], notes, separator="\t", quoting=False)
    rows = pd.DataFrame(
        {
            "corpus": pd.Series(name, index=cells.index, dtype="str"),
            "subject": cells["subj_nr"],
            "text_id": cells["sent_nr"],
            "word_id": whole_numbers(cells["word_pos"], path),
            "word": cells["word"].str.strip(),
        }
    )
    refuse_repeated(rows, ["subject", "text_id", "word_id"], path)
    for measure, column in measures.items():
        values = durations(cells[column], path, missing=MISSING)
        rows[measure] = values.mask(values == 0)
    rows["skipped"] = rows[list(measures)].isna().all(axis=1)
    note_missing_readers(rows["subject"].unique(), READERS[name], notes)
    words = words_of_sentences(find_file(folder, (STIMULI,), name), notes)
    words = words[words["text_id"].isin(rows["text_id"].unique())].reset_index(drop=True)
    rows = drop_differing(rows, words, f"{file} and {STIMULI}", notes)
    if rows["skipped"].any():
        what = "were not fixated in first pass" if name == EYE else "have no time"
        notes.append(f"{int(rows['skipped'].sum())} of {len(rows)} words of readers {what}.")
    order = [*(c for c in rows.columns if c not in (*DURATIONS, "skipped")), *measures, "skipped"]
    return Corpus(name, words, rows[order].reset_index(drop=True), notes=tuple(notes))


def words_of_sentences(path: Path, notes: list[str]) -> pd.DataFrame:
    """Return the words of all sentences of ``stimuli.txt``; a sentence is a text."""
    cells = read_cells(path, ["sent_nr", "sentence"], notes, separator="\t", quoting=False)
    refuse_repeated(cells, ["sent_nr"], path)
    sentences = cells["sentence"].str.strip()
    quoted = sentences.str.fullmatch(r'"[^"]*"')  # by a spreadsheet, not by the author
    pieces = sentences.mask(quoted, sentences.str.strip('"')).str.split()
    words = pd.DataFrame({"text_id": cells["sent_nr"], "sentence_id": 1, "word": pieces})
    words = words.explode("word").dropna(subset=["word"]).reset_index(drop=True)
    words["word"] = words["word"].astype("str")
    words["word_id"] = words.groupby("text_id", sort=False).cumcount() + 1
    return words[["text_id", "sentence_id", "word_id", "word"]]
