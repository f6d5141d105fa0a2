"""Reading data of one's own: a plain table with one row per reader and word.

Columns ``subject, text_id, word_id, word``, then durations in ms under their names
(`psymem.data.corpora.corpus.DURATIONS`); ``sentence_id`` is optional. Other column names are given by `columns`,
canonical name to the file's: ``{"word": "word2", "gaze_duration": "RTfirstpass"}``. Where a text is known by two
columns only, such as the item and the model that wrote it, their names are joined: ``{"text_id": "item+model"}``.

- `word_id` counts the words of a text in reading order. Without it (or with ``{"word_id": ""}``) the words are
  numbered in the order of the rows of each reader and text; that all readers have the same words is checked.
- A word that nobody fixated is NA, "." or empty. Zeros are refused until ``zero="unread"`` says that this is
  what they mean (or ``zero="time"`` that a time of 0 was measured).
- Words that no reader has a row for come from a second file, ``texts.csv`` (``text_id, sentence_id, word_id,
  word``), in the same folder or given as `texts`.
- A folder with several tables has one reader in each; without a column ``subject`` the file names are the
  readers.
- Means over readers (``averaged=True``) have no ``subject``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import AVERAGE_READER, COUNTS, DURATIONS, Corpus
from psymem.data.corpora.files import durations, numbers, refuse_repeated, whole_numbers, with_joined
from psymem.data.corpora.words import refuse_differing_words, text_order, with_sentences, words_of_readers
from psymem.data.words.texts import words_from_table
from psymem.errors import DataError, UnknownNameError
from psymem.io.delimited import read_delimited

KEYS = ("subject", "text_id", "word_id", "word")
JOINABLE = ("subject", "text_id", "sentence_id")
"""Columns that may be several of the file's: ``{"text_id": "item+model"}``."""
OPTIONAL = ("sentence_id", "skipped", "line_first", "line_last")
CANONICAL = (*KEYS, *OPTIONAL, *DURATIONS, *COUNTS)
ZEROS = ("unread", "time")
TEXTS = "texts.csv"
ENDINGS = (".csv", ".tsv", ".txt")
TRUTH = {"0": False, "1": True, "false": False, "true": True, "no": False, "yes": True}
SLOWEST_IF_SECONDS = 20.0
"""If the longest duration of a corpus is below this, it was not measured in ms."""


@dataclass(frozen=True)
class Settings:
    """How a plain table is to be understood (fields as in the module's description).

    Attributes
    ----------
    columns
        Canonical name to the file's name.
    zero
        "unread", "time", or None: zeros are refused.
    averaged
        Whether the values are means over readers.
    keep
        Further columns to carry along with the words (of the texts, not of readers).
    ms_per_unit
        What one unit of the durations is in ms; 2 for samples at 500 Hz.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    zero: str | None = None
    averaged: bool = False
    keep: Sequence[str] = ()
    ms_per_unit: float = 1.0

    def __post_init__(self) -> None:
        """Refuse names that mean nothing."""
        for name in self.columns:
            if name not in CANONICAL:
                raise UnknownNameError("column of reading data", name, CANONICAL)
        if self.zero not in (None, *ZEROS):
            raise UnknownNameError("meaning of zero", str(self.zero), ZEROS)

    def given(self, name: str) -> str:
        """Return what the file calls a column."""
        return self.columns.get(name, name)


def read(
    folder: Path,
    *,
    texts: Path | None = None,
    called: str = "csv",
    columns: Mapping[str, str] | None = None,
    zero: str | None = None,
    averaged: bool = False,
    keep: Sequence[str] = (),
    ms_per_unit: float = 1.0,
) -> Corpus:
    """Read a table of one's own, or a folder with one table per reader.

    Parameters
    ----------
    folder
        The file or folder.
    texts
        File of all words; ``texts.csv`` of the folder by default, if it is there.
    called
        What the corpus is called in tables.
    columns, zero, averaged, keep, ms_per_unit
        As `Settings`.

    Returns
    -------
    Corpus
        The corpus.

    Raises
    ------
    DataError
        If a file cannot be read, a cell is no number, is negative or zero without `zero`, a row is repeated,
        or words differ between readers or from the texts.
    UnknownNameError
        If a column is missing.
    """
    if not 0 < ms_per_unit < float("inf"):
        raise DataError(
            f"ms_per_unit={ms_per_unit:g} (--ms-per-unit) is not possible; it is what 1 in the table is in ms, such as 1000 "
            "for seconds."
        )
    chosen = Settings(dict(columns or {}), zero, averaged, keep, ms_per_unit)
    folder = Path(folder)
    paths = _tables(folder)
    notes: list[str] = []
    parts = [_read_one(path, chosen, notes, several=len(paths) > 1) for path in paths]
    rows = pd.concat(parts, ignore_index=True)
    beside = folder / TEXTS if folder.is_dir() else folder.with_name(TEXTS)
    texts = texts or (beside if beside.is_file() else None)
    words = _words(rows, texts, chosen, notes)
    measures = [c for c in rows.columns if c in (*DURATIONS, *COUNTS)]
    _check_unit(rows, folder)
    reading = rows[["subject", "text_id", "word_id", "word", *measures, "skipped"]].copy()
    reading.insert(0, "corpus", pd.Series(called, index=reading.index, dtype="str"))
    return Corpus(called, words, reading, notes=tuple(dict.fromkeys(notes)), averaged=chosen.averaged)


def _tables(folder: Path) -> list[Path]:
    """Return the files of readers' data."""
    if not folder.is_dir():
        return [folder]
    found = sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDINGS and p.name != TEXTS)
    if not found:
        inside = ", ".join(sorted(p.name for p in folder.iterdir())[:5]) or "nothing"
        raise DataError(f"{folder} holds no table. Looked for files in {', '.join(ENDINGS)}; found {inside}.")
    return found


def _read_one(path: Path, settings: Settings, notes: list[str], *, several: bool) -> pd.DataFrame:
    """Return subject, text_id, word_id, word, sentence_id if given, measures and skipped of one file."""
    table = read_delimited(path)
    notes += table.notes
    cells = with_joined(table.frame, [settings.given(k) for k in JOINABLE], path)
    measures = _check_columns(cells, path, settings, several=several)
    own = {
        n: cells[settings.given(n)] for n in ("text_id", "word", "sentence_id") if settings.given(n) in cells
    }
    rows = pd.DataFrame({"subject": _subjects(cells, path, settings), **own})
    _refuse_empty(rows, path, settings)
    rows["word_id"] = _word_ids(cells, rows, path, settings, notes)
    refuse_repeated(rows, ["subject", "text_id", "word_id"], path)
    for measure in measures:
        column = cells[settings.given(measure)]
        values = numbers(column, path) if measure in COUNTS else _times(column, path, settings)
        rows[measure] = values
    rows["skipped"] = _skipped(rows, cells, path, settings)
    for flag in ("line_first", "line_last"):
        if settings.given(flag) in cells:
            rows[flag] = _truth(cells[settings.given(flag)], path)
    for extra in settings.keep:
        rows[extra] = _number_if_all_are(cells[extra], path)
    return rows


def _number_if_all_are(cells: pd.Series, path: Path) -> pd.Series:
    try:
        return numbers(cells, path)
    except DataError:
        return cells


def _check_columns(cells: pd.DataFrame, path: Path, settings: Settings, *, several: bool) -> list[str]:
    """Return the measures that the file has; raises UnknownNameError for what it lacks."""
    needed = ["text_id", "word", *settings.columns]
    if not settings.averaged and not several:
        needed.append("subject")
    has = [str(c) for c in cells.columns]
    ours = {settings.given(n): n for n in needed} | {n: n for n in settings.keep}
    for name, meaning in ours.items():
        if name and name not in has:
            advice = f"These are the columns of {path}. "
            if name == "subject":
                advice += "Averages over readers have none: say averaged=True (--averaged). "
            if name not in settings.keep:
                advice += f"Say which column it is: --columns {meaning}=COLUMN."
            raise UnknownNameError("column", name, has, advice.rstrip())
    measures = [m for m in (*DURATIONS, *COUNTS) if settings.given(m) in has]
    if not any(m in DURATIONS for m in measures):
        raise DataError(
            f"{path} has no column of durations; it has {', '.join(has)}. Name them {', '.join(DURATIONS)}, or say which "
            "column is which: --columns gaze_duration=COLUMN."
        )
    return measures


def _subjects(cells: pd.DataFrame, path: Path, settings: Settings) -> pd.Series:
    if settings.averaged:
        return pd.Series(AVERAGE_READER, index=cells.index, dtype="str")
    if settings.given("subject") in cells:
        return cells[settings.given("subject")]
    return pd.Series(path.stem, index=cells.index, dtype="str")


def _refuse_empty(rows: pd.DataFrame, path: Path, settings: Settings) -> None:
    for name in ("subject", "text_id", "word"):
        empty = rows[name] == ""
        if empty.any():
            raise DataError(
                f"{path}, row {empty.index[empty][0]}, column {settings.given(name)!r}: it is empty."
            )
    missing = rows["subject"] == "NA"
    if missing.any():
        raise DataError(
            f"{path}, row {missing.index[missing][0]}, column {settings.given('subject')!r}: 'NA' means missing; say whose "
            "reading this is, or leave the row out."
        )
    spaced = rows["word"].str.contains(r"\s")
    if spaced.any():
        row = spaced.index[spaced][0]
        raise DataError(
            f"{path}, row {row}, column {settings.given('word')!r}: {rows.loc[row, 'word']!r} has white space inside. "
            "Every row has to hold one word."
        )


def _word_ids(
    cells: pd.DataFrame, rows: pd.DataFrame, path: Path, settings: Settings, notes: list[str]
) -> pd.Series:
    if settings.given("word_id") in cells:
        return whole_numbers(cells[settings.given("word_id")], path)
    notes.append(
        "There is no column word_id: the words of each reader and text were numbered in the order of the rows."
    )
    return rows.groupby(["subject", "text_id"], sort=False).cumcount() + 1


def _times(cells: pd.Series, path: Path, settings: Settings) -> pd.Series:
    values = durations(cells, path)
    zero = values == 0
    if zero.any() and settings.zero is None:
        raise DataError(
            f"{path}, row {zero.index[zero][0]}, column {cells.name!r}: a time of 0 ({int(zero.sum())} such cell(s)). If "
            'these words were not read, say so: --zero unread (zero="unread"); if 0 is a time that was measured, '
            "--zero time."
        )
    if settings.zero == "unread":
        values = values.mask(zero)
    return values * settings.ms_per_unit


def _skipped(rows: pd.DataFrame, cells: pd.DataFrame, path: Path, settings: Settings) -> pd.Series:
    """Return the file's own column, else whether the word has no duration at all."""
    if settings.given("skipped") in cells:
        return _truth(cells[settings.given("skipped")], path)
    measures = [c for c in DURATIONS if c in rows]
    if "total_reading_time" in measures:
        return rows["total_reading_time"].isna()
    return rows[measures].isna().all(axis=1)


def _truth(cells: pd.Series, path: Path) -> pd.Series:
    values = cells.str.lower().map(TRUTH)
    if values.isna().any():
        row = values.index[values.isna()][0]
        raise DataError(
            f"{path}, row {row}, column {cells.name!r}: {cells[row]!r} is neither 0 nor 1 ({', '.join(TRUTH)})."
        )
    return values.astype(bool)


def _check_unit(rows: pd.DataFrame, path: Path) -> None:
    longest = max(rows[c].max() for c in DURATIONS if c in rows)
    if longest < SLOWEST_IF_SECONDS:
        raise DataError(
            f"{path}: the longest duration is {longest:g}. Durations are expected in ms; if these are seconds, say "
            "ms_per_unit=1000 (--ms-per-unit 1000)."
        )


# words -----------------------------------------------------------------------------------------------------
def _words(rows: pd.DataFrame, texts: Path | None, settings: Settings, notes: list[str]) -> pd.DataFrame:
    """Return WORDS of the texts file, else of the words that readers met."""
    if texts is not None:
        own = "text_id" in read_delimited(texts).frame.columns
        words = words_from_table(texts, text_column="text_id" if own else settings.given("text_id"))
        notes += words.attrs["notes"]
        refuse_differing_words(rows, words, "the readers' data and " + str(texts))
        return text_order(words)
    words = words_of_readers(rows, ["line_first", "line_last", *settings.keep])
    if "sentence_id" not in words:
        words = with_sentences(words)
        notes.append("There is no column sentence_id: sentences end at . ! or ? before a capital.")
    return words
