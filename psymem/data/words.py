"""WORDS from plain files: a text with one text per line, or a table with one word per row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from psymem.delimited import read_delimited
from psymem.encoding import read_text
from psymem.errors import DataError
from psymem.sentences import sentence_numbers
from psymem.tables import WORDS, require_columns


def words_from_text(path: Path) -> pd.DataFrame:
    """Read a text file: every line that is not blank is a text, named by its line number.

    Words are split at white space, sentences by the rule of `psymem.sentences`.

    Returns
    -------
    pandas.DataFrame
        WORDS.

    Raises
    ------
    DataError
        If the file cannot be read as text or has no words.
    """
    notes: list[str] = []
    lines = read_text(Path(path), notes).splitlines()
    texts = {number: line.split() for number, line in enumerate(lines, start=1) if line.strip()}
    if not texts:
        raise DataError(f"{path} has no words.")
    sizes = [len(words) for words in texts.values()]
    frame = pd.DataFrame(
        {
            "text_id": pd.Series(np.repeat([str(n) for n in texts], sizes), dtype="str"),
            "sentence_id": np.concatenate([sentence_numbers(w) for w in texts.values()]),
            "word_id": np.concatenate([np.arange(1, n + 1) for n in sizes]),
            "word": pd.Series([w for words in texts.values() for w in words], dtype="str"),
        }
    )
    frame.attrs["notes"] = notes
    return frame


def words_from_table(path: Path, *, word_column: str = "word", text_column: str = "text_id") -> pd.DataFrame:
    """Read a table with one word per row, in reading order.

    Parameters
    ----------
    path
        CSV, semicolon- or tab-separated file.
    word_column
        Column of the words.
    text_column
        Column that says which text a word belongs to; without it the table is one text.

    Returns
    -------
    pandas.DataFrame
        WORDS; the other columns of the table are kept as text. ``word_id`` counts the words of a text from 1
        where the table has none, ``sentence_id`` follows the rule of `psymem.sentences`.

    Raises
    ------
    DataError
        If the file cannot be read, a word is empty or holds white space, or word numbers are not whole
        numbers.
    UnknownNameError
        If a column asked for by name is not there.
    """
    read = read_delimited(path)
    given = read.frame
    require_columns(given, [word_column, *([text_column] if text_column != "text_id" else [])], str(path))
    for row, word in zip(given.index.tolist(), given[word_column], strict=True):
        if len(word.split()) != 1:
            what = "is empty" if not word.strip() else f"{word!r} has white space inside"
            raise DataError(f"{read.at(row, word_column)}: {what}. Every row has to hold one word.")
    frame = given.reset_index(drop=True)
    texts = frame[text_column] if text_column in frame else pd.Series("1", index=frame.index, dtype="str")
    words = frame[word_column]
    named = {
        "text_id": texts,
        "sentence_id": _sentences(frame, texts, words),
        "word_id": _numbers(frame, texts, path),
        "word": words,
    }
    others = [c for c in frame.columns if c not in (*WORDS.required, word_column, text_column)]
    result = pd.DataFrame(named).join(frame[others])
    result.attrs["notes"] = list(read.notes)
    return result


def _sentences(frame: pd.DataFrame, texts: pd.Series, words: pd.Series) -> pd.Series:
    """Sentence numbers as given, else found in each text."""
    if "sentence_id" in frame:
        return frame["sentence_id"]
    return words.groupby(texts, sort=False).transform(lambda w: sentence_numbers(w.tolist())).astype("int64")


def _numbers(frame: pd.DataFrame, texts: pd.Series, path: Path) -> pd.Series:
    """Word numbers as given, else counted in each text."""
    if "word_id" not in frame:
        return texts.groupby(texts, sort=False).cumcount() + 1
    numbers = pd.to_numeric(frame["word_id"], errors="coerce")
    wrong = frame.loc[numbers.isna() | (numbers % 1 != 0), "word_id"]
    if len(wrong):
        raise DataError(f"{path}: word_id {wrong.iloc[0]!r} is not a whole number.")
    return numbers.astype("int64")
