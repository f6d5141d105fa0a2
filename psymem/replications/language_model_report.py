"""A table of language models, trained again: computed, written as CSV with provenance, and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.errors import TrainingError
from psymem.io.outputs import plain, write_json, write_table, write_text
from psymem.replications.language_model_orderings import UNDECIDED, ordering_table, row_table
from psymem.replications.language_model_recipe import recipe
from psymem.replications.language_model_runs import RunSettings, plain_settings
from psymem.replications.language_models import LanguageModelTable
from psymem.units import perplexity

LABELS = {
    "causal": "every model looks back only",
    "not": "NOT CAUSAL: durations are normalised over later words too",
}


@dataclass(frozen=True)
class TableResult:
    """A table with what was found.

    Parameters
    ----------
    table, settings, seeds
        What was trained, how, and for which seeds.
    runs
        One row per finished run.
    rows, orderings
        See :mod:`psymem.replications.language_model_orderings`.
    trigram
        Surprisal of the test text under a trigram model: ``perplexity, perplexity_known, n_predictions``.
    """

    table: LanguageModelTable
    settings: RunSettings
    seeds: tuple[int, ...]
    runs: pd.DataFrame
    rows: pd.DataFrame
    orderings: pd.DataFrame
    trigram: dict[str, Any]

    def save(self, folder: Path) -> list[Path]:
        """Write ``<table>.csv``, ``<table>_orderings.csv`` and ``<table>_runs.csv`` with sidecars, and ``<table>.md``."""
        stem = self.table.name.replace("-", "_")
        about = {
            "study": self.table.name,
            "size": size_in_words(self),
            "settings": plain_settings(self.settings),
            "seeds": list(self.seeds),
            "trigram": self.trigram,
        }
        parts = {stem: self.rows, f"{stem}_orderings": self.orderings, f"{stem}_runs": self.runs}
        written = [write_table(frame, folder / f"{name}.csv", about) for name, frame in parts.items()]
        return [*written, write_text(folder / f"{stem}.md", markdown(self))]


def summarise(
    table: LanguageModelTable, settings: RunSettings, seeds: Sequence[int], runs: pd.DataFrame, out: Path
) -> TableResult:
    """Compare finished runs with each other, with a trigram model and with what was published.

    Raises
    ------
    TrainingError
        If no run is finished.
    """
    if runs.empty:
        raise TrainingError(f"There is no finished run in {Path(out) / 'runs'}; train some first.")
    trigram = _trigram(settings, out)
    rows = row_table(table.rows, runs, trigram["perplexity"])
    orderings = ordering_table(table.orderings, runs)
    return TableResult(table, settings, tuple(seeds), runs, rows, orderings, trigram)


def _trigram(settings: RunSettings, out: Path) -> dict[str, Any]:
    """Perplexity of a trigram model of the same text; kept in ``OUT/trigram.json``."""
    from psymem.train.tasks.gated_testing import trigram_of_files

    longest = int(settings.options.get("longest", 64))
    of = plain({"test": settings.test, "longest": longest})
    file = Path(out) / "trigram.json"
    if file.exists() and (stored := json.loads(file.read_text(encoding="utf-8")))["of"] == of:
        return dict(stored["trigram"])
    found = trigram_of_files(Path(out) / "text", list(settings.test), longest)
    trigram = {
        "perplexity": perplexity(found.mean_nats),
        "perplexity_known": found.perplexity_known,
        "n_predictions": found.n,
    }
    write_json(file, {"of": of, "trigram": trigram})
    return trigram


# words -----------------------------------------------------------------------------------------------------
def markdown(result: TableResult) -> str:
    """Return the whole report."""
    table = result.table
    parts = [
        f"# {table.title}",
        f"Trained again, not at the published size. {size_in_words(result)}",
        f"Source: {table.citation}",
        "## How they were trained",
        recipe(result.settings, table),
        "## Perplexities",
        _rows_as_text(result),
        _trigram_in_words(result),
        "## Orderings of the paper",
        orderings_as_text(result),
        "## How to read this",
        READING,
        table.note,
        _left_out(result),
        "## At full size",
        FULL_SIZE.format(name=table.name, text=table.text),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


READING = (
    "Perplexity is exp of the mean surprisal of the test text over seeds; intervals (95%) are over seeds: Student's t for "
    "a model, Welch's t for the difference of two models, not corrected for the number of orderings. An ordering holds "
    "if the whole interval of the ratio is below 1, does not hold if it is above, and is undecided otherwise or with "
    "fewer than two seeds. The weights of each run are those that were best on the held-out text; the test text chose "
    "nothing. Durations that the model predicts itself are normalised by running statistics, so that no surprisal "
    "depends on later words. Perplexities depend on text and vocabulary: only those of one table compare."
)
FULL_SIZE = """\
The published size needs {text} and a GPU. The command resumes; every model and seed is a run of its own, so several GPUs
share the work by `--row` and `--seeds` (the first process alone at first, since it encodes the text for all), and
`--no-train` with all seeds writes the tables. A stream, as in the paper's recipe, is trained by one process; with
`--batching sentences`, `torchrun --nproc-per-node N -m psymem {name} ...` shares the batches of each run.

```
psymem train fixation-predictor --corpus zuco1 --data ZUCO1 --out predictor
CUDA_VISIBLE_DEVICES=0 psymem {name} --preset paper --parameters 16M --seeds 1-3 \\
    --text wiki.train.txt --held-out wiki.valid.txt --test wiki.test.txt \\
    --predictor predictor/model --fixation-corpus zuco1 --fixation-data ZUCO1 --out results/{name}
```"""


def size_in_words(result: TableResult) -> str:
    """Say how large models and text were, for how long and how often they were trained."""
    runs, settings = result.runs, result.settings
    text, seen = int(runs["training_text_tokens"].max()), int(runs["tokens_seen"].max())
    counts = runs["parameters"]
    seeds = runs.groupby("model")["seed"].size()
    many = str(seeds.min()) if seeds.min() == seeds.max() else f"{seeds.min()} to {seeds.max()}"
    causal = "" if runs["causal"].all() else f" {LABELS['not']}."
    return (
        f"{len(seeds)} of {len(result.table.rows)} models with {many} seed(s) each; {settings.parameters} weights asked "
        f"for ({counts.min():,} to {counts.max():,} without the embedding, output biases included); {text:,} tokens of "
        f"training text, {seen:,} read in training; test text of {int(runs['n_predictions'].max()):,} predictions, "
        f"{runs['unknown_share'].max():.1%} of them unknown words.{causal}"
    )


def _rows_as_text(result: TableResult) -> str:
    sizes = [c.removeprefix("published_") for c in result.rows.columns if c.startswith("published_")]
    head = ["model", "seeds", "perplexity", "95% interval", "weights", "width", "better than trigram"]
    lines = [_line([*head, *(f"published, {s}" for s in sizes)]), _line(["---"] * (len(head) + len(sizes)))]
    for row in result.rows.to_dict("records"):
        done = row["n_seeds"] > 0
        cells = [row["label"], str(row["n_seeds"]), _number(row["perplexity"]), _interval(row)]
        cells += [f"{row['parameters']:,}", str(row["width"])] if done else ["", ""]
        cells += [("yes" if row["beats_trigram"] else "no") if done else ""]
        lines.append(_line([*cells, *(_number(row[f"published_{s}"], 1) for s in sizes)]))
    return "\n".join(lines)


def orderings_as_text(result: TableResult) -> str:
    """Return a Markdown table of the orderings and their verdicts."""
    labels = {row.name: row.label for row in result.table.rows}
    head = [
        "published as better",
        "than",
        "ratio of perplexities",
        "95% interval",
        "published ratio",
        "verdict",
    ]
    lines = [_line(head), _line(["---"] * len(head))]
    for row in result.orderings.to_dict("records"):
        published = f"{row['published_ratio']:.3f} ({row['published_size']})"
        if row["otherwise_at"]:
            published += f", the other way round at {row['otherwise_at']}"
        cells = [labels[row["better"]], labels[row["worse"]], _number(row["ratio"], 3), _interval(row, 3)]
        lines.append(_line([*cells, published, _verdict(row)]))
    return "\n".join(lines)


def _verdict(row: dict[str, Any]) -> str:
    missing = row["verdict"] == UNDECIDED and min(row["n_better"], row["n_worse"]) < 2
    return row["verdict"] + (" (too few seeds)" if missing else "")


def _trigram_in_words(result: TableResult) -> str:
    done = result.rows[result.rows["n_seeds"] > 0]
    worse = done.loc[~done["beats_trigram"].astype(bool), "label"].tolist()
    start = (
        f"A trigram model (interpolated Kneser-Ney) of the same text and vocabulary has perplexity "
        f"{result.trigram['perplexity']:.2f}. "
    )
    return start + (
        f"Not better in every run: {'; '.join(worse)}." if worse else "Every run of every model is better."
    )


def _left_out(result: TableResult) -> str:
    lines = []
    for row, found in zip(result.table.rows, result.rows.to_dict("records"), strict=True):
        if not found["n_seeds"]:
            lines.append(f"- {row.label}: not trained ({result.settings.why_not(row) or 'not reached'}).")
    return "\n".join(lines)


def _interval(row: dict[str, Any], digits: int = 2) -> str:
    low, high = _number(row["ci_low"], digits), _number(row["ci_high"], digits)
    return f"{low} to {high}" if low else ""


def _number(value: float, digits: int = 2) -> str:
    return "" if pd.isna(value) else f"{value:.{digits}f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
