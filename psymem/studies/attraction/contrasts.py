"""Effects as weighted sums of condition means, for plots and tables item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

import pandas as pd

from psymem.studies.attraction.effects import ATTRACTION_EFFECTS


def contrasts_of(
    rows: pd.DataFrame, factors: Sequence[str], attraction: bool
) -> dict[str, Mapping[str, float]]:
    """Return effect name -> condition -> weight.

    The effects of the attraction design, or for other designs the main effects of all factors with two
    levels (second minus first, each averaged over the rest) and their two-way interactions (differences of
    differences).
    """
    if attraction:
        return {e.name: e.weights for e in ATTRACTION_EFFECTS}
    cells = rows.drop_duplicates(["condition", *factors])[["condition", *factors]]
    if cells["condition"].duplicated().any():
        return {}
    signs = {f: _signs(cells[f]) for f in factors if cells[f].nunique() == 2}
    single: list[tuple[str, ...]] = [(f,) for f in signs]
    named = single + list(combinations(signs, 2))
    return {" × ".join(names): _weights(cells, [signs[n] for n in names]) for names in named}


def _signs(column: pd.Series) -> list[int]:
    first = column.iloc[0]
    return [-1 if value == first else 1 for value in column]


def _weights(cells: pd.DataFrame, signs: Sequence[Sequence[int]]) -> dict[str, float]:
    """Weights of a main effect or interaction: products of signs, each side averaging to one."""
    products = [prod(s) for s in zip(*signs, strict=True)]
    scale = 2 ** len(signs) / len(products)
    return {str(c): p * scale for c, p in zip(cells["condition"], products, strict=True)}
