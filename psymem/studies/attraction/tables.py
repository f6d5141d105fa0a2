"""Tables of effects and means, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd

from psymem.measures.columns import describe, has_counterpart
from psymem.reports import wording
from psymem.reports.tables import list_html, table_html
from psymem.reports.wording import listing, minus
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.human_report import human_evidence
from psymem.studies.attraction.published_networks import COLUMNS, EXPLANATION
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.attraction.sentences import effect_title
from psymem.studies.common.rows import CRITICAL, regions_of
from psymem.studies.common.structures import STRUCTURES

HEAD = ("effect", "people", "consistent", "random effects", "estimate", "95% CI", "df", "t", "p", "p (Holm)")


def effects_html(result: FactorialResult) -> str:
    """Return one table of effects per model and measure, and how to read it."""
    parts = []
    critical = result.effects[result.effects["region"] == CRITICAL]
    for (model, measure), part in critical.groupby(["model", "measure"], sort=False):
        part = part.dropna(subset=["random_effects"])  # what cannot be estimated is named under the fits
        rows, head = [_effect_cells(row) for _, row in part.iterrows()], list(HEAD)
        if COLUMNS[0] in part and part[COLUMNS[0]].notna().any():
            head.append("published networks")
            rows = [[*c, _published(row)] for c, (_, row) in zip(rows, part.iterrows(), strict=True)]
        classes = ["slopes" if s in STRUCTURES[1:] else "" for s in part["structure"]]
        heading = f"{wording.short_name(str(measure))}, {model}"
        parts.append(f"<h3>{escape(heading)}</h3>" + table_html(head, rows, classes))
    return "".join(parts) + _structures(critical) + (_reading(result) if result.attraction else "")


def within_html(result: FactorialResult) -> str:
    """Return one table of effects per model, measure and level of the property; "" where none was asked for."""
    if result.within is None:
        return ""
    column = str(result.within["within"].iloc[0])
    parts = []
    for (model, measure, level), part in result.within.groupby(["model", "measure", "level"], sort=False):
        part = part.dropna(subset=["random_effects"])
        rows = [_effect_cells(row) for _, row in part.iterrows()]
        classes = ["slopes" if s in STRUCTURES[1:] else "" for s in part["structure"]]
        heading = f"{wording.short_name(str(measure))}, {model}, {column}: {level}"
        parts.append(f"<h3>{escape(heading)}</h3>" + table_html(HEAD, rows, classes))
    levels = list(dict.fromkeys(result.within["level"]))
    reading = f"Each level of {column} on its own: the models above, on its items only."
    if "difference" in levels:
        reading += (
            f" Difference: the interaction of the effect with {column}, that is the effect at {levels[1]} minus that at "
            f"{levels[0]}. An effect differs between the levels only where this row says so."
        )
    return f"<p>{escape(reading)}</p>" + "".join(parts)


def _effect_cells(row: pd.Series) -> list[str]:
    again = row["structure"] in STRUCTURES[1:]
    people = "" if again or pd.isna(row["human_direction"]) else str(row["human_direction"])
    cells = ["" if again else effect_title(row), people, _agreed(row), str(row["structure"])]
    if pd.isna(row["estimate"]):
        return [*cells, "not estimable", *["NA"] * 5]
    interval = f"[{wording.number(row['ci_low'])}, {wording.number(row['ci_high'])}]"
    estimate = wording.number(row["estimate"]) + wording.stars(row["p"])
    p_values = [wording.p_value(row[c]).removeprefix("= ") for c in ("p", "p_holm")]
    return [*cells, estimate, interval, wording.number(row["df"], 1), wording.number(row["t"], 2), *p_values]


def _published(row: pd.Series) -> str:
    """Estimate and interval in the published networks, on the first line of an effect."""
    if row["structure"] in STRUCTURES[1:]:
        return ""
    estimate, low, high = (wording.number(row[c]) for c in COLUMNS)
    return f"{estimate} [{low}, {high}]"


def _agreed(row: pd.Series) -> str:
    return "" if pd.isna(row["consistent"]) else "yes" if row["consistent"] else "no"


def _structures(effects: pd.DataFrame) -> str:
    """List the formulas behind each random-effects structure."""
    shown = (
        effects.dropna(subset=["random_effects"]).groupby("structure", sort=False)["random_effects"].unique()
    )
    listed = [f"{structure}: {', '.join(formulas)}" for structure, formulas in shown.items()]
    return f'<p class="small">Random effects. {escape("; ".join(listed))}.</p>'


def _reading(result: FactorialResult) -> str:
    """Explain the columns under the table."""
    alpha = result.tests.alpha
    people = "percentage of trials judged implausible; negative means fewer with an attractor"
    if result.human is not None:
        people = "responses of your own trials; negative means faster, or fewer rejections, with an attractor"
    text = (
        f"{_signs(result.measures)} People: the effect on the {people}, null that it cannot be told from zero. Consistent: "
        "people's effect is reliable, and the model's has the same sign and "
        f"p < {alpha:g}; or people's is null, and the model's p is at least {alpha:g} (absence of evidence, on "
        f"both sides). {_without_counterpart(result.measures)}Stars: p < .05, .01, .001, uncorrected. "
        f"{EXPLANATION} Their effects have random intercepts and are computed again from the released scores."
    )
    published = [f"{e.label} ({minus(e.subtraction)}): {e.human_evidence}" for e in ATTRACTION_EFFECTS]
    rows = published if result.human is None else human_evidence(result.human)
    return f'<p class="small">{escape(text)}</p>{list_html(rows, "small")}'


def _signs(measures: Sequence[str]) -> str:
    """Say what the sign of an estimate means, for the measures that have a human counterpart."""
    known = [c for m in measures if (c := describe(m)) is not None and c.attraction]
    if not known:
        return "None of these measures has a human counterpart; the sign says whether it rises or falls."
    shown = ", or ".join(dict.fromkeys(c.attraction for c in known))
    return f"A negative estimate means attraction: {shown}, with an attractor."


def _without_counterpart(measures: Sequence[str]) -> str:
    """Name the measures for which people have no counterpart, and say what a larger value of theirs means."""
    others = [m for m in measures if not has_counterpart(m)]
    facts = {measure: describe(measure) for measure in others}
    known = dict.fromkeys(fact.quantity if fact else measure for measure, fact in facts.items())
    if not known or len(others) == len(measures):
        return ""
    text = listing(list(known))
    return f"{text[0].upper()}{text[1:]} {'has' if len(known) == 1 else 'have'} no human counterpart. "


def means_html(result: FactorialResult) -> str:
    """Return tables of means: conditions in rows, measures in columns, one per model and region."""
    parts = []
    head = ["condition", *(wording.short_name(m) for m in result.measures)]
    for model in result.models:
        for region in regions_of(result.means):
            part = result.means[(result.means["model"] == model) & (result.means["region"] == region)]
            cells = part.assign(cell=[_mean_cell(row) for _, row in part.iterrows()])
            wide = cells.pivot(index="condition", columns="measure", values="cell")[list(result.measures)]
            rows = [[str(c), *map(str, row)] for c, row in zip(wide.index, wide.to_numpy(), strict=True)]
            parts.append(f"<h3>{escape(f'{region}, {model}')}</h3>" + table_html(head, rows))
    return "".join(parts) + f'<p class="small">Mean [{escape(str(result.means["interval"].iloc[0]))}].</p>'


def _mean_cell(row: pd.Series) -> str:
    return (
        f"{wording.number(row['mean'])} [{wording.number(row['ci_low'])}, {wording.number(row['ci_high'])}]"
    )
