"""The report of a table of sentiment accuracies, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.io.outputs import plain, write_table, write_text
from psymem.replications.sentiment_table import SentimentResult

RULES = (
    "*Nested*: width, components and epoch are chosen, for each seed, on validation texts that are no test texts. "
    "*Published rule*: the best epoch on the test texts themselves, at the width and number of components that are best "
    "there. The published rule is optimistic: it reports the largest of many noisy accuracies, and the more epochs and "
    "settings there are, the larger it gets. A text should cite the nested accuracy. Both judge the same runs; seeds "
    "differ in split and first weights. Intervals (95%, Student's t) are over seeds; differences are paired by seed and "
    "not corrected for their number. An ordering holds if its whole interval is above 0, does not hold if it is below, "
    "and is undecided otherwise or with fewer than two seeds."
)


def markdown(result: SentimentResult) -> str:
    """Return the whole report."""
    runs, table = result.runs, result.table
    grid = f"widths {_list(runs.widths)}; components {_list(runs.components)} (FGP)"
    untrained = result.rows.loc[result.rows["n_seeds"] == 0, "label"]
    parts = [
        f"# {table.title}",
        f"Trained again on {result.n_texts} texts: {grid}; {runs.epochs} epochs; embeddings {runs.embedding_width} wide, "
        "from random first values.",
        f"Source: {table.citation}",
        "## Accuracies (%)",
        _rows(result),
        *(f"Not trained, since it needs --predictor: {label}." for label in untrained),
        "## Orderings of the paper",
        orderings_as_text(result),
        "## How to read this",
        RULES,
        table.note,
    ]
    return "\n\n".join(parts) + "\n"


def _rows(result: SentimentResult) -> str:
    head = ["model", "seeds", "nested", "95% interval", "published rule", "95% interval", "published"]
    lines = [_line(head), _line(["---"] * len(head))]
    for row in result.rows.to_dict("records"):
        cells = [row["label"], str(row["n_seeds"])]
        for name in ("nested", "published_rule"):
            cells += [_number(row[name]), _interval(row[f"{name}_ci_low"], row[f"{name}_ci_high"])]
        lines.append(_line([*cells, _number(row["published"])]))
    return "\n".join(lines)


def orderings_as_text(result: SentimentResult) -> str:
    """Return a Markdown table of the orderings and their verdicts by both rules."""
    labels = {row.name: row.label for row in result.table.rows}
    head = ["rule", "published as better", "than", "difference (%)", "95% interval", "verdict"]
    lines = [_line(head), _line(["---"] * len(head))]
    for row in result.orderings.to_dict("records"):
        cells: list[Any] = [row["rule"], labels[row["better"]], labels[row["worse"]]]
        cells += [_number(row["difference"]), _interval(row["ci_low"], row["ci_high"]), row["verdict"]]
        lines.append(_line(cells))
    return "\n".join(lines)


def _interval(low: float, high: float) -> str:
    return "" if pd.isna(low) else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.1f}"


def _list(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def save(result: SentimentResult, folder: Path) -> list[Path]:
    """Write ``<table>.csv``, ``<table>_orderings.csv`` with sidecars, and ``<table>.md``."""
    stem = result.table.name.replace("-", "_")
    about = {
        "study": result.table.name,
        "settings": plain(vars(result.runs)),
        "seeds": sorted(result.epochs["seed"].unique().tolist()),
        "n_texts": result.n_texts,
    }
    parts = {stem: result.rows, f"{stem}_orderings": result.orderings}
    written = [write_table(frame, folder / f"{name}.csv", about) for name, frame in parts.items()]
    return [*written, write_text(folder / f"{stem}.md", markdown(result))]
