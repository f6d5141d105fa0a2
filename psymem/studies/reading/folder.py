"""Write a reading study as a folder: tables with provenance.json, figures, report; all of it or nothing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.studies.common.results_folder import drawn, png_only, write_results
from psymem.studies.reading.figures import figures, plotted
from psymem.studies.reading.report import report_html
from psymem.studies.reading.result import ReadingResult


def save(study: ReadingResult, folder: Path) -> list[Path]:
    """Write everything into `folder` and return the paths.

    Raises
    ------
    OutputError
        If the folder cannot be written or the disk is full; nothing is left behind but scores that a killed run goes
        on from.
    """
    images = drawn(figures(study))
    page = report_html(study, png_only(images))
    return write_results(
        folder, tables(study), provenance(study), figures=images, pages={"report.html": page}
    )


def tables(study: ReadingResult) -> dict[str, pd.DataFrame]:
    """Every table by file name; the plotted ones hold exactly the numbers of the figures."""
    found = {
        "delta_loglik": study.delta_loglik,
        "coefficients": study.coefficients,
        "base_coefficients": study.base_coefficients,
        "exclusions": study.exclusions,
        "predictors": study.predictors,
        "nonlinearity": study.shape_table("test"),
        **plotted(study),
    }
    if study.readers is not None:
        found["by_reader"] = study.readers
    return {name: table for name, table in found.items() if len(table)}


def provenance(study: ReadingResult) -> dict[str, Any]:
    """Facts for provenance.json: corpora, models with checksums, settings, formulas."""
    return {
        **{str(k): v for k, v in study.about.items()},
        "analyses": [
            {**a.facts, "settings": asdict(a.settings), "formulas": a.power.formulas, "notes": list(a.notes)}
            for a in study.analyses
        ],
    }
