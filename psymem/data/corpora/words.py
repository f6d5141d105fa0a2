"""WORDS of a corpus from its readers' rows, and the comparison of word strings by key."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psymem.errors import DataError
from psymem.sentences import sentence_numbers
from psymem.tables import TEXT_KEY

KEY = list(TEXT_KEY)
SHOWN = 5


def words_of_readers(rows: pd.DataFrame, more: Sequence[str] = ()) -> pd.DataFrame:
    """Return each word that anybody has a row for, once, in the order of texts and words.

    Parameters
    ----------
    rows
        ``text_id, word_id, word``, one row per reader and word; ``sentence_id`` is kept if it is there.
    more
        Further columns of words to keep, those of them that are there.

    Raises
    ------
    DataError
        If readers have different words at the same place; the first five are shown.
    """
    kept = [c for c in ("sentence_id", *more) if c in rows]
    words = rows[[*KEY, "word", *kept]].drop_duplicates(KEY)
    wrong = differing_words(rows, words)
    if len(wrong):
        raise DataError(
            f"{len(wrong)} word(s) differ between readers: {shown_words(wrong)}. Number the words of each text in a "
            "column word_id, the same for all readers."
        )
    words = text_order(words)
    first = ["text_id", *(["sentence_id"] if "sentence_id" in words else []), "word_id", "word"]
    return words[[*first, *(c for c in kept if c != "sentence_id")]]


def text_order(words: pd.DataFrame) -> pd.DataFrame:
    """Sort by word number within texts, texts in the order in which they first occur."""
    order = pd.factorize(words["text_id"])[0]
    return (
        words.assign(_order=order)
        .sort_values(["_order", "word_id"], kind="stable")
        .drop(columns="_order")
        .reset_index(drop=True)
    )


def with_sentences(words: pd.DataFrame) -> pd.DataFrame:
    """Add ``sentence_id`` by the rule of `psymem.sentences`; `words` are in reading order."""
    by_text = words.groupby("text_id", sort=False)["word"]
    numbers = by_text.transform(lambda w: sentence_numbers(w.tolist())).astype("int64")
    words = words.drop(columns="sentence_id", errors="ignore")
    words.insert(1, "sentence_id", numbers)
    return words


def differing_words(read: pd.DataFrame, text: pd.DataFrame) -> pd.DataFrame:
    """Compare word strings by text and word number.

    Parameters
    ----------
    read, text
        Frames with ``text_id, word_id, word``; `text` has each word once.

    Returns
    -------
    pandas.DataFrame
        ``text_id, word_id, word, word_in_text`` of each place where they differ; NaN where `text` has no word.
    """
    once = read[[*KEY, "word"]].drop_duplicates()
    own = text[[*KEY, "word"]]
    both = once.merge(own, on=KEY, how="left", suffixes=("", "_in_text"), validate="many_to_one")
    return both[both["word"] != both["word_in_text"]].drop_duplicates(KEY)


def refuse_differing_words(read: pd.DataFrame, text: pd.DataFrame, between: str) -> None:
    """Raise DataError with the first five words that differ; `between` says between what and what."""
    wrong = differing_words(read, text)
    if len(wrong):
        raise DataError(
            f"{len(wrong)} word(s) differ between {between}: {shown_words(wrong)}. Check that both belong to the same "
            "release."
        )


def shown_words(wrong: pd.DataFrame) -> str:
    """Name the first five words of `differing_words`."""
    return "; ".join(
        f"text {r.text_id}, word {r.word_id}: {r.word!r} against "
        + (f"{r.word_in_text!r}" if isinstance(r.word_in_text, str) else "no word")
        for r in wrong.head(SHOWN).itertuples()
    )


MAY_DIFFER = 0.01
"""Up to this share of words may differ from the text before a corpus is refused."""


def drop_differing(rows: pd.DataFrame, text: pd.DataFrame, between: str, notes: list[str]) -> pd.DataFrame:
    """Leave out readers' rows whose word is not the one of the text, and note which.

    Words that differ in nothing but punctuation or case are taken as the text has them.

    Parameters
    ----------
    rows
        ``text_id, word_id, word`` and more, one row per reader and word.
    text
        WORDS.
    between
        What differs from what, for the note or the message.

    Returns
    -------
    pandas.DataFrame
        The other rows, with the words of the text.

    Raises
    ------
    DataError
        If more than 1% of the words differ: these files do not belong together. The first five are shown.
    """
    wrong = differing_words(rows, text)
    if wrong.empty:
        return rows
    same = _letters(wrong["word"]) == _letters(wrong["word_in_text"].fillna(""))
    if same.any():
        notes.append(
            f"{int(same.sum())} word(s) differ between {between} in punctuation or case only and were taken as the text "
            f"has them: {shown_words(wrong[same])}."
        )
    wrong = wrong[~same]
    if len(wrong) > MAY_DIFFER * len(text):
        raise DataError(
            f"{len(wrong)} word(s) differ between {between}: {shown_words(wrong)}. Check that both belong to the same "
            "release."
        )
    own = text[[*KEY, "word"]].rename(columns={"word": "word_in_text"})
    joined = rows.merge(own, on=KEY, how="left", validate="many_to_one")
    bad = pd.MultiIndex.from_frame(joined[KEY]).isin(pd.MultiIndex.from_frame(wrong[KEY]))
    if len(wrong):
        notes.append(
            f"{len(wrong)} word(s) differ between {between} and were left out ({int(bad.sum())} rows): {shown_words(wrong)}."
        )
    kept = joined[~bad]
    return kept.assign(word=kept["word_in_text"]).drop(columns="word_in_text").reset_index(drop=True)


def _letters(words: pd.Series) -> pd.Series:
    """Letters and digits in lower case; a word without any stays as it is."""
    bare = words.str.lower().str.replace(r"[\W_]", "", regex=True)
    return bare.where(bare != "", words)


def note_missing_readers(subjects: Sequence[str], expected: int, notes: list[str]) -> None:
    """Note that fewer people read than were published."""
    have = len(set(subjects))
    if have < expected:
        notes.append(f"The files have {have} reader(s); {expected} were published.")
