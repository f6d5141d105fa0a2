"""Items crossed with conditions: from an item set and models to scores, means, effects, figures and a report.

`attraction` is the whole way; `analyse` starts from scores that exist already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.designs import means as means_of
from psymem.designs.contrasts import contrasts_of
from psymem.designs.effects import PUBLISHED_DIRECTIONS
from psymem.designs.human import HumanAnalysis, HumanSource, analyse_human
from psymem.designs.plotted import plotted_means
from psymem.designs.reading import Reading, item_set_facts, scoring_run
from psymem.designs.rows import (
    CRITICAL,
    covariates_of,
    family_names,
    leave_out_items,
    out_of_vocabulary,
    refuse_own_names,
    refuse_single_item,
    region_rows,
)
from psymem.designs.significance import Tests, effects_table
from psymem.designs.supertags import COLUMN, supertag_weights, weight_blocks, with_blocks
from psymem.designs.within import effects_within, property_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psymem.backends.base import Backend
    from psymem.data.human_trials import HumanTrials

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
    human
        What people did, if their trials were given.
    attraction_items
        Whether the conditions are A-H, even if the user's own effects were tested.
    blocks
        Instances of a family by supertag weight, where they differ (`psymem.designs.supertags`).
    within
        The effects within each level of a property of the items (`psymem.designs.within`); None if not asked for.
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
    human: HumanAnalysis | None = None
    attraction_items: bool = False
    blocks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    within: pd.DataFrame | None = None

    @property
    def models(self) -> list[str]:
        """Model families, in the order given, and then the blocks of instances by supertag weight."""
        return list(self.instances)

    @property
    def families(self) -> dict[str, list[str]]:
        """Family -> its instances."""
        names: dict[str, list[str]] = {}
        for name, family in family_names(self.scores["model"].unique()).items():
            names.setdefault(family, []).append(name)
        return names

    @property
    def instances(self) -> dict[str, list[str]]:
        """Family or block -> its instances."""
        return {**self.families, **{block: list(names) for block, names in self.blocks.items()}}

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
        """Condition means beside the human ones, at full page width."""
        from psymem.designs.figures import figures, stem

        return figures(self)[stem(self)]

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables with sidecars, figures and report into `folder`, all or none; return the paths."""
        from psymem.designs.factorial_folder import save

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
    human: tuple[HumanTrials, HumanSource] | None = None,
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
    human
        People's trials and how they are fitted; with them, the models' effects are compared with theirs.

    Raises
    ------
    DataError
        If no item, or no critical word, is left.
    """
    tests, about = tests or Tests(), dict(about or {})
    kept, left_out = (scores, out_of_vocabulary(scores)) if keep_oov else leave_out_items(scores)
    refuse_own_names(factors, measures)
    refuse_single_item(kept, left_out if not keep_oov else left_out.head(0))
    item_set = dict(about.get("item_set", {}))
    within = property_of(kept, tests, dict(item_set.get("card", {})), attraction)
    covariates = covariates_of(kept, f"{tests.formula or ''} {within or ''}", [*factors, *measures])
    weights = supertag_weights(about.get("models", ()))
    divided = weight_blocks(scores["model"].unique(), weights, tests.formula)
    if divided:
        scores = scores.assign(**{COLUMN: scores["model"].map(weights).astype(float)})
    rows = region_rows(kept.assign(**covariates), measures, factors, list(covariates))
    single, rows = rows, with_blocks(rows, divided)
    blocks = BLOCKS if attraction else ()
    means = means_of.condition_means(rows, measures, factors, blocks)
    critical = rows[rows["region"] == CRITICAL]
    by_item = means_of.by_item_effects(
        critical, measures, factors, contrasts_of(critical, factors, attraction)
    )
    people = human and analyse_human(
        human[0], rows, factors, tests, human[1], measures=measures, attraction=attraction
    )
    directions = people.directions() if people else PUBLISHED_DIRECTIONS
    return FactorialResult(
        effects=effects_table(rows, measures, factors, tests, attraction, people=directions),
        means=means,
        scores=scores.assign(analysed=scores["item"].isin(kept["item"])),
        left_out=left_out,
        by_item=by_item,
        by_item_summary=means_of.by_item_summary(by_item),
        plotted=plotted_means(
            means,
            factors,
            attraction=attraction,
            item_set=item_set.get("name", ""),
            people=people.means if people else None,
            levels=tests.levels,
        ),
        measures=tuple(measures),
        factors=tuple(factors),
        attraction=attraction and not tests.own_effects,
        tests=tests,
        keep_oov=keep_oov,
        about={**about, "human": dict(people.about)} if people else about,
        human=people,
        attraction_items=attraction,
        blocks=divided,
        within=effects_within(single, within, measures, factors, tests, people=directions)
        if within
        else None,
    )


def attraction(
    model: str | Sequence[str] | Backend = "cbr-rnn",
    stimuli: str | Path = "attraction-core",
    out: str | Path | None = None,
    *,
    measures: Sequence[str] | None = None,
    reading: Reading = Reading(),
    tests: Tests | None = None,
    keep_oov: bool = False,
    human: str | Path | HumanSource | None = None,
    supertag_weight: float | None = None,
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
    reading
        Attention heads, query row, case and beginning of sentence.
    tests
        How effects are tested: significance level, engine, formula, levels, contrasts.
    keep_oov
        Keep items whose target, attractor or critical word is out of vocabulary.
    human
        A file of people's trials on these items (see `psymem.data.human_trials`), or a `HumanSource` that also
        says how to fit them. They take the place of the published percentages.
    supertag_weight
        Only instances trained with this weight of the supertag loss; models without supertags in their training
        card stay.
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
    from psymem.outputs import check_writable

    if out is not None:
        check_writable(Path(out))
    item_set = read_item_set(stimuli)
    source = human if isinstance(human, HumanSource) or human is None else HumanSource(human)
    trials = (source.read(item_set.words), source) if source else None  # refused before the models read
    run = scoring_run(item_set, model, measures, reading, supertag_weight)
    scores = pd.concat(list(run.chunks(progress=progress)), ignore_index=True)
    about = {"item_set": item_set_facts(item_set), **run.provenance(), "notes": run.notes(), "seed": seed}
    result = analyse(
        scores,
        item_set.factors,
        attraction=item_set.design == DESIGN,
        measures=[column for measure in run.measures for column in measure.columns],
        tests=tests,
        keep_oov=keep_oov,
        about=about,
        human=trials,
    )
    if out is not None:
        result.save(out)
    return result
