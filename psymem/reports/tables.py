"""Tables of a report as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from psymem.reports import wording
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.published_networks import COLUMNS, EXPLANATION
from psymem.studies.common.rows import CRITICAL, regions_of
from psymem.studies.common.structures import STRUCTURES

if TYPE_CHECKING:
    from psymem.studies.attraction.result import FactorialResult

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
    cells = ["" if again else wording.effect_title(row), people, _agreed(row), str(row["structure"])]
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
    from psymem.studies.attraction.human_report import human_evidence

    alpha = result.tests.alpha
    people = "percentage of trials judged implausible; negative means fewer with an attractor"
    if result.human is not None:
        people = "responses of your own trials; negative means faster, or fewer rejections, with an attractor"
    text = (
        "A negative estimate means attraction: lower surprisal, or less attention to the subject, with an "
        f"attractor. People: the effect on the {people}, null that it cannot be told from zero. Consistent: "
        "people's effect is reliable, and the model's has the same sign and "
        f"p < {alpha:g}; or people's is null, and the model's p is at least {alpha:g} (absence of evidence, on "
        "both sides). Attention entropy has no human counterpart. Stars: p < .05, .01, .001, uncorrected. "
        f"{EXPLANATION} Their effects have random intercepts and are computed again from the released scores."
    )
    published = [
        f"{e.label} ({wording.minus(e.subtraction)}): {e.human_evidence}" for e in ATTRACTION_EFFECTS
    ]
    rows = published if result.human is None else human_evidence(result.human)
    return f'<p class="small">{escape(text)}</p>{list_html(rows, "small")}'


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


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """Return an HTML table of cells, which are escaped here; `classes` has one class per row."""
    cells = ["".join(f"<td>{escape(c)}</td>" for c in row) for row in rows]
    kinds = list(classes) or [""] * len(cells)
    body = "\n".join(
        f'<tr class="{k}">{c}</tr>' if k else f"<tr>{c}</tr>" for c, k in zip(cells, kinds, strict=True)
    )
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def list_html(entries: Iterable[str], kind: str = "") -> str:
    """Return an HTML list of entries, which are escaped here."""
    opening = f'<ul class="{kind}">' if kind else "<ul>"
    return opening + "".join(f"<li>{escape(e)}</li>" for e in entries) + "</ul>"
