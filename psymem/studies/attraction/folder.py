"""Write a factorial result as a folder: tables with provenance.json, figures, report; all of it or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from psymem.studies.attraction.figures import figures, is_attraction_set, stem
from psymem.studies.attraction.report import report_html
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.results_folder import drawn, png_only, write_results


def save(result: FactorialResult, folder: Path) -> list[Path]:
    """Write everything into `folder` and return the paths.

    Raises
    ------
    OutputError
        If the folder cannot be written or the disk is full; nothing is left behind.
    """
    images = drawn(figures(result))
    page = report_html(result, png_only(images))
    return write_results(
        folder, tables(result), provenance(result), figures=images, pages={"report.html": page}
    )


def tables(result: FactorialResult) -> dict[str, pd.DataFrame]:
    """Every table by file name; the plotted ones hold exactly the numbers of the figures."""
    found = {
        "scores": result.scores,
        "condition_means": result.means,
        "effects": result.effects,
        **_checks(result),
        f"{stem(result)}_plotted": result.plotted,
        "items_left_out": result.left_out,
    }
    if result.within is not None:
        found["effects_within"] = result.within
    if result.human is not None:
        found["human_effects"] = result.human.effects
        found["human_predictors"] = result.human.predictors
    if len(result.by_item):
        found[f"{stem(result)}_by_item_plotted"] = result.by_item
        found[f"{stem(result)}_by_item_means"] = result.by_item_summary
    return found


def _smallest(result: FactorialResult) -> dict[str, float]:
    known = result.effects.dropna(subset=["smallest_effect"]).drop_duplicates("measure")
    return dict(zip(known["measure"], known["smallest_effect"], strict=True))


def _checks(result: FactorialResult) -> dict[str, pd.DataFrame]:
    """Tables of the checks, and the scores that they and the baseline rest on."""
    found: dict[str, pd.DataFrame] = {}
    if result.checks is not None:
        found["manipulation_checks"] = result.checks.table
        if len(result.checks.counts):
            found["training_counts"] = result.checks.counts
    if result.beside is not None and result.beside.controls is not None:
        found["control_scores"] = result.beside.controls
    if result.beside is not None and result.beside.numbers is not None and result.attraction_items:
        found["number_scores"] = result.beside.numbers
    return found


def provenance(result: FactorialResult) -> dict[str, Any]:
    """Facts for provenance.json: input, models with checksums, settings."""
    tests = result.tests
    return {
        **{str(k): v for k, v in result.about.items()},
        "measure_columns": list(result.measures),
        "items_analysed": result.n_items,
        "items_left_out": result.items_left_out,
        "keep_oov": result.keep_oov,
        "supertag_blocks": {block: list(names) for block, names in result.blocks.items()},
        "design": "attraction" if is_attraction_set(result) else "factorial",
        "settings": {
            "alpha": tests.alpha,
            "engine": tests.engine,
            "formula": tests.formula,
            "levels": {k: list(v) for k, v in tests.levels.items()},
            "contrasts": dict(tests.contrasts),
            "spillover": tests.spillover,
            "smallest_effects": _smallest(result),
            "by": tests.by,
            "within": None if result.within is None else str(result.within["within"].iloc[0]),
        },
    }
