"""Fetching the published item set: a download that resumes and is checked, or a copy of a file one has."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from psymem.data.published_items import FILE, NAME, SHA256, URL
from psymem.errors import DataError, UnknownNameError
from psymem.outputs import write_atomically

CHUNK_BYTES = 1 << 16
TIMEOUT_S = 30
FETCHABLE = {NAME: (FILE, URL, SHA256)}


def data_folder() -> Path:
    """Return where fetched files are kept: ``$PSYMEM_DATA``, else the user data folder of the system."""
    from platformdirs import user_data_path

    return Path(os.environ.get("PSYMEM_DATA") or user_data_path("psymem", appauthor=False))


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
    if _sha256(path) != FETCHABLE[name][2]:
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
    if path.is_file() and _sha256(path) == expected:
        return path
    return _download(url or FETCHABLE[name][1], path, expected)


def _place(name: str) -> Path:
    return data_folder() / "stimuli" / name / FETCHABLE[name][0]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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


def _download(url: str, path: Path, expected: str) -> Path:
    """Download through pooch, which verifies the checksum before the file gets its name."""
    import logging

    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    part = path.with_name(path.name + ".part")
    try:
        pooch.retrieve(
            url, f"sha256:{expected}", fname=path.name, path=path.parent, downloader=_Resuming(part)
        )
    except ValueError as error:
        part.unlink(missing_ok=True)
        raise DataError(
            f"What {url} sent is not the published file (wrong sha256); nothing was kept."
        ) from error
    except (requests.RequestException, OSError) as error:
        kept = part.stat().st_size if part.is_file() else 0
        raise DataError(
            f"The download of {url} stopped: {_reason(error)}. {kept} bytes are kept; run the command again "
            "to go on, or give a copy of the file with --from FILE."
        ) from error
    part.unlink(missing_ok=True)
    return path


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "the connection failed"


class _Resuming:
    """A pooch downloader that keeps what has arrived in a ``.part`` file and asks only for the rest."""

    def __init__(self, part: Path) -> None:
        self.part = part

    def __call__(self, url: str, output_file: str | Path, pooch: Any) -> None:
        """Download `url` to `output_file`."""
        import requests

        self.part.parent.mkdir(parents=True, exist_ok=True)
        have = self.part.stat().st_size if self.part.is_file() else 0
        headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {}
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                self.part.unlink()
                return self(url, output_file, pooch)
            response.raise_for_status()
            resumed = response.status_code == requests.codes.partial_content
            with self.part.open("ab" if resumed else "wb") as stream:
                for chunk in response.iter_content(CHUNK_BYTES):
                    stream.write(chunk)
        Path(output_file).write_bytes(self.part.read_bytes())
        return None
