"""The Dundee corpus, English part (Kennedy, Hill & Pynte, 2003), with measures computed here from its fixations.

Ten readers (sa to sj) of twenty newspaper texts: ``saNNma1p.dat`` holds a reader's events in the order of time (or
``saNNma2p.dat`` the fixations in the order of the text), ``txNNwrdp.dat`` the words. The files may lie in folders. Blinks
and gaps in time are no fixations; a look off the screen, or between words, ends a run. What each measure is:
`psymem.data.corpora.fixations`.

Sentences are those of the Dundee Treebank (Barrett, Agić & Søgaard, 2015) if ``TheDundeeTreebank_v1-0.csv`` is there,
else of the rule in `psymem.sentences`.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import read_cells, whole_numbers
from psymem.data.corpora.fixations import reading_measures
from psymem.data.readers.dundee_files import read_events, read_words
from psymem.errors import DataError
from psymem.sentences import sentence_numbers

NAME = "dundee"
READERS = [f"s{letter}" for letter in "abcdefghij"]
TEXTS = 20
EVENTS = re.compile(r"(s[a-j])(\d\d)ma([12])p\.dat", re.IGNORECASE)
WORDS_FILE = re.compile(r"tx(\d\d)wrdp\.dat", re.IGNORECASE)
TREEBANK = re.compile(r"TheDundeeTreebank.*\.csv", re.IGNORECASE)
TOLERATED = 0.01


def read(folder: Path) -> Corpus:
    """Read the Dundee corpus from its folder.

    Returns
    -------
    Corpus
        `words` also has `screen`, `line`, `line_first` and `line_last`.

    Raises
    ------
    DataError
        If events or words are missing, a file is damaged, a cell is not what it should be, or events and texts hold
        different words.
    """
    notes: list[str] = []
    events, texts, treebank = _files(Path(folder))
    encodings: list[str] = []
    words = pd.concat(
        [_words(text, path, encodings) for text, path in sorted(texts.items())], ignore_index=True
    )
    words["sentence_id"] = _sentences(words, treebank, notes)
    missing = sorted({text for _, text in events} - set(texts), key=int)
    if missing:
        named = ", ".join(f"tx{int(t):02d}wrdp.dat" for t in missing[:5])
        raise DataError(
            f"{folder} has events of {len(missing)} text(s) without their words: {named} not found."
        )
    fixations = pd.concat(
        [_fixations(reader, text, path, encodings) for (reader, text), path in sorted(events.items())],
        ignore_index=True,
    )
    fixations = _compared(fixations, words, notes)
    reading = reading_measures(fixations, words, corpus=NAME)
    notes[:0] = [*_encoding_notes(encodings), *_missing_notes(events, texts)]
    return Corpus(NAME, words, reading, notes=tuple(notes))


def _files(folder: Path) -> tuple[dict[tuple[str, str], Path], dict[str, Path], Path | None]:
    """Return events by reader and text, words by text, the treebank; events in the order of time are preferred."""
    inside = sorted(p for level in ("*", "*/*", "*/*/*") for p in folder.glob(level) if p.is_file())
    events: dict[tuple[str, str], Path] = {}
    texts: dict[str, Path] = {}
    treebank: Path | None = None
    for path in inside:
        if match := EVENTS.fullmatch(path.name):
            key = match[1].lower(), str(int(match[2]))
            if key not in events or match[3] == "1":
                events[key] = path
        elif match := WORDS_FILE.fullmatch(path.name):
            texts[str(int(match[1]))] = path
        elif TREEBANK.fullmatch(path.name):
            treebank = path
    if not events or not texts:
        looked = " and ".join(["sa01ma1p.dat"] * (not events) + ["tx01wrdp.dat"] * (not texts))
        found = sorted(p.name + "/" * p.is_dir() for p in folder.iterdir()) if folder.is_dir() else []
        raise DataError(
            f"{folder} does not hold the corpus {NAME!r}. Looked for files such as {looked}, also in folders inside; found "
            f"{', '.join(found[:5]) or 'nothing'}. Where to get it: psymem corpora show {NAME}."
        )
    return events, texts, treebank


def _words(text: str, path: Path, encodings: list[str]) -> pd.DataFrame:
    """WORDS of one text, without sentences."""
    frame = read_words(path, encodings)
    line = frame["SCREEN"].astype("str") + "/" + frame["LINE"].astype("str")
    begins = line.ne(line.shift())
    return pd.DataFrame(
        {
            "text_id": pd.Series(text, index=frame.index, dtype="str"),
            "sentence_id": 0,
            "word_id": frame["WNUM"],
            "word": frame["word"],
            "screen": frame["SCREEN"],
            "line": frame["LINE"],
            "line_first": begins,
            "line_last": np.r_[begins.to_numpy()[1:], True],
        }
    )


def _fixations(reader: str, text: str, path: Path, encodings: list[str]) -> pd.DataFrame:
    events = read_events(path, encodings)
    return pd.DataFrame(
        {
            "subject": pd.Series(reader, index=events.index, dtype="str"),
            "text_id": pd.Series(text, index=events.index, dtype="str"),
            "word_id": events["WNUM"],
            "duration_ms": events["FDUR"].astype("float64"),
            "word": events["word"],
        }
    )


def _compared(fixations: pd.DataFrame, words: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Compare the events' words with the texts'; few may differ."""
    key = ["text_id", "word_id"]
    on_words = fixations.dropna(subset="word_id").astype({"word_id": "int64"})
    both = on_words.merge(
        words[[*key, "word"]], on=key, how="inner", validate="many_to_one", suffixes=("", "_text")
    )
    differ = both[both["word"] != both["word_text"]].drop_duplicates(key)
    if len(differ):
        shown = "; ".join(
            f"text {r.text_id}, word {r.word_id}: {r.word!r} and {r.word_text!r}"
            for r in differ.head(5).itertuples()
        )
        message = f"{len(differ)} word(s) differ between events and texts: {shown}"
        if len(differ) > TOLERATED * len(both.drop_duplicates(key)):
            raise DataError(f"Dundee: {message}. Check that both belong to the same release.")
        notes.append(f"{message}. The texts were followed.")
    return fixations.drop(columns="word")


# sentences -------------------------------------------------------------------------------------------------
def _sentences(words: pd.DataFrame, treebank: Path | None, notes: list[str]) -> pd.Series:
    """Return the treebank's sentence of each word, else the splitter's."""
    if treebank is None:
        notes.append("TheDundeeTreebank_v1-0.csv is not there; sentences are those of psymem's own rule.")
        split = words.groupby("text_id", sort=False)["word"].transform(lambda w: sentence_numbers(w.tolist()))
        return split.astype("int64")
    cells = read_cells(treebank, ("Itemno", "WNUM", "SentenceID"), notes, separator="\t", quoting=False)
    table = pd.DataFrame({c: whole_numbers(cells[c], treebank) for c in cells.columns})
    table["text_id"] = table["Itemno"].astype("str")
    # the treebank splits words into tokens; a word is where its first token is
    first = table.drop_duplicates(["text_id", "WNUM"]).rename(columns={"WNUM": "word_id"})
    joined = words[["text_id", "word_id", "word"]].merge(
        first[["text_id", "word_id", "SentenceID"]],
        on=["text_id", "word_id"],
        how="left",
        validate="one_to_one",
    )
    lacking = joined["SentenceID"].isna()
    if lacking.any():
        shown = ", ".join(f"{r.text_id}-{r.word_id} {r.word!r}" for r in joined[lacking].head(5).itertuples())
        notes.append(
            f"The treebank lacks {int(lacking.sum())} word(s), which were put into the sentence before: {shown}."
        )
    by_text = joined.groupby("text_id")["SentenceID"]
    return by_text.ffill().fillna(by_text.bfill()).fillna(1).astype("int64")


# notes -----------------------------------------------------------------------------------------------------
def _encoding_notes(encodings: list[str]) -> list[str]:
    """Return one sentence for each encoding that files with letters beyond ASCII are in."""
    by_encoding: dict[str, list[str]] = {}
    for entry in encodings:
        name, encoding = entry.rsplit(": ", 1)
        by_encoding.setdefault(encoding, []).append(name)
    return [
        f"{len(names)} file(s) were read as {encoding}: {', '.join(names[:5])}{', ...' * (len(names) > 5)}."
        for encoding, names in sorted(by_encoding.items())
    ]


def _missing_notes(events: dict[tuple[str, str], Path], texts: dict[str, Path]) -> list[str]:
    notes = []
    if len(texts) < TEXTS:
        notes.append(f"There are {len(texts)} of {TEXTS} texts.")
    by_reader = {r: {text for reader, text in events if reader == r} for r in READERS}
    absent = [reader for reader, read_by in by_reader.items() if not read_by]
    if absent:
        notes.append(
            f"There are {len(READERS) - len(absent)} of {len(READERS)} readers; missing: {', '.join(absent)}."
        )
    for reader, read_by in by_reader.items():
        lacking = sorted(set(texts) - read_by, key=int)
        if read_by and lacking:
            notes.append(f"Reader {reader} has no data for text(s) {', '.join(lacking)}.")
    unsorted = sum("ma2p" in path.name.lower() for path in events.values())
    if unsorted:
        notes.append(f"{unsorted} file(s) are in the order of the text (ma2p); FXNO gave the order of time.")
    return notes
