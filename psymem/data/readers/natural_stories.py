"""The Natural Stories Corpus (Futrell et al., 2021): 181 people read ten stories word by word, at their own pace.

From the public repository: ``all_stories.tok`` (the words as they were shown) and ``processed_RTs.tsv`` (per reader), or
``processed_wordinfo.tsv`` (means over readers). Files are tab-separated without quoting. Kept are times between 100 and
3,000 ms, both excluded, of readers with more than four of a story's six questions right, as in the paper.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from psymem.data.corpora.corpus import AVERAGE_READER, Corpus
from psymem.data.corpora.files import (
    durations,
    find_file,
    numbers,
    read_cells,
    refuse_repeated,
    whole_numbers,
)
from psymem.data.corpora.words import (
    differing_words,
    drop_differing,
    note_missing_readers,
    shown_words,
    text_order,
    with_sentences,
)
from psymem.errors import DataError
from psymem.io.encoding import read_text

NAME = "natural-stories"
TEXT = "all_stories.tok"
PER_READER = "processed_RTs.tsv"
MEANS = "processed_wordinfo.tsv"
READERS = 181
FASTEST, SLOWEST = 100, 3000
"""ms; times at or beyond these are left out."""

RIGHT_ANSWERS = 4
"""More than these of a story's six questions have to be answered right."""


def read(folder: Path, *, averaged: bool | None = None) -> Corpus:
    """Read the corpus.

    Parameters
    ----------
    folder
        The repository, or a folder with the files.
    averaged
        Whether to read the means by word instead of single readers; by default only if ``processed_RTs.tsv`` is
        missing. Means have ``n_readers`` in READING.

    Returns
    -------
    Corpus
        ``self_paced_reading_time`` in ms. Sentences are those of ``parses/ud/stories-aligned.conllx`` if it is there.

    Raises
    ------
    DataError
        If a file is missing or damaged, or the words of a time and of the text differ.
    """
    notes: list[str] = []
    folder = Path(folder)
    words = _words(folder, notes)
    if averaged is None:
        path = find_file(folder, (PER_READER, MEANS), NAME)
        averaged = path.name.lower() != PER_READER.lower()
        if averaged:
            notes.append(f"There is no {PER_READER}: these are the means over readers of {MEANS}.")
    path = find_file(folder, (MEANS if averaged else PER_READER,), NAME)
    rows = _means(path, notes) if averaged else _times(path, notes)
    rows = drop_differing(rows, words, f"{path.name} and {TEXT}", notes)
    _note_words_without_times(rows, words, notes)
    rows.insert(0, "corpus", pd.Series(NAME, index=rows.index, dtype="str"))
    rows["skipped"] = False
    return Corpus(NAME, words, rows, notes=tuple(notes), averaged=averaged)


def _words(folder: Path, notes: list[str]) -> pd.DataFrame:
    path = find_file(folder, (TEXT,), NAME)
    cells = read_cells(path, ["word", "zone", "item"], notes, separator="\t", quoting=False)
    words = pd.DataFrame(
        {"text_id": cells["item"], "word_id": whole_numbers(cells["zone"], path), "word": cells["word"]}
    )
    refuse_repeated(words, ["text_id", "word_id"], path)
    words = with_sentences(text_order(words))
    parses = folder / "parses" / "ud" / "stories-aligned.conllx"
    if parses.is_file():
        words["sentence_id"] = _parsed_sentences(words, parses)
        notes.append(f"Sentences are those of {parses.name}.")
    else:
        notes.append(
            "Sentences end at . ! or ? before a capital; the parses of the corpus are not in the folder."
        )
    _note_as_written(words, folder / "words.tsv", notes)
    return words


def _parsed_sentences(words: pd.DataFrame, path: Path) -> pd.Series:
    """Return the number of the sentence of each word: the first in which the parses have a part of it."""
    found: dict[tuple[str, int], int] = {}
    sentence, story = 0, ""
    for block in read_text(path, []).split("\n\n"):
        tokens = [
            line.rpartition("TokenId=")[2].split(".") for line in block.splitlines() if "TokenId=" in line
        ]
        if not tokens:
            continue
        sentence = sentence + 1 if tokens[0][0] == story else 1
        story = tokens[0][0]
        for token in tokens:
            found.setdefault((token[0], int(token[1])), sentence)
    keys = zip(words["text_id"], words["word_id"], strict=True)
    numbered = pd.Series([found.get(key) for key in keys], index=words.index, dtype="float64")
    by_text = numbered.groupby(words["text_id"], sort=False)
    return by_text.ffill().fillna(1).astype("int64")


def _note_as_written(words: pd.DataFrame, path: Path, notes: list[str]) -> None:
    """Note where the words shown differ from those of the stories (misprints of the experiment)."""
    if not path.is_file():
        return
    lines = [line.split("\t") for line in read_text(path, []).splitlines() if ".whole\t" in line]
    written = pd.DataFrame(
        {
            "text_id": pd.Series([code.split(".")[0] for code, _ in lines], dtype="str"),
            "word_id": [int(code.split(".")[1]) for code, _ in lines],
            "word": pd.Series([word.replace(" ", "") for _, word in lines], dtype="str"),
        }
    )
    wrong = differing_words(words, written.drop_duplicates(["text_id", "word_id"]))
    if len(wrong):
        notes.append(
            f"{len(wrong)} word(s) were shown otherwise than {path.name} has them; what was shown is kept: "
            f"{shown_words(wrong)}."
        )


def _times(path: Path, notes: list[str]) -> pd.DataFrame:
    cells = read_cells(
        path, ["WorkerId", "item", "zone", "RT", "correct", "word"], notes, separator="\t", quoting=False
    )
    rows = pd.DataFrame(
        {
            "subject": cells["WorkerId"],
            "text_id": cells["item"],
            "word_id": whole_numbers(cells["zone"], path),
            "word": cells["word"],
            "self_paced_reading_time": durations(cells["RT"], path),
        }
    )
    refuse_repeated(rows, ["subject", "text_id", "word_id"], path)
    note_missing_readers(rows["subject"].unique(), READERS, notes)
    careless = numbers(cells["correct"], path) <= RIGHT_ANSWERS
    times = rows["self_paced_reading_time"]
    extreme = ~((times > FASTEST) & (times < SLOWEST)) & ~careless
    for left_out, why in (
        (careless, f"of readers with {RIGHT_ANSWERS} or fewer right answers"),
        (extreme, f"not between {FASTEST} and {SLOWEST} ms"),
    ):
        if left_out.any():
            notes.append(f"{int(left_out.sum())} time(s) {why} were left out.")
    kept = rows[~(careless | extreme)].reset_index(drop=True)
    if kept.empty:
        raise DataError(
            f"{path}: none of {len(rows)} times is within {FASTEST} and {SLOWEST} ms of a careful reader."
        )
    return kept


def _means(path: Path, notes: list[str]) -> pd.DataFrame:
    cells = read_cells(
        path, ["word", "zone", "item", "nItem", "meanItemRT"], notes, separator="\t", quoting=False
    )
    rows = pd.DataFrame(
        {
            "subject": pd.Series(AVERAGE_READER, index=cells.index, dtype="str"),
            "text_id": cells["item"],
            "word_id": whole_numbers(cells["zone"], path),
            "word": cells["word"],
            "self_paced_reading_time": durations(cells["meanItemRT"], path),
            "n_readers": whole_numbers(cells["nItem"], path),
        }
    )
    refuse_repeated(rows, ["text_id", "word_id"], path)
    return text_order(rows)


def _note_words_without_times(rows: pd.DataFrame, words: pd.DataFrame, notes: list[str]) -> None:
    """Words nobody has a time for are the trace of a release whose times were shifted."""
    key = ["text_id", "word_id"]
    timed = pd.MultiIndex.from_frame(rows[key].drop_duplicates())
    lacking = words[~pd.MultiIndex.from_frame(words[key]).isin(timed)]
    if len(lacking):
        first = lacking.iloc[0]
        notes.append(
            f"{len(lacking)} word(s) of {TEXT} have no time, the first is text {first['text_id']}, word "
            f"{first['word_id']}: {first['word']!r}. Releases before May 2025 are shifted by one word; use a later one."
        )
