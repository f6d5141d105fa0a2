"""Write a factorial result as a folder: tables with sidecars, figures, report; all of it or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.designs.figures import figures, is_attraction_set, stem
from psymem.designs.report import report_html
from psymem.outputs import whole_folder, write_table, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psymem.designs.factorial import FactorialResult


def save(result: FactorialResult, folder: Path) -> list[Path]:
    """Write everything into `folder` and return the paths.

    Raises
    ------
    OutputError
        If the folder cannot be written or the disk is full; nothing is left behind.
    """
    about = provenance(result)
    drawn = figures(result)
    with whole_folder(folder) as temporary:
        for name, table in tables(result).items():
            write_table(table, temporary / f"{name}.csv", about)
        for name, figure in drawn.items():
            _save_figure(figure, temporary / name)
        write_text(temporary / "report.html", report_html(result, drawn))
        names = sorted(p.name for p in temporary.iterdir())
    return [folder / name for name in names]


def tables(result: FactorialResult) -> dict[str, pd.DataFrame]:
    """Every table by file name; the plotted ones hold exactly the numbers of the figures."""
    found = {
        "scores": result.scores,
        "condition_means": result.means,
        "effects": result.effects,
        f"{stem(result)}_plotted": result.plotted,
        "items_left_out": result.left_out,
    }
    if len(result.by_item):
        found[f"{stem(result)}_by_item_plotted"] = result.by_item
        found[f"{stem(result)}_by_item_means"] = result.by_item_summary
    return found


def provenance(result: FactorialResult) -> dict[str, Any]:
    """Facts for the sidecars: input, models with checksums, settings."""
    tests = result.tests
    return {
        **{str(k): v for k, v in result.about.items()},
        "measure_columns": list(result.measures),
        "items_analysed": result.n_items,
        "items_left_out": result.items_left_out,
        "keep_oov": result.keep_oov,
        "design": "attraction" if is_attraction_set(result) else "factorial",
        "settings": {
            "alpha": tests.alpha,
            "engine": tests.engine,
            "formula": tests.formula,
            "levels": {k: list(v) for k, v in tests.levels.items()},
            "contrasts": dict(tests.contrasts),
            "spillover": tests.spillover,
        },
    }


def _save_figure(figure: Figure, path: Path) -> None:
    """Save as PDF (no creation date, so that the same run gives the same file) and as PNG, 300 dpi."""
    figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None})
    figure.savefig(path.with_suffix(".png"), dpi=300)
