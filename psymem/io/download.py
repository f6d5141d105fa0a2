"""Downloads that go on where they stopped and are kept only if their checksum is the published one."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from typing import Any

from psymem.errors import DataError

CHUNK_BYTES = 1 << 16
TIMEOUT_S = 30


def data_folder() -> Path:
    """Return where fetched files are kept: ``$PSYMEM_DATA``, else the user data folder of the system."""
    from platformdirs import user_data_path

    return Path(os.environ.get("PSYMEM_DATA") or user_data_path("psymem", appauthor=False))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    return checksum_of(path, "sha256")


def checksum_of(path: Path, algorithm: str) -> str:
    """Return a checksum of a file in hexadecimal; `algorithm` as in `hashlib`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


COPY = "give a copy of the file with --from FILE"
"""What to do where there is no network, unless the caller knows another way."""


def download(url: str, checksum: str, path: Path, *, without_network: str = COPY) -> Path:
    """Download `url` to `path`, unless the right file is there already.

    Parameters
    ----------
    url
        Where the file is.
    checksum
        Its published SHA-256, or another checksum after its name (``"md5:..."``).
    path
        Where it is kept; what has arrived so far is in ``<path>.part``.
    without_network
        What to do instead, for the message.

    Raises
    ------
    DataError
        If the connection fails (the part is kept and the next call goes on from there) or the content is another.
    """
    algorithm, _, expected = checksum.rpartition(":")
    algorithm = algorithm or "sha256"
    if path.is_file() and checksum_of(path, algorithm) == expected:
        return path
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    part = path.with_name(path.name + ".part")
    try:
        pooch.retrieve(
            url, f"{algorithm}:{expected}", fname=path.name, path=path.parent, downloader=Resuming(part)
        )
    except ValueError as error:
        part.unlink(missing_ok=True)
        raise DataError(
            f"What {url} sent is not the published file (wrong {algorithm}); nothing was kept."
        ) from error
    except (requests.RequestException, OSError) as error:
        kept = part.stat().st_size if part.is_file() else 0
        raise DataError(
            f"The download of {url} stopped: {_reason(error)}. {kept} bytes are kept; run the command again to go on, or "
            f"{without_network}."
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


class Resuming:
    """A pooch downloader that asks only for what is missing from a partial file.

    Parameters
    ----------
    part
        The partial file.
    """

    def __init__(self, part: Path) -> None:
        self.part = part

    def __call__(self, url: str, output_file: str | Path, pooch: Any) -> None:
        """Download `url` to `output_file`."""
        import requests

        self.part.parent.mkdir(parents=True, exist_ok=True)
        have = self.part.stat().st_size if self.part.is_file() else 0
        headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {}
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as response:
            if have and response.status_code == requests.codes.requested_range_not_satisfiable:
                self.part.unlink()
                return self(url, output_file, pooch)
            response.raise_for_status()
            resumed = response.status_code == requests.codes.partial_content
            with self.part.open("ab" if resumed else "wb") as stream:
                for chunk in response.iter_content(CHUNK_BYTES):
                    stream.write(chunk)
        Path(output_file).write_bytes(self.part.read_bytes())
        return None
