"""What a reading study knows about a word besides the models: length, position, and the values of earlier words.

Everything here is a property of the running text, so it is computed on the whole text and only then joined with what
readers did: the word before is the word before in the text, whether or not a reader's data have a row for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from psymem.data.words.gaps import words_missing_before
from psymem.errors import DataError
from psymem.tables import TEXT_KEY, require_columns

EDGES = re.compile(r"^[\W_]+|[\W_]+$")
"""Punctuation before the first and after the last letter or digit of a word."""
SENTENCE = ("text_id", "sentence_id")
TEXT = ("text_id",)
PREVIOUS = "{name}_previous_{back}"
"""Name of the column that holds a value of an earlier word."""


def bare(word: str) -> str:
    """Return `word` without the punctuation around it: "cabinets" for '"cabinets,'; "" for a dash."""
    return EDGES.sub("", word)


def word_length(words: pd.Series, *, punctuation: bool = False) -> pd.Series:
    """Length of each word in characters.

    Parameters
    ----------
    words
        Strings.
    punctuation
        Whether the punctuation around a word counts ("cabinets," has 9 characters with it, 8 without). Hyphens and
        apostrophes inside a word always count.

    Returns
    -------
    pandas.Series
        Integers, on the index given.
    """
    return (words if punctuation else words.map(bare)).str.len().astype("int64")


def position(words: pd.DataFrame, within: Sequence[str] = SENTENCE) -> pd.Series:
    """Number of each word in its sentence (or, with ``("text_id",)``, in its text), counted from 1.

    Words that the table lacks count too (`psymem.data.words.gaps`); where it lacks them between two sentences, nobody knows
    whose they are, and the words of the second have no number.
    """
    require_columns(words, within, "the table of words")
    grouped = words.groupby(list(within), sort=False, dropna=False)
    place = grouped.cumcount() + 1
    missing = words_missing_before(words)
    if not missing.any():
        return place
    keys = [words[c] for c in within]
    unknown = missing.where(place == 1, 0).groupby(keys, sort=False, dropna=False).transform("max") > 0
    return (place + missing.groupby(keys, sort=False, dropna=False).cumsum()).astype("float64").mask(unknown)


def previous(
    frame: pd.DataFrame,
    columns: Sequence[str],
    back: int = 1,
    *,
    words: pd.DataFrame | None = None,
    within: Sequence[str] = SENTENCE,
    readers: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the values that `columns` have at earlier words of the same sentence (and the same reader).

    Values are found by key, never by shifting rows: where a reader's data have no row for a word, the value of the
    word before it does not slip into its place. Nothing is looked up across words that the text lacks
    (`psymem.data.words.gaps`).

    Parameters
    ----------
    frame
        WORDS or SCORES in reading order, or a table of readers' rows (then give `words` and `readers`).
    columns
        Columns of `frame`.
    back
        How many words back; 1 and 2 give the previous word and the one before.
    words
        The running text, all its words in reading order; `frame` itself if it is that.
    within
        What earlier words have to share: the sentence, or ``("text_id",)`` to look back across sentences.
    readers
        Columns that tell readers (or models) apart in `frame`, such as ``("subject",)``.

    Returns
    -------
    pandas.DataFrame
        Columns ``NAME_previous_1 ... NAME_previous_BACK`` on the index of `frame`; NaN where there is no such word.

    Raises
    ------
    DataError
        If a row of `frame` is about a word that the text does not have, or occurs twice for a reader.
    """
    text = frame if words is None else words
    require_columns(text, [*TEXT_KEY, *within], "the table of words")
    require_columns(frame, [*columns, *readers])
    places = text.drop_duplicates(list(TEXT_KEY))
    units = places.groupby(list(within), sort=False, dropna=False)
    stretch = words_missing_before(places).gt(0).cumsum()
    places = places[[*TEXT_KEY]].assign(
        _unit=units.ngroup(),
        _place=units.cumcount()
        + stretch * (back + 1),  # nothing lies within reach on the other side of a gap
    )
    keyed = frame[[*TEXT_KEY, *readers, *columns]].merge(
        places, on=list(TEXT_KEY), how="left", validate="many_to_one"
    )
    _refuse_strangers(keyed)
    key = ["_unit", *readers]
    found: dict[str, pd.Series] = {}
    for step in range(1, back + 1):
        earlier = keyed[[*key, "_place", *columns]].assign(_place=keyed["_place"] + step)
        matched = keyed[[*key, "_place"]].merge(
            earlier, on=[*key, "_place"], how="left", validate="one_to_one"
        )
        for name in columns:
            found[PREVIOUS.format(name=name, back=step)] = matched[name].set_axis(frame.index)
    return pd.DataFrame(found, index=frame.index)


def _refuse_strangers(keyed: pd.DataFrame) -> None:
    missing = keyed["_unit"].isna()
    if missing.any():
        row = keyed.loc[missing].iloc[0]
        raise DataError(
            f"{int(missing.sum())} row(s) are about words that the text does not have, the first word {row['word_id']} "
            f"of text {row['text_id']}. Check that both tables belong to the same release."
        )


def with_values(
    words: pd.DataFrame, values: pd.DataFrame, columns: Sequence[str], source: str
) -> pd.DataFrame:
    """Return `words` with `columns` of a table about the same words, joined by key, the words compared.

    Parameters
    ----------
    words
        WORDS.
    values
        ``text_id, word_id, word`` and `columns`, one row per word; it may lack words, whose values are then NaN.
    columns
        What to take from `values`.
    source
        What `values` is, for messages.

    Raises
    ------
    DataError
        If a word differs between the tables (the first five are shown), a row repeats, or no word is shared.
    """
    key = list(TEXT_KEY)
    require_columns(values, [*key, "word", *columns], source)
    repeated = values.duplicated(key)
    if repeated.any():
        row = values.loc[repeated].iloc[0]
        raise DataError(
            f"{source} has {int(repeated.sum())} repeated row(s), the first for text {row['text_id']}, word "
            f"{row['word_id']}. Give one row per word."
        )
    joined = words.merge(
        values[[*key, "word", *columns]], on=key, how="left", suffixes=("", "_there"), validate="one_to_one"
    )
    known = joined["word_there"].notna()
    if not known.any():
        raise DataError(
            f"{source} shares no word with the text: no pair of text_id and word_id occurs in both. The text begins at "
            f"text_id {words['text_id'].iloc[0]!r}, word_id {words['word_id'].iloc[0]}; {source} at text_id "
            f"{values['text_id'].iloc[0]!r}, word_id {values['word_id'].iloc[0]}."
        )
    _refuse_other_words(joined[known & (joined["word"] != joined["word_there"])], source)
    return joined.drop(columns="word_there").set_axis(words.index)


def _refuse_other_words(wrong: pd.DataFrame, source: str) -> None:
    if len(wrong):
        shown = "; ".join(
            f"text {r.text_id}, word {r.word_id}: {r.word!r} in the text, {r.word_there!r} there"
            for r in wrong.head(5).itertuples()
        )
        raise DataError(
            f"{source} has {len(wrong)} word(s) that differ from the text: {shown}. Join tables of the same release."
        )
