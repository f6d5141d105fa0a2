"""The results of items crossed with conditions, one sentence an effect."""

from __future__ import annotations

import pandas as pd

from psymem.reports.wording import minus, number, p_value, unit
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.common.rows import CRITICAL
from psymem.studies.common.structures import to_cite


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
