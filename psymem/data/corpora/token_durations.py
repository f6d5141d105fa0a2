"""Durations of white-space words as durations of tokens, where a corpus is tokenised as in the Penn Treebank.

Models trained to predict fixations read tokens: "didn't" is "did" and "n't", "cabinets," is "cabinets" and ",".
Readers look at words between blanks. As in the fixation-guided parsing networks, a token with a letter or digit has
the duration (or level) of its word, and a token of punctuation alone has the smallest level: nobody looks at a comma.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psymem.errors import DataError


def token_durations(
    words: pd.DataFrame, tokens: Sequence[Sequence[str]], columns: Sequence[str], *, smallest: float = 0.0
) -> pd.DataFrame:
    """Spread values of words over their tokens.

    Parameters
    ----------
    words
        One row per white-space word: ``text_id, word_id, word`` and `columns`, in ms or in levels.
    tokens
        Tokens of each word, n lists in the order of the rows; joined they spell the word (quotation marks may be
        written as in the Penn Treebank, `` and '').
    columns
        What to spread.
    smallest
        Value of a token without letter or digit.

    Returns
    -------
    pandas.DataFrame
        One row per token: ``text_id, word_id, word, token_id`` (from 1 within the text), ``token`` and `columns`;
        NaN where the word's value is NaN (not read) and the token has a letter or digit.

    Raises
    ------
    DataError
        If the tokens of a word do not spell it.
    """
    if len(tokens) != len(words):
        raise DataError(f"There are tokens of {len(tokens)} words, and {len(words)} words.")
    for row, own in zip(words.itertuples(), tokens, strict=True):
        if _spelled("".join(own)) != _spelled(str(row.word)):
            raise DataError(
                f"The tokens {' '.join(own)!r} do not spell the word {row.word!r} (text {row.text_id}, word {row.word_id})."
            )
    repeats = np.repeat(np.arange(len(words)), [len(own) for own in tokens])
    found = words[["text_id", "word_id", "word"]].iloc[repeats].reset_index(drop=True)
    found["token_id"] = found.groupby("text_id", sort=False).cumcount() + 1
    found["token"] = pd.Series([t for own in tokens for t in own], dtype="str")
    spoken = found["token"].map(lambda token: any(c.isalnum() for c in token)).to_numpy(dtype=bool)
    for column in columns:
        found[column] = np.where(spoken, words[column].to_numpy(dtype=float)[repeats], smallest)
    return found


def _spelled(text: str) -> str:
    """Return `text` with all quotation marks written alike."""
    for mark in ("``", "''", "“", "”"):
        text = text.replace(mark, '"')
    return text.replace("‘", "'").replace("’", "'").replace("`", "'")
