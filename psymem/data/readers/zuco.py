"""The Zurich Cognitive Language Processing Corpus, 1 and 2 (Hollenstein et al., 2018, 2020): eye tracking.

Of ZuCo 1 the tasks SR (reviews, read for their sentiment) and NR (Wikipedia), of ZuCo 2 the task NR; the search task
TSR is no natural reading and is left out. Files ``resultsREADER_TASK.mat`` may lie in folders. A text is one sentence,
named ``TASK-NUMBER``.

Times are samples at 500 Hz in the files and ms here. The published FFD, GD and GPT are those of the first run on a
word, whenever it happens; ``fixPositions``, the numbers of a word's fixations, tell which words were entered in first
pass. First-pass measures are missing for the others, which count as skipped; `first_run_dwell_time` is GD as published.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.readers.zuco_files import MEASURES, Sentence, Word, read_sentences
from psymem.errors import DataError
from psymem.units import samples_to_ms

HERTZ = 500.0
FILE = re.compile(r"results([A-Z]{3})_(SR|NR|TSR)\.mat", re.IGNORECASE)
READERS = {
    "zuco1": "ZAB ZDM ZDN ZGW ZJM ZJN ZJS ZKB ZKH ZKW ZMG ZPH".split(),
    "zuco2": "YAC YAG YAK YDG YDR YFR YFS YHS YIS YLS YMD YMS YRH YRK YRP YSD YSL YTL".split(),
}
TASKS = {"zuco1": ("SR", "NR"), "zuco2": ("NR",)}
EXCLUDED = {"YMH": "dyslexia, incomplete data"}
"""Readers that the publishers ask to leave out."""

MISSPELT = {"emp11111ty": "empty", "film.1": "film."}
FIRST_PASS = {"first_fixation_duration": "FFD", "gaze_duration": "GD", "go_past_time": "GPT"}
ANY_TIME = {"first_run_dwell_time": "GD", "total_reading_time": "TRT"}


def read_zuco1(folder: Path) -> Corpus:
    """Read tasks SR and NR of ZuCo 1. Raises as `read`."""
    return read(folder, "zuco1")


def read_zuco2(folder: Path) -> Corpus:
    """Read task NR of ZuCo 2. Raises as `read`."""
    return read(folder, "zuco2")


def read(folder: Path, name: str) -> Corpus:
    """Read "zuco1" or "zuco2" from its folder of MATLAB files.

    Raises
    ------
    DataError
        If there are no such files, one is damaged, or a measure is negative.
    """
    notes: list[str] = []
    files = _files(Path(folder), name, notes)
    texts = _Texts()
    rows: list[pd.DataFrame] = []
    positions = True
    for reader, task, path in files:
        sentences = read_sentences(path)
        positions &= all(s.has_positions for s in sentences)
        placed = texts.place(reader, task, sentences)
        if placed:
            rows.append(_rows(reader, placed, path))
    if not rows:
        raise DataError(f"The files of {name} in {folder} hold no sentence that anybody read.")
    reading = pd.concat(rows, ignore_index=True)
    reading.insert(0, "corpus", pd.Series(name, index=reading.index, dtype="str"))
    if not positions:
        notes.append(
            "Some words have no fixPositions, so what is first pass cannot be told: there is first_run_dwell_time, and "
            "no first-pass measure; skipped words are those never fixated."
        )
        reading = reading.drop(columns=list(FIRST_PASS)).assign(skipped=reading["fixation_count"] == 0)
    return Corpus(name, texts.words(), reading, notes=(*notes, *texts.notes()))


def _files(folder: Path, name: str, notes: list[str]) -> list[tuple[str, str, Path]]:
    """Return reader, task and path of every file of the corpus; say what was left out and what is missing."""
    found = [(m, p) for p in _matlab_files(folder) if (m := FILE.fullmatch(p.name))]
    other = "Y" if name == "zuco1" else "Z"  # the other corpus's readers
    named = {(m[1].upper(), m[2].upper()): p for m, p in found if m[1].upper()[0] != other}
    if not any(task in TASKS[name] for _, task in named):
        inside = sorted(p.name + "/" * p.is_dir() for p in folder.iterdir()) if folder.is_dir() else []
        raise DataError(
            f"{folder} does not hold the corpus {name!r}. Looked for files such as results{READERS[name][0]}_"
            f"{TASKS[name][0]}.mat, also in folders inside; found {', '.join(inside[:5]) or 'nothing'}. "
            f"Where to get it: psymem corpora show {name}."
        )
    excluded = sorted({r for r, _ in named if r in EXCLUDED})
    notes.extend(f"Reader {r} was left out ({EXCLUDED[r]}), as the publishers ask." for r in excluded)
    search = sum(task == "TSR" for _, task in named)
    if search:
        notes.append(f"{search} file(s) of the search task TSR were left out; it is no natural reading.")
    kept = {key: p for key, p in named.items() if key[1] in TASKS[name] and key[0] not in EXCLUDED}
    for task in TASKS[name]:
        missing = sorted(set(READERS[name]) - {r for r, t in kept if t == task})
        if missing:
            notes.append(
                f"Task {task} lacks {len(missing)} of {len(READERS[name])} readers: {', '.join(missing)}."
            )
    return [(reader, task, kept[reader, task]) for reader, task in sorted(kept)]


def _matlab_files(folder: Path) -> list[Path]:
    """Files up to three folders down, as in ``task1- SR/Matlab files``."""
    levels = ("*.mat", "*/*.mat", "*/*/*.mat", "*/*/*/*.mat")
    return sorted(p for level in levels for p in folder.glob(level))


# sentences of several readers ------------------------------------------------------------------------------
@dataclass
class _Texts:
    """Sentences by name; the same words are the same text, wherever a reader's file has them."""

    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    named: dict[tuple[str, tuple[str, ...]], list[str]] = field(default_factory=lambda: defaultdict(list))
    missing: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    differing: dict[str, str] = field(default_factory=dict)
    mended: set[str] = field(default_factory=set)

    def place(
        self, reader: str, task: str, sentences: Iterable[Sentence]
    ) -> list[tuple[str, tuple[Word, ...]]]:
        """Return text and words of every sentence that the reader has data of."""
        placed: dict[str, tuple[Word, ...]] = {}
        for number, sentence in enumerate(sentences, start=1):
            if not sentence.words:
                self.missing.append(f"{reader} {task}-{number}")
                continue
            self.mended.update(m for m in MISSPELT for w in sentence.words if m in w.content)
            strings = tuple(_mended(w.content) for w in sentence.words)
            text = self._name(task, number, strings, placed)
            if text != f"{task}-{number}":
                self.moved.append(f"{reader} {task}-{number}")
            shown = _mended(" ".join(sentence.content.split()))
            if shown.replace(" ", "") != "".join(strings).replace(" ", ""):
                self.differing.setdefault(text, f"{text} {' '.join(strings)[:40]!r} and {shown[:40]!r}")
            placed[text] = sentence.words
        return list(placed.items())

    def _name(self, task: str, number: int, strings: tuple[str, ...], taken: Iterable[str]) -> str:
        usual = f"{task}-{number}"
        if self.known.get(usual) == strings and usual not in taken:
            return usual
        same = [t for t in self.named[task, strings] if t not in taken]
        if same:
            return same[0]
        while usual in self.known or usual in taken:  # another reader has other words here
            number += 1000
            usual = f"{task}-{number}"
        self.known[usual] = strings
        self.named[task, strings].append(usual)
        return usual

    def words(self) -> pd.DataFrame:
        rows = [
            (text, 1, number, word, text.split("-")[0])
            for text, strings in self.known.items()
            for number, word in enumerate(strings, start=1)
        ]
        frame = pd.DataFrame(rows, columns=["text_id", "sentence_id", "word_id", "word", "task"])
        return frame.astype({"text_id": "str", "word": "str", "task": "str"})

    def notes(self) -> list[str]:
        notes = []
        if self.missing:
            notes.append(f"{len(self.missing)} sentence(s) of a reader are missing: {_shown(self.missing)}.")
        if self.moved:
            notes.append(
                f"{len(self.moved)} sentence(s) of a reader are not where other readers have them and were put "
                f"there by their words: {_shown(self.moved)}."
            )
        if self.differing:
            notes.append(
                f"Words and sentence differ in {len(self.differing)} sentence(s), the words were followed: "
                f"{_shown(list(self.differing.values()))}."
            )
        if self.mended:
            notes.append(f"Misspelt in the files and mended: {', '.join(sorted(self.mended))}.")
        return notes


def _shown(items: Sequence[str]) -> str:
    return ", ".join(items[:5]) + (", ..." if len(items) > 5 else "")


# measures --------------------------------------------------------------------------------------------------
def _rows(reader: str, placed: Sequence[tuple[str, tuple[Word, ...]]], path: Path) -> pd.DataFrame:
    """READING of one reader's sentences, without the corpus."""
    words = [word for _, sentence in placed for word in sentence]
    sizes = [len(sentence) for _, sentence in placed]
    texts = np.repeat(np.array([text for text, _ in placed], dtype=object), sizes)
    numbers = np.concatenate([np.arange(1, size + 1) for size in sizes])
    table = np.array([w.measures for w in words], dtype="float64").reshape(-1, len(MEASURES))
    measures = pd.DataFrame(table, columns=list(MEASURES))
    _refuse_negative(measures, texts, words, path)
    first_fixated = np.split(np.array([w.first_fixated for w in words]), np.cumsum(sizes)[:-1])
    first_pass = np.concatenate([_entered_in_first_pass(sentence) for sentence in first_fixated])
    frame = pd.DataFrame({"subject": reader, "text_id": texts, "word_id": numbers})
    frame["word"] = [_mended(w.content) for w in words]
    frame = frame.astype({"subject": "str", "text_id": "str", "word": "str"})
    for measure, column in (*FIRST_PASS.items(), *ANY_TIME.items()):
        frame[measure] = samples_to_ms(measures[column].to_numpy(), HERTZ)
        frame[measure] = frame[measure].mask(frame[measure] == 0)
    for measure in FIRST_PASS:
        frame[measure] = frame[measure].where(first_pass)
    frame["fixation_count"] = measures["nFixations"].fillna(0).astype("int64")
    frame["skipped"] = ~first_pass
    return frame


def _refuse_negative(measures: pd.DataFrame, texts: np.ndarray, words: Sequence[Word], path: Path) -> None:
    for name in measures.columns[(measures < 0).any()]:
        row = int(np.flatnonzero(measures[name] < 0)[0])
        raise DataError(
            f"{path}, sentence {texts[row]}, word {words[row].content!r}: {name} is {measures[name][row]:g}, which is "
            "negative. Get the file again."
        )


def _mended(string: str) -> str:
    for wrong, right in MISSPELT.items():
        string = string.replace(wrong, right)
    return string.strip()


def _entered_in_first_pass(first_fixated: np.ndarray) -> np.ndarray:
    """Whether no later word was fixated before each word was; NaN is a word without fixation.

    A fixation on the edge that two boxes share is a fixation of both words, so that they have the same number.
    """
    when = np.where(np.isnan(first_fixated), np.inf, first_fixated)
    later = np.minimum.accumulate(when[::-1])[::-1]
    return np.isfinite(when) & (when <= np.append(later[1:], np.inf))
