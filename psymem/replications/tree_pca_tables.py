"""Chapter 4 of Su (2019) run again: texts as sequences of word vectors, reduced to one vector each and classified.

For every collection and seed, word vectors are learned by a bag of embeddings on the training texts; the sequences of
these vectors are then reduced by tree-structured PCA, by PCA of the flattened sequence and by their mean.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from psymem.data.words.labelled_texts import LabelledTexts
from psymem.errors import TrainingError
from psymem.io.outputs import plain, write_json
from psymem.replications.analyses import find_study
from psymem.replications.language_model_orderings import mean_interval, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KIND = "text-classification"
BAG = "embedding-bag"
GRAMS = ("unigrams", "bigrams")
HIGHER_IS_BETTER = {"accuracy": True, "nats": True, "seconds": False}
RUN = ["collection", "grams", "seed"]


@dataclass(frozen=True)
class ReductionSettings:
    """What is run.

    Parameters
    ----------
    positions
        Lengths N of the sequences.
    width
        D of the word vectors.
    minimum_count
        How often a word or bigram has to stand in the training texts to have a vector.
    epochs
        Of the bag of embeddings.
    """

    positions: tuple[int, ...] = (4, 8, 16, 32)
    width: int = 10
    minimum_count: int = 2
    epochs: int = 5

    def __post_init__(self) -> None:
        """Refuse what cannot work, in words."""
        for name in ("width", "minimum_count", "epochs"):
            if getattr(self, name) < 1:
                raise TrainingError(
                    f"--{name.replace('_', '-')} has to be at least 1, not {getattr(self, name)}."
                )
        wrong = [n for n in self.positions if n < 2 or n & (n - 1)]
        if wrong or not self.positions:
            raise TrainingError(f"--positions {wrong[0] if wrong else ''} is no power of two from 2 on.")


@dataclass(frozen=True)
class ReductionTables:
    """One file of analyses/: what was published, and which of two was the better one."""

    name: str
    title: str
    citation: str
    note: str
    positions: int
    published_accuracy: dict[str, dict[str, float]]
    orderings: tuple[dict[str, str], ...]


def load_tables(name: str) -> ReductionTables:
    """Read one file; raises UnknownNameError if there is none of that name."""
    content = find_study(KIND, name)
    facts = {k: content[k] for k in ("title", "citation", "note", "positions", "published_accuracy")}
    return ReductionTables(name, orderings=tuple(content["ordering"]), **facts)


# runs ------------------------------------------------------------------------------------------------------
def run_all(
    collections: Sequence[LabelledTexts],
    settings: ReductionSettings,
    seeds: Sequence[int],
    out: Path,
    say: Callable[[str], None] = lambda message: None,
) -> list[dict[str, Any]]:
    """Run what is not finished; return one record per method, length, collection, kind of word and seed.

    Raises
    ------
    TrainingError
        If `out` holds runs with other settings or texts.
    """
    found: list[dict[str, Any]] = []
    for collection in collections:
        for seed in seeds:
            for grams in GRAMS:
                file = Path(out) / "runs" / f"{collection.name}-{grams}-seed-{seed}.json"
                parts = collection.parts(seed)
                stamp = plain({**asdict(settings), "texts": [len(p) for p in parts]})
                records = _finished(file, stamp)
                if records is None:
                    say(f"{collection.name}, {grams}, seed {seed}")
                    records = _run(parts, collection.labels, grams == "bigrams", settings, seed)
                    write_json(file, {"settings": stamp, "records": records})
                key = {"collection": collection.name, "grams": grams, "seed": seed}
                found += [{**key, **record} for record in records]
    return found


def _finished(file: Path, stamp: dict[str, Any]) -> list[dict[str, Any]] | None:
    if not file.exists():
        return None
    stored = json.loads(file.read_text(encoding="utf-8"))
    if stored["settings"] != stamp:
        raise TrainingError(
            f"{file} is of a run with other settings or texts. Give the same, or another --out."
        )
    return list(stored["records"])


def _run(
    parts: tuple[list[tuple[str, str]], ...],
    labels: Sequence[str],
    bigrams: bool,
    settings: ReductionSettings,
    seed: int,
) -> list[dict[str, Any]]:
    """Learn word vectors, reduce and classify; the bag of embeddings comes first."""
    from psymem.reduction.comparison import compare_reductions
    from psymem.reduction.segments import segment_weights
    from psymem.train.tasks.embedding_bag import (
        EmbeddingBagSettings,
        bag_accuracy,
        encode,
        train_embedding_bag,
        word_vectors,
    )

    split = [[(tokens_of(text, bigrams), label) for text, label in part] for part in parts]
    counts = Counter(w for words, _ in split[0] for w in words)
    kept = sorted(
        (w for w, n in counts.items() if n >= settings.minimum_count), key=lambda w: (-counts[w], w)
    )
    if not kept:
        raise TrainingError(
            f"No word stands {settings.minimum_count} times in {len(parts[0])} training texts; give --minimum-count 1."
        )
    train, test = (encode(part, {w: i for i, w in enumerate(kept)}, labels) for part in split)
    own = EmbeddingBagSettings(width=settings.width, epochs=settings.epochs, seed=seed)
    bag = train_embedding_bag(train, len(kept), len(labels), own)
    records: list[dict[str, Any]] = [
        {"method": BAG, "positions": None, "accuracy": bag_accuracy(bag, test), "n_words": len(kept)}
    ]
    vectors = word_vectors(bag)
    for positions in settings.positions:
        sequences = [
            (segment_weights(p.lengths.tolist(), p.ids, len(kept), positions) @ vectors).reshape(
                len(p.lengths), -1
            )
            for p in (train, test)
        ]
        data = list(zip(sequences, (train.classes, test.classes), strict=True))
        records += [asdict(r) for r in compare_reductions(data[0], data[1], settings.width)]
    return [dict(plain(r)) for r in records]


def tokens_of(text: str, bigrams: bool) -> list[str]:
    """Words of a text, lower-cased, without stop words; its bigrams after them."""
    from psymem.models.word_tokenizer import split_words
    from psymem.reduction.stop_words import STOP_WORDS

    words = [w for w in split_words([text])[0] if w not in STOP_WORDS]
    return words + [f"{a} {b}" for a, b in pairwise(words)] if bigrams else words


# tables ----------------------------------------------------------------------------------------------------
def accuracy_table(tables: ReductionTables, runs: pd.DataFrame) -> pd.DataFrame:
    """Return table 4.5: ``collection, grams, method, positions, n_seeds, accuracy`` (%) with its interval, published."""
    rows = []
    for (collection, grams, method, positions), own in runs.groupby(
        ["collection", "grams", "method", "positions"], sort=False, dropna=False
    ):
        mean, low, high = mean_interval(100 * own["accuracy"].to_numpy())
        ours = method == "tree-pca" and positions == tables.positions
        published = tables.published_accuracy.get(str(collection), {}).get(str(grams)) if ours else None
        rows.append(
            {
                "collection": collection,
                "grams": grams,
                "method": method,
                "positions": positions,
                "n_seeds": len(own),
                "accuracy": mean,
                "ci_low": low,
                "ci_high": high,
                "published": published,
            }
        )
    return pd.DataFrame(rows).astype({"positions": "Int64", "published": float})


def pair_table(runs: pd.DataFrame, quantity: str, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return ratios of two methods at every length with intervals over seeds.

    Tables 4.9 and 4.10 (``nats``: the ratio of determinants, exp of twice the difference, and the difference itself) and
    4.8 (``seconds``: the ratio of processor times, `first` over `second`).
    """
    rows = []
    for (collection, grams, positions), own in runs.dropna(subset="positions").groupby(
        ["collection", "grams", "positions"], sort=False
    ):
        wide = own.pivot_table(index="seed", columns="method", values=quantity)
        for first, second in pairs:
            logs = _log_ratio(wide, quantity, first, second)
            mean, low, high = mean_interval(logs)
            row = {"collection": collection, "grams": grams, "positions": positions}
            row |= {"first": first, "second": second, "n_seeds": len(logs)}
            if quantity == "seconds":
                row |= {f"seconds_{n}": wide[m].mean() for n, m in (("first", first), ("second", second))}
            else:
                row["difference_nats"] = mean / 2
            row |= {"ratio": np.exp(mean), "ci_low": np.exp(low), "ci_high": np.exp(high)}
            rows.append(row)
    return pd.DataFrame(rows).astype({"positions": int})


def _log_ratio(wide: pd.DataFrame, quantity: str, first: str, second: str) -> np.ndarray:
    """Logarithm of the ratio of determinants or of times, for each seed."""
    if quantity == "nats":
        return 2 * (wide[first] - wide[second]).to_numpy()
    return np.log(wide[first] / wide[second]).to_numpy()


def ordering_table(tables: ReductionTables, runs: pd.DataFrame) -> pd.DataFrame:
    """Return each published ordering on each collection with its verdict.

    Differences are paired by seed: in percent (accuracy), nats, or percent of processor time saved.
    """
    rows = []
    for ordering in tables.orderings:
        quantity, names = ordering["quantity"], (ordering["better"], ordering["worse"])
        for (collection, grams), own in runs.groupby(["collection", "grams"], sort=False):
            lengths = (
                [tables.positions] if quantity == "accuracy" else sorted(own["positions"].dropna().unique())
            )
            for positions in lengths:
                here = own[own["positions"].eq(positions) | own["method"].eq(BAG)]
                wide = here.pivot_table(index="seed", columns="method", values=quantity)
                values = _gain(wide, quantity, names)
                mean, low, high = mean_interval(values)
                rows.append(
                    {
                        "quantity": quantity,
                        "better": names[0],
                        "worse": names[1],
                        "collection": collection,
                        "grams": grams,
                        "positions": int(positions),
                        "difference": mean,
                        "ci_low": low,
                        "ci_high": high,
                        "n_seeds": len(values),
                        "verdict": verdict(-high, -low),
                        "source": ordering["source"],
                    }
                )
    return pd.DataFrame(rows)


def _gain(wide: pd.DataFrame, quantity: str, names: tuple[str, str]) -> np.ndarray:
    """How much better the first is, for each seed."""
    if set(names) - set(wide.columns):
        return np.empty(0)
    better, worse = (wide[n].to_numpy() for n in names)
    if quantity == "seconds":
        return np.asarray(100 * (1 - better / worse))
    return np.asarray((100 if quantity == "accuracy" else 1) * (better - worse))


def stage_table(records: Sequence[dict[str, Any]], field_name: str, column: str) -> pd.DataFrame:
    """Return means over seeds of what TreePCA tells of every stage (``energy``) or position (``position_weights``)."""
    rows = [
        {**{k: r[k] for k in RUN}, "positions": r["positions"], column: number, field_name: value}
        for r in records
        if r["method"] == "tree-pca"
        for number, value in enumerate(r[field_name], 1)
    ]
    keys = ["collection", "grams", "positions", column]
    return pd.DataFrame(rows).groupby(keys, as_index=False, sort=False)[field_name].mean()


@dataclass(frozen=True)
class ReductionResult:
    """The tables with what was found."""

    tables: ReductionTables
    settings: ReductionSettings
    collections: pd.DataFrame
    runs: pd.DataFrame = field(repr=False)
    accuracies: pd.DataFrame = field(repr=False)
    times: pd.DataFrame = field(repr=False)
    information: pd.DataFrame = field(repr=False)
    energy: pd.DataFrame = field(repr=False)
    weights: pd.DataFrame = field(repr=False)
    orderings: pd.DataFrame = field(repr=False)

    def figure(self) -> Figure:
        """Energy left after each stage (figure 4.2) and accuracy against N (figure 4.3), a column per collection."""
        from psymem.plotting.tree_pca import reduction_figure

        return reduction_figure(self.energy, self.accuracies)


def summarise(
    tables: ReductionTables,
    settings: ReductionSettings,
    collections: Sequence[LabelledTexts],
    records: Sequence[dict[str, Any]],
) -> ReductionResult:
    """Put the records of all runs into tables."""
    columns = [*RUN, "method", "positions", "accuracy", "nats", "seconds", "n_words"]
    runs = pd.DataFrame(records)[columns].astype({"positions": "Int64", "n_words": "Int64"})
    facts = [
        {
            "collection": c.name,
            "files": ", ".join(c.files),
            "classes": len(c.labels),
            "training_texts": len(c.parts(1)[0]),
            "test_texts": len(c.parts(1)[1]),
            "test": "own part" if c.test else "a random fifth, another for each seed",
        }
        for c in collections
    ]
    return ReductionResult(
        tables,
        settings,
        pd.DataFrame(facts),
        runs,
        accuracy_table(tables, runs),
        pair_table(runs, "seconds", [("pca", "tree-pca")]),
        pair_table(runs, "nats", [("mean", "tree-pca"), ("pca", "tree-pca")]),
        stage_table(records, "energy", "stage"),
        stage_table(records, "position_weights", "position"),
        ordering_table(tables, runs),
    )
