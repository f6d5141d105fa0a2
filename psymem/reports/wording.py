"""Words and numbers of reports; the results of a factorial study in words, and which of them to cite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from psymem.measures.attention import split_column
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.common.rows import CRITICAL

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
    first = result.first[result.first["region"] == CRITICAL]
    sentences = {}
    for (model, measure), part in first.groupby(["model", "measure"], sort=False):
        alpha = result.tests.alpha
        sentences[str(model), str(measure)] = [
            f"{effect_title(row)}: {_finding(row, alpha)}" for _, row in part.iterrows()
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
    """Say what was estimated, whether it differs from zero and whether people do the same."""
    if pd.isna(row["estimate"]):
        return "not estimable."
    interval = f"[{number(row['ci_low'])}, {number(row['ci_high'])}]"
    numbers = (
        f"{number(row['estimate'])}{unit(str(row['measure']))}, 95% CI {interval}, "
        f"t({number(row['df'], 1)}) = {number(row['t'], 2)}, p {p_value(row['p'])}, corrected p {p_value(row['p_holm'])}"
    )
    if pd.isna(row["p"]):
        return f"{numbers}; it does not vary, so that nothing can be tested."
    found = _against_zero(row, alpha)
    if pd.isna(row["verdict"]):
        return f"{numbers}; {found}."
    if row["verdict"] == "not interpretable":
        return f"{numbers}; {found}, but the model does not detect the violation: no sign of attraction, or of its absence."
    people = {"negative": "people show attraction", "positive": "people show the opposite"}
    known = people.get(str(row["human_direction"]), "people show no reliable effect")
    return f"{numbers}; {found}; {known}: {row['verdict']}."


def _against_zero(row: pd.Series, alpha: float) -> str:
    """Say whether an effect differs from zero, or is shown to be too small to matter, by corrected p-values."""
    differs = row["p_holm"] < alpha
    side = "lower" if row["estimate"] < 0 else "higher"
    if pd.isna(row["smallest_effect"]):
        return f"significantly {side}" if differs else "not significant"
    p = p_value(row["p_equivalence_holm"])
    small = f"smaller than the smallest effect of interest, {row['smallest_effect']:g} (p {p})"
    if row["p_equivalence_holm"] < alpha:
        return f"significantly {side}, but {small}" if differs else small
    return f"significantly {side}" if differs else "neither different from zero nor shown to be negligible"
