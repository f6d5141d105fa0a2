"""Items crossed with conditions: from an item set and models to scores, means, effects, figures and a report.

`attraction` is the whole way; `analyse` starts from scores that exist already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.designs import means as means_of
from psymem.designs.contrasts import contrasts_of
from psymem.designs.plotted import plotted_means
from psymem.designs.rows import (
    CRITICAL,
    leave_out_items,
    model_family,
    out_of_vocabulary,
    refuse_own_names,
    refuse_single_item,
    region_rows,
)
from psymem.designs.significance import Tests, effects_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psymem.backends.base import Backend

DESIGN = "attraction"
BLOCKS = ("violation",)
"""Factors of the design A-H across which the critical word changes within an item."""

Progress = Callable[[str, int, int], None]
"""Called with the model's name, the texts it has read and the number of texts."""


@dataclass(frozen=True)
class FactorialResult:
    """All that comes out of a factorial design.

    Attributes
    ----------
    effects
        One row per model, region, measure, effect and random-effects structure
        (`psymem.designs.significance.EFFECT_COLUMNS`).
    means
        Condition means with 95% intervals at every region.
    scores
        Every word of every text, items that were left out included (column ``analysed``).
    left_out
        Out-of-vocabulary words that made items unusable.
    by_item, by_item_summary
        Each effect in each item, and its mean over items.
    plotted
        The numbers of the figure of condition means.
    measures, factors
        Column names.
    attraction
        Whether the conditions are A-H and the published effects were tested.
    tests
        How effects were tested.
    keep_oov
        Whether items with out-of-vocabulary words were kept.
    about
        Where the input came from: item set, checkpoints, settings.
    """

    effects: pd.DataFrame
    means: pd.DataFrame
    scores: pd.DataFrame
    left_out: pd.DataFrame
    by_item: pd.DataFrame
    by_item_summary: pd.DataFrame
    plotted: pd.DataFrame
    measures: tuple[str, ...]
    factors: tuple[str, ...]
    attraction: bool
    tests: Tests
    keep_oov: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """Model families, in the order given."""
        return list(dict.fromkeys(self.scores["model"].map(model_family)))

    @property
    def instances(self) -> dict[str, list[str]]:
        """Family -> its instances."""
        names = list(dict.fromkeys(self.scores["model"]))
        return {f: [n for n in names if model_family(n) == f] for f in self.models}

    @property
    def items_left_out(self) -> list[str]:
        """Items that were not analysed."""
        return [] if self.keep_oov else list(dict.fromkeys(self.left_out["item"]))

    @property
    def n_items(self) -> int:
        """Number of items analysed."""
        return int(self.scores.loc[self.scores["analysed"], "item"].nunique())

    @cached_property
    def figure(self) -> Figure:
        """Condition means beside the human percentages, at full page width."""
        from psymem.designs.figures import figures

        return figures(self)["attraction" if self.attraction else "conditions"]

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables with sidecars, figures and report into `folder`, all or none; return the paths."""
        from psymem.designs.results_folder import save

        return save(self, Path(folder))


def analyse(
    scores: pd.DataFrame,
    factors: Sequence[str],
    *,
    attraction: bool,
    measures: Sequence[str],
    tests: Tests | None = None,
    keep_oov: bool = False,
    about: Mapping[str, Any] | None = None,
) -> FactorialResult:
    """Analyse scores that exist already.

    Parameters
    ----------
    scores
        SCORES with ``item, condition, region, role, oov``, the factors and the measures.
    factors
        Factor columns.
    attraction
        Whether the conditions are A-H of the attraction design.
    measures
        Measure columns, for example ``["surprisal_bits", "relative_attention"]``.
    tests
        How effects are tested.
    keep_oov
        Keep items whose target, attractor or critical word is out of vocabulary.
    about
        Facts about the input, for the report and the sidecars (``item_set`` is a mapping with ``name``).

    Raises
    ------
    DataError
        If no item, or no critical word, is left.
    """
    tests, about = tests or Tests(), dict(about or {})
    kept, left_out = (scores, out_of_vocabulary(scores)) if keep_oov else leave_out_items(scores)
    refuse_own_names(factors, measures)
    refuse_single_item(kept, left_out if not keep_oov else left_out.head(0))
    covariates = _covariates(kept, tests.formula, [*factors, *measures])
    rows = region_rows(kept.assign(**covariates), measures, factors, list(covariates))
    blocks = BLOCKS if attraction else ()
    means = means_of.condition_means(rows, measures, factors, blocks)
    critical = rows[rows["region"] == CRITICAL]
    by_item = means_of.by_item_effects(
        critical, measures, factors, contrasts_of(critical, factors, attraction)
    )
    item_set = dict(about.get("item_set", {})).get("name", "")
    return FactorialResult(
        effects=effects_table(rows, measures, factors, tests, attraction),
        means=means,
        scores=scores.assign(analysed=scores["item"].isin(kept["item"])),
        left_out=left_out,
        by_item=by_item,
        by_item_summary=means_of.by_item_summary(by_item),
        plotted=plotted_means(means, factors, attraction=attraction, item_set=item_set),
        measures=tuple(measures),
        factors=tuple(factors),
        attraction=attraction and not tests.own_effects,
        tests=tests,
        keep_oov=keep_oov,
        about=about,
    )


def _covariates(scores: pd.DataFrame, formula: str | None, known: Sequence[str]) -> dict[str, pd.Series]:
    """Columns that the user's formula names beside factors and measures; numbers where all cells are numbers."""
    named = re.findall(r"[^\W\d]\w*", formula or "")
    keys = ("model", "item", "condition", "region")
    found = [c for c in dict.fromkeys(named) if c in scores.columns and c not in known and c not in keys]
    as_numbers = {c: pd.to_numeric(scores[c], errors="coerce") for c in found}
    return {c: scores[c] if as_numbers[c].isna().any() else as_numbers[c] for c in found}


def attraction(
    model: str | Sequence[str] | Backend = "cbr-rnn",
    stimuli: str | Path = "attraction-core",
    out: str | Path | None = None,
    *,
    measures: Sequence[str] | None = None,
    tests: Tests | None = None,
    keep_oov: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
) -> FactorialResult:
    """Run the attraction experiment, or another factorial item set, on one or more models.

    Parameters
    ----------
    model
        One or several models: bundled names ("cbr-rnn" is all its instances), folders, hub ids, or loaded
        backends.
    stimuli
        An item set by name or file.
    out
        Folder for the results; nothing is written without it.
    measures
        Names such as "surprisal"; by default every one that all the models can give.
    tests
        How effects are tested: significance level, engine, formula, levels, contrasts.
    keep_oov
        Keep items whose target, attractor or critical word is out of vocabulary.
    seed
        Recorded with the results; nothing in the analysis is random.
    progress
        Called while texts are read.

    Returns
    -------
    FactorialResult
        ``.effects``, ``.means``, ``.scores``, ``.figure`` and more.

    Raises
    ------
    PsymemError
        For an unknown model, item set or measure, unusable items, a folder that cannot be written.

    Examples
    --------
    >>> import psymem
    >>> result = psymem.attraction("cbr-rnn", "attraction-core")  # doctest: +SKIP
    >>> result.effects[["measure", "effect", "estimate", "p", "consistent"]]  # doctest: +SKIP
    """
    from psymem.data.stimuli import read_item_set
    from psymem.designs.reading import scoring_run
    from psymem.outputs import check_writable

    if out is not None:
        check_writable(Path(out))
    item_set = read_item_set(stimuli)
    run = scoring_run(item_set, model, measures)
    result = analyse(
        pd.concat(list(run.chunks(progress=progress)), ignore_index=True),
        item_set.factors,
        attraction=item_set.design == DESIGN,
        measures=[column for measure in run.measures for column in measure.columns],
        tests=tests,
        keep_oov=keep_oov,
        about={"item_set": _item_set_facts(item_set), **run.provenance(), "seed": seed},
    )
    if out is not None:
        result.save(out)
    return result


def _item_set_facts(item_set: Any) -> dict[str, Any]:
    facts = {
        "name": item_set.name,
        "sha256": item_set.sha256,
        "path": str(item_set.path),
        "card": item_set.card,
    }
    return {**facts, "notes": list(item_set.notes)}
