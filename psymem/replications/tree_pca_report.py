"""The report of the tables on tree-structured PCA, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.io.outputs import plain
from psymem.replications.tree_pca_tables import ReductionResult
from psymem.studies.common.results_folder import drawn, write_results

RULES = """\
Word vectors are learned on the training texts alone, by the bag of embeddings that is also the first row of each block:
the mean of the vectors of a text's words, and a linear classifier (fastText's model). Words are lower-cased and stop words
left out; the published ones were stemmed as well, these are not. Bigrams follow the words of a text as further tokens. A
text becomes N vectors as published: longer ones are cut into N segments of which the mean is taken, shorter ones have
zeros at their end. Reductions see no labels, but the vectors were learned with them. The classifier is multinomial logistic
regression of the reduced vectors, standardised (published: one dense layer trained by Adam, the same model).

Intervals (95%, Student's t) are over seeds, which decide first vectors and their order of training, and the split where a
collection has no test part; where it has one, they do not say how accuracy would vary with other test texts.
Differences are paired by seed and not corrected for their number. An ordering holds if its whole interval is above 0, does
not hold if it is below, and is undecided otherwise or with fewer than two seeds.

Time is processor time of fitting, on one thread, the fastest of three, for scikit-learn's PCA with the solver that it
chooses itself. For data such as these that has been the eigendecomposition of the covariance since version 1.5; the full
singular value decomposition, which was the default when the paper was written, takes about ten times as long
(`tests/benchmarks/reductions.py` measures both).

What the paper prints as relative mutual information is a ratio of determinants, |V_a| / |V_b|; the difference of the
mutual informations is half its logarithm (column `difference_nats` of the table). Neither compares across N. PCA cannot
keep less than another orthonormal map of the texts that it is fitted to, so that the ordering of table 4.10 is no finding;
how close to 1 the ratio is, is one. The mean keeps very little by this measure and classifies as well. A likely reason:
vectors learned for a few classes differ in a few directions, the same at every position, so that the other numbers of
their mean hardly vary, while both PCAs turn to single positions for them.
"""
FULL_SIZE = """\
The published collections are in the layout of Zhang, Zhao and LeCun (2015): a folder each with `train.csv` and `test.csv`.
The sequences of a collection are held in memory: 8 N D bytes a text, 2.6 GB for a million texts at N = 32, D = 10.

```
psymem {name} --data ag-news=AG_NEWS --data dbpedia=DBPEDIA --data yelp-polarity=YELP_POLARITY \\
    --data yelp-full=YELP_FULL --data yahoo=YAHOO --data amazon-polarity=AMAZON_POLARITY \\
    --data amazon-full=AMAZON_FULL --data sogou=SOGOU --seeds 1-5 --out results/{name}
```"""


def markdown(result: ReductionResult) -> str:
    """Return the whole report."""
    tables, settings = result.tables, result.settings
    seeds = result.runs["seed"].nunique()
    size = (
        f"Run again at a reduced size, {seeds} seed(s): vectors of {settings.width} numbers, {settings.epochs} epochs, "
        f"words that stand {settings.minimum_count} times or more in the training texts."
    )
    parts = [
        f"# {tables.title}",
        size,
        f"Source: {tables.citation}",
        _table(result.collections),
        "## Orderings of the paper",
        _orderings(result.orderings),
        "## Accuracies (table 4.5, %)",
        _accuracies(result.accuracies),
        "## Time of fitting (table 4.8)",
        _times(result.times),
        "## Mutual information kept (tables 4.9 and 4.10)",
        _information(result.information),
        "## Weight of positions",
        _weights(result.weights, tables.positions),
        "## How to read this",
        RULES,
        tables.note,
        "## At full size",
        FULL_SIZE.format(name=tables.name),
    ]
    return "\n\n".join(p.strip("\n") for p in parts) + "\n"


def orderings_in_words(orderings: pd.DataFrame) -> pd.DataFrame:
    """Return how often each ordering held, did not, or was undecided."""
    counts = orderings.groupby(["quantity", "better", "worse", "source"], sort=False)["verdict"]
    table = counts.value_counts().unstack(fill_value=0)
    for name in ("holds", "does not hold", "undecided"):
        if name not in table:
            table[name] = 0
    return table[["holds", "does not hold", "undecided"]].reset_index()


def _orderings(orderings: pd.DataFrame) -> str:
    shown = orderings_in_words(orderings)
    text = _table(shown.rename(columns={"better": "published as better", "worse": "than"}))
    accuracy = orderings[orderings["quantity"] == "accuracy"]
    rows = [
        [r.collection, r.grams, str(r.positions), _number(r.difference, 2), _interval(r, 2), r.verdict]
        for r in accuracy.itertuples()
    ]
    head = ["collection", "words", "N", "TreePCA - bag (%)", "95% interval", "verdict"]
    return f"Counted over collections, kinds of word and N:\n\n{text}\n\nAccuracy in full:\n\n{_lines(head, rows)}"


def _accuracies(table: pd.DataFrame) -> str:
    rows = [
        [
            r.collection,
            r.grams,
            r.method,
            "" if pd.isna(r.positions) else str(r.positions),
            _number(r.accuracy, 1),
            _interval(r, 1),
            _number(r.published, 1),
        ]
        for r in table.itertuples()
    ]
    return _lines(["collection", "words", "method", "N", "accuracy", "95% interval", "published"], rows)


def _times(table: pd.DataFrame) -> str:
    """Seconds of TreePCA (second) and PCA (first), and their ratio."""
    rows = [
        [
            r.collection,
            r.grams,
            str(r.positions),
            _number(r.seconds_second, 4),
            _number(r.seconds_first, 4),
            _number(r.ratio, 2),
            _interval(r, 2),
        ]
        for r in table.itertuples()
    ]
    head = ["collection", "words", "N", "TreePCA, s", "PCA, s", "PCA / TreePCA", "95% interval"]
    return _lines(head, rows)


def _information(table: pd.DataFrame) -> str:
    keys = ["collection", "grams", "positions"]
    wide = {m: own.set_index(keys) for m, own in table.groupby("first", sort=False)}
    rows = []
    for key in wide["mean"].index:
        cells = [str(k) for k in key]
        for method in ("mean", "pca"):
            row = wide[method].loc[key]
            small = method == "mean"
            cells += (
                [f"{row['ratio']:.1e}", f"{row['ci_low']:.1e} to {row['ci_high']:.1e}"]
                if small
                else [
                    _number(row["ratio"], 3),
                    _interval(row, 3),
                ]
            )
        rows.append(cells)
    head = ["collection", "words", "N", "mean / TreePCA", "95% interval", "PCA / TreePCA", "95% interval"]
    return _lines(head, rows)


def _weights(weights: pd.DataFrame, positions: int) -> str:
    own = weights[weights["positions"] == positions]
    rows = [
        [collection, grams, *(_number(v, 2) for v in block["position_weights"])]
        for (collection, grams), block in own.groupby(["collection", "grams"], sort=False)
    ]
    head = ["collection", "words", *(str(n) for n in range(1, positions + 1))]
    return f"How much of each of {positions} positions reaches the result; the weights add up to D.\n\n{_lines(head, rows)}"


def _table(frame: pd.DataFrame) -> str:
    return _lines([c.replace("_", " ") for c in frame.columns], frame.astype(str).to_numpy().tolist())


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    line: Callable[[Sequence[str]], str] = lambda cells: "| " + " | ".join(cells) + " |"  # noqa: E731
    return "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)])


def _interval(row: Any, digits: int) -> str:
    low, high = (row[k] if isinstance(row, pd.Series) else getattr(row, k) for k in ("ci_low", "ci_high"))
    return "" if pd.isna(low) else f"{_number(low, digits)} to {_number(high, digits)}"


def _number(value: float, digits: int) -> str:
    return "" if pd.isna(value) else f"{value:.{digits}f}"


def save(result: ReductionResult, folder: Path) -> list[Path]:
    """Write the tables with sidecars, the report and the figure, all or none."""
    stem = result.tables.name.replace("-", "_")
    about = {
        "study": result.tables.name,
        "settings": plain(asdict(result.settings)),
        "seeds": sorted(result.runs["seed"].unique().tolist()),
        "collections": result.collections.to_dict("records"),
    }
    parts = {
        stem: result.accuracies,
        f"{stem}_time": result.times,
        f"{stem}_information": result.information,
        f"{stem}_energy": result.energy,
        f"{stem}_positions": result.weights,
        f"{stem}_orderings": result.orderings,
        f"{stem}_runs": result.runs,
    }
    pages = {f"{stem}.md": markdown(result)}
    return write_results(folder, parts, about, figures=drawn({stem: result.figure()}), pages=pages)
