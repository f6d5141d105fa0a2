"""ZuCo's MATLAB files: sentences, words and their eye-tracking measures, in samples, without the EEG.

ZuCo 1 is MATLAB 7 (`psymem.data.matlab7`), ZuCo 2 MATLAB 7.3, which is HDF5 (read by h5py); a file's first bytes say
which one it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psymem.data.matlab7 import read_variable
from psymem.errors import DataError

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
        follow = _follower(file, h5py.Reference)
        contents, words = follow(data["content"]), follow(data["word"], data)
        for content, word in zip(contents, words, strict=True):
            text = _hdf_text(content)
            if not isinstance(word, h5py.Group):
                yield Sentence(text, None)  # NaN in place of the words
                continue
            yield Sentence(text, tuple(_words73(word, follow)), POSITIONS in word)


def _follower(file: Any, reference: type) -> Callable[..., list[Any]]:
    """Give a function from a field to its values: one per element, or the field itself of a struct with one."""

    def follow(field: Any, parent: Any = None) -> list[Any]:
        if hasattr(field, "keys"):  # the only sentence's words
            return [field]
        if field.dtype.kind == "O":
            return [file[target] for target in np.asarray(field[()]).reshape(-1)]
        return [field]

    return follow


def _hdf_text(field: Any) -> str:
    """Return a string, which MATLAB stores as one UTF-16 code unit a number."""
    if _is_empty(field):
        return ""
    units = np.asarray(field[()]).T.reshape(-1)
    return units.astype("<u2").tobytes().decode("utf-16-le")


def _is_empty(field: Any) -> bool:
    """Whether MATLAB means an empty array, of which it stores the dimensions."""
    return bool(field.attrs.get("MATLAB_empty", 0)) or field.ndim == 1


def _words73(group: Any, follow: Callable[..., list[Any]]) -> Iterator[Word]:
    contents = follow(group["content"])
    columns = {n: follow(group[n]) if n in group else [None] * len(contents) for n in (*MEASURES, POSITIONS)}

    def value(name: str, index: int) -> Any:
        field = columns[name][index]
        return () if field is None or _is_empty(field) else field[()]

    for i, content in enumerate(contents):
        yield Word(
            _hdf_text(content), tuple(_scalar(value(n, i)) for n in MEASURES), _first(value(POSITIONS, i))
        )
