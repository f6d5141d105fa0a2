"""Tables written part by part, so that a run that was killed goes on where it stopped.

Finished parts wait in a hidden folder beside the table, named after what is being computed; the last step puts
them together and removes the folder. A part is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.io.outputs import base_provenance, check_writable, plain, write_atomically, write_json

Part = Callable[[], pd.DataFrame]


def write_resumably(
    parts: Sequence[Part],
    path: Path,
    provenance: Mapping[str, Any],
    identity: Mapping[str, Any],
    *,
    resumed: Callable[[int], None] | None = None,
    compute: Callable[[Sequence[int]], Iterable[pd.DataFrame]] | None = None,
) -> int:
    """Compute and write a table part by part, leaving out parts that an earlier run has finished.

    Parameters
    ----------
    parts
        Functions that compute the parts of the table, in order.
    path
        CSV file to write, with a sidecar.
    provenance
        Facts for the sidecar.
    identity
        What decides the numbers: parts are used again only where it is equal.
    resumed
        Called with the number of parts that were there already, if any.
    compute
        Computes parts by their numbers and gives them in that order, as several processes do; each part's own
        function is called otherwise.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    OutputError
        If the folder cannot be written or the disk is full; finished parts are kept.
    """
    path = Path(path)
    check_writable(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = parts_folder(path, identity)
    files = [folder / f"{number:06d}.csv" for number in range(len(parts))]
    there = sum(f.exists() for f in files)
    if there and resumed is not None:
        resumed(there)
    wanted = [number for number, file in enumerate(files) if not file.exists()]
    frames = compute(wanted) if compute is not None and wanted else (parts[n]() for n in wanted)
    for number, frame in zip(wanted, frames, strict=True):
        write_atomically(files[number], _writer(frame, header=number == 0))
    rows = _join(files, path)
    about = {**base_provenance(), **provenance, "table": path.name, "rows": rows}
    write_json(path.with_suffix(".json"), about)
    shutil.rmtree(folder, ignore_errors=True)
    return rows


def parts_folder(path: Path, identity: Mapping[str, Any]) -> Path:
    """Folder for the parts of a table."""
    content = json.dumps(plain(identity), sort_keys=True, ensure_ascii=False)
    return path.parent / f".{path.name}.{hashlib.sha256(content.encode()).hexdigest()[:12]}.parts"


def frame_digest(frame: pd.DataFrame) -> str:
    """Checksum of the content of a table."""
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()


def _writer(frame: pd.DataFrame, *, header: bool) -> Callable[[Path], None]:
    def write(temporary: Path) -> None:
        frame.to_csv(
            temporary, index=False, header=header, na_rep="NA", lineterminator="\n", encoding="utf-8"
        )

    return write


def _join(files: Sequence[Path], path: Path) -> int:
    """Put the parts together; return the number of rows."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as whole:
            for file in files:
                with file.open("rb") as part:
                    shutil.copyfileobj(part, whole)

    write_atomically(path, write)
    return sum(len(pd.read_csv(file, header=None, usecols=[0], dtype=str)) for file in files) - 1
