"""Fetching the published item set: a download that resumes and is checked, or a copy of a file one has."""

from __future__ import annotations

import hashlib
from pathlib import Path

from psymem.data.items.published_items import FILE, NAME, SHA256, URL
from psymem.errors import DataError, UnknownNameError
from psymem.io.download import data_folder, download, sha256_of
from psymem.io.outputs import write_atomically

FETCHABLE = {NAME: (FILE, URL, SHA256)}


def fetched(name: str = NAME) -> Path:
    """Return the file of a fetched set.

    Raises
    ------
    DataError
        If it was not fetched, or was changed since; the message says how to fetch it.
    """
    path = _place(name)
    if not path.is_file():
        raise DataError(
            f"The item set {name!r} is not on this machine. Fetch it once with: psymem stimuli fetch {name}"
        )
    if sha256_of(path) != FETCHABLE[name][2]:
        raise DataError(
            f"{path} was changed since it was fetched. Fetch it again: psymem stimuli fetch {name}"
        )
    return path


def fetch(name: str, source: Path | None = None, *, url: str | None = None) -> Path:
    """Put a published set into the data folder and return its path.

    Parameters
    ----------
    name
        Name of the set.
    source
        A copy of the file, where there is no network; by default it is downloaded.
    url
        Another address of the same file.

    Raises
    ------
    DataError
        If the download fails (a part is kept, the next call goes on from there), or the content is another.
    """
    if name not in FETCHABLE:
        raise UnknownNameError("item set to fetch", name, FETCHABLE, "Bundled sets need no fetching.")
    path, expected = _place(name), FETCHABLE[name][2]
    if source is not None:
        return _copy(Path(source), path, expected)
    return download(url or FETCHABLE[name][1], expected, path)


def _place(name: str) -> Path:
    return data_folder() / "stimuli" / name / FETCHABLE[name][0]


def _copy(source: Path, path: Path, expected: str) -> Path:
    if not source.is_file():
        raise DataError(f"There is no file {source}.")
    content = source.read_bytes()
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise DataError(f"{source} is not the published file: its sha256 is {actual}, expected {expected}.")
    return write_atomically(path, lambda temporary: _write(temporary, content))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
