"""How frequent a word is: the Zipf scale of wordfreq (Speer, 2022), or a table of the user's.

The Zipf value is log10 of the frequency per billion words (van Heuven, Mandera, Keuleers & Brysbaert, 2014): 3 is
once in a million, 6 once in a thousand words.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.words.predictors import bare
from psymem.errors import DataError, UnknownNameError
from psymem.io.delimited import read_table

RAREST = 1.0
"""Zipf value of the rarest words that wordfreq lists (1 in 100 million); words it lacks are rarer and take it too."""
COLUMNS = ("log_frequency", "zipf", "per_million", "count")
"""Columns a table of frequencies may have, the first found is used."""


ENGLISH = "en"


def log_frequency(words: pd.Series, table: str | Path | None = None, *, language: str = ENGLISH) -> pd.Series:
    """Log frequency of each word, looked up in lower case and without the punctuation around it.

    Parameters
    ----------
    words
        Strings.
    table
        A CSV file with a column ``word`` and one of ``count`` (occurrences; turned into the Zipf scale with add-one
        smoothing), ``per_million`` (turned into the Zipf scale), ``zipf`` or ``log_frequency`` (taken as they are).
        Without it, the Zipf value of wordfreq.
    language
        Language of wordfreq's list.

    Returns
    -------
    pandas.Series
        One value per word. A word that the list lacks takes the value of its rarest words (with counts: that of a
        word counted 0 times); what has no letter and no digit, such as a dash, is NaN.

    Raises
    ------
    DataError
        If the table has no such column, a word twice, or a value that is no frequency.
    UnknownNameError
        If wordfreq has no list of the language.
    """
    keys = words.map(bare).str.lower()
    types = [str(k) for k in keys.unique() if k]
    found = _from_wordfreq(types, language) if table is None else _from_table(types, Path(table))
    return keys.map(found).astype("float64")


def check_language(language: str) -> None:
    """Raise UnknownNameError if wordfreq has no list of the language; "" is none that was named."""
    if not language:
        return
    from wordfreq import available_languages

    if language not in available_languages():
        raise UnknownNameError("language of wordfreq", language, available_languages())


def _from_wordfreq(types: list[str], language: str) -> dict[str, float]:
    from wordfreq import zipf_frequency

    check_language(language)
    return {word: max(RAREST, float(zipf_frequency(word, language))) for word in types}


def _from_table(types: list[str], path: Path) -> dict[str, float]:
    frame = read_table(path, file_rows=True)
    column = next((c for c in COLUMNS if c in frame.columns), None)
    if "word" not in frame.columns or column is None:
        raise DataError(
            f"{path} has the columns {', '.join(map(str, frame.columns))}; a table of frequencies needs 'word' and one of "
            f"{', '.join(COLUMNS)}."
        )
    values = frame[column]
    if values.dtype.kind not in "if":
        raise DataError(f"{path}: column {column!r} holds text where frequencies are expected.")
    wrong = values.isna() | ((values < 0) if column == "count" else np.isinf(values.astype(float)))
    wrong |= (values <= 0) if column == "per_million" else False
    if wrong.any():
        row = wrong[wrong].index[0]
        raise DataError(f"{path}, row {row}, column {column!r}: {values.loc[row]} is no frequency.")
    key = frame["word"].astype(str).map(bare).str.lower()
    twice = key.duplicated()
    if twice.any():
        row = twice[twice].index[0]
        raise DataError(
            f"{path}, row {row}: the word {key.loc[row]!r} is there twice (capitals and punctuation make no difference)."
        )
    scaled, rarest = _scaled(values.astype(float), column)
    listed = dict(zip(key, scaled, strict=True))
    return {word: float(listed.get(word, rarest)) for word in types}


def _scaled(values: pd.Series, column: str) -> tuple[pd.Series, float]:
    """Return the values on the scale that is used, and that of a word which is not in the table."""
    if column == "count":
        size = values.sum() + len(values)
        return np.log10((values + 1) / size * 1e9), float(np.log10(1 / size * 1e9))
    scaled = np.log10(values * 1e3) if column == "per_million" else values
    return scaled, float(scaled.min())
