"""Write a factorial result as a folder: tables with sidecars, figures, report; all of it or nothing."""

from __future__ import annotations

import io
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
    drawn = {name: (pdf_bytes(figure), png_bytes(figure)) for name, figure in figures(result).items()}
    page = report_html(result, {name: png for name, (_, png) in drawn.items()})
    with whole_folder(folder) as temporary:
        for name, table in tables(result).items():
            write_table(table, temporary / f"{name}.csv", about)
        for name, (pdf, png) in drawn.items():
            (temporary / f"{name}.pdf").write_bytes(pdf)
            (temporary / f"{name}.png").write_bytes(png)
        write_text(temporary / "report.html", page)
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
    if result.within is not None:
        found["effects_within"] = result.within
    if result.human is not None:
        found["human_effects"] = result.human.effects
        found["human_predictors"] = result.human.predictors
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
        "supertag_blocks": {block: list(names) for block, names in result.blocks.items()},
        "design": "attraction" if is_attraction_set(result) else "factorial",
        "settings": {
            "alpha": tests.alpha,
            "engine": tests.engine,
            "formula": tests.formula,
            "levels": {k: list(v) for k, v in tests.levels.items()},
            "contrasts": dict(tests.contrasts),
            "spillover": tests.spillover,
            "within": None if result.within is None else str(result.within["within"].iloc[0]),
        },
    }


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
