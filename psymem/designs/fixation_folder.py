"""Write a comparison of fixations as a folder: tables with sidecars, figure, sentences as a page, report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.designs.fixation_report import report_html, sentences_page
from psymem.designs.results_folder import pdf_bytes, png_bytes
from psymem.outputs import whole_folder, write_table, write_text

if TYPE_CHECKING:
    from psymem.designs.fixations import FixationStudy

INTERNAL = ("spoken", "instance_of")


def save(study: FixationStudy, folder: Path) -> list[Path]:
    """Write everything into `folder` and return the paths.

    Raises
    ------
    OutputError
        If the folder cannot be written or the disk is full; nothing is left behind.
    """
    about, figure = provenance(study), study.figure
    png = png_bytes(figure)
    with whole_folder(folder) as temporary:
        for name, table in tables(study).items():
            write_table(table, temporary / f"{name}.csv", about)
        (temporary / "sentences.pdf").write_bytes(pdf_bytes(figure))
        (temporary / "sentences.png").write_bytes(png)
        write_text(temporary / "sentences.html", sentences_page(study))
        write_text(temporary / "report.html", report_html(study))
        names = sorted(p.name for p in temporary.iterdir())
    return [folder / name for name in names]


def tables(study: FixationStudy) -> dict[str, pd.DataFrame]:
    """Every table by file name; ``sentences_plotted`` holds exactly the numbers of the figure."""
    found = {
        "words": study.words.drop(columns=list(INTERNAL)),
        "correlations": study.correlations,
        "correlations_by_text": study.by_text,
        "gains": study.fits.gains,
        "effects": study.fits.effects,
        "exclusions": study.fits.exclusions,
        "spread": study.spread,
        "rare_words": study.rare_words,
        "sentences_plotted": study.plotted,
    }
    return {name: table for name, table in found.items() if len(table)}


def provenance(study: FixationStudy) -> dict[str, Any]:
    """Facts for the sidecars: corpus, models with checksums, settings, formulas."""
    return {
        **{str(k): v for k, v in study.about.items()},
        "settings": asdict(study.settings),
        "formulas": study.fits.formulas,
        "not_causal": study.not_causal,
    }
