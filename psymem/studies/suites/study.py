"""Test suites in the format of SyntaxGym: surprisal of regions, and in how many items each prediction holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.data.items.suite import Suite
from psymem.data.items.syntaxgym import distinct_suites, read_suites, suite_content
from psymem.studies.common.unknown_words import refuse_nothing_left
from psymem.studies.suites.predictions import accuracy_table, item_predictions
from psymem.studies.suites.regions import region_values, unknown_words

if TYPE_CHECKING:
    from psymem.backends.base import Backend
    from psymem.scoring.reading import Reading
from psymem.studies.common.item_scores import Progress

UNDEFINED = (
    "No prediction could be computed in any item: the surprisal of a region is not defined. The first word has none "
    "where a model reads without a beginning-of-sentence token."
)


@dataclass(frozen=True)
class SuiteResult:
    """All that comes out of running suites.

    Attributes
    ----------
    accuracy
        One row per suite, model and prediction: in how many of the items analysed it holds, as a share with
        its 95% Wilson score interval, and how many items were left out or undefined.
    items
        One row per suite, model, prediction and item: ``holds`` (missing where a surprisal it needs is not
        defined), ``oov`` (a word of the item is out of vocabulary), ``analysed``.
    regions
        One row per suite, model, item, condition and region: ``surprisal_bits`` by the suite's ``metric``.
    left_out
        Out-of-vocabulary words and the items they stand in.
    scores
        Every word.
    suites
        The suites.
    keep_oov
        Whether items with out-of-vocabulary words were analysed.
    about
        Where the input came from: files, checkpoints, settings.
    """

    accuracy: pd.DataFrame
    items: pd.DataFrame
    regions: pd.DataFrame
    left_out: pd.DataFrame
    scores: pd.DataFrame
    suites: tuple[Suite, ...]
    keep_oov: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """Models, in the order given."""
        return list(dict.fromkeys(self.scores["model"]))

    @property
    def mean_accuracy(self) -> pd.DataFrame:
        """Mean accuracy over the suites' predictions, one row per model."""
        means = self.accuracy.groupby("model", sort=False)["accuracy"].agg(["mean", "count"]).reset_index()
        return means.rename(columns={"mean": "mean_accuracy", "count": "n_predictions"})

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table by file name."""
        return {
            "accuracy": self.accuracy,
            "items": self.items,
            "regions": self.regions,
            "items_left_out": self.left_out,
            "scores": self.scores,
        }

    def save(self, folder: str | Path, *, export: bool = False) -> list[Path]:
        """Write the tables with sidecars into `folder`, all or none, and return the paths.

        With `export`, also each suite as SyntaxGym JSON with the regions' values, one file per model.

        Raises
        ------
        OutputError
            If the folder cannot be written or the disk is full; nothing is left behind.
        """
        from psymem.studies.common.results_folder import write_results

        return write_results(folder, self.tables(), self.about, contents=self._exports() if export else None)

    def _exports(self) -> dict[str, Any]:
        """File name -> content of each suite with the values of each model."""
        found = {}
        for (name, model), rows in self.regions.groupby(["suite", "model"], sort=False):
            keys = zip(rows["item"], rows["condition"], rows["region_number"], strict=True)
            values = dict(zip(keys, rows["surprisal_bits"], strict=True))
            suite = next(s for s in self.suites if s.name == name)
            file = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"suite_{name}_{model}.json")
            found[file] = suite_content(suite, values)
        return found


def run_suites(
    suites: str | Path | Suite | Sequence[Suite],
    model: str | Path | Sequence[str] | Backend = "cbr-rnn",
    out: str | Path | None = None,
    *,
    keep_oov: bool = False,
    corrected: bool = True,
    export: bool = False,
    reading: Reading | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SuiteResult:
    """Run suites on one or more models.

    An item with a word outside a model's vocabulary in any of its conditions is left out, for all models
    alike: the models are compared on the same items, and a sentence whose subject is unknown says nothing
    about agreement with it.

    Parameters
    ----------
    suites
        A JSON file, a folder of them, or suites read before.
    model, out, reading, seed, progress
        As for `psymem.studies.suites.pairs.run_pairs`.
    keep_oov
        Analyse items with out-of-vocabulary words too.
    corrected
        Whether surprisal is corrected for word boundaries where the tokenizer marks them (published results
        of SyntaxGym are not).
    export
        Also write each suite as SyntaxGym JSON with the values of its regions.

    Raises
    ------
    PsymemError
        For an unknown model, a file that is not a suite, no item that could be analysed, a folder that cannot
        be written.
    """
    from psymem.io.outputs import check_writable
    from psymem.studies.common.item_scores import read_surprisal

    if out is not None:
        check_writable(Path(out))
    chosen = _suites(suites)
    words = pd.concat([s.words for s in chosen], ignore_index=True)
    scores, models = read_surprisal(words, model, corrected=corrected, reading=reading, progress=progress)
    about = {"suites": [_facts(s) for s in chosen], **models, "keep_oov": keep_oov, "seed": seed}
    result = analyse_suites(scores, chosen, keep_oov=keep_oov, about=about)
    if out is not None:
        result.save(out, export=export)
    return result


def analyse_suites(
    scores: pd.DataFrame,
    suites: Sequence[Suite],
    *,
    keep_oov: bool = False,
    about: Mapping[str, Any] | None = None,
) -> SuiteResult:
    """Compute regions, items and accuracies from scores that exist already.

    Parameters
    ----------
    scores
        SCORES of the suites' words (`Suite.words`) with ``surprisal_bits``.
    suites
        The suites.
    keep_oov, about
        As in `SuiteResult`.

    Raises
    ------
    DataError
        If every item of every suite has an out-of-vocabulary word and `keep_oov` is not set.
    """
    unknown = unknown_words(scores)
    by_region = region_values(scores, suites)
    items = item_predictions(scores, suites, by_region, unknown, keep_oov)
    if len(items) and not items["analysed"].any():
        words = sorted(unknown["word"].unique())
        refuse_nothing_left(words, UNDEFINED, units="items", source="suites")
    return SuiteResult(
        accuracy_table(items, suites),
        items,
        by_region,
        unknown,
        scores,
        tuple(suites),
        keep_oov,
        dict(about or {}),
    )


def _suites(suites: str | Path | Suite | Sequence[Suite]) -> list[Suite]:
    if isinstance(suites, (str, Path)):
        return read_suites(suites)
    return distinct_suites([suites] if isinstance(suites, Suite) else list(suites))


def _facts(suite: Suite) -> dict[str, Any]:
    from psymem.checkpoints import file_sha256

    facts = {"name": suite.name, "metric": suite.metric, "path": suite.path, "notes": list(suite.notes)}
    return {**facts, "sha256": None if suite.path is None else file_sha256(suite.path)}
