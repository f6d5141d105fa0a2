"""People's own trials in the report: tables, and what was done in words."""

from __future__ import annotations

from html import escape

import pandas as pd

from psymem.reports import wording
from psymem.reports.tables import list_html, table_html
from psymem.studies.attraction.effects import UNRELIABLE
from psymem.studies.attraction.people.analysis import HumanAnalysis
from psymem.studies.attraction.people.fits import SLOPES
from psymem.studies.attraction.sentences import effect_title

NUMBER_HEAD = ("estimate", "95% CI", "df", "t or z", "p", "p (Holm)")
RESPONSE_WORDS = {
    "rt": "response times (ms)",
    "log-rt": "the natural logarithm of response times (ms)",
    "judgement": "judgements (1 = rejected, 0 = accepted)",
}
APPROXIMATION = (
    "Judgements were fitted by a linear probability model, an approximation: its estimates are differences in "
    "proportion, and its p-values are not those of the binomial model, least of all where nearly everybody agrees. "
    "Fit the binomial model with --human-engine lme4 (needs R) or mixedlm before you report them."
)


def human_html(human: HumanAnalysis | None) -> str:
    """Return the section about people's trials; "" without any."""
    if human is None:
        return ""
    effects = [_effect_cells(row) for _, row in human.effects.iterrows()]
    classes = ["slopes" if s == SLOPES else "" for s in human.effects["structure"]]
    predictors = [
        [wording.short_name(str(row["measure"])), str(row["model"]), *_numbers(row)]
        for _, row in human.predictors.iterrows()
    ]
    notes = sorted(
        {str(n) for n in pd.concat([human.effects["note"], human.predictors["note"]]).dropna() if n}
    )
    formulas = human.predictors["formula"].dropna()
    return "".join(
        [
            f"<p>{escape(human_methods(human))}</p>",
            f"<p><strong>{escape(APPROXIMATION)}</strong></p>" if human.approximate else "",
            f"<h3>{escape(f'Effects, {scale(human)}')}</h3>",
            table_html(("effect", "random effects", *NUMBER_HEAD), effects, classes),
            f"<h3>{escape(f'Measures as predictors, {scale(human)} per standard deviation of the measure')}</h3>",
            table_html(("measure", "model", *NUMBER_HEAD), predictors),
            f'<p class="small">{escape("; ".join(formulas))}</p>',
            list_html([*map(str, human.about.get("notes", [])), *notes], "small"),
        ]
    )


def scale(human: HumanAnalysis) -> str:
    """Unit of the estimates."""
    return str(human.effects["scale"].dropna().iloc[0])


def human_methods(human: HumanAnalysis) -> str:
    """Say in the words of a methods section what people did and how it was analysed."""
    about = human.about
    left = about["trials_with_response"] - about["trials_analysed"]
    dropped = f" ({left} further trials were about items that were left out)" if left else ""
    kind = "linear mixed models (REML; Satterthwaite degrees of freedom)"
    if human.response == "judgement":
        kind = "a linear probability model with random effects, an approximation"
        kind = kind if human.approximate else "binomial mixed models (log-odds; Laplace approximation)"
    engines = wording.listing(sorted(human.effects["engine"].dropna().unique()))
    return (
        f"{_cut_off(human)}The responses of {about['subjects']} subjects to {about['items']} items, "
        f"{about['trials_analysed']} trials{dropped}, were {RESPONSE_WORDS[human.response]}. The same effects were "
        f"tested on them with {kind}, with random intercepts of subjects and items, and again with by-subject and "
        f"by-item slopes of the effect where there are more trials than slopes (engine: {engines}). Each measure at "
        "the critical word, averaged over the instances of a model and standardised over trials, was then a "
        "predictor of the responses in a model of its own, with random intercepts of subjects and items."
    )


def _cut_off(human: HumanAnalysis) -> str:
    """Say which response times were left out; "" for judgements."""
    if human.response == "judgement":
        return ""
    shortest, longest = human.about.get("rt_min"), human.about.get("rt_max")
    limits = [f"below {shortest:g} ms"] if shortest is not None else []
    limits += [f"above {longest:g} ms"] if longest is not None else []
    if not limits:
        return "No response time was left out for being short or long. "
    return f"Response times {' and '.join(limits)} were left out ({human.about.get('trials_cut_off', 0)} trials). "


def human_evidence(human: HumanAnalysis) -> list[str]:
    """One sentence per effect: what people did and whether it is reliable."""
    verdicts = {"negative": "reliable", "positive": "reliable", UNRELIABLE: "not distinguishable from zero"}
    return [
        f"{effect_title(row)}: {wording.number(row['estimate'])} {row['scale']} "
        f"[{wording.number(row['ci_low'])}, {wording.number(row['ci_high'])}], "
        f"corrected p {wording.p_value(row['p_holm'])}, {row['structure']}; {verdicts[str(row['direction'])]}."
        if isinstance(row["direction"], str)
        else f"{effect_title(row)}: not estimable."
        for _, row in human.to_cite().iterrows()
    ]


def _effect_cells(row: pd.Series) -> list[str]:
    slopes = row["structure"] == SLOPES
    return ["" if slopes else effect_title(row), str(row["structure"]), *_numbers(row)]


def _numbers(row: pd.Series) -> list[str]:
    if pd.isna(row["estimate"]):
        return ["not estimable", *["NA"] * 5]
    interval = f"[{wording.number(row['ci_low'])}, {wording.number(row['ci_high'])}]"
    df = "∞" if row["df"] == float("inf") else wording.number(row["df"], 1)
    p_values = [wording.p_value(row[c]).removeprefix("= ") for c in ("p", "p_holm")]
    estimate = wording.number(row["estimate"]) + wording.stars(row["p"])
    return [estimate, interval, df, wording.number(row["t"], 2), *p_values]
