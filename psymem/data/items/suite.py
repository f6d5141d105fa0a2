"""A test suite: items in conditions, cut into regions, with predictions about their surprisal (Hu et al., 2020).

A sentence is its regions joined by one space; its words are what stands between spaces, so every word belongs
to exactly one region, whether a region is empty, begins or ends with punctuation or has several words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.data.items.prediction_formula import Expression, regions
from psymem.data.items.suite_format import Place
from psymem.errors import SuiteError, UnknownNameError

METRICS = ("sum", "mean", "median", "range", "max", "min")
"""How a region's value comes from the surprisals of its words."""


@dataclass(frozen=True)
class Condition:
    """One sentence: region number -> content, in reading order."""

    name: str
    regions: Mapping[int, str]


@dataclass(frozen=True)
class Item:
    """An item and its conditions."""

    number: int | str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class Prediction:
    """What is expected within each item: the formula as written, and parsed."""

    formula: str
    expression: Expression


@dataclass(frozen=True)
class Suite:
    """A suite.

    Attributes
    ----------
    meta
        Name, metric and what else the file says about itself.
    region_names
        Region number -> name.
    predictions, items
        As in the file.
    path
        Where it was read from, or None.
    notes
        What was normalised, one plain sentence each.
    """

    meta: Mapping[str, Any]
    region_names: Mapping[int, str]
    predictions: tuple[Prediction, ...]
    items: tuple[Item, ...]
    path: Path | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """Name of the suite."""
        return str(self.meta["name"])

    @property
    def metric(self) -> str:
        """One of `METRICS`."""
        return str(self.meta["metric"])

    @property
    def conditions(self) -> list[str]:
        """Names of the conditions, the same in each item."""
        return [c.name for c in self.items[0].conditions]

    @property
    def words(self) -> pd.DataFrame:
        """WORDS with ``suite, item, condition, region_number, region, role``; one text per item and condition."""
        return pd.DataFrame(list(_word_rows(self))).astype(dict.fromkeys(_TEXT_COLUMNS, "str"))


_TEXT_COLUMNS = ("text_id", "word", "suite", "item", "condition", "region", "role")


def check_suite(suite: Suite, place: Place) -> None:
    """Check what the parts of a suite say about each other.

    Raises
    ------
    SuiteError
        If items differ in their conditions, a region is not declared, a sentence has no words, or a formula
        has a region that the suite or one of its items lacks.
    UnknownNameError
        If a formula has a condition that the suite lacks; near names are offered.
    """
    place.distinct([str(item.number) for item in suite.items], "items")
    for item in suite.items:
        inside = place.inside(f"item {item.number}")
        inside.distinct([c.name for c in item.conditions], "conditions")
        for condition in item.conditions:
            _check_condition(suite, condition, inside)
        missing = sorted(set(suite.conditions) ^ {c.name for c in item.conditions})
        if missing:
            raise inside.error(
                f"its conditions are not those of item {suite.items[0].number}: {missing[0]!r} is in one of "
                "them only. Every item needs every condition."
            )
    for number, prediction in enumerate(suite.predictions, start=1):
        _check_prediction(suite, prediction, place.inside(f"prediction {number}"))


def _check_condition(suite: Suite, condition: Condition, item: Place) -> None:
    inside = item.inside(f"condition {condition.name!r}")
    for number in condition.regions:
        if number not in suite.region_names:
            known = ", ".join(map(str, suite.region_names))
            raise inside.error(f"region {number} is not in 'region_meta', which has {known or 'none'}.")
    if not any(content.split() for content in condition.regions.values()):
        raise inside.error("none of its regions has a word.")


def _check_prediction(suite: Suite, prediction: Prediction, place: Place) -> None:
    for region in regions(prediction.expression):
        at = f"(character {region.position + 1} of {place.name}: {prediction.formula.strip()})"
        if region.condition not in suite.conditions:
            raise UnknownNameError("condition", region.condition, suite.conditions, at)
        for item in suite.items:
            condition = next(c for c in item.conditions if c.name == region.condition)
            if region.number is not None and region.number not in condition.regions:
                where = f"item {item.number}, condition {region.condition!r}"
                known = ", ".join(map(str, condition.regions))
                raise SuiteError(f"There is no region {region.number} in {where}; it has {known}. {at}")


def _word_rows(suite: Suite) -> Iterator[dict[str, Any]]:
    """Yield one row per word."""
    for item in suite.items:
        for condition in item.conditions:
            regions_of_words = [(n, w) for n, content in condition.regions.items() for w in content.split()]
            for position, (number, word) in enumerate(regions_of_words, start=1):
                yield {
                    "text_id": f"{suite.name}-{item.number}-{condition.name}",
                    "sentence_id": 1,
                    "word_id": position,
                    "word": word,
                    "suite": suite.name,
                    "item": str(item.number),
                    "condition": condition.name,
                    "region_number": number,
                    "region": suite.region_names[number],
                    "role": "",
                }
