"""Instances of one model trained with and without supertags, told apart.

The weight of the supertag loss, alpha of Timkey & Linzen (2023), is in a model's card (``objective.alpha``). It is
called the supertag weight here, since alpha is also the level of significance. Instances of one family with different
weights are analysed all together, as in the paper, and then once more in a block for each weight:
"cbr-rnn-alpha0" is made of the instances of "cbr-rnn" trained without supertags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.errors import ModelError
from psymem.studies.common.rows import model_family

if TYPE_CHECKING:
    from psymem.backends.base import Backend

COLUMN = "supertag_weight"
"""Column of scores, present where a family has several weights."""


def supertag_weights(models: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Model -> its supertag weight, for those whose card says it.

    Parameters
    ----------
    models
        What backends say of themselves (`psymem.backends.base.Backend.provenance`): ``model`` and ``card``.
    """
    found = {str(about.get("model")): _weight(about) for about in models}
    return {model: weight for model, weight in found.items() if weight is not None}


def _weight(about: Mapping[str, Any]) -> float | None:
    card = about.get("card")
    objective = card.get("objective") if isinstance(card, Mapping) else None
    alpha = objective.get("alpha") if isinstance(objective, Mapping) else None
    return float(alpha) if isinstance(alpha, (int, float)) and not isinstance(alpha, bool) else None


def select(backends: Sequence[Backend], weight: float) -> list[Backend]:
    """Return the models trained with this supertag weight; those whose card has none (other language models) stay.

    Raises
    ------
    ModelError
        If no model has this weight; the weights there are get listed.
    """
    known = supertag_weights(b.provenance() for b in backends)
    if weight not in known.values():
        has = ", ".join(f"{model}: {w:g}" for model, w in known.items()) or "none says a weight in its card"
        level = " The level of significance is set by --significance." if 0 < weight < 0.5 else ""
        raise ModelError(f"No model was trained with the supertag weight {weight:g} ({has}).{level}")
    return [b for b in backends if known.get(b.name, weight) == weight]


def weight_blocks(
    models: Iterable[str], weights: Mapping[str, float], formula: str | None = None
) -> dict[str, list[str]]:
    """Name of each block -> its instances, for families whose instances have different weights.

    Instances whose weight is not known are in no block. Where the user's own `formula` has a term of ``model``,
    a single instance makes no block, since the term has no variance in it.
    """
    fewest = 2 if formula and re.search(r"\bmodel\b", formula) else 1
    families: dict[str, dict[float, list[str]]] = {}
    for model in dict.fromkeys(models):
        if model in weights:
            families.setdefault(model_family(model), {}).setdefault(weights[model], []).append(model)
    return {
        f"{family}-alpha{weight:g}": by_weight[weight]
        for family, by_weight in families.items()
        if len(by_weight) > 1
        for weight in sorted(by_weight)
        if len(by_weight[weight]) >= fewest
    }


def with_blocks(rows: pd.DataFrame, blocks: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Append the rows of each block once more, as instances of a model with the block's name."""
    parts = [rows]
    for block, instances in blocks.items():
        part = rows[rows["model"].isin(instances)]
        number = "/" + part["model"].str.rpartition("/")[2] if len(instances) > 1 else ""
        parts.append(part.assign(model=block + number))
    return pd.concat(parts, ignore_index=True) if blocks else rows


def block_sentence(blocks: Mapping[str, Sequence[str]]) -> str:
    """Say which instances the blocks are made of; "" without blocks."""
    described = [f"{block}: {', '.join(instances)}" for block, instances in blocks.items()]
    if not described:
        return ""
    return (
        f"Instances by the weight alpha of the supertag loss they were trained with ({'; '.join(described)})."
    )
