"""The methods paragraph of a factorial result, and which of its tests a text should cite."""

from __future__ import annotations

from psymem._version import __version__
from psymem.reports.wording import listing, measure_in_words, minus, p_value, short_name
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.first_tests import NO_CONTROL, TOO_FEW_INSTANCES, few_instances
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.rows import CRITICAL
from psymem.studies.common.structures import AS_PUBLISHED, BY_ITEM_SLOPES, FIRST, ITEMS_BY_INSTANCES
from psymem.studies.common.supertags import block_sentence


def methods_paragraph(result: FactorialResult) -> str:
    """Describe what was done in the words of a methods section."""
    return " ".join(
        [_materials(result), _models(result), _measures(result), _statistics(result), _people(result)]
    ).strip()


def _materials(result: FactorialResult) -> str:
    name = dict(result.about.get("item_set", {})).get("name", "the item set")
    conditions = result.means["condition"].nunique()
    text = f"We analysed {result.n_items} items of {name} in {conditions} conditions"
    if result.attraction:
        text += " (A–H of Laurinavichyute & von der Malsburg, 2022)"
    left = result.items_left_out
    if left:
        text += (
            f"; {len(left)} further item{'s were' if len(left) > 1 else ' was'} left out, since the subject "
            "noun, "
            "the attractor or the critical word was not in the vocabulary of the model"
        )
    elif result.keep_oov and len(result.left_out):
        kept = result.left_out["item"].nunique()
        text += f"; {kept} of them have an out-of-vocabulary subject noun, attractor or critical word"
    return text + "."


def _models(result: FactorialResult) -> str:
    described = [
        f"{family} ({len(names)} trained instances)" if len(names) > 1 else family
        for family, names in result.families.items()
    ]
    text = f"Sentences were read word by word by {listing(described)} with psymem {__version__}."
    return f"{text} {block_sentence(result.blocks)}".strip()


def _measures(result: FactorialResult) -> str:
    names = [measure_in_words(m) for m in result.measures]
    return f"At the critical word we computed {listing(names)}."


def _coding(result: FactorialResult) -> str:
    """Say how factors were coded where the user chose; levels are in the order of the items otherwise."""
    tests, said = result.tests, []
    for factor in dict.fromkeys([*tests.levels, *tests.contrasts]):
        coding = tests.contrasts.get(factor, "treatment")
        order = ", ".join(map(str, tests.levels.get(factor) or dict.fromkeys(result.scores[factor])))
        if isinstance(coding, str):
            said.append(f"{factor} by {coding} coding (levels {order})")
            continue
        weights = "; ".join(f"{k}: {', '.join(f'{w:g}' for w in v)}" for k, v in coding.items())
        said.append(f"{factor} by the weights {weights} (levels {order})")
    return f" Factors were coded thus: {'; '.join(said)}; others by treatment coding." if said else ""


def _statistics(result: FactorialResult) -> str:
    corrected = (
        "P-values were corrected over the effects of a measure (Holm, 1979). Intervals in figures are within-item "
        "(Cousineau, 2005; Morey, 2008)."
    )
    engine = f"fitted with psymem's engine '{result.tests.engine}', which computes the models of lme4, Bates et al., 2015"
    if result.attraction:
        return f"{_effects(result)} {_tests(result, engine)} {_equivalence(result)}{corrected} {_checked(result)}".strip()
    shown = result.effects["formula"].dropna().unique()
    return (
        f"Effects were tested with linear mixed models (REML; Satterthwaite degrees of freedom, Kuznetsova et al., 2017; "
        f"{engine}), formula{'s' if len(shown) > 1 else ''} {listing([str(f) for f in shown])}.{_coding(result)} {corrected}"
    )


def _effects(result: FactorialResult) -> str:
    if not result.controlled:
        return "Effects are differences between the conditions; there was no grammatical baseline."
    return (
        "Each effect is the difference between conditions in the violating sentences minus the same difference in "
        "grammatical control sentences, which differ from them in the verb alone."
    )


def _tests(result: FactorialResult, engine: str) -> str:
    several = any(len(names) > 1 for names in result.instances.values())
    if not several:
        return "It was computed for each item and tested by a t-test over items."
    single = any(len(names) == 1 for names in result.instances.values())
    return (
        "It was computed for each item and model instance; its mean was tested with random intercepts of items and of "
        "instances, both being samples (Clark, 1973; REML; Satterthwaite degrees of freedom, Kuznetsova et al., 2017; "
        f"{engine}){', models with one instance by a t-test over items' if single else ''}."
    )


def _equivalence(result: FactorialResult) -> str:
    smallest = result.first.dropna(subset=["smallest_effect"]).drop_duplicates("measure")
    if smallest.empty:
        return ""
    named = [
        f"{r['smallest_effect']:g} for {measure_in_words(str(r['measure']))}" for _, r in smallest.iterrows()
    ]
    smaller = f"smaller than {listing(named)}"
    return (
        f"An effect counts as absent where two one-sided tests (Schuirmann, 1987) show it to be {smaller}. "
    )


def _checked(result: FactorialResult) -> str:
    """Say what the checks found, whatever it is."""
    if result.checks is None:
        return ""
    return "Manipulation checks: " + " ".join(result.checks.headline(model) for model in result.models)


def _people(result: FactorialResult) -> str:
    from psymem.studies.attraction.people.report import human_methods

    return human_methods(result.human) if result.human is not None else ""


# which test to cite ----------------------------------------------------------------------------------------
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
