"""A comparison of fixations in sentences: data, methods and results as a paper would put them."""

from __future__ import annotations

import pandas as pd

from psymem.reports.wording import listing, number, p_value, signed
from psymem.studies.common.rows import display_name
from psymem.studies.fixations.correlations import PARTIAL
from psymem.studies.fixations.models import INTERCEPTS
from psymem.studies.fixations.result import FixationResult
from psymem.studies.fixations.words import SURPRISAL

NOT_CAUSAL = (
    "Not causal: models so marked scale durations by all words of what they read, later ones included, so neither their "
    "fixations nor their word probabilities are those of a reader who has seen the words so far."
)


def model_name(model: str, *, causal: bool) -> str:
    """Name of a model in tables and figures; the label of those that look ahead is part of it."""
    return display_name(model) + ("" if causal else " (not causal)")


def data_sentences(study: FixationResult) -> list[str]:
    """Say how many words were compared and what was left out."""
    said = []
    for model, own in study.words.groupby("model", sort=False):
        spoken, unread = own["spoken"], own["human"].isna()
        both = int((spoken & ~unread & own["fixation"].notna()).sum())
        said.append(
            f"{model_name(str(model), causal=bool(own['causal'].all()))}: {both:,} of {len(own):,} words compared; left out "
            f"{int((~spoken).sum()):,} of punctuation alone and {int((spoken & unread).sum()):,} that nobody read; "
            f"{int(own['oov'].sum()):,} are unknown to the model."
        )
    return said


def result_sentences(study: FixationResult) -> list[str]:
    """Return one sentence per result of each model; instances of a family are left to the tables."""
    said = []
    for model in study.models:
        if (study.words.loc[study.words["model"] == model, "instance_of"] != "").any():
            continue
        name = model_name(model, causal=model not in study.not_causal)
        said += [_correlation(study, model, name), _gain(study, model, name), _variance(study, model, name)]
        said.append(_rare(study, model, name))
    return [s for s in said if s]


def _first(table: pd.DataFrame, model: str, **values: str) -> pd.Series | None:
    own = table[table["model"] == model]
    for column, value in values.items():
        own = own[own[column] == value]
    return None if own.empty else own.iloc[0]


def _correlation(study: FixationResult, model: str, name: str) -> str:
    row = _first(study.correlations, model, predictor="model fixation")
    length = _first(study.correlations, model, predictor="length")
    if row is None or pd.isna(row["rho"]):
        return f"{name}: no text has five words to correlate."
    compared = "" if length is None else f"; word length has {number(length['rho'])} on the same words"
    return (
        f"{name}: fixations correlate with total reading times within texts, Spearman's ρ = {number(row['rho'])} "
        f"[{number(row['ci_low'])}, {number(row['ci_high'])}], {row['n_texts']:,} texts, {row['n_words']:,} words "
        f"({row['words']}){compared}.{_partial(study, model, row['rho'])}"
    )


def _partial(study: FixationResult, model: str, raw: float) -> str:
    """Say what is left of the correlation with the other predictors held constant, and whether its sign is another."""
    row = _first(study.correlations, model, predictor=PARTIAL)
    if row is None or pd.isna(row["rho"]):
        return ""
    known = not pd.isna(row["ci_low"])
    interval = f" [{number(row['ci_low'])}, {number(row['ci_high'])}]" if known else ""
    own = study.words[study.words["model"] == model]
    held = "length, frequency and surprisal" if own[SURPRISAL].notna().any() else "length and frequency"
    said = f" With {held} held constant it is {number(row['rho'])}{interval}"
    if known and row["ci_low"] <= 0 <= row["ci_high"]:
        return f"{said}, which may be none at all."
    if row["rho"] * raw < 0:
        return f"{said}: the sign turns, so the correlation itself says what these words are, not what fixations add."
    return f"{said}."


def _gain(study: FixationResult, model: str, name: str) -> str:
    gains = study.fits.gains
    own = gains[(gains["model"] == model) & (gains["structure"] == INTERCEPTS)]
    if own.empty:
        return ""
    row = own.iloc[-1]
    effects = study.fits.effects
    effect = effects[
        (effects["model"] == model)
        & (effects["beyond"] == row["beyond"])
        & (effects["structure"] == INTERCEPTS)
        & (effects["words_back"] == 0)
    ].iloc[0]
    verb = "explains" if row["p"] < study.settings.study.alpha else "does not reliably explain"
    per = effect["unit"].rpartition(" per ")[2]
    unit = effect["unit"].rpartition(" per ")[0]
    if effect["ci_low"] <= 0 <= effect["ci_high"]:
        way = "not reliably longer or shorter"
    else:
        way = "longer" if effect["estimate"] > 0 else "shorter"
    return (
        f"{name}: fixation {verb} reading times beyond {row['beyond']}, ΔlogLik = {number(row['delta_loglik'], 2)}, "
        f"χ²({number(row['df'], 0)}) = {number(row['chi_square'], 2)}, p {p_value(row['p'])}; where it "
        f"is one {per} larger, people's times at the word itself are {way}: {signed(effect['estimate'], 2)} {unit} "
        f"[{number(effect['ci_low'], 2)}, {number(effect['ci_high'], 2)}]."
    )


def _variance(study: FixationResult, model: str, name: str) -> str:
    row = _first(study.spread, model, scale="relative to the mean")
    if row is None:
        return ""
    interval = "" if pd.isna(row["ci_low"]) else f" [{number(row['ci_low'])}, {number(row['ci_high'])}]"
    ratio = f"{number(row['variance_ratio'])} times the variance of people's{interval}"
    text = f"{name}: relative to the mean, durations have {ratio}"
    levels = _first(study.spread, model, scale="12 levels")
    if levels is None:
        return f"{text}."
    return f"{text}; on the scale of 12 levels {number(levels['variance_ratio'])} times."


def _rare(study: FixationResult, model: str, name: str) -> str:
    rows = [_first(study.rare_words, model, source=s) for s in ("model", "human")]
    if any(r is None or pd.isna(r["difference_sd"]) for r in rows):
        return ""
    own, people = rows
    assert own is not None
    assert people is not None
    return (
        f"{name}: words of low frequency have {_longer(own['difference_sd'])} fixations than others in the model, "
        f"{_longer(people['difference_sd'])} times in people."
    )


def _longer(difference_sd: float) -> str:
    return f"{number(abs(difference_sd), 2)} SD {'longer' if difference_sd >= 0 else 'shorter'}"


def methods_paragraph(study: FixationResult) -> str:
    """Return what was done, for a paper."""
    corpus, s = study.about["corpus"], study.settings
    units = dict.fromkeys(study.words["unit"])
    names = [model_name(m, causal=m not in study.not_causal) for m in study.models]
    who = (
        "means over readers as published"
        if corpus["averaged"]
        else f"averaged over {corpus['readers']} readers"
    )
    if not corpus["averaged"]:
        who += ", unread words left out" if s.unread == "left-out" else ", unread words counted as 0"
    text = (
        f"The words of {study.corpus} were read by {listing(names)}; a model's fixation of a word is the expected number of "
        f"{' or '.join(units)} that it keeps at work (Huang et al., 2023), averaged over the word's tokens with a "
        f"letter or digit. Human durations are total reading times ({study.about['response_unit']}), {who}. Words were "
        "matched by text and word number and their spelling compared; punctuation was left out. Spearman's correlations "
        f"were computed within texts and averaged, weighted by words; intervals are percentile intervals of "
        f"{s.resamples:,} draws of texts with replacement (seed {s.seed}), or, for fewer than ten texts, from Fisher's z. "
        f"Words below {s.rare_below:g} on the Zipf scale are of low frequency."
    )
    if study.fits.gains.empty:
        return text
    facts = study.fits.facts
    kind = "linear mixed models" if "|" in next(iter(study.fits.formulas.values())) else "linear models"
    return (
        f"{text} We fitted {kind} to {facts['rows']:,} reading times, with and without the model's fixation of the word and "
        f"of {s.study.spillover} words before it, beside position, length, log frequency and surprisal (also of words "
        "before), and compared them on identical rows by maximum likelihood with likelihood-ratio tests "
        f"({s.study.correction} correction over models)."
    )
