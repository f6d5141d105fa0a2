"""The results of items crossed with conditions, one sentence an effect."""

from __future__ import annotations

import pandas as pd

from psymem.reports.wording import minus, number, p_value, unit
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.rows import CRITICAL


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
