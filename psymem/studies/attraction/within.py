"""The effects A-H within each level of a property of the items, and how far the levels differ.

Half of an item set may show an effect and the other half its opposite: agreement attraction, for example, depends on
whether the target is singular (Wagers, Lau & Phillips, 2009). A mean over both then says little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from psymem.errors import DataError, UnknownNameError
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS, PUBLISHED_DIRECTIONS, Effect
from psymem.studies.attraction.significance import (
    EFFECT_COLUMNS,
    Tests,
    effects_table,
    quoted,
    rows_of_effect,
)
from psymem.studies.common.rows import CRITICAL, model_family

DIFFERENCE = "difference"
"""Level of the rows that say how far two levels differ."""

NONE = "none"
"""Asks for no division where the item set names one."""

MOST_LEVELS = 6
FEWEST_ITEMS = 2


def property_of(scores: pd.DataFrame, tests: Tests, card: Mapping[str, Any], attraction: bool) -> str | None:
    """Return the property to divide the effects by: the one asked for, else the one that the item set's card names.

    Parameters
    ----------
    scores
        Scores of the items that are analysed.
    tests
        Settings; ``within`` is a column, "none", or None for what the card says.
    card
        The item set's card, with ``within`` if it names a property.
    attraction
        Whether the conditions are A-H.

    Raises
    ------
    UnknownNameError, DataError
        If the property asked for cannot divide the items; see `check_property`.
    """
    if tests.within == NONE:
        return None
    possible = attraction and not tests.own_effects
    if tests.within is not None:
        check_property(scores, tests.within, possible)
        return tests.within
    named = card.get("within")
    if named is None or not possible:
        return None
    try:
        check_property(scores, str(named), possible)
    except DataError:  # too few items of a level were left; nobody asked for it
        return None
    return str(named)


def check_property(scores: pd.DataFrame, column: str, attraction: bool) -> None:
    """Refuse what is not a property of the items with a few levels.

    Raises
    ------
    UnknownNameError
        If there is no such column.
    DataError
        If it changes within an item, has too many levels, or a level has a single item; or if the effects are the
        user's own.
    """
    if not attraction:
        raise DataError(
            f"--within {column} divides the effects of the conditions A-H. For effects of your own, name the column in "
            f"--formula, as in 'y ~ a * {column}'."
        )
    if column in ("item", "condition", "model", "region"):
        raise DataError(
            f"Column {column!r} is part of the design, not a property of the items, which --within takes."
        )
    if column not in scores.columns:
        raise UnknownNameError(
            "property of the items", column, map(str, scores.columns), "These are the columns of the items."
        )
    items = scores[["item", column]].drop_duplicates()
    changing = items.loc[items["item"].duplicated(), "item"]
    if len(changing):
        raise DataError(
            f"Column {column!r} changes within item {changing.iloc[0]!r}; --within takes a property that is the same in "
            "all conditions of an item."
        )
    counts = items[column].astype(str).value_counts(sort=False)
    if not 2 <= len(counts) <= MOST_LEVELS:
        raise DataError(
            f"Column {column!r} has {len(counts)} level(s); --within takes a property with 2 to {MOST_LEVELS}."
        )
    if counts.min() < FEWEST_ITEMS:
        raise DataError(
            f"Only one item has {column} = {counts.idxmin()!r}; effects are tested over items, so each level needs at "
            f"least {FEWEST_ITEMS}."
        )


def effects_within(
    rows: pd.DataFrame,
    column: str,
    measures: Sequence[str],
    factors: Sequence[str],
    tests: Tests,
    *,
    people: Mapping[str, str | None] = PUBLISHED_DIRECTIONS,
) -> pd.DataFrame:
    """Test every effect within each level of `column`, and the difference where there are two.

    Parameters
    ----------
    rows
        From `psymem.studies.common.rows.region_rows`, with `column`.
    column
        A property of the items.
    measures, factors, tests, people
        As for `psymem.studies.attraction.significance.effects_table`.

    Returns
    -------
    pandas.DataFrame
        Columns ``within, level`` and `EFFECT_COLUMNS`. Rows of the level "difference" hold the interaction of the
        effect with `column`: the effect at the second level minus that at the first. ``p_holm`` is corrected over the
        effects of one model, measure, structure and level.
    """
    rows = rows.assign(**{column: rows[column].astype(str)})
    levels = list(dict.fromkeys(rows[column]))
    tables = [
        effects_table(rows[rows[column] == level], measures, factors, tests, True, people=people).assign(
            level=level
        )
        for level in levels
    ]
    if len(levels) == 2:
        tables.append(_differences(rows, column, levels, measures, tests))
    table = pd.concat([t.dropna(axis=1, how="all") for t in tables], ignore_index=True)
    return table.assign(within=column).reindex(columns=["within", "level", *EFFECT_COLUMNS])


def _differences(
    rows: pd.DataFrame, column: str, levels: Sequence[str], measures: Sequence[str], tests: Tests
) -> pd.DataFrame:
    """One row per model, measure, effect and structure: the effect at the second level minus that at the first."""
    critical = rows[rows["region"] == CRITICAL]
    families = critical["model"].map(model_family)
    found: list[dict[str, Any]] = []
    for family in families.unique():
        part = critical[families == family]
        about = {
            "model": family,
            "region": CRITICAL,
            "n_models": part["model"].nunique(),
            "level": DIFFERENCE,
        }
        for measure in measures:
            for effect in ATTRACTION_EFFECTS:
                found += [
                    {**about, "measure": measure, **row}
                    for row in _difference(part, column, levels, measure, effect, tests=tests)
                ]
    return pd.DataFrame(found)


def _difference(
    part: pd.DataFrame, column: str, levels: Sequence[str], measure: str, effect: Effect, *, tests: Tests
) -> Iterator[dict[str, Any]]:
    rows = effect.rows(part).assign(**{column: lambda r: pd.Categorical(r[column], categories=list(levels))})
    formula = f"{measure} ~ {effect.fixed} * {quoted(column)}"
    yield from rows_of_effect(effect, rows, formula, f"{effect.term}:{column}{levels[1]}", tests)
