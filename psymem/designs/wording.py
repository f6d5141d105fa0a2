"""Words and numbers of reports; the results of a factorial study in words, and which of them to cite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from psymem.designs.effects import AS_PUBLISHED, ATTRACTION_EFFECTS, BY_ITEM_SLOPES
from psymem.designs.rows import CRITICAL
from psymem.measures.attention import split_column

if TYPE_CHECKING:
    from psymem.designs.factorial_result import FactorialResult

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


def which_to_cite(result: FactorialResult) -> str:
    """Say which of the random-effects versions a text should cite, and why."""
    if not result.attraction:
        return _which_of_own_effects(result)
    counts = {f: len(names) for f, names in result.instances.items()}
    parts = []
    if any(n > 1 for n in counts.values()):
        parts.append(
            "Cite the models with by-item slopes for claims about sentences in general. Items differ in how "
            "large an "
            "effect they show; a model with random intercepts alone takes these differences for noise that "
            "averages "
            "out over model instances, and its p-values are too small. Cite the models with random "
            "intercepts only "
            "when comparing with the table of Timkey & Linzen (2023), who used them, and say so."
        )
        parts.append(_changed(result))
        parts.append(
            f"The instances ({listing([f'{f}: {n}' for f, n in counts.items() if n > 1])}) enter as a "
            "random intercept: "
            "claims about newly trained instances need more of them and a random slope of the effect over "
            "instances."
        )
    if any(n == 1 for n in counts.values()):
        parts.append(
            "With one model instance there is one value per item and condition. For effects that compare two "
            "conditions, the model with a random intercept of items equals a paired t-test over items, "
            "already lets "
            "items differ, and is the one to cite; a by-item slope cannot be estimated. For the interaction "
            "and "
            "additivity cite the version with by-item slopes of both factors, which equals a t-test over "
            "the items' "
            "interactions where no variance is estimated as zero. Nothing can be said about other instances "
            "of the model."
        )
    singular = result.effects["singular"].fillna(False).astype(bool)
    if singular.any():
        parts.append(
            f"{int(singular.sum())} of {int(result.effects['estimate'].notna().sum())} fits are singular (a "
            "variance is "
            "estimated as zero or a correlation as ±1; column 'singular'): their estimates stand, but their "
            "random part "
            "is larger than these data support."
        )
    return " ".join(p for p in parts if p)


def _which_of_own_effects(result: FactorialResult) -> str:
    if BY_ITEM_SLOPES not in set(result.effects["structure"]):
        return ""
    return (
        "Cite the models with by-item slopes: items differ in how large an effect they show, and random "
        "intercepts "
        "alone give p-values that are too small where there are several values per item and condition."
    )


def _changed(result: FactorialResult) -> str:
    """Name the effects whose significance depends on the random effects."""
    critical = result.effects[result.effects["region"] == CRITICAL]
    keys = ["model", "measure", "effect"]
    p = critical.pivot(index=keys, columns="structure", values="p").reindex(
        columns=[AS_PUBLISHED, BY_ITEM_SLOPES]
    )
    p = p.set_axis(["intercepts", "slopes"], axis=1).dropna()
    alpha = result.tests.alpha
    differing = p[(p["intercepts"] < alpha) != (p["slopes"] < alpha)]
    if differing.empty:
        return f"Here both versions agree on which effects are significant at {alpha:g}."
    subtraction = {e.name: e.subtraction for e in ATTRACTION_EFFECTS}
    named = [
        f"{minus(subtraction[str(row['effect'])])} in {short_name(str(row['measure'])).lower()} "
        f"(p {p_value(row['intercepts'])} with random intercepts, p {p_value(row['slopes'])} with slopes)"
        for _, row in differing.reset_index().iterrows()
    ]
    return f"Here the two versions disagree at {alpha:g} on {listing(named)}."


def result_sentences(result: FactorialResult) -> dict[tuple[str, str], list[str]]:
    """Describe every effect at the critical word in one sentence, whatever its direction, by model and measure."""
    critical = result.effects[result.effects["region"] == CRITICAL]
    sentences = {}
    for (model, measure), part in critical.groupby(["model", "measure"], sort=False):
        chosen = [_to_cite(rows) for _, rows in part.groupby("effect", sort=False)]
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


def _to_cite(rows: pd.DataFrame) -> pd.Series:
    """Choose the version with by-item slopes where it was estimated."""
    slopes = rows[(rows["structure"] == BY_ITEM_SLOPES) & rows["estimate"].notna()]
    return (slopes if len(slopes) else rows).iloc[0]


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
