"""Eye-tracking and Sentiment Analysis-II (Mishra et al., 2016; CFILT, IIT Bombay): 7 people judged 994 short texts.

``Fixation_sequence.csv`` has every fixation, ``text_and_annorations.csv`` the texts. On the screen the aspect to be judged
stood before the text, as ``Aspect--X`` of one or more words, so that text word i is word i + 1 or more there; and the
screen's words were split differently from the text's in one text of six. Here the two are aligned by the word strings:
the fewest changes of the distance between both numbers, and the most words that agree in letters and digits. Fixations
on the aspect, outside all words, or on a word that does not agree are looks away from the words of the text.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import durations, find_file, read_cells, refuse_repeated, whole_numbers
from psymem.data.corpora.fixations import reading_measures
from psymem.data.corpora.words import note_missing_readers, with_sentences
from psymem.errors import DataError

NAME = "iitb"
FIXATIONS = ("Fixation_sequence.csv", "Fixtion_Sequence.csv")
"""As released, and as its README has it."""

TEXTS = ("text_and_annorations.csv", "text_and_annotations.csv")
READERS = 7
SPREAD = 12
"""Words by which the numbers of screen and text may differ beyond the aspect."""

AGREEING = 0.5
"""Share of fixated words that have to agree; less means that texts and fixations do not belong together."""


def read(folder: Path) -> Corpus:
    """Read the corpus.

    Returns
    -------
    Corpus
        All measures of `psymem.data.corpora.fixations`, in ms. WORDS have ``sarcasm`` and ``polarity`` of the text.

    Raises
    ------
    DataError
        If a file is missing or damaged, a cell is wrong, a text is missing, or most words do not agree.
    """
    notes: list[str] = []
    path = find_file(folder, TEXTS, NAME)
    texts = read_cells(path, ["Text_ID", "Text", "Default_Polarity", "Aspect", "Sarcasm"], notes)
    refuse_repeated(texts, ["Text_ID"], path)
    words = _words(texts)
    fixations = _fixations(find_file(folder, FIXATIONS, NAME), texts, notes)
    note_missing_readers(fixations["subject"].unique(), READERS, notes)
    placed = _placed(fixations, texts, words, notes)
    words = words[words["text_id"].isin(placed["text_id"].unique())].reset_index(drop=True)
    reading = reading_measures(placed, words, corpus=NAME)
    return Corpus(NAME, words, reading, notes=tuple(notes))


def _words(texts: pd.DataFrame) -> pd.DataFrame:
    """Return the words of all texts, split at white space; quotation marks lose their backslashes."""
    pieces = texts["Text"].str.replace("\\", "", regex=False).str.split()
    labels = {"polarity": texts["Default_Polarity"], "sarcasm": texts["Sarcasm"]}
    words = pd.DataFrame({"text_id": texts["Text_ID"], "word": pieces, **labels})
    words = words.explode("word").dropna(subset=["word"]).reset_index(drop=True)
    words["word"] = words["word"].astype("str")
    words["word_id"] = words.groupby("text_id", sort=False).cumcount() + 1
    return with_sentences(words[["text_id", "word_id", "word", "polarity", "sarcasm"]])


def _fixations(path: Path, texts: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return the fixations in the order of the file, which is that of time; those of 0 ms are left out."""
    cells = read_cells(path, ["Participant_ID", "Text_ID", "Word_ID", "Word", "Fixation_Duration"], notes)
    frame = pd.DataFrame(
        {
            "subject": cells["Participant_ID"].str.strip(),
            "text_id": cells["Text_ID"],
            "screen": whole_numbers(cells["Word_ID"], path),
            "word": cells["Word"].str.strip(),
            "duration_ms": durations(cells["Fixation_Duration"], path),
        }
    )
    unknown = ~frame["text_id"].isin(texts["Text_ID"])
    if unknown.any():
        row = unknown.index[unknown][0]
        raise DataError(
            f"{path}, row {row}: there is no text {frame.loc[row, 'text_id']!r} ({int(unknown.sum())} such fixation(s)). "
            "Take fixations and texts of the same release."
        )
    instant = ~(frame["duration_ms"] > 0)
    if instant.any():
        notes.append(f"{int(instant.sum())} fixation(s) of 0 ms or without a duration were left out.")
    return frame[~instant].reset_index(drop=True)


def _placed(
    fixations: pd.DataFrame, texts: pd.DataFrame, words: pd.DataFrame, notes: list[str]
) -> pd.DataFrame:
    """Return the fixations with `word_id` of the text, missing where a fixation is on none of its words."""
    aspects = dict(zip(texts["Text_ID"], texts["Aspect"].str.split().str.len().clip(lower=1), strict=True))
    of_text = {str(t): w.tolist() for t, w in words.groupby("text_id", sort=False)["word"]}
    seen = fixations[fixations["screen"] > 0].drop_duplicates(["text_id", "screen"])
    seen = seen.sort_values("screen", kind="stable")
    placed = np.full(len(seen), np.nan)
    for text_id, rows in seen.groupby("text_id", sort=False).indices.items():
        group = seen.iloc[rows]
        own = of_text.get(str(text_id), [])
        placed[rows] = align(group["screen"].to_numpy(), group["word"].tolist(), own, aspects[text_id])
    table = seen[["text_id", "screen"]].assign(word_id=placed)
    joined = fixations.merge(table, on=["text_id", "screen"], how="left", validate="many_to_one")
    _note_places(joined, notes)
    joined["word_id"] = joined["word_id"].where(joined["word_id"] > 0)
    return joined[["subject", "text_id", "word_id", "duration_ms"]]


def _note_places(joined: pd.DataFrame, notes: list[str]) -> None:
    """Say how many fixations are on no word of the text, and why."""
    outside = joined["screen"] <= 0
    aspect = joined["word_id"] == ASPECT
    differing = ~outside & joined["word_id"].isna()
    if differing.sum() > (1 - AGREEING) * (~outside & ~aspect).sum():
        raise DataError(
            f"{int(differing.sum())} of {len(joined)} fixations are on words that the texts do not have at that place, "
            f"such as {_shown(joined[differing])}. Take fixations and texts of the same release."
        )
    notes.append(
        f"Of {len(joined)} fixations, {int(aspect.sum())} are on the aspect before the text and {int(outside.sum())} on "
        "no word; both are looks away."
    )
    if differing.any():
        notes.append(
            f"{int(differing.sum())} fixations in {joined.loc[differing, 'text_id'].nunique()} texts are on words that "
            f"do not agree with the text and are looks away too: {_shown(joined[differing])}."
        )


def _shown(rows: pd.DataFrame) -> str:
    once = rows.drop_duplicates(["text_id", "screen"]).head(5)
    return "; ".join(
        f"text {r.text_id}, word {r.screen} on the screen: {r.word!r}" for r in once.itertuples()
    )


# alignment -------------------------------------------------------------------------------------------------
ASPECT = 0
"""Place of the words before the text."""


def align(numbers: np.ndarray, seen: list[str], text: list[str], aspect: int) -> np.ndarray:
    """Find the text's words among the numbered words of the screen.

    The distance d between a screen's number i and the text's (i - d) is followed from word to word by dynamic
    programming: a word that agrees with the text (letters and digits, case aside) at i - d gains 1, a change of d by k
    costs 0.4 (1 + k). It begins at the number of words of the aspect.

    Parameters
    ----------
    numbers
        (n,) int, increasing: numbers on the screen, from 1.
    seen
        (n) words there.
    text
        Words of the text.
    aspect
        Number of words before the text.

    Returns
    -------
    numpy.ndarray
        (n,) float: number in the text, from 1; `ASPECT` for words before it; NaN where the word does not agree.
    """
    shifts = np.arange(max(0, aspect - SPREAD), aspect + SPREAD + 1)
    bare, own = [_bare(w) for w in seen], [_bare(w) for w in text]
    change = np.abs(shifts[:, None] - shifts[None, :])
    cost = np.where(change > 0, 0.4 * (1 + change), 0.0)  # (from, to)
    best = -cost[np.flatnonzero(shifts == aspect)[0]]
    agrees = np.zeros((len(seen), len(shifts)), dtype=bool)
    came_from = np.zeros(agrees.shape, dtype=int)
    for k, (number, word) in enumerate(zip(numbers, bare, strict=True)):
        place = number - shifts
        agrees[k] = [1 <= p <= len(own) and own[p - 1] == word for p in place]
        before = (place < 1) & (number <= aspect + 2)
        options = best[:, None] - cost
        came_from[k] = options.argmax(axis=0)
        best = options.max(axis=0) + agrees[k] + 0.5 * before
    path = np.zeros(len(seen), dtype=int)
    at = int(best.argmax())
    for k in range(len(seen) - 1, -1, -1):
        path[k] = at
        at = came_from[k, at]
    place = numbers - shifts[path]
    agreed = agrees[np.arange(len(seen)), path]
    return np.where(agreed, place, np.where(place < 1, ASPECT, np.nan)).astype(float)


def _bare(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower()) or word
