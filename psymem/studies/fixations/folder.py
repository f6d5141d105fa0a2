"""Write a comparison of fixations as a folder: tables with provenance.json, figure, sentences as a page, report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.plotting.fixations import sentences_figure
from psymem.studies.common.results_folder import drawn, write_results
from psymem.studies.fixations.page import figure_note, sentences_page, source_names
from psymem.studies.fixations.report import report_html
from psymem.studies.fixations.result import FixationResult

INTERNAL = ("spoken", "instance_of")


def save(study: FixationResult, folder: Path) -> list[Path]:
    """Write everything into `folder` and return the paths.

    Raises
    ------
    OutputError
        If the folder cannot be written or the disk is full; nothing is left behind.
    """
    pages = {"sentences.html": sentences_page(study), "report.html": report_html(study)}
    images = drawn(
        {"sentences": sentences_figure(study.plotted, names=source_names(study), note=figure_note(study))}
    )
    return write_results(folder, tables(study), provenance(study), figures=images, pages=pages)


def tables(study: FixationResult) -> dict[str, pd.DataFrame]:
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


def provenance(study: FixationResult) -> dict[str, Any]:
    """Facts for provenance.json: corpus, models with checksums, settings, formulas."""
    return {
        **{str(k): v for k, v in study.about.items()},
        "settings": asdict(study.settings),
        "formulas": study.fits.formulas,
        "not_causal": study.not_causal,
    }
