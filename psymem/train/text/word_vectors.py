"""Embeddings from a text file of word vectors in GloVe's format: a word and its numbers, one word a line."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch

from psymem.errors import DataError, TrainingError


def read_word_vectors(path: Path, wanted: set[str], width: int) -> dict[str, np.ndarray]:
    """Return the vectors of those of the `wanted` words that the file has.

    Parameters
    ----------
    path
        ``.txt`` or ``.txt.gz``: word and `width` numbers, with spaces between them; a first line of two numbers
        (word2vec's count and width) is passed over.
    wanted
        Words, spelled as in the file.
    width
        Numbers per word.

    Raises
    ------
    DataError
        If the file cannot be read, or a line does not have `width` finite numbers; the line is named.
    """
    found: dict[str, np.ndarray] = {}
    for number, line in enumerate(_lines(path), 1):
        word, *values = line.rstrip("\n").split(" ")
        if number == 1 and len(values) == 1 and word.isdigit():
            continue
        if len(values) != width:
            raise DataError(
                f"{path}, line {number}: {len(values)} numbers for {word!r}, but the embedding is {width} wide. Give "
                f"--embedding-width {len(values)}, or a file with {width} numbers a word."
            )
        if word in wanted and word not in found:
            try:
                vector = np.array(values, dtype=np.float32)
            except ValueError:
                vector = np.array([np.nan], dtype=np.float32)
            if not np.isfinite(vector).all():
                raise DataError(f"{path}, line {number}: what follows {word!r} are not {width} numbers.")
            found[word] = vector
    return found


def fill_embedding(weight: torch.Tensor, ids: Mapping[str, int], path: Path) -> int:
    """Put a file's vectors into an embedding; other words keep what they have. Return how many were found.

    Parameters
    ----------
    weight
        (V, E) embedding.
    ids
        Word to row; a word is looked up in lower case.

    Raises
    ------
    TrainingError
        If the file has none of the words.
    """
    vectors = read_word_vectors(path, {word.lower() for word in ids}, weight.shape[1])
    known = {i: vectors[word.lower()] for word, i in ids.items() if word.lower() in vectors}
    if not known:
        raise TrainingError(
            f"{path} has none of the {len(ids)} words of the vocabulary; is it the right file?"
        )
    with torch.no_grad():
        weight[torch.tensor(list(known))] = torch.from_numpy(np.stack(list(known.values()))).to(weight)
    return len(known)


def _lines(path: Path) -> Iterator[str]:
    opener = gzip.open if path.name.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"The word vectors {path} cannot be read: {error}.") from error
