"""ZuCo's MATLAB files: sentences, words and their eye-tracking measures, in samples, without the EEG.

ZuCo 1 is MATLAB 7 (`psymem.io.matlab7`), ZuCo 2 MATLAB 7.3, which is HDF5 (read by h5py); a file's first bytes say
which one it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psymem.errors import DataError
from psymem.io.matlab7 import read_variable

MEASURES = ("FFD", "GD", "GPT", "TRT", "nFixations")
POSITIONS = "fixPositions"


@dataclass(frozen=True)
class Word:
    """One word: its string, MEASURES (NaN where empty), and when it was fixated first among all fixations (or NaN)."""

    content: str
    measures: tuple[float, ...]
    first_fixated: float


@dataclass(frozen=True)
class Sentence:
    """A sentence as the file has it; `words` is None where the reader's data of it are missing."""

    content: str
    words: tuple[Word, ...] | None
    has_positions: bool = True


def read_sentences(path: Path) -> list[Sentence]:
    """Read ``sentenceData`` of one reader's file.

    Raises
    ------
    DataError
        If the file is no MATLAB file, was cut off, or has no ``sentenceData`` with `content` and `word`.
    """
    try:
        with path.open("rb") as stream:
            is_hdf = stream.read(19).startswith(b"MATLAB 7.3 MAT-file")
        return list(_from_hdf(path) if is_hdf else _from_matlab7(path))
    except DataError:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        EOFError,
        OSError,
        zlib.error,
    ) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path} is no MATLAB file of ZuCo, is damaged or was cut off while it was copied ({error}). Get the file again."
    )


def _scalar(value: Any) -> float:
    """Return a measure; an empty array is a word without fixation."""
    array = np.asarray(value)
    return float(array.reshape(-1)[0]) if array.size else float("nan")


def _first(value: Any) -> float:
    array = np.asarray(value, dtype="float64")
    return float(array.min()) if array.size else float("nan")


# MATLAB 7 --------------------------------------------------------------------------------------------------
def _from_matlab7(path: Path) -> Iterator[Sentence]:
    data = read_variable(path, "sentenceData", ("content", "word", *MEASURES, POSITIONS))
    if not isinstance(data, list):
        raise DataError(f"{path} has no variable sentenceData; it is no results file of ZuCo.")
    for sentence in data:
        content, words = _matlab_text(sentence["content"]), sentence["word"]
        if not isinstance(words, list):
            yield Sentence(content, None)  # NaN in place of the words
            continue
        yield Sentence(content, tuple(map(_word7, words)), all(POSITIONS in word for word in words))


def _matlab_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _word7(word: dict[str, Any]) -> Word:
    measures = tuple(_scalar(word.get(name, ())) for name in MEASURES)
    return Word(_matlab_text(word["content"]), measures, _first(word.get(POSITIONS, ())))


# MATLAB 7.3 ------------------------------------------------------------------------------------------------
def _from_hdf(path: Path) -> Iterator[Sentence]:
    import h5py

    with h5py.File(path, "r") as file:
        if "sentenceData" not in file:
            raise DataError(f"{path} has no variable sentenceData; it is no results file of ZuCo.")
        data = file["sentenceData"]
        for content, word in zip(_elements(data["content"]), _elements(data["word"]), strict=True):
            text = _hdf_text(_array(content))
            if not isinstance(word, h5py.h5g.GroupID):
                yield Sentence(text, None)  # NaN in place of the words
                continue
            group = h5py.Group(word)
            yield Sentence(text, tuple(_words73(group)), POSITIONS in group)


def _elements(field: Any) -> list[Any]:
    """Return what a field's elements are stored as; a struct with one element has no references, but the value.

    These are HDF5's own handles: there are tens of thousands, and h5py's own objects take twice as long.
    """
    from h5py import h5r

    if hasattr(field, "keys") or field.dtype.kind != "O":
        return [field.id]
    return [h5r.dereference(target, field.file.id) for target in np.asarray(field[()]).reshape(-1)]


def _array(stored: Any) -> np.ndarray:
    """Return an array; of an empty one MATLAB stores the dimensions, in one dimension where others have two."""
    from h5py import h5s

    shape = stored.shape
    if len(shape) < 2:
        return np.empty(0)
    values = np.empty(shape)  # HDF5 turns every kind of number into a double
    stored.read(h5s.ALL, h5s.ALL, values)
    return values


def _hdf_text(units: np.ndarray) -> str:
    """Return a string, which MATLAB stores as one UTF-16 code unit a number."""
    return units.T.reshape(-1).astype("<u2").tobytes().decode("utf-16-le")


def _words73(group: Any) -> Iterator[Word]:
    contents = _elements(group["content"])
    nothing = [np.empty(0)] * len(contents)
    read = {
        n: list(map(_array, _elements(group[n]))) if n in group else nothing for n in (*MEASURES, POSITIONS)
    }
    for i, content in enumerate(contents):
        measures = tuple(_scalar(read[name][i]) for name in MEASURES)
        yield Word(_hdf_text(_array(content)), measures, _first(read[POSITIONS][i]))
