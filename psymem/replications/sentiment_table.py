"""A published table of sentiment accuracies, trained again: with the epoch chosen on the test texts, as published, and not.

Both rules judge the same runs. *Published rule*: each run's best epoch on the test texts, averaged over seeds, at the
setting (width, components) where that average is highest; it is optimistic, since the test texts choose. *Nested rule*:
for each seed, setting and epoch with the highest accuracy on validation texts, which are no test texts; its accuracy on
the test texts.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from psymem.errors import TrainingError
from psymem.io.outputs import plain, write_json
from psymem.replications.analyses import find_study
from psymem.replications.language_model_orderings import mean_interval, verdict

if TYPE_CHECKING:
    from psymem.data.corpora.corpus import Corpus

KIND = "sentiment"
SETTING = ["width", "components"]


@dataclass(frozen=True)
class SentimentRow:
    """One model of the table; `published` is its accuracy in percent.

    A `multi_task` model learns the readers' fixations of the training texts beside their sentiment.
    """

    name: str
    label: str
    family: str
    published: float
    fixations: str = "adaptive"
    multi_task: bool = False


@dataclass(frozen=True)
class SentimentTable:
    """One file of analyses/: its models, and pairs of which the first had the higher accuracy."""

    name: str
    title: str
    citation: str
    note: str
    corpus: str
    rows: tuple[SentimentRow, ...]
    orderings: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SentimentRuns:
    """What is trained.

    Parameters
    ----------
    widths, components
        The grid; components of FGP only.
    epochs, embedding_width
        Of every run.
    predictor
        Fixation predictor of the model with a fixed one; without it, that model is left out.
    """

    widths: tuple[int, ...] = (30, 50, 100, 200)
    components: tuple[int, ...] = (3, 6, 12)
    epochs: int = 30
    embedding_width: int = 100
    predictor: Path | None = None

    def settings_of(self, row: SentimentRow) -> list[tuple[int, int]]:
        """(width, components) of a model's runs; none where it cannot be trained."""
        if row.fixations == "fixed" and self.predictor is None:
            return []
        components = self.components if row.family.startswith("fgp") else (1,)
        return list(itertools.product(self.widths, components))


def load_table(name: str) -> SentimentTable:
    """Read one table; raises UnknownNameError if there is none of that name."""
    content = find_study(KIND, name)
    rows = tuple(SentimentRow(**row) for row in content["row"])
    published = {row.name: row.published for row in rows}
    pairs = [sorted(o["pair"], key=lambda n: -published[n]) for o in content["ordering"]]
    facts = {k: content[k] for k in ("title", "citation", "note", "corpus")}
    return SentimentTable(name, rows=rows, orderings=tuple((a, b) for a, b in pairs), **facts)


def train_all(
    table: SentimentTable,
    runs: SentimentRuns,
    corpus: Corpus,
    seeds: Sequence[int],
    out: Path,
    *,
    say: Callable[[str], None] = lambda message: None,
) -> pd.DataFrame:
    """Train what is not finished; return ``model, seed, width, components, epoch, validation, test`` of all epochs.

    Raises
    ------
    DataError
        If the corpus has no judged texts.
    TrainingError
        If `out` holds runs with other settings.
    """
    from psymem.train.tasks.sentiment import FIXATION_WEIGHT, SentimentSettings, accuracies, read_texts

    texts = read_texts(corpus)
    frames = []
    for seed in seeds:
        for row in table.rows:
            for width, components in runs.settings_of(row):
                settings = SentimentSettings(
                    row.family,
                    row.fixations,
                    width,
                    components,
                    runs.predictor if row.fixations == "fixed" else None,
                    embedding_width=runs.embedding_width,
                    epochs=runs.epochs,
                    fixation_weight=FIXATION_WEIGHT if row.multi_task else 0.0,
                    seed=seed,
                )
                file = Path(out) / "runs" / f"{row.name}-{width}-{components}-seed-{seed}.json"
                stamp = plain({**vars(settings), "texts": len(texts), "corpus": corpus.name})
                frame = _finished(file, stamp)
                if frame is None:
                    say(f"{row.label}, width {width}, {components} component(s), seed {seed}")
                    frame = accuracies(texts, settings)
                    write_json(file, {"settings": stamp, "epochs": frame.to_dict("list")})
                key = {"model": row.name, "seed": seed, "width": width, "components": components}
                frames.append(frame.assign(**key)[[*key, "epoch", "validation", "test"]])
    return pd.concat(frames, ignore_index=True)


def _finished(file: Path, stamp: dict[str, Any]) -> pd.DataFrame | None:
    """Accuracies of a finished run; None if it is not."""
    if not file.exists():
        return None
    stored = json.loads(file.read_text(encoding="utf-8"))
    if stored["settings"] != stamp:
        raise TrainingError(f"{file} is of a run with other settings. Give the same, or another --out.")
    return pd.DataFrame(stored["epochs"])


# both rules ------------------------------------------------------------------------------------------------
def published_rule(epochs: pd.DataFrame) -> pd.DataFrame:
    """Return ``model, seed, accuracy``: the best epoch on the test texts, at the setting that is best by this rule."""
    best = epochs.groupby(["model", *SETTING, "seed"], as_index=False)["test"].max()
    mean = best.groupby(["model", *SETTING], as_index=False)["test"].mean()
    chosen = mean.loc[mean.groupby("model")["test"].idxmax(), ["model", *SETTING]]
    own = best.merge(chosen, on=["model", *SETTING], validate="many_to_one")
    return own.rename(columns={"test": "accuracy"})[["model", "seed", "accuracy"]]


def nested_rule(epochs: pd.DataFrame) -> pd.DataFrame:
    """Return ``model, seed, accuracy``: on the test texts, at the setting and epoch that validation texts choose."""
    chosen = epochs.loc[epochs.groupby(["model", "seed"])["validation"].idxmax()]
    return chosen.rename(columns={"test": "accuracy"})[["model", "seed", "accuracy"]].reset_index(drop=True)


def row_table(table: SentimentTable, epochs: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies (%) of every model by both rules with 95% intervals over seeds, beside the published ones."""
    found = []
    rules = {"nested": nested_rule(epochs), "published_rule": published_rule(epochs)}
    for row in table.rows:
        cells: dict[str, Any] = {"model": row.name, "label": row.label}
        for name, runs in rules.items():
            own = 100 * runs.loc[runs["model"] == row.name, "accuracy"].to_numpy()
            mean, low, high = mean_interval(own)
            cells |= {"n_seeds": len(own), name: mean, f"{name}_ci_low": low, f"{name}_ci_high": high}
        found.append(cells | {"published": row.published})
    return pd.DataFrame(found)


def ordering_table(table: SentimentTable, epochs: pd.DataFrame) -> pd.DataFrame:
    """Return the difference (%) of each ordering by both rules: paired by seed, since a seed decides the split.

    The verdict is that of :func:`psymem.replications.language_model_orderings.verdict`.
    """
    found = []
    for rule, runs in (("nested", nested_rule(epochs)), ("published rule", published_rule(epochs))):
        wide = runs.pivot_table(index="seed", columns="model", values="accuracy")
        for better, worse in table.orderings:
            missing = {better, worse} - set(wide.columns)
            values = np.empty(0) if missing else 100 * (wide[better] - wide[worse]).dropna().to_numpy()
            mean, low, high = mean_interval(values)
            found.append(
                {
                    "rule": rule,
                    "better": better,
                    "worse": worse,
                    "difference": mean,
                    "ci_low": low,
                    "ci_high": high,
                    "n_seeds": len(values),
                    "verdict": verdict(-high, -low),
                }
            )
    return pd.DataFrame(found)


@dataclass(frozen=True)
class SentimentResult:
    """The table with what was found."""

    table: SentimentTable
    runs: SentimentRuns
    epochs: pd.DataFrame = field(repr=False)
    rows: pd.DataFrame = field(repr=False)
    orderings: pd.DataFrame = field(repr=False)
    n_texts: int = 0


def summarise(
    table: SentimentTable, runs: SentimentRuns, epochs: pd.DataFrame, n_texts: int
) -> SentimentResult:
    """Judge finished runs by both rules."""
    return SentimentResult(
        table, runs, epochs, row_table(table, epochs), ordering_table(table, epochs), n_texts
    )
