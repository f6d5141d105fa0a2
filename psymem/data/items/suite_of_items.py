"""An item set as a test suite, so that other tools can run it."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import pandas as pd

from psymem.data.items.prediction_formula import parse_formula
from psymem.data.items.suite import Condition, Item, Prediction, Suite, check_suite
from psymem.data.items.suite_format import Place
from psymem.errors import SuiteError

START = "start"
"""Name of the words before the first named region."""


def suite_of_items(words: pd.DataFrame, name: str, formulas: Sequence[str] = ()) -> Suite:
    """Return an item set as a suite.

    Neighbouring words with the same ``region`` are one region. Words without a region, between two that have
    one, are a region of their own, called "after X". Regions are numbered in the order of the sentences; one
    that a sentence lacks is empty in it.

    Parameters
    ----------
    words
        WORDS with ``item, condition, region``.
    name
        Name of the suite.
    formulas
        Predictions, with these numbers: ``(3;%A%) < (3;%B%)``.

    Raises
    ------
    SuiteError
        If a region occurs twice in a sentence, two sentences disagree about the order of regions, items differ in
        their conditions, or a formula does not parse or has a region that is not there.
    UnknownNameError
        If a formula has a condition that is not there.
    """
    sentences = {str(text): _contents(frame) for text, frame in words.groupby("text_id", sort=False)}
    numbers = {region: n for n, region in enumerate(_common_order(sentences), start=1)}
    heads = words.drop_duplicates("text_id")
    items = []
    for item, rows in heads.groupby("item", sort=False):
        conditions = [
            Condition(c, {n: sentences[t].get(r, "") for r, n in numbers.items()})
            for c, t in zip(rows["condition"], rows["text_id"], strict=True)
        ]
        items.append(Item(int(item) if str(item).isdecimal() else str(item), tuple(conditions)))
    predictions = tuple(Prediction(f, parse_formula(f)) for f in formulas)
    names = {n: region for region, n in numbers.items()}
    suite = Suite({"name": name, "metric": "sum"}, names, predictions, tuple(items))
    check_suite(suite, Place(name))
    return suite


def _contents(sentence: pd.DataFrame) -> dict[str, str]:
    """Region -> content of one sentence, in reading order."""
    found: dict[str, list[str]] = {}
    current, named = "", ""
    for word, region in zip(sentence["word"], sentence["region"], strict=True):
        label = region or (f"after {named}" if named else START)
        if label != current and label in found:
            raise SuiteError(
                f"Region {label!r} occurs twice in text {sentence['text_id'].iloc[0]!r}, with other regions between. "
                "A suite needs regions that occur once in a sentence."
            )
        found.setdefault(label, []).append(word)
        current, named = label, region or named
    return {label: " ".join(words) for label, words in found.items()}


def _common_order(sentences: dict[str, dict[str, str]]) -> list[str]:
    """Return every region, in an order that agrees with each sentence."""
    order: TopologicalSorter[str] = TopologicalSorter()
    for contents in sentences.values():
        labels = list(contents)
        order.add(labels[0])
        for before, after in pairwise(labels):
            order.add(after, before)
    try:
        return list(order.static_order())
    except CycleError as error:
        first, second = error.args[1][:2]
        raise SuiteError(
            f"Regions {first!r} and {second!r} come in different orders in different sentences, so they cannot be "
            "numbered. Give them other names where the order differs."
        ) from None
