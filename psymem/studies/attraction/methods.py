"""The methods paragraph of a factorial result."""

from __future__ import annotations

from psymem._version import __version__
from psymem.reports.wording import listing, measure_in_words
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.supertags import block_sentence

ITEMS_IN_INSTANCES = (
    ", without and with random effects of each item in each instance (an intercept; for interactions the two main effects "
    "as well), since the readings of an item by one instance share what it finds hard about that item."
)


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
    several = any(len(names) > 1 for names in result.instances.values())
    grouping = "items and model instances" if several else "items"
    text = (
        "Effects were tested with linear mixed models (REML; Satterthwaite degrees of freedom, Kuznetsova "
        "et al., 2017"
        f"; fitted with psymem's engine '{result.tests.engine}', which computes the models of lme4, Bates "
        "et al., 2015)"
    )
    if result.attraction:
        text += (
            f" on the conditions compared, with treatment coding and random intercepts of {grouping}, as in "
            "Timkey & Linzen (2023), and again with by-item random slopes of the effect (Barr et al., 2013) where the "
            "data can estimate them" + (ITEMS_IN_INSTANCES if several else ".")
        )
    else:
        shown = result.effects["formula"].dropna().unique()
        text += f", formula{'s' if len(shown) > 1 else ''} {listing([str(f) for f in shown])}." + _coding(
            result
        )
    return (
        text + " P-values are given uncorrected and with the correction of Holm (1979) over the effects of a "
        "measure. Intervals in figures are within-item (Cousineau, 2005; Morey, 2008)."
    )


def _people(result: FactorialResult) -> str:
    from psymem.studies.attraction.human_report import human_methods

    return human_methods(result.human) if result.human is not None else ""
