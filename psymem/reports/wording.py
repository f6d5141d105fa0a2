"""Words and numbers of reports; the results of a factorial study in words, and which of them to cite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from psymem.measures.attention import split_column
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.common.rows import CRITICAL
from psymem.studies.common.structures import to_cite

if TYPE_CHECKING:
    from psymem.studies.attraction.result import FactorialResult

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
