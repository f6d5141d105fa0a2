"""The words of a factorial result: methods, results, caution and references, for a report or a paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from psymem._version import __version__
from psymem.designs.effects import ATTRACTION_EFFECTS
from psymem.designs.rows import CRITICAL
from psymem.designs.structures import to_cite
from psymem.designs.supertags import block_sentence
from psymem.measures.attention import split_column

if TYPE_CHECKING:
    from psymem.designs.factorial import FactorialResult

MEASURE_WORDS = {
    "surprisal_bits": "surprisal (bits)",
    "relative_attention": "relative attention to the subject (weight of the subject over the sum of the "
    "weights of "
    "subject and attractor)",
    "attention_entropy_bits": "the entropy of attention over the previous words (bits)",
}
SHORT_NAMES = {
    "entropy_bits": "Entropy (bits)",
    "entropy_reduction_bits": "Entropy reduction (bits)",
    "surprisal_uncorrected_bits": "Surprisal, uncorrected (bits)",
    "normalised_attention_entropy": "Normalised attention entropy",
    "attention_entropy_change": "Attention entropy change",
    "attention_shift": "Attention shift",
    "attention_transport": "Attention transport",
    "surprisal_bits": "Surprisal (bits)",
    "relative_attention": "Relative attention",
    "attention_entropy_bits": "Attention entropy (bits)",
}


def short_name(measure: str) -> str:
    """Name of a measure column in a table head; of a chosen head: "Relative attention, head 4:3"."""
    column, head = split_column(measure)
    return SHORT_NAMES.get(column, column) + (f", head {head}" if head else "")


def measure_in_words(measure: str) -> str:
    """Describe a measure column in a sentence."""
    column, head = split_column(measure)
    return MEASURE_WORDS.get(column, column) + (f" of layer {head.replace(':', ', head ')}" if head else "")


def unit(measure: str) -> str:
    """Return the unit of a measure column with a blank before it, "" if it has none."""
    return " bits" if measure.endswith("_bits") else ""


def in_words(response: str) -> str:
    """Name of a column of reading times: "gaze duration", "go-past time", "self-paced reading time"."""
    return re.sub("(self|go|right|first)_(paced|past|bounded|run)", r"\1-\2", response).replace("_", " ")


def number(value: float, digits: int = 3) -> str:
    """Format a number with a real minus sign; "NA" if missing."""
    return "NA" if pd.isna(value) else f"{value:z.{digits}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Format a p-value as in APA style: "< .001", "= .721"; "NA" if missing."""
    if pd.isna(p):
        return "NA"
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)


def stars(p: float) -> str:
    """Three, two or one star for p below .001, .01 and .05."""
    return "" if pd.isna(p) else "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def listing(names: list[str]) -> str:
    """Join with commas and "and"."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else "none"


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
            "data can estimate them"
            + (
                ", without and with random effects of each item in each instance (an intercept; for interactions the "
                "two main effects as well), since the readings of an item by one instance share what it finds hard "
                "about that item."
                if several
                else "."
            )
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
    from psymem.designs.human_report import human_methods

    return human_methods(result.human) if result.human is not None else ""


def result_sentences(result: FactorialResult) -> dict[tuple[str, str], list[str]]:
    """Describe every effect at the critical word in one sentence, whatever its direction, by model and measure."""
    critical = result.effects[result.effects["region"] == CRITICAL]
    sentences = {}
    for (model, measure), part in critical.groupby(["model", "measure"], sort=False):
        chosen = [to_cite(rows) for _, rows in part.groupby("effect", sort=False)]
        alpha = result.tests.alpha
        sentences[str(model), str(measure)] = [
            f"{effect_title(row)}: {_finding(row, alpha)}" for row in chosen
        ]
    return sentences


def effect_title(row: pd.Series) -> str:
    """Return label and subtraction of an effect, or the coefficient's name where there is none."""
    labels = {e.name: e.label for e in ATTRACTION_EFFECTS}
    if row["effect"] not in labels:
        return str(row["effect"])
    return f"{labels[row['effect']]}, {minus(str(row['subtraction']))}"


def minus(text: str) -> str:
    """Write hyphens between blanks as minus signs."""
    return text.replace(" - ", " − ")


def _finding(row: pd.Series, alpha: float) -> str:
    """Say what was estimated, whether it differs from zero and whether people agree."""
    if pd.isna(row["estimate"]):
        return "not estimable."
    interval = f"[{number(row['ci_low'])}, {number(row['ci_high'])}]"
    numbers = (
        f"{number(row['estimate'])}{unit(str(row['measure']))}, 95% CI {interval}, "
        f"t({number(row['df'], 1)}) = {number(row['t'], 2)}, p {p_value(row['p'])}"
    )
    verdict = (
        "not significant"
        if row["p"] >= alpha
        else "significantly lower"
        if row["estimate"] < 0
        else "significantly higher"
    )
    if pd.isna(row["consistent"]):
        return f"{numbers}; {verdict}."
    people = {"negative": "people show attraction", "null": "people show no reliable effect"}
    known = people.get(str(row["human_direction"]), "people show the opposite")
    return f"{numbers}; {verdict}; {known}: {'consistent' if row['consistent'] else 'not consistent'}."
