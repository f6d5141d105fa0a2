"""Which of the tests a text should cite, in a paragraph of the report."""

from __future__ import annotations

from psymem.reports.wording import listing, minus, p_value, short_name
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.first_tests import NO_CONTROL, TOO_FEW_INSTANCES, few_instances
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.rows import CRITICAL
from psymem.studies.common.structures import AS_PUBLISHED, BY_ITEM_SLOPES, FIRST, ITEMS_BY_INSTANCES

SEVERAL_INSTANCES = (
    "Cite the first test, with items and instances crossed: a claim about such networks and such sentences takes both for "
    "samples, and this test alone keeps its level of significance where the effect differs between instances. The others "
    "are about the instances at hand: random intercepts alone, as published, take differences between items in the effect "
    "for noise that averages out over instances, so that their p-values are too small where items differ, and like by-item "
    "slopes alone they take what an instance finds hard about an item for noise as well. Cite the published kind only to "
    "compare with the table of Timkey & Linzen (2023), and say so."
)
ONE_INSTANCE = (
    "With one model instance the first test is the t-test over items, and nothing can be said about other instances of the "
    "model."
)
CONTROLLED = (
    "Cite the effects against the grammatical controls: what an attractor does in a grammatical sentence too is no "
    "attraction."
)
OWN_EFFECTS = {
    ITEMS_BY_INSTANCES: f"Cite the models with '{ITEMS_BY_INSTANCES}': items differ in how large an effect they show, and "
    "the readings of an item by one instance share what this instance finds hard about it; the other versions take one or "
    "both for noise.",
    BY_ITEM_SLOPES: "Cite the models with by-item slopes: items differ in how large an effect they show, and random "
    "intercepts alone give p-values that are too small where there are several values per item and condition.",
}


def which_to_cite(result: FactorialResult) -> str:
    """Say which of the tests a text should cite, and why."""
    if not result.attraction:
        fitted = set(result.effects.loc[result.effects["estimate"].notna(), "structure"])
        return next((text for structure, text in OWN_EFFECTS.items() if structure in fitted), "")
    several = {family: len(names) for family, names in result.instances.items() if len(names) > 1}
    parts = [CONTROLLED] if result.controlled else []
    if several:
        parts += [SEVERAL_INSTANCES, _changed(result)]
        few = sorted(n for n in several.values() if n < TOO_FEW_INSTANCES)
        parts += [few_instances(n) for n in dict.fromkeys(few)]
    if len(several) < len(result.instances):
        parts.append(ONE_INSTANCE)
    return " ".join([*parts, *_singular(result)])


def _changed(result: FactorialResult) -> str:
    """Name the effects whose significance depends on the test, on the same sentences."""
    critical = result.effects[
        (result.effects["region"] == CRITICAL) & (result.effects["baseline"] == NO_CONTROL)
    ]
    keys = ["model", "measure", "effect"]
    first = critical[critical["structure"].isin(FIRST)].set_index(keys)["p"].rename("first")
    published = critical[critical["structure"] == AS_PUBLISHED].set_index(keys)["p"].rename("published")
    p = published.to_frame().join(first, validate="one_to_one").dropna()
    alpha = result.tests.alpha
    differing = p[(p["published"] < alpha) != (p["first"] < alpha)]
    if differing.empty:
        return (
            f"In the violating sentences both kinds agree here on which effects are significant at {alpha:g}."
        )
    subtraction = {e.name: e.subtraction for e in ATTRACTION_EFFECTS}
    named = [
        f"{minus(subtraction[str(row['effect'])])} in {short_name(str(row['measure'])).lower()}, {row['model']} "
        f"(p {p_value(row['published'])} as published, p {p_value(row['first'])} in the first test)"
        for _, row in differing.reset_index().iterrows()
    ]
    return f"In the violating sentences the two kinds disagree here at {alpha:g} on {listing(named)}."


def _singular(result: FactorialResult) -> list[str]:
    """Say how many fits are singular, and what that means."""
    singular = result.effects["singular"].fillna(False).astype(bool)
    if not singular.any():
        return []
    return [
        f"{int(singular.sum())} of {int(result.effects['estimate'].notna().sum())} fits are singular (a variance is "
        "estimated as zero or a correlation as ±1; column 'singular'): their estimates stand, but their random part is "
        "larger than these data support."
    ]
