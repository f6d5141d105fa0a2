"""Encoded training text in the folder of a run: written once, read again by a run that goes on or shares it.

``tokenizer.json`` is the tokenizer, ``corpus.npz`` the word ids; ``data.json``, written last, says what they were made of
and has the SHA-256 of every text file, so that a file that was changed meanwhile is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from psymem.checkpoints import file_sha256
from psymem.errors import TrainingError
from psymem.io.outputs import write_atomically, write_json
from psymem.train.text.corpus import EncodedText

STAMP, CORPUS, TOKENIZER = "data.json", "corpus.npz", "tokenizer.json"
CHECKSUMS = "sha256"
"""Name of the checksums in ``data.json``."""
PARTS = ("plain", "tagged", "emphasised", "validation", "tagged_validation")


def write_encoded(
    folder: Path,
    tokenizer: Tokenizer,
    texts: dict[str, EncodedText],
    facts: dict[str, Any],
    *,
    files: Sequence[Path],
) -> None:
    """Write a tokenizer and the text it encoded.

    Parameters
    ----------
    folder
        Where to.
    tokenizer, texts
        What to write; the texts by the names in `PARTS`.
    facts
        What they were made of, as a later run asks for them.
    files
        Text files that were read.
    """
    write_atomically(folder / TOKENIZER, lambda p: tokenizer.save(str(p)))
    write_atomically(folder / CORPUS, lambda p: _write_corpus(p, texts))
    write_json(folder / STAMP, {**facts, CHECKSUMS: {str(p): file_sha256(p) for p in files}})


def stored_facts(folder: Path) -> dict[str, Any] | None:
    """Return what the encoded text in `folder` was made of; None if there is none.

    Raises
    ------
    TrainingError
        If the file that says so is damaged, or a text file has changed since.
    """
    stamp = folder / STAMP
    if not stamp.exists():
        return None
    try:
        stored = dict(json.loads(stamp.read_text(encoding="utf-8")))
        checksums = dict(stored.pop(CHECKSUMS, {}))
    except (OSError, ValueError, TypeError) as error:
        raise TrainingError(_damaged(stamp, error, folder)) from error
    for name, checksum in checksums.items():
        if Path(name).is_file() and file_sha256(Path(name)) != checksum:
            raise TrainingError(
                f"{name} has changed since {folder} was begun, which holds its text as it was then. Give another folder, "
                f"or delete {folder} to begin anew."
            )
    return stored


def read_encoded(folder: Path) -> tuple[Tokenizer, dict[str, EncodedText]]:
    """Read the tokenizer and the encoded text in `folder`, part by part; raises TrainingError if they are damaged."""
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        with np.load(folder / CORPUS, allow_pickle=False) as z:
            texts = {
                name: EncodedText(
                    z[f"{name}.ids"], z[f"{name}.starts"], z[f"{name}.complete"], z.get(f"{name}.tags")
                )
                for name in PARTS
                if f"{name}.ids" in z
            }
    except Exception as error:  # the tokenizers library raises plain Exception
        raise TrainingError(_damaged(folder, error, folder)) from error
    return tokenizer, texts


def _damaged(what: Path, error: Exception, folder: Path) -> str:
    return (
        f"The encoded text in {what} is damaged and cannot be read ({error}). Delete {folder / STAMP} to have the text "
        "encoded again."
    )


def _write_corpus(path: Path, texts: dict[str, EncodedText]) -> None:
    arrays: dict[str, np.ndarray] = {}
    for name, text in texts.items():
        arrays |= {f"{name}.ids": text.ids, f"{name}.starts": text.starts, f"{name}.complete": text.complete}
        if text.tags is not None:
            arrays[f"{name}.tags"] = text.tags
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
