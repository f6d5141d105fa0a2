"""Which of the random-effects structures a text should cite, in a paragraph of the report."""

from __future__ import annotations

from psymem.reports.wording import listing, minus, p_value, short_name
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.rows import CRITICAL
from psymem.studies.common.structures import AS_PUBLISHED, BY_ITEM_SLOPES, ITEMS_BY_INSTANCES

SEVERAL_INSTANCES = (
    f"Cite the models with '{ITEMS_BY_INSTANCES}' for claims about sentences in general: every instance reads every item "
    "in every condition, and they have all that this design can estimate about items. In balanced data they are the "
    "t-test over items of the effect averaged over instances, where no variance is estimated as zero. Random intercepts "
    "alone take differences between items in the effect for noise that averages out over instances, and their p-values "
    "are too small where items differ. They, and by-item slopes alone, take what an instance finds hard about an item "
    "for noise as well, although its readings of that item share it, and their p-values are too large where instances "
    "disagree about items. Cite the models with random intercepts only when comparing with the table of Timkey & Linzen "
    "(2023), who used them, and say so."
)
ONE_INSTANCE = (
    "With one model instance there is one value per item and condition. For effects that compare two conditions, the "
    "model with a random intercept of items equals a paired t-test over items, already lets items differ, and is the one "
    "to cite; a by-item slope cannot be estimated. For the interaction and additivity cite the version with by-item "
    "slopes of both factors, which equals a t-test over the items' interactions where no variance is estimated as zero. "
    "Nothing can be said about other instances of the model."
)
OWN_EFFECTS = {
    ITEMS_BY_INSTANCES: f"Cite the models with '{ITEMS_BY_INSTANCES}': items differ in how large an effect they show, and "
    "the readings of an item by one instance share what this instance finds hard about it; the other versions take one or "
    "both for noise.",
    BY_ITEM_SLOPES: "Cite the models with by-item slopes: items differ in how large an effect they show, and random "
    "intercepts alone give p-values that are too small where there are several values per item and condition.",
}


def which_to_cite(result: FactorialResult) -> str:
    """Say which of the random-effects versions a text should cite, and why."""
    if not result.attraction:
        fitted = set(result.effects.loc[result.effects["estimate"].notna(), "structure"])
        return next((text for structure, text in OWN_EFFECTS.items() if structure in fitted), "")
    several = [f"{family}: {len(names)}" for family, names in result.instances.items() if len(names) > 1]
    parts = []
    if several:
        parts += [SEVERAL_INSTANCES, _changed(result)]
        parts.append(
            f"The instances ({listing(several)}) enter as a random intercept: claims about newly trained instances need "
            "more of them and a random slope of the effect over instances, which no version here has."
        )
    if len(several) < len(result.instances):
        parts.append(ONE_INSTANCE)
    return " ".join([*parts, *_singular(result)])


def _changed(result: FactorialResult) -> str:
    """Name the effects whose significance depends on the random effects."""
    critical = result.effects[result.effects["region"] == CRITICAL]
    keys = ["model", "measure", "effect"]
    p = critical.pivot(index=keys, columns="structure", values="p").reindex(
        columns=[AS_PUBLISHED, ITEMS_BY_INSTANCES]
    )
    p = p.set_axis(["published", "cited"], axis=1).dropna()
    alpha = result.tests.alpha
    differing = p[(p["published"] < alpha) != (p["cited"] < alpha)]
    if differing.empty:
        return f"Here these two versions agree on which effects are significant at {alpha:g}."
    subtraction = {e.name: e.subtraction for e in ATTRACTION_EFFECTS}
    named = [
        f"{minus(subtraction[str(row['effect'])])} in {short_name(str(row['measure'])).lower()}, {row['model']} "
        f"(p {p_value(row['published'])} with random intercepts, p {p_value(row['cited'])} with items by instances)"
        for _, row in differing.reset_index().iterrows()
    ]
    return f"Here these two versions disagree at {alpha:g} on {listing(named)}."


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
