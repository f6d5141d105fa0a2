"""WORDS from plain files: a text with one text per line or with articles, or a table with one word per row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.corpora.files import with_joined
from psymem.errors import DataError
from psymem.io.delimited import read_delimited
from psymem.io.encoding import read_text
from psymem.sentences import sentence_numbers
from psymem.tables import WORDS, require_columns

ARTICLE = "!ARTICLE"
"""A line that opens a new text; every other line is then a sentence."""


def words_from_text(path: Path) -> pd.DataFrame:
    """Read a text file: every line that is not blank is a text, named by its line number.

    Words are split at white space, sentences by the rule of `psymem.sentences`. In a file with lines that say
    ``!ARTICLE``, each of them opens a text, named 1, 2, ..., and every other line is a sentence of it.

    Returns
    -------
    pandas.DataFrame
        WORDS.

    Raises
    ------
    DataError
        If the file cannot be read as text, has no words, or has words before the first ``!ARTICLE``.
    """
    notes: list[str] = []
    lines = {
        n: line for n, line in enumerate(read_text(Path(path), notes).splitlines(), start=1) if line.strip()
    }
    if any(line.strip() == ARTICLE for line in lines.values()):
        sentences = _article_sentences(lines, path)
    else:
        sentences = [(str(n), sentence_numbers(line.split()), line.split()) for n, line in lines.items()]
    if not sentences:
        raise DataError(f"{path} has no words.")
    sizes = [len(words) for _, _, words in sentences]
    texts = pd.Series(np.repeat([text for text, _, _ in sentences], sizes), dtype="str")
    frame = pd.DataFrame(
        {
            "text_id": texts,
            "sentence_id": np.concatenate([numbers for _, numbers, _ in sentences]),
            "word_id": texts.groupby(texts, sort=False).cumcount() + 1,
            "word": pd.Series([w for _, _, words in sentences for w in words], dtype="str"),
        }
    )
    frame.attrs["notes"] = notes
    return frame


def _article_sentences(lines: dict[int, str], path: Path) -> list[tuple[str, np.ndarray, list[str]]]:
    """Return text, sentence number of each word, and words of each line that is no ``!ARTICLE``."""
    found: list[tuple[str, np.ndarray, list[str]]] = []
    article = sentence = 0
    for number, line in lines.items():
        if line.strip() == ARTICLE:
            article, sentence = article + 1, 0
            continue
        if not article:
            raise DataError(
                f"{path}, line {number}: there are words before the first {ARTICLE}. Begin the file with a line "
                f"that says {ARTICLE}."
            )
        sentence += 1
        words = line.split()
        found.append((str(article), np.full(len(words), sentence), words))
    return found


def words_from_table(path: Path, *, word_column: str = "word", text_column: str = "text_id") -> pd.DataFrame:
    """Read a table with one word per row, in reading order.

    Parameters
    ----------
    path
        CSV, semicolon- or tab-separated file.
    word_column
        Column of the words.
    text_column
        Column that says which text a word belongs to (or columns: "item+model"); without it the table is one text.

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
    given = with_joined(read.frame, [text_column], path)
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
