"""The reading corpora psymem knows: their cards, and one call that reads any of them.

A corpus is a reader ``psymem/data/readers/NAME.py``, a row in `psymem.registry.CORPORA` and a card
``corpora/NAME/card.toml`` with title, licence, citation, address, files and how to get them.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any

from psymem.data.corpora.card import checked_card
from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.files import fitting_files
from psymem.errors import DataError, UnknownNameError
from psymem.registry import CORPORA


def load_corpus(name: str, folder: str | Path, **settings: Any) -> Corpus:
    """Read a corpus of human reading from the files its publishers distribute.

    Parameters
    ----------
    name
        Name of the corpus (``psymem corpora list``); "csv" is a table of one's own
        (`psymem.data.readers.csv_corpus`).
    folder
        Folder of its files; for "csv" also the file itself.
    settings
        Options of the reader, such as ``columns`` and ``zero`` of "csv".

    Returns
    -------
    Corpus
        WORDS and READING, durations in ms, the card and notes on what was dropped or mended.

    Raises
    ------
    UnknownNameError
        If there is no such corpus, or its reader has no such setting; near names are offered.
    DataError
        If the folder or a file in it is not what the corpus consists of.
    """
    read = CORPORA.load(name)
    folder = Path(folder).expanduser()
    if not folder.exists():
        raise DataError(
            f"There is no file or folder {folder}. What to put there: psymem corpora show {name}."
        )
    _refuse_unknown(name, settings)
    corpus: Corpus = read(folder, **settings)
    corpus.card.update(read_card(name))  # a copy of the corpus would be checked all over again
    return corpus


def settings_of(name: str) -> list[str]:
    """Return the settings that the reader of a corpus takes, such as ``columns``."""
    return [p for p in signature(CORPORA.load(name)).parameters if p != "folder"]


def _refuse_unknown(name: str, settings: dict[str, Any]) -> None:
    """Raise UnknownNameError for a setting that the reader does not have."""
    known = settings_of(name)
    for setting in settings:
        if setting not in known:
            raise UnknownNameError(f"setting of the corpus {name!r}", setting, known)


def read_card(name: str) -> dict[str, Any]:
    """Return the card of a corpus: title, licence, citation, address, files, how to get it.

    Raises
    ------
    UnknownNameError
        If there is no such corpus.
    DataError
        If the card is missing or lacks something; psymem is then not completely installed.
    """
    if name not in CORPORA:
        raise UnknownNameError("corpus", name, CORPORA.names())
    path = files("psymem.corpora") / name / "card.toml"
    if not path.is_file():
        raise DataError(f"The card of the corpus {name!r} is missing; install psymem again.")
    try:
        card = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f"The card of the corpus {name!r} is damaged ({error}); install psymem again."
        ) from error
    return checked_card(name, card)


def sample_folder(name: str) -> Path | None:
    """Return the folder of the invented sample in the corpus's format, None if it has none."""
    card = read_card(name)
    path = Path(str(files("psymem.corpora") / str(card.get("sample", name)) / "sample"))
    return path if path.is_dir() else None


def found_files(name: str, folder: Path) -> list[dict[str, Any]]:
    """Say of each file of a corpus whether it is in `folder` (or beside the file given instead of a folder).

    Returns
    -------
    list of dict
        ``name, holds, optional`` and ``path`` (None if it is missing).
    """
    folder = Path(folder)
    given, folder = (folder, folder.parent) if folder.is_file() else (None, folder)
    rows = []
    for place, file in enumerate(read_card(name)["files"]):
        here = folder / file["name"]
        patterns = [Path(file["name"]).name, *file.get("also", [])]
        if given and place == 0:
            paths = [given]
        else:
            paths = [here] if here.is_file() else fitting_files(folder, patterns) if folder.is_dir() else []
        rows.append(
            {
                "name": file["name"],
                "holds": file["holds"],
                "optional": bool(file.get("optional", False)),
                "path": str(paths[0]) if paths else None,
            }
        )
    return rows
