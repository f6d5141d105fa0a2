"""The corpora that a study in TOML names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psymem.data.corpora.catalogue import load_corpus
from psymem.data.corpora.corpus import Corpus
from psymem.errors import DataError
from psymem.studies.study_file import StudyFile


def corpora_of(file: StudyFile) -> list[Corpus]:
    """Read every ``[[corpus]]``: its reader, its folder (beside the file) and the reader's settings.

    Raises
    ------
    DataError
        If there is none, or one lacks its reader or folder.
    """
    given = file.get("corpus")
    if not isinstance(given, list) or not given:
        raise DataError(
            f'{file.path} names no corpus; write [[corpus]] with reader = "csv" and folder = "my_data".'
        )
    return [_corpus(file, dict(entry)) for entry in given]


def _corpus(file: StudyFile, entry: Mapping[str, Any]) -> Corpus:
    lacking = [name for name in ("reader", "folder") if name not in entry]
    if lacking:
        raise DataError(f"A [[corpus]] of {file.path} lacks {' and '.join(lacking)}.")
    settings = {k: v for k, v in entry.items() if k not in ("reader", "folder")}
    return load_corpus(entry["reader"], file.beside(entry["folder"]), **settings)
