"""Test suites in the format of SyntaxGym: surprisal of regions, and in how many items each prediction holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.data.prediction_formula import evaluate, regions
from psymem.data.suite import Suite
from psymem.data.syntaxgym import distinct_suites, read_suites, suite_content
from psymem.designs.proportions import METHOD, wilson_interval
from psymem.designs.suite_regions import region_values, sentence_values, unknown_words
from psymem.errors import DataError

if TYPE_CHECKING:
    from psymem.backends.base import Backend

Progress = Callable[[str, int, int], None]
"""Called with the model's name, the sentences it has read and the number of sentences."""


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
        from psymem.outputs import whole_folder, write_json, write_table

        with whole_folder(Path(folder)) as temporary:
            for name, table in self.tables().items():
                write_table(table, temporary / f"{name}.csv", dict(self.about))
            for name, content in (self._exports() if export else {}).items():
                write_json(temporary / name, content)
            names = sorted(p.name for p in temporary.iterdir())
        return [Path(folder) / name for name in names]

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
    model
        One or several models: bundled names ("cbr-rnn" is all its instances), folders, hub ids, or loaded
        backends.
    out
        Folder for the results; nothing is written without it.
    keep_oov
        Analyse items with out-of-vocabulary words too.
    corrected
        Whether surprisal is corrected for word boundaries where the tokenizer marks them (published results
        of SyntaxGym are not).
    export
        Also write each suite as SyntaxGym JSON with the values of its regions.
    seed
        Recorded with the results; nothing here is random.
    progress
        Called while sentences are read.

    Raises
    ------
    PsymemError
        For an unknown model, a file that is not a suite, no item that could be analysed, a folder that cannot
        be written.
    """
    from psymem.designs.reading import read_surprisal
    from psymem.outputs import check_writable

    if out is not None:
        check_writable(Path(out))
    chosen = _suites(suites)
    words = pd.concat([s.words for s in chosen], ignore_index=True)
    scores, models = read_surprisal(words, model, corrected=corrected, progress=progress)
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
    items = _items(scores, suites, by_region, unknown, keep_oov)
    if len(items) and not items["analysed"].any():
        _refuse_nothing_left(unknown)
    return SuiteResult(
        _accuracy(items, suites),
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


def _items(
    scores: pd.DataFrame,
    suites: Sequence[Suite],
    by_region: pd.DataFrame,
    unknown: pd.DataFrame,
    keep_oov: bool,
) -> pd.DataFrame:
    """Return the truth of each prediction in each item."""
    values = pd.concat([by_region, sentence_values(scores, suites)])
    without = set(zip(unknown["suite"], unknown["item"], strict=True))
    frames = []
    for suite in suites:
        wide = _wide(values[values["suite"] == suite.name], suite)
        for number, prediction in enumerate(suite.predictions, start=1):
            needed = {(r.condition, r.number) for r in regions(prediction.expression)}
            given = {k: wide[k[0], k[1] or 0].to_numpy() for k in needed}
            holds = pd.Series(evaluate(prediction.expression, given), index=wide.index)
            frame = holds.map({1.0: True, 0.0: False}).astype("boolean").rename("holds").reset_index()
            frame.insert(0, "suite", suite.name)
            frames.append(frame.assign(prediction=number))
    if not frames:
        return pd.DataFrame(columns=[*ITEM_KEYS, "holds", "oov", "analysed"])
    items = pd.concat(frames, ignore_index=True)
    items["oov"] = [key in without for key in zip(items["suite"], items["item"], strict=True)]
    items["analysed"] = items["holds"].notna() & (keep_oov | ~items["oov"])
    return items[[*ITEM_KEYS, "holds", "oov", "analysed"]]


ITEM_KEYS = ["suite", "model", "prediction", "item"]


def _wide(values: pd.DataFrame, suite: Suite) -> pd.DataFrame:
    """(model, item) by (condition, region number); the number 0 is the whole sentence."""
    wide = values.pivot(
        index=["model", "item"], columns=["condition", "region_number"], values="surprisal_bits"
    )
    models = values["model"].unique()
    order = [str(i.number) for i in suite.items]
    return wide.reindex(pd.MultiIndex.from_product([models, order], names=["model", "item"]))


def _accuracy(items: pd.DataFrame, suites: Sequence[Suite]) -> pd.DataFrame:
    """Return one row per suite, model and prediction."""
    formulas = {(s.name, n): p.formula.strip() for s in suites for n, p in enumerate(s.predictions, start=1)}
    rows = []
    for (suite, model, number), group in items.groupby(["suite", "model", "prediction"], sort=False):
        n, true = int(group["analysed"].sum()), int((group["analysed"] & group["holds"].fillna(False)).sum())
        low, high = wilson_interval(true, n)
        rows.append(
            {
                "suite": suite,
                "model": model,
                "prediction": number,
                "formula": formulas[suite, number],
                "n_items": len(group),
                "n_undefined": int(group["holds"].isna().sum()),
                "n_left_out_oov": int((~group["analysed"] & group["holds"].notna()).sum()),
                "n_analysed": n,
                "n_true": true,
                "accuracy": true / n if n else float("nan"),
                "ci_low": low,
                "ci_high": high,
                "ci_method": METHOD,
            }
        )
    return pd.DataFrame(rows, columns=ACCURACY_COLUMNS)


ACCURACY_COLUMNS = [
    *("suite", "model", "prediction", "formula", "n_items", "n_undefined", "n_left_out_oov", "n_analysed"),
    *("n_true", "accuracy", "ci_low", "ci_high", "ci_method"),
]


def _refuse_nothing_left(unknown: pd.DataFrame) -> None:
    words = sorted(unknown["word"].unique())
    if not words:
        raise DataError(
            "No prediction could be computed in any item: the surprisal of a region is not defined. The first "
            "word has none where a model reads without a beginning-of-sentence token."
        )
    listed = ", ".join(words[:10]) + (", ..." if len(words) > 10 else "")
    raise DataError(
        f"All items have a word outside the vocabulary of the model ({listed}), so nothing is left to analyse. "
        "Use other suites or another model, or keep them with --keep-oov."
    )
