"""Results as a folder: tables, figures as PDF and PNG, pages and where all came from; all of it or nothing.

One file, ``provenance.json``, says for every file of the folder what made it: the facts of the last run at its top with
a checksum of each of its files, and under "earlier" the same of runs whose files are still there.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.io.download import sha256_of
from psymem.io.outputs import base_provenance, whole_folder, write_csv, write_json, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PROVENANCE = "provenance.json"
"""What a folder of results says about its files."""


def write_results(
    folder: str | Path,
    tables: Mapping[str, pd.DataFrame],
    about: Mapping[str, Any],
    *,
    figures: Mapping[str, tuple[bytes, bytes]] | None = None,
    pages: Mapping[str, str] | None = None,
    contents: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write everything into `folder` and return the paths.

    Parameters
    ----------
    folder
        Files of the same names are replaced there, others stay.
    tables
        Each becomes ``NAME.csv``.
    about
        Facts for `PROVENANCE`.
    figures
        Each becomes ``NAME.pdf`` and ``NAME.png`` (`drawn`).
    pages
        Text by file name.
    contents
        Further JSON by file name.

    Raises
    ------
    OutputError
        If the folder cannot be written or the disk is full; nothing is left behind.
    """
    folder = Path(folder)
    with whole_folder(folder) as temporary:
        for name, table in tables.items():
            write_csv(table, temporary / f"{name}.csv")
        for name, (pdf, png) in (figures or {}).items():
            (temporary / f"{name}.pdf").write_bytes(pdf)
            (temporary / f"{name}.png").write_bytes(png)
        for name, page in (pages or {}).items():
            write_text(temporary / name, page)
        for name, content in (contents or {}).items():
            write_json(temporary / name, content)
        rows = {f"{name}.csv": len(table) for name, table in tables.items()}
        write_json(temporary / PROVENANCE, {**base_provenance(), **about, **_files(temporary, rows, folder)})
        names = sorted(p.name for p in temporary.iterdir())
    return [folder / name for name in names]


def _files(temporary: Path, rows: Mapping[str, int], folder: Path) -> dict[str, Any]:
    """Checksums of the files written, and what `folder` says of earlier ones that stay."""
    written = {
        p.name: {"sha256": sha256_of(p), **({"rows": rows[p.name]} if p.name in rows else {})}
        for p in sorted(temporary.iterdir())
    }
    earlier = [_still_there(run, folder, written) for run in _runs(folder / PROVENANCE)]
    kept = [run for run in earlier if run["files"]]
    return {"files": written, **({"earlier": kept} if kept else {})}


def _runs(path: Path) -> list[dict[str, Any]]:
    """Return the runs that a file of this kind tells of, the last one first; [] if it is none."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    if not isinstance(said, dict):
        return []
    earlier = said.pop("earlier", [])
    runs = [said, *(earlier if isinstance(earlier, list) else [])]
    return [run for run in runs if isinstance(run, dict) and isinstance(run.get("files"), dict)]


def _still_there(run: Mapping[str, Any], folder: Path, written: Mapping[str, Any]) -> dict[str, Any]:
    files = {name: about for name, about in run["files"].items() if name not in written}
    return {**run, "files": {name: about for name, about in files.items() if (folder / name).is_file()}}


def drawn(figures: Mapping[str, Figure]) -> dict[str, tuple[bytes, bytes]]:
    """Return each figure as PDF and as PNG."""
    return {name: (pdf_bytes(figure), png_bytes(figure)) for name, figure in figures.items()}


def png_only(figures: Mapping[str, tuple[bytes, bytes]]) -> dict[str, bytes]:
    """Return the PNG of each figure that was `drawn`, for a report."""
    return {name: png for name, (_, png) in figures.items()}


def pdf_bytes(figure: Figure) -> bytes:
    """Return the figure as PDF, without its creation date, so that the same run gives the same file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="pdf", metadata={"CreationDate": None})
    return buffer.getvalue()


def png_bytes(figure: Figure) -> bytes:
    """Return the figure as PNG, 300 dpi."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=300)
    return buffer.getvalue()
