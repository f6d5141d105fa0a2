"""A reading study in sentences: data, methods and results as a paper would put them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.reports.wording import in_words, listing, number, p_value, short_name
from psymem.studies.common.rows import display_name
from psymem.studies.reading.exclusions import why_no_time
from psymem.studies.reading.predictive_power import INTERCEPTS, SLOPES
from psymem.studies.reading.result import Analysis, ReadingResult

STANDARDISED = {
    "z": "Predictors were centred and divided by their standard deviation.",
    "centre": "Predictors were centred.",
    "none": "",
}


def data_sentences(analysis: Analysis) -> list[str]:
    """Say how many rows of what were analysed."""
    facts, first = analysis.facts, analysis.exclusions.iloc[0]
    readers = "means over readers" if analysis.averaged else f"{facts['readers']} readers"
    return [
        f"{facts['rows']:,} of {first['rows_left']:,} rows analysed: {facts['words']:,} words in {facts['texts']:,} texts, "
        f"{readers}."
    ]


def result_sentences(study: ReadingResult) -> list[str]:
    """One sentence per corpus, response, model and measure; single instances as a range."""
    return [s for analysis in study.analyses for s in _results(analysis)]


def _results(analysis: Analysis) -> list[str]:
    table, effects = analysis.power.table, analysis.power.coefficients
    said = []
    for row in table[(table["structure"] == INTERCEPTS) & (table["instance_of"] == "")].itertuples():
        which = effects[(effects["model"] == row.model) & (effects["measure"] == row.measure)]
        own = which[(which["structure"] == INTERCEPTS) & (which["words_back"] == 0)].iloc[0]
        sentence = (
            f"{analysis.corpus}, {in_words(analysis.settings.response)}: {short_name(row.measure)} of "
            f"{display_name(row.model)} {'improves' if row.p_adjusted < analysis.settings.alpha else 'does not improve'} "
            f"the base model, χ²({number(row.df, 0)}) = {number(row.chi_square, 2)}, p {p_value(row.p)}; at the word itself "
            f"{number(own['estimate'], 2)} {own['unit']} [{number(own['ci_low'], 2)}, "
            f"{number(own['ci_high'], 2)}], p {p_value(own['p'])}"
        )
        if not pd.isna(row.held_out_gain_per_obs):
            sentence += (
                f"; held out {number(row.held_out_gain_per_obs, 4)} nats per observation "
                f"[{number(row.held_out_gain_ci_low, 4)}, {number(row.held_out_gain_ci_high, 4)}], "
                f"p {p_value(row.held_out_p)}"
            )
        said.append(sentence + _slopes(which) + _spread(table, row) + ".")
    return said


def _slopes(which: pd.DataFrame) -> str:
    own = which[(which["structure"] == SLOPES) & (which["words_back"] == 0)]
    if own.empty:
        return ""
    row = own.iloc[0]
    return f"; with by-subject slopes {number(row['estimate'], 2)}, p {p_value(row['p'])}"


def _spread(table: pd.DataFrame, row: object) -> str:
    own = table[(table["instance_of"] == row.model) & (table["measure"] == row.measure)]  # type: ignore[attr-defined]
    if own.empty:
        return ""
    low, high = own["delta_loglik"].min(), own["delta_loglik"].max()
    gain = number(float(row.delta_loglik), 2)  # type: ignore[attr-defined]
    return f" (ΔlogLik {gain} for the mean over {len(own)} instances, {number(low, 2)} to {number(high, 2)} for single ones)"


def methods_paragraph(study: ReadingResult) -> str:
    """Return what was done, for a paper."""
    first = study.analyses[0]
    s, averaged = first.settings, first.averaged
    responses = listing([in_words(r) for r in dict.fromkeys(a.settings.response for a in study.analyses)])
    low, high = s.cut_offs(averaged)
    kept = f" between {low:g} and {high:g} ms" if low > 0 and np.isfinite(high) else ""
    models = listing(
        [
            display_name(m)
            for m in dict.fromkeys(p.model for a in study.analyses for p in a.predictors if not p.instance)
        ]
    )
    measures = listing(
        [short_name(m) for m in dict.fromkeys(p.measure for a in study.analyses for p in a.predictors)]
    )
    random = first.rows.random or "none (a linear model)"
    parts = [
        f"We analysed {responses}{kept} {_scale(first)}.",
        _left_out(study),
        f"The base model had the fixed effects {first.rows.fixed} and the random effects {random}; to it we added "
        f"{measures} of {models} at the word{_before(s.spillover)}.",
        STANDARDISED[s.standardise],
        "Nested models were fitted by maximum likelihood to identical rows and compared by likelihood-ratio tests"
        + (
            "."
            if s.correction == "none"
            else f"; p-values were adjusted over models and measures ({s.correction})."
        ),
    ]
    if any(a.power.held_out is not None for a in study.analyses):
        unit = {"text_id": "texts", "sentence": "sentences"}[s.group_by]
        parts.append(
            f"Predictive power is the gain in held-out log-likelihood per observation in {first.rows.folds}-fold "
            f"cross-validation over whole {unit}, with intervals by flipping the signs of the gains of {unit} "
            f"({s.permutations:,} times). Its p-value tests that the effects added are 0, one-sided, by flipping the "
            f"signs of the score contributions of {unit} (Hemerik et al., 2020), since a useless predictor has a "
            "negative expected gain."
        )
    if SLOPES in set(study.delta_loglik["structure"]):
        parts.append(
            "Effects were tested again with by-subject slopes of the measure in both models; the version with slopes is "
            "the one to cite for an effect, the one with intercepts for predictive power."
        )
    if any(a.averaged for a in study.analyses):
        parts.append("Data averaged over readers were analysed by models without readers.")
    return " ".join(p for p in parts if p)


def _scale(analysis: Analysis) -> str:
    """Say in which unit the response was analysed."""
    scaled = analysis.settings.unit.endswith("of 100")
    if analysis.settings.scale == "log":
        return "on a logarithmic scale"
    return "as published, scaled to 0-100" if scaled else "on a millisecond scale"


def _left_out(study: ReadingResult) -> str:
    """Say which words were left out, naming only exclusions that were made: most corpora do not know their lines."""
    first = study.analyses[0]
    made = {reason for a in study.analyses for reason in a.exclusions["reason"]}
    edges = [edge.split("-") for edge in first.settings.leave_out]
    words = [f"{place} words of {unit}s" for unit, place in edges if f"{place} word of a {unit}" in made]
    untimed = [a for a in study.analyses if a.exclusions["rows_left_out"].iloc[1]]
    why = dict.fromkeys(why_no_time(a.settings.response) for a in untimed)
    words += [f"words {reason}".replace("words no time", "words without a time") for reason in why]
    if not first.settings.keep_oov:
        words.append("words that a model does not know")
    return f"Left out were {listing(words)}." if words else ""


def _before(spillover: int) -> str:
    """Say how far back the measures enter."""
    if not spillover:
        return ""
    return " and at the word before it" if spillover == 1 else f" and at the {spillover} words before it"
