"""Tables of checks, effects and means, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd

from psymem.measures.columns import describe, has_counterpart
from psymem.reports import wording
from psymem.reports.tables import list_html, table_html
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.first_tests import CONTROL
from psymem.studies.attraction.people.report import human_evidence
from psymem.studies.attraction.published_networks import COLUMNS, EXPLANATION
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.attraction.sentences import effect_title
from psymem.studies.attraction.within import CONFOUNDED
from psymem.studies.common.rows import CRITICAL, regions_of
from psymem.studies.common.structures import AS_PUBLISHED

FIRST_HEAD = ("effect", "estimate", "95% CI", "df", "t", "p", "p (Holm)")
PEOPLE_HEAD = ("p, too small to matter (Holm)", "people", "as people?")
HEAD = ("effect", "sentences", "test", "estimate", "95% CI", "df", "t", "p", "p (Holm)", "as people?")


def checks_html(result: FactorialResult) -> str:
    """Return the manipulation checks: what they say, and their table; "" without any."""
    checks = result.checks
    if checks is None:
        return ""
    parts = []
    for model in result.models:
        first, *others = checks.sentences(model)
        own = checks.table[checks.table["model"] == model]
        rows = [_check_cells(row) for _, row in own.iterrows()]
        head = ("check", "items", "condition", "surprisal (bits)", "95% CI", "df", "t", "p", "reliable")
        parts.append(f"<p><strong>{escape(first)}</strong></p>" + list_html(others) + table_html(head, rows))
        counts = checks.counts[checks.counts["model"] == model]
        if len(counts):
            forms = ", ".join(
                f"{r['word']} {r['count']:.0f}" for _, r in counts.sort_values("word").iterrows()
            )
            said = f"Times that one pass over the training text of {model} has each form: {forms}."
            parts.append(f'<p class="small">{escape(said)}</p>')
    return "".join(parts) + f'<p class="small">{escape(CHECKS_READING)}</p>'


CHECKS_READING = (
    "Agreement, semantic and double violation: surprisal of the verb in conditions A, C and E minus its grammatical "
    "control. Subject's (attractor's) number: surprisal of verbs that do not fit it minus that of verbs that do, averaged "
    "over the attractor's (subject's) number and both verb forms. Wrong verb: one that does not fit the subject minus one "
    "that does. Items and model instances are samples (one instance: t-test over items); reliable: above zero at the level "
    "of significance (agreement and semantic violation, which decide: corrected for there being two). An attractor can "
    "only hide a violation that the model detects: where the agreement "
    "(semantic) violation is not reliable, effects that rest on it are not compared with people. Nor are effects of "
    "agreement attraction where the wrong verb does not reliably cost something after an attractor of the other number (the "
    "verb may go by the nearest noun), nor those of semantic attraction where it is not reliable beyond association."
)


def _check_cells(row: pd.Series) -> list[str]:
    cells = [str(row["check"]), str(row["items"]), str(row["condition"])]
    if pd.isna(row["estimate"]):
        return [*cells, "not estimable", *["NA"] * 4, ""]
    interval = f"[{wording.number(row['ci_low'], 2)}, {wording.number(row['ci_high'], 2)}]"
    estimate = wording.number(row["estimate"], 2)
    if row["check"] == "critical verb":  # a level, not a difference: nothing to test
        return [*cells, estimate, interval, "", "", "", ""]
    numbers = [
        wording.number(row["df"], 1),
        wording.number(row["t"], 2),
        wording.p_value(row["p"]).removeprefix("= "),
    ]
    return [*cells, estimate, interval, *numbers, "yes" if row["reliable"] else "no"]


def effects_html(result: FactorialResult) -> str:
    """Return one table a model and measure, one line an effect: the test that fits the claim."""
    parts = []
    first = result.first[result.first["region"] == CRITICAL]
    for (model, measure), part in first.groupby(["model", "measure"], sort=False):
        judged = bool(part["human_direction"].notna().any())
        head = [*FIRST_HEAD, *(PEOPLE_HEAD if judged else ())]
        rows = [
            [effect_title(r), *_numbers(r), *(_people_cells(r) if judged else ())] for _, r in part.iterrows()
        ]
        heading = f"{wording.short_name(str(measure))}, {model}"
        parts.append(f"<h3>{escape(heading)}</h3>" + table_html(head, rows))
    reading = _reading(result) if result.attraction else ""
    return f"<p>{escape(_what(result))}</p>" + "".join(parts) + reading


def _what(result: FactorialResult) -> str:
    """Say what the first tables hold."""
    if not result.attraction:
        return "Each effect with the most random effects that could be estimated."
    baseline = (
        "Each effect is the difference in the violating sentences minus the same difference in their grammatical controls."
        if result.controlled
        else "No grammatical controls were read: each effect is a difference between violating sentences."
    )
    return f"{baseline} It is taken in each item and instance, and its mean tested with both as samples."


def all_tests_html(result: FactorialResult) -> str:
    """Return every test: with and without controls, and under each random-effects structure."""
    parts = []
    critical = result.effects[result.effects["region"] == CRITICAL]
    for (model, measure), part in critical.groupby(["model", "measure"], sort=False):
        part = part.dropna(subset=["random_effects"])  # what cannot be estimated is named under the fits
        rows, head = [_effect_cells(row) for _, row in part.iterrows()], list(HEAD)
        if COLUMNS[0] in part and part[COLUMNS[0]].notna().any():
            head.append("published networks")
            rows = [[*c, _published(row)] for c, (_, row) in zip(rows, part.iterrows(), strict=True)]
        classes = ["slopes" if repeated else "" for repeated in part["effect"].duplicated()]
        heading = f"{wording.short_name(str(measure))}, {model}"
        parts.append(f"<h3>{escape(heading)}</h3>" + table_html(head, rows, classes))
    return "".join(parts) + _structures(critical)


def within_html(result: FactorialResult) -> str:
    """Return one table of effects per model, measure and level of the property; "" where none was asked for."""
    if result.within is None:
        return ""
    column = str(result.within["within"].iloc[0])
    parts = []
    for (model, measure, level), part in result.within.groupby(["model", "measure", "level"], sort=False):
        part = part.dropna(subset=["random_effects"])
        rows = [_effect_cells(row) for _, row in part.iterrows()]
        classes = ["slopes" if repeated else "" for repeated in part["effect"].duplicated()]
        heading = f"{wording.short_name(str(measure))}, {model}, {column}: {level}"
        parts.append(f"<h3>{escape(heading)}</h3>" + table_html(HEAD, rows, classes))
    levels = list(dict.fromkeys(result.within["level"]))
    reading = f"Each level of {column} on its own: the tests above, on its items only. {CONFOUNDED.format(column=column)}"
    if "difference" in levels:
        reading += (
            f" Difference: the interaction of the effect with {column}, that is the effect at {levels[1]} minus that at "
            f"{levels[0]}. An effect differs between the levels only where this row says so."
        )
    return f"<p>{escape(reading)}</p>" + "".join(parts)


def _effect_cells(row: pd.Series) -> list[str]:
    sentences = "against controls" if row["baseline"] == CONTROL else "violating only"
    said = "" if pd.isna(row["verdict"]) else str(row["verdict"])
    return [effect_title(row), sentences, str(row["structure"]), *_numbers(row), said]


def _numbers(row: pd.Series) -> list[str]:
    if pd.isna(row["estimate"]):
        return ["not estimable", *["NA"] * 5]
    interval = f"[{wording.number(row['ci_low'])}, {wording.number(row['ci_high'])}]"
    estimate = wording.number(row["estimate"]) + wording.stars(row["p_holm"])
    p_values = [wording.p_value(row[c]).removeprefix("= ") for c in ("p", "p_holm")]
    return [estimate, interval, wording.number(row["df"], 1), wording.number(row["t"], 2), *p_values]


def _people_cells(row: pd.Series) -> list[str]:
    small = (
        ""
        if pd.isna(row["p_equivalence_holm"])
        else wording.p_value(row["p_equivalence_holm"]).removeprefix("= ")
    )
    people = "" if pd.isna(row["human_direction"]) else str(row["human_direction"])
    paper = "" if pd.isna(row["paper_direction"]) else f" (in the paper's tables: {row['paper_direction']})"
    return [small, people + paper, "" if pd.isna(row["verdict"]) else str(row["verdict"])]


def _published(row: pd.Series) -> str:
    """Estimate and interval in the published networks, beside the published kind of test."""
    if row["structure"] != AS_PUBLISHED:
        return ""
    estimate, low, high = (wording.number(row[c]) for c in COLUMNS)
    return f"{estimate} [{low}, {high}]"


def _structures(effects: pd.DataFrame) -> str:
    """List the formulas behind each kind of test."""
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
    smallest = result.first.dropna(subset=["smallest_effect"]).drop_duplicates("measure")
    named = [
        f"{wording.short_name(str(r['measure'])).lower()} {r['smallest_effect']:g}"
        for _, r in smallest.iterrows()
    ]
    text = (
        f"{_signs(result.measures)} People: the effect on the {people}. "
        "Verdicts rest on p-values corrected over the effects of a measure "
        f"(Holm), at {alpha:g}. As people: the effect differs from zero with people's sign; or people's effect is not "
        "reliable, and two one-sided tests show the model's to be smaller than the smallest effect of interest "
        f"({wording.listing(named)}). Against people: it differs with the other sign, or where people show none; or it is "
        "shown to be that small where people show one. Undecided: none of these is shown. Not interpretable: the model does "
        f"not detect the violation. {_without_counterpart(result.measures)}Stars: corrected p < .05, .01, .001."
    )
    text += (
        f" {EXPLANATION}" if COLUMNS[0] in result.effects and result.effects[COLUMNS[0]].notna().any() else ""
    )
    published = [
        f"{e.label} ({wording.minus(e.subtraction)}): {e.human_evidence}" for e in ATTRACTION_EFFECTS
    ]
    rows = published if result.human is None else human_evidence(result.human)
    return f'<p class="small">{escape(text)}</p>{list_html(rows, "small")}'


def _signs(measures: Sequence[str]) -> str:
    """Say what the sign of an estimate means, for the measures that have a human counterpart."""
    known = [c for m in measures if (c := describe(m)) is not None and c.attraction]
    if not known:
        return "None of these measures has a human counterpart; the sign says whether it rises or falls."
    shown = ", or ".join(dict.fromkeys(c.attraction for c in known))
    return f"A negative estimate is in the direction of attraction: {shown}, with an attractor."


def _without_counterpart(measures: Sequence[str]) -> str:
    """Name the measures for which people have no counterpart, and say what a larger value of theirs means."""
    others = [m for m in measures if not has_counterpart(m)]
    facts = {measure: describe(measure) for measure in others}
    known = dict.fromkeys(fact.quantity if fact else measure for measure, fact in facts.items())
    if not known or len(others) == len(measures):
        return ""
    text = wording.listing(list(known))
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
