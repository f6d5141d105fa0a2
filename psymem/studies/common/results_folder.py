"""Results as a folder: tables with sidecars, figures as PDF and PNG, pages; all of it or nothing."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.io.outputs import whole_folder, write_json, write_table, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        Each becomes ``NAME.csv`` with its sidecar ``NAME.json``.
    about
        Facts for the sidecars.
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
            write_table(table, temporary / f"{name}.csv", about)
        for name, (pdf, png) in (figures or {}).items():
            (temporary / f"{name}.pdf").write_bytes(pdf)
            (temporary / f"{name}.png").write_bytes(png)
        for name, page in (pages or {}).items():
            write_text(temporary / name, page)
        for name, content in (contents or {}).items():
            write_json(temporary / name, content)
        names = sorted(p.name for p in temporary.iterdir())
    return [folder / name for name in names]


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
