"""What comes out of items crossed with conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from psymem.studies.attraction.checks import Checks
from psymem.studies.attraction.first_tests import CONTROL, NO_CONTROL
from psymem.studies.attraction.people.analysis import HumanAnalysis
from psymem.studies.attraction.readings import Readings
from psymem.studies.attraction.significance import Tests
from psymem.studies.common.rows import family_names
from psymem.studies.common.structures import FIRST, to_cite


@dataclass(frozen=True)
class FactorialResult:
    """All that comes out of a factorial design.

    Attributes
    ----------
    effects
        One row per model, region, measure, effect and random-effects structure
        (`psymem.studies.attraction.significance.EFFECT_COLUMNS`).
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
        Instances of a family by supertag weight, where they differ (`psymem.studies.common.supertags`).
    within
        The effects within each level of a property of the items (`psymem.studies.attraction.within`); None if not asked for.
    checks
        The manipulation checks (`psymem.studies.attraction.checks`); None for designs about something else.
    beside
        Scores of the grammatical controls and of the set for the checks.
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
    checks: Checks | None = None
    beside: Readings | None = None

    @property
    def controlled(self) -> bool:
        """Whether effects were tested against grammatical controls."""
        return bool((self.effects["baseline"] == CONTROL).any())

    @property
    def first(self) -> pd.DataFrame:
        """One row per effect, measure, model and region: the test that fits the claim, against controls if any.

        For effects of the user's own, the test with most random effects that was estimated.
        """
        if not self.attraction:
            keys = ["model", "region", "measure", "effect"]
            parts = [to_cite(rows).to_frame().T for _, rows in self.effects.groupby(keys, sort=False)]
            return pd.concat(parts).astype(self.effects.dtypes)
        baseline = CONTROL if self.controlled else NO_CONTROL
        return self.effects[(self.effects["baseline"] == baseline) & self.effects["structure"].isin(FIRST)]

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
