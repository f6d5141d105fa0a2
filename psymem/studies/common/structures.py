"""Random-effects structures for items that model instances read in several conditions.

An item is read in every condition by every instance. Items differ in their effect (by-item slopes), instances in their
level, and what one instance finds hard about one item is shared by its readings of that item in all conditions (items
by instances). The structures leave out the last, or both of the last, or neither. Slopes by instance are in none of
them: a handful of instances cannot estimate their variance, so that every claim is about the instances at hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pandas as pd

AS_PUBLISHED = "random intercepts"
BY_ITEM_SLOPES = "by-item slopes"
ITEMS_BY_INSTANCES = "by-item slopes, items by instances"
STRUCTURES = (AS_PUBLISHED, BY_ITEM_SLOPES, ITEMS_BY_INSTANCES)
"""The published structure first; then what a text may cite, the last that can be estimated being the one to cite."""

CROSSED = "items and instances crossed"
"""The effect in each item and instance, items and instances being samples: a claim about such networks."""
OVER_ITEMS = "over items"
"""The effect in each item, one instance: a claim about this network."""
FIRST = (CROSSED, OVER_ITEMS)
"""The tests that fit the claim (`psymem.fitting.crossed_means`), one or the other, which come first."""

AS_GIVEN = "as given"
"""Random effects of the user's own."""

WHY_NOT: Mapping[str, str] = MappingProxyType(
    {
        BY_ITEM_SLOPES: "Not estimable: with one model instance there is one value per item and condition, so that a "
        "by-item slope cannot be told from the residual. (1|item) is then the paired t-test over items and already lets "
        "items differ.",
        ITEMS_BY_INSTANCES: "Not estimable: with one model instance, items by instances are the items themselves.",
    }
)
"""Why a structure cannot be estimated with one instance."""

CELL = "item:model"


def random_effects(fixed: str, structure: str, n_models: int) -> str | None:
    """Return the random effects of an effect of the attraction design; None where the data cannot estimate them.

    Parameters
    ----------
    fixed
        Predictors: one factor of two levels, or two crossed with ``*``, with one value per item, instance and
        condition.
    structure
        One of `STRUCTURES`.
    n_models
        Number of model instances.

    Notes
    -----
    One instance gives one value per item and condition. With two conditions, a by-item slope is then the residual
    itself (``(1|item)`` already equals a paired t-test over items); with four, the two main effects can vary by item,
    and the test of the interaction equals a t-test over the items' interactions. The same holds for each item in each
    instance: an intercept with two conditions; intercept and main effects with four, where the interaction is the
    residual.
    """
    main_effects = f"1 + {fixed.replace('*', '+')}" if "*" in fixed else "1"
    if n_models == 1:
        one = {AS_PUBLISHED: "(1|item)", BY_ITEM_SLOPES: f"({main_effects}|item)" if "*" in fixed else None}
        return one.get(structure)
    by_item = "(1|item)" if structure == AS_PUBLISHED else f"(1 + {fixed}|item)"
    cells = f" + ({main_effects}|{CELL})" if structure == ITEMS_BY_INSTANCES else ""
    return f"{by_item} + (1|model){cells}"


def structures_of(fixed: str, factors: Sequence[str], rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Return structures and random effects for a formula of the user's: its own bars if it has any.

    Parameters
    ----------
    fixed
        Right-hand side of the formula.
    factors
        Factor columns as formulas write them.
    rows
        Rows with ``item``, ``model`` and the factors.
    """
    bars = re.findall(r"\([^()]*\|[^()]*\)", fixed)
    if bars:
        return [(AS_GIVEN, " + ".join(bars))]
    if rows["model"].nunique() == 1:
        slopes = _without_highest_interaction(fixed, factors)
        return [(AS_PUBLISHED, "(1|item)")] + ([(BY_ITEM_SLOPES, f"(1 + {slopes}|item)")] if slopes else [])
    by_item = f"(1 + {fixed}|item) + (1|model)"
    found = [(AS_PUBLISHED, "(1|item) + (1|model)"), (BY_ITEM_SLOPES, by_item)]
    cells = _cells(fixed, factors, rows)
    return found + ([(ITEMS_BY_INSTANCES, f"{by_item} + {cells}")] if cells else [])


def _without_highest_interaction(fixed: str, factors: Sequence[str]) -> str | None:
    """All but the highest interaction: what one value per item and condition can estimate."""
    parts = _crossed(fixed, factors)
    if len(parts) < 2:
        return None
    return " + ".join(parts) if len(parts) == 2 else f"({' + '.join(parts)})^{len(parts) - 1}"


def _crossed(fixed: str, factors: Sequence[str]) -> list[str]:
    """Return the factors that the formula crosses, none if it has other terms."""
    parts = [p.strip() for p in fixed.split("*")]
    return parts if set(parts) <= set(factors) else []


def _cells(fixed: str, factors: Sequence[str], rows: pd.DataFrame) -> str | None:
    """Return the random effects of each item in each instance: main effects, or an intercept, or none.

    There have to be more values than effects, else they cannot be told from the residual.
    """
    pairs = rows.groupby(["item", "model"], observed=True).ngroups
    parts = _crossed(fixed, factors)
    columns = 1 + sum(rows[part.strip("`")].nunique() - 1 for part in parts)
    if len(parts) > 1 and pairs * columns < len(rows):
        return f"(1 + {' + '.join(parts)}|{CELL})"
    return f"(1|{CELL})" if pairs < len(rows) else None


def to_cite(rows: pd.DataFrame) -> pd.Series:
    """Choose, among the rows of one effect, the last of the `STRUCTURES` that was estimated."""
    later = rows[rows["structure"].isin(STRUCTURES) & rows["estimate"].notna()]
    return later.iloc[-1] if len(later) else rows.iloc[0]
