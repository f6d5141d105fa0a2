"""The effects A-H within each level of a property of the items, and how far the levels differ.

Half of an item set may show an effect and the other half its opposite: agreement attraction, for example, depends on
whether the target is singular (Wagers, Lau & Phillips, 2009). A mean over both then says little.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from psymem.errors import DataError, FitError, UnknownNameError
from psymem.fitting.fit import fit
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS, PUBLISHED_DIRECTIONS, Effect
from psymem.studies.attraction.first_tests import CONTROL, NO_CONTROL, against, cells_of, contrast
from psymem.studies.attraction.significance import (
    EFFECT_COLUMNS,
    Tests,
    effects_table,
    finished,
    quoted,
    rows_of_effect,
)
from psymem.studies.common.formulas import coefficient
from psymem.studies.common.rows import CRITICAL, family_names
from psymem.studies.common.structures import CROSSED, OVER_ITEMS

CONFOUNDED = (
    "The levels of {column} are compared between items: other nouns and verbs, and other verb forms where the verb "
    "depends on {column}. The difference is confounded with all in which these items differ."
)
"""What has to stand beside every such comparison."""

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
    controls: pd.DataFrame | None = None,
    undetected: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> pd.DataFrame:
    """Test every effect within each level of `column`, and the difference where there are two.

    Parameters
    ----------
    rows
        From `psymem.studies.common.rows.region_rows`, with `column`.
    column
        A property of the items.
    measures, factors, tests, people, controls, undetected
        As for `psymem.studies.attraction.significance.effects_table`.

    Returns
    -------
    pandas.DataFrame
        Columns ``within, level`` and `EFFECT_COLUMNS`. Rows of the level "difference" hold the interaction of the
        effect with `column`: the effect at the second level minus that at the first. ``p_holm`` is corrected over the
        effects of one model, measure, baseline, structure and level.
    """
    rows = rows.assign(**{column: rows[column].astype(str)})
    level_of = rows.drop_duplicates("item").set_index("item")[column]
    levels = list(dict.fromkeys(rows[column]))
    tables = []
    for level in levels:
        part = rows[rows[column] == level]
        beside = None if controls is None else controls[controls["item"].map(level_of) == level]
        table = effects_table(
            part, measures, factors, tests, True, people=people, controls=beside, undetected=undetected
        )
        tables.append(table.assign(level=level))
    if len(levels) == 2:
        found = pd.DataFrame(_differences(rows, controls, column, measures, tests))
        tables.append(finished(found, tests, {}).assign(level=DIFFERENCE))
    table = pd.concat([t.dropna(axis=1, how="all") for t in tables], ignore_index=True)
    return table.assign(within=column).reindex(columns=["within", "level", *EFFECT_COLUMNS])


def _differences(
    rows: pd.DataFrame, controls: pd.DataFrame | None, column: str, measures: Sequence[str], tests: Tests
) -> Iterator[dict[str, Any]]:
    """Yield one row per model, measure, effect and test: the effect at the second level minus that at the first."""
    critical = rows[rows["region"] == CRITICAL]
    families = critical["model"].map(family_names(critical["model"].unique()))
    levels = list(dict.fromkeys(rows[column]))
    for family in families.unique():
        part = critical[families == family]
        beside = None if controls is None else controls[(controls["region"] == CRITICAL)]
        about = {"model": family, "region": CRITICAL, "n_models": part["model"].nunique()}
        for measure in measures:
            found = [*_first_differences(part, beside, column, measure, tests.engine)]
            for effect in ATTRACTION_EFFECTS:
                found += _difference(part, column, levels, measure, effect, tests=tests)
            yield from ({**about, "measure": measure, **row} for row in found)


def _first_differences(
    part: pd.DataFrame, controls: pd.DataFrame | None, column: str, measure: str, engine: str
) -> Iterator[dict[str, Any]]:
    """Yield the differences of the effects in each item and instance, items and instances being samples."""
    cells = cells_of(part, measure)
    controlled = against(cells, None if controls is None else cells_of(controls, measure))
    level_of = part.drop_duplicates("item").set_index("item")[column]
    levels = list(dict.fromkeys(part[column]))
    for baseline, values in ((CONTROL, controlled), (NO_CONTROL, cells)):
        if values is None:
            continue
        for effect in ATTRACTION_EFFECTS:
            wide = contrast(values, effect.weights)
            wide = wide[[c for c in wide.columns if c in set(part["model"])]]
            long = wide.rename_axis("item").reset_index().melt("item", var_name="model", value_name="value")
            level = pd.Categorical(long["item"].map(level_of), categories=levels)
            about = {"effect": effect.name, "subtraction": effect.subtraction, "baseline": baseline}
            yield {**about, **_fitted_difference(long.assign(level=level), measure, engine)}


def _fitted_difference(values: pd.DataFrame, measure: str, engine: str) -> dict[str, Any]:
    several = values["model"].nunique() > 1
    random = " + (1|item) + (1|model)" if several else ""
    term = f"level{values['level'].cat.categories[1]}"
    about = {
        "structure": CROSSED if several else OVER_ITEMS,
        "random_effects": random.removeprefix(" + ") or "t-test between items",
        "formula": f"effect on {measure} ~ level{random}",
        "term": term,
    }
    try:
        return {**about, **coefficient(fit(values, f"value ~ level{random}", engine=engine), term)}
    except FitError as error:
        return {**about, "note": f"Not estimable: {error}"}


def _difference(
    part: pd.DataFrame, column: str, levels: Sequence[str], measure: str, effect: Effect, *, tests: Tests
) -> Iterator[dict[str, Any]]:
    rows = effect.rows(part).assign(**{column: lambda r: pd.Categorical(r[column], categories=list(levels))})
    formula = f"{measure} ~ {effect.fixed} * {quoted(column)}"
    yield from rows_of_effect(effect, rows, formula, f"{effect.term}:{column}{levels[1]}", tests)
