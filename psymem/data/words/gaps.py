"""Words that a table lacks: where its word numbers jump, and which words are read without some of what stood before them.

A word after a gap has no word before it that anybody knows, and a model that reads the text without the missing words
does not read what people read. So nothing is looked up across a gap, and what a model says of a word counts only up to
the gap in its sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

BEFORE = "words_missing_before"
"""Optional column of WORDS: how many words are missing before this one, where word numbers jump for other reasons, or do
not although words are missing."""

SENTENCE = ("text_id", "sentence_id")
SHOWN = 5


def words_missing_before(words: pd.DataFrame) -> pd.Series:
    """Return how many words of its text are missing just before each word.

    Parameters
    ----------
    words
        WORDS in reading order. Word numbers may begin anywhere; a jump within a text is a gap, unless the column
        ``words_missing_before`` says how many words are missing.
    """
    if BEFORE in words:
        return words[BEFORE].fillna(0).astype("int64")
    steps = words.groupby("text_id", sort=False)["word_id"].diff()
    return (steps.fillna(1) - 1).clip(lower=0).astype("int64")


def after_gap(words: pd.DataFrame, within: Sequence[str] = SENTENCE) -> pd.Series:
    """Whether words are missing before each word in its sentence (or, with ``("text_id",)``, in its text).

    Words missing between two sentences may be the last ones of the first or the first ones of the second, so they count
    for the second.
    """
    missing = words_missing_before(words)
    if not missing.any():
        return pd.Series(False, index=words.index)
    return missing.groupby([words[c] for c in within], sort=False, dropna=False).cumsum() > 0


def gap_notes(words: pd.DataFrame) -> list[str]:
    """Return one sentence about the words that are missing, none if none is."""
    missing = words_missing_before(words)
    gaps = words[missing > 0]
    if gaps.empty:
        return []
    before = words.groupby("text_id", sort=False)[["word_id", "word"]].shift().loc[gaps.index]
    shown = "; ".join(
        f"text {gap.text_id}, between {f'{came.word_id:.0f} {came.word!r} and ' if isinstance(came.word, str) else ''}"
        f"{gap.word_id} {gap.word!r}"
        for gap, came in zip(gaps.head(SHOWN).itertuples(), before.head(SHOWN).itertuples(), strict=True)
    )
    lost = int(after_gap(words).sum())
    return [
        f"{int(missing.sum())} word(s) are missing, where word numbers jump: {shown}. What models say of the {lost} later "
        "word(s) of these sentences is NA, since they read them without the missing ones, and no word has what lies before "
        "a gap as the word before it. Add the missing words; if none is missing, number the words without gaps, or leave "
        "the column word_id out."
    ]
