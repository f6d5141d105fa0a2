"""Texts with labels, for classification: the files of public collections, as they are published."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from psymem.errors import DataError
from psymem.io.encoding import read_text

SPAM = "SMSSpamCollection"
TEST_SHARE = 0.2
LABEL_HEADER = "label"
LAYOUTS = (
    f"{SPAM} (label TAB text), train.csv with test.csv (label, then texts, quoted, no header), or train.tsv or dev.tsv "
    "with test.tsv (text TAB label)"
)


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with labels.

    Attributes
    ----------
    name
        What the collection is called.
    train, test
        (text, label) pairs; `test` is empty where the collection has no test part.
    files
        Names of the files read.
    """

    name: str
    train: tuple[tuple[str, str], ...]
    test: tuple[tuple[str, str], ...]
    files: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """The labels, sorted."""
        return sorted({label for _, label in (*self.train, *self.test)})

    def parts(self, seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Training and test texts; without a test part a random fifth, which the seed decides."""
        if self.test:
            return list(self.train), list(self.test)
        order = np.random.default_rng([seed, 11]).permutation(len(self.train))
        n_test = round(TEST_SHARE * len(order))
        return [self.train[i] for i in np.sort(order[n_test:])], [
            self.train[i] for i in np.sort(order[:n_test])
        ]


def read_labelled_texts(folder: Path, name: str = "") -> LabelledTexts:
    """Read a collection from its folder; which one it is follows from the files there.

    Raises
    ------
    DataError
        If the files are none of the known layouts, a line has no label or no text, or a test label is not among those of
        training; the line is named.
    """
    folder = Path(folder)
    found = next((files for files in _candidates(folder) if all(f.is_file() for f in files)), None)
    if found is None:
        names = sorted(p.name for p in folder.iterdir())[:8] if folder.is_dir() else []
        there = f"It has {', '.join(names) or 'no files'}" if folder.is_dir() else "It is no folder"
        raise DataError(f"{folder} has no collection of labelled texts. {there}; expected {LAYOUTS}.")
    reader = _READERS[".csv" if found[0].suffix == ".csv" else "spam" if found[0].name == SPAM else ".tsv"]
    parts = [tuple(reader(file)) for file in found]
    test = parts[1] if len(parts) > 1 else ()
    _check(parts[0], test, found)
    return LabelledTexts(name or folder.name, parts[0], test, tuple(f.name for f in found))


def _candidates(folder: Path) -> list[list[Path]]:
    pairs = [("train.csv", "test.csv"), ("train.tsv", "test.tsv"), ("dev.tsv", "test.tsv")]
    return [[folder / SPAM], *([folder / a, folder / b] for a, b in pairs)]


def _check(train: tuple[tuple[str, str], ...], test: tuple[tuple[str, str], ...], files: list[Path]) -> None:
    labels = {label for _, label in train}
    if len(labels) < 2:
        raise DataError(f"{files[0]} has {len(labels)} label; a classification needs two or more.")
    strange = sorted({label for _, label in test} - labels)
    if strange:
        raise DataError(
            f"{files[1]} has the label {strange[0]!r}, which {files[0].name} does not have; its labels are "
            f"{', '.join(sorted(labels))}."
        )


def _spam(path: Path) -> list[tuple[str, str]]:
    """``label TAB text``; the first line may be a header that begins with "label"."""
    rows = _cells(path, lambda s: s.partition("\t")[::2])
    return [_pair(text, label, path, n) for n, (label, text) in rows[_is_header(rows, 0) :]]


def _tsv(path: Path) -> list[tuple[str, str]]:
    """``text TAB label``; the text may have tabs, and the first line may be a header whose last cell is "label"."""
    rows = _cells(path, lambda s: s.rpartition("\t")[::2])
    return [_pair(text, label, path, n) for n, (text, label) in rows[_is_header(rows, 1) :]]


def _is_header(rows: list[tuple[int, tuple[str, str]]], cell: int) -> bool:
    """Whether the label of the first line is the word "label"."""
    return bool(rows) and rows[0][1][cell].strip().lower() == LABEL_HEADER


def _csv(path: Path) -> list[tuple[str, str]]:
    """``"label","text","text"...``, as Zhang, Zhao & LeCun (2015) published their eight collections."""
    reader = csv.reader(io.StringIO(read_text(path, [])))
    return [_pair(" ".join(row[1:]), row[0], path, reader.line_num) for row in reader if row]


_READERS: dict[str, Callable[[Path], list[tuple[str, str]]]] = {"spam": _spam, ".tsv": _tsv, ".csv": _csv}


def _cells(path: Path, split: Callable[[str], tuple[str, str]]) -> list[tuple[int, tuple[str, str]]]:
    """Number and two cells of every line that is not empty."""
    lines = read_text(path, []).split("\n")
    return [(n, split(line.rstrip("\r"))) for n, line in enumerate(lines, 1) if line.strip()]


def _pair(text: str, label: str, path: Path, line: int) -> tuple[str, str]:
    text, label = text.strip(), label.strip()
    if not text or not label:
        missing = "text" if label else "label"
        raise DataError(
            f"{path}, line {line}: no {missing}; expected a text and a label with a tab or comma between."
        )
    return text, label
