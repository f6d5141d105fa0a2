"""Fetching reading corpora: only files that anybody may download, whole and with the published checksum."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from psymem.data.corpora.catalogue import read_card
from psymem.errors import DataError
from psymem.io.download import data_folder, download
from psymem.io.outputs import write_atomically


def fetch_corpus(name: str, folder: Path | None = None) -> tuple[Path, list[str]]:
    """Download what may be downloaded of a corpus.

    Parameters
    ----------
    name
        Name of the corpus.
    folder
        Where to; ``corpora/NAME`` in psymem's data folder by default. Files that are there already and right stay.

    Returns
    -------
    folder : Path
        Where the files are.
    notes : list of str
        What has to be got by hand.

    Raises
    ------
    UnknownNameError
        If there is no such corpus.
    DataError
        If it may not be fetched (the message says how to get it), the download fails (a part is kept, the next call
        goes on from there), or the content is another.
    """
    card = read_card(name)
    if card["fetch"] == "none":
        raise DataError(f"psymem does not fetch the corpus {name!r}. {card['why_not_fetched']} {card['get']}")
    folder = Path(folder) if folder else data_folder() / "corpora" / name
    if card["fetch"] == "archive":
        _fetch_archive(card, folder)
        return folder, []
    for file in card["files"]:
        if "url" in file:
            _download(file["url"], file["checksum"], folder / file["name"])
    by_hand = [f for f in card["files"] if "url" not in f]
    return folder, [f"{f['name']} ({f['holds']}) has to be got by hand: {card['address']}" for f in by_hand]


def _download(url: str, checksum: str, path: Path) -> Path:
    return download(url, checksum, path, without_network=f"put a copy of the file there: {path}")


def _fetch_archive(card: dict[str, Any], folder: Path) -> None:
    """Download a zip file and take the corpus's files out of it, whatever folder of it they are in."""
    archive = card["archive"]
    path = _download(archive["url"], archive["checksum"], folder / archive["file"])
    with zipfile.ZipFile(path) as inside:
        members = {Path(m).name: m for m in inside.namelist() if "__MACOSX" not in m}
        for file in card["files"]:
            if file["name"] not in members:
                raise DataError(f"{path} does not hold {file['name']}, but {', '.join(sorted(members)[:8])}.")
            content = inside.read(members[file["name"]])
            write_atomically(folder / file["name"], lambda temporary, c=content: temporary.write_bytes(c))  # type: ignore[misc]
