"""Latin-square lists: each participant reads every item once and every condition equally often."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.data.items.stimuli import ItemSet
from psymem.errors import StimuliError


def latin_square(item_set: ItemSet, *, seed: int | None = None) -> pd.DataFrame:
    """Distribute the items over as many lists as there are conditions.

    Item ``i`` (from 0, in the order of the set) has condition ``(i + l) mod n`` in list ``l`` (from 0), so that
    over the n lists each item appears once in each of the n conditions.

    Parameters
    ----------
    item_set
        A set in which every item has every condition.
    seed
        If given, the order within each list is drawn with this seed; otherwise it is the order of the set.

    Returns
    -------
    pandas.DataFrame
        Columns list (from 1), position (from 1), text_id, item, condition, the factors, sentence.

    Raises
    ------
    StimuliError
        If an item lacks a condition.
    """
    sentences, items, conditions = item_set.sentences, item_set.items, item_set.conditions
    have = set(zip(sentences["item"], sentences["condition"], strict=True))
    lacking = next(((i, c) for i in items for c in conditions if (i, c) not in have), None)
    if lacking:
        raise StimuliError(
            f"{item_set.path.name}: item {lacking[0]!r} lacks condition {lacking[1]}. "
            "Latin-square lists need every item in every condition."
        )
    draw = None if seed is None else np.random.default_rng(seed)
    rows = []
    for number in range(len(conditions)):
        order = range(len(items)) if draw is None else draw.permutation(len(items))
        for position, i in enumerate(order, 1):
            condition = conditions[(int(i) + number) % len(conditions)]
            rows.append((number + 1, position, items[int(i)], condition))
    lists = pd.DataFrame(rows, columns=["list", "position", "item", "condition"])
    merged = lists.merge(sentences, on=["item", "condition"], validate="many_to_one")
    return merged[["list", "position", "text_id", "item", "condition", *item_set.factors, "sentence"]]
