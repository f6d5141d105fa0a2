"""Self-paced reading in results files of PCIbex and Ibex (controller DashedSentence), as they are downloaded.

A reader is an address and a time of reception, a text is a sentence; `columns` names columns of one's own for both, such
as an identifier that was logged, or item and condition. Rows of other controllers are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import durations, find_files, refuse_repeated, whole_numbers, with_joined
from psymem.data.corpora.words import with_sentences
from psymem.data.readers.eyelink import reading_of_areas, with_same_labels, words_of_areas
from psymem.errors import DataError, UnknownNameError
from psymem.io.delimited import read_delimited
from psymem.tables import require_columns

NAME = "pcibex"
FILES = ("results*.csv", "results*.txt", "results", "*.csv", "*.txt")
SENTENCE = "Sentence (or sentence MD5)"
TIME = "Reading time"
IBEX = {
    "subject": "MD5 hash of participant's IP address+Time results were received",
    "number": "Word number",
    "word": "Word",
}
PCIBEX = {
    "subject": "MD5 hash of participant's IP address+Results reception time",
    "number": "Parameter",
    "word": "Value",
}
"""Columns by which the two know what they are."""

NAMED = ("subject", "text_id")


def read(folder: Path, *, columns: Mapping[str, str] | None = None) -> Corpus:
    """Read a results file, or a folder of them.

    Parameters
    ----------
    folder
        The file or folder.
    columns
        ``subject`` and ``text_id`` to columns of the file, joined by + where it takes several.

    Returns
    -------
    Corpus
        ``self_paced_reading_time`` of words; regions of several words have none.

    Raises
    ------
    DataError
        If there is no self-paced reading in the file, a cell is wrong, or somebody read the same text twice.
    UnknownNameError
        If a column is missing.
    """
    columns = dict(columns or {})
    for name in columns:
        if name not in NAMED:
            raise UnknownNameError("column to be named", name, NAMED)
    notes: list[str] = []
    paths = find_files(folder, FILES, NAME) if Path(folder).is_dir() else [Path(folder)]
    rows = pd.concat([_read_one(path, columns, notes) for path in paths], ignore_index=True)
    rows = with_same_labels(rows, notes)
    words = with_sentences(words_of_areas(rows, notes))
    return Corpus(NAME, words, reading_of_areas(rows, words, NAME), notes=tuple(dict.fromkeys(notes)))


def _read_one(path: Path, columns: Mapping[str, str], notes: list[str]) -> pd.DataFrame:
    table = read_delimited(path)
    notes += table.notes
    if TIME not in table.frame:
        raise DataError(
            f"{path} has no self-paced reading: no column is called {TIME!r}, as in results of the controller "
            f"DashedSentence. It has {', '.join(table.frame.columns)}."
        )
    cells = table.frame[table.frame[TIME] != ""]
    notes.append(
        f"{len(table.frame) - len(cells)} row(s) of {path.name} that are no self-paced reading were left out."
    )
    known = IBEX if IBEX["word"] in cells else PCIBEX
    own = {"subject": known["subject"], "text_id": SENTENCE, **columns}
    cells = with_joined(cells, own.values(), path)
    require_columns(cells, [*own.values(), known["number"], known["word"]], str(path))
    rows = pd.DataFrame({name: cells[column] for name, column in own.items()})
    rows["area"] = whole_numbers(cells[known["number"]], path)
    rows["label"] = cells[known["word"]]
    refuse_repeated(rows, ["subject", "text_id", "area"], path)
    times = durations(cells[TIME], path)
    return rows.assign(self_paced_reading_time=times.mask(times == 0), skipped=False)
