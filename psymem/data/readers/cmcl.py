"""Tables of the CMCL 2021 shared task (Hollenstein et al., 2021): means by word over the readers of ZuCo.

Every measure was scaled to 0-100 by the organisers, so none is in ms: columns end in ``_scaled``. The last word of a
sentence has the mark ``<EOS>`` attached, which is taken off. A word with 0 was read by nobody. The test set was given
out without values (all 0) and is refused.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import AVERAGE_READER, Corpus
from psymem.data.corpora.files import find_file, numbers, read_cells, refuse_repeated, whole_numbers
from psymem.data.corpora.words import text_order
from psymem.errors import DataError

NAME = "cmcl"
FILES = ("training_data.csv", "train_and_valid.csv", "train.csv")
END = "<EOS>"
TIMES = {
    "first_fixation_duration_scaled": "FFD",
    "go_past_time_scaled": "GPT",
    "total_reading_time_scaled": "TRT",
}
HIGHEST = 100.0


def read(folder: Path) -> Corpus:
    """Read a table of the shared task.

    Parameters
    ----------
    folder
        Folder with ``training_data.csv`` (800 sentences; also under other names, `FILES`), or the file itself.

    Returns
    -------
    Corpus
        Means over readers (``averaged``): durations scaled to 0-100, ``fixation_count_scaled`` (0-100) and
        ``fixation_proportion`` in percent. A text is a sentence; `word_id` is that of the file.

    Raises
    ------
    DataError
        If the file is missing or damaged, has no values (test set) or values beyond 0-100, or repeats a word.
    """
    notes: list[str] = []
    folder = Path(folder)
    path = folder if folder.is_file() else _find(folder)
    columns = ["sentence_id", "word_id", "word", "nFix", *TIMES.values(), "fixProp"]
    cells = read_cells(path, columns, notes)
    rows = pd.DataFrame(
        {
            "corpus": pd.Series(NAME, index=cells.index, dtype="str"),
            "subject": pd.Series(AVERAGE_READER, index=cells.index, dtype="str"),
            "text_id": cells["sentence_id"],
            "word_id": whole_numbers(cells["word_id"], path),
            "word": cells["word"].str.removesuffix(END),
        }
    )
    _refuse_empty_words(rows, path)
    refuse_repeated(rows, ["text_id", "word_id"], path)
    marks = int(cells["word"].str.endswith(END).sum())
    notes.append(
        f"{marks} of {rows['text_id'].nunique()} sentences end with the mark {END}, which was taken off."
    )
    rows = rows.join(_measures(cells, path))
    notes.append(
        f"Values were scaled to 0-100 by the publishers and are not in ms. {int(rows['skipped'].sum())} word(s) were read "
        "by nobody."
    )
    words = text_order(rows[["text_id", "word_id", "word"]])
    words.insert(1, "sentence_id", 1)
    return Corpus(NAME, words, rows.reset_index(drop=True), notes=tuple(notes), averaged=True)


def _find(folder: Path) -> Path:
    """Return the training data, of the folder or of ``data/training_data`` in the organisers' layout."""
    for below in ("data/training_data", "training_data"):
        if (folder / below).is_dir():
            return find_file(folder / below, FILES, NAME)
    return find_file(folder, FILES, NAME)


def _refuse_empty_words(rows: pd.DataFrame, path: Path) -> None:
    empty = rows["word"].str.strip() == ""
    if empty.any():
        raise DataError(f"{path}, row {empty.index[empty][0]}, column 'word': it is empty.")


def _measures(cells: pd.DataFrame, path: Path) -> pd.DataFrame:
    scaled = {name: numbers(cells[column], path) for name, column in TIMES.items()}
    scaled["fixation_count_scaled"] = numbers(cells["nFix"], path)
    scaled["fixation_proportion"] = numbers(cells["fixProp"], path)
    frame = pd.DataFrame(scaled)
    if (frame == 0).all(axis=None):
        raise DataError(
            f"{path} has no values, only zeros: it is the test set, which was given out without them. Read the training "
            f"data ({' or '.join(FILES)})."
        )
    beyond = (frame > HIGHEST) | (frame < 0)
    if beyond.any(axis=None):
        row = beyond.index[beyond.any(axis=1)][0]
        column = str(beyond.columns[beyond.loc[row]][0])
        raise DataError(
            f"{path}, row {row}: {column} is {frame.loc[row, column]:g}. The shared task's values are scaled to 0-100; read "
            "other averages as a plain table (psymem corpora show csv)."
        )
    unread = (frame["fixation_count_scaled"] == 0) & (frame["total_reading_time_scaled"] == 0)
    for column in TIMES:
        frame[column] = frame[column].mask(unread)
    frame["skipped"] = unread
    return frame
