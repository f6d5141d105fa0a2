"""The report of a comparison of fixations: one HTML file that loads nothing from elsewhere."""

from __future__ import annotations

from html import escape

import pandas as pd

from psymem.reports.page import (
    command_fact,
    facts_html,
    model_facts,
    p_cell,
    page,
    scores_facts,
    section,
    software_facts,
)
from psymem.reports.references import REFERENCES
from psymem.reports.tables import list_html, table_html
from psymem.reports.wording import number, stars
from psymem.studies.fixations.page import SENTENCE_STYLE, sentences_html
from psymem.studies.fixations.result import FixationResult
from psymem.studies.fixations.wording import (
    NOT_CAUSAL,
    data_sentences,
    methods_paragraph,
    model_name,
    result_sentences,
)


def report_html(study: FixationResult) -> str:
    """Return the report as one HTML page."""
    title = f"Model and human fixations: {study.corpus}"
    warning = f"<p><strong>{escape(NOT_CAUSAL)}</strong></p>" if study.not_causal else ""
    sections = [
        f"<h1>{escape(title)}</h1>{warning}",
        section("What was run", _facts(study)),
        section("In words", list_html(result_sentences(study))),
        section("Sentences", sentences_html(study) + '<p class="small">sentences.pdf, sentences.png</p>'),
        section("Rank correlations within texts", _correlations(study)),
        section("Do fixations explain reading times beyond length, frequency and surprisal?", _models(study)),
        section("Variance of durations", _spread(study)),
        section("Words of low and of high frequency", _rare(study)),
        section("Methods paragraph", f"<blockquote><p>{escape(methods_paragraph(study))}</p></blockquote>"),
        section("References", _references(study)),
    ]
    return page(title, sections, SENTENCE_STYLE)


def _facts(study: FixationResult) -> str:
    corpus = study.about["corpus"]
    card = ", ".join(str(corpus["card"][k]) for k in ("title", "licence") if k in corpus["card"])
    facts = [command_fact(), (f"corpus {study.corpus}", card or f"{corpus['words']:,} words")]
    facts += model_facts(study.about.get("scoring", {}).get("models", []))
    facts += scores_facts(study.about.get("scores", []))
    s = study.settings
    facts += [
        (
            "human times",
            f"{study.about['response']}, {study.about['response_unit']}; not fixated: {s.unread}",
        ),
        ("low frequency", f"Zipf below {s.rare_below:g}"),
        ("resamples, seed", f"{s.resamples:,}, {s.seed}"),
        *software_facts(),
    ]
    notes = [*data_sentences(study), *corpus["notes"], *study.about.get("scoring", {}).get("notes", [])]
    return facts_html(facts) + list_html(notes)


def _correlations(study: FixationResult) -> str:
    head = ("model", "words", "predictor", "ρ", "95% CI", "texts", "words compared", "texts with ρ > 0")
    rows = [
        [
            _name(r),
            r.words,
            r.predictor,
            number(r.rho),
            _interval(r),
            f"{r.n_texts:,}",
            f"{r.n_words:,}",
            "" if pd.isna(r.texts_positive) else f"{100 * r.texts_positive:.0f}%",
        ]
        for r in study.correlations.itertuples()
    ]
    kinds = [str(i) for i in dict.fromkeys(study.correlations["interval"])]
    said = (
        "Spearman's ρ with total reading times within each text of five words or more, punctuation left out; the mean over "
        "texts is weighted by their words. Partial: with length, log frequency and the model's surprisal held constant, "
        f"from the mean correlations of ranks within texts. Intervals: {'; '.join(kinds)}."
    )
    return table_html(head, rows) + f'<p class="small">{escape(said)}</p>'


def _name(row: object) -> str:
    return model_name(str(row.model), causal=bool(row.causal))  # type: ignore[attr-defined]


def _interval(row: object, digits: int = 3) -> str:
    low, high = row.ci_low, row.ci_high  # type: ignore[attr-defined]
    return "" if pd.isna(low) else f"[{number(low, digits)}, {number(high, digits)}]"


def _models(study: FixationResult) -> str:
    fits = study.fits
    if fits.gains.empty:
        return list_html(fits.notes)
    head = ("model", "beyond", "random effects", "ΔlogLik (nats)", "χ²", "df", "p", "p (adjusted)")
    rows = [
        [
            _name(r), r.beyond, r.structure, number(r.delta_loglik, 2), number(r.chi_square, 2), number(r.df, 0),
            p_cell(r.p), p_cell(r.p_adjusted),
        ]
        for r in fits.gains.itertuples()
    ]  # fmt: skip
    effects = ("model", "beyond", "random effects", "word", "estimate", "95% CI", "t", "p")
    own = [
        [
            _name(r), r.beyond, r.structure, f"{int(r.words_back)} before" if r.words_back else "itself",
            f"{number(r.estimate, 2)}{stars(r.p)} {r.unit}", _interval(r, 2), number(r.t, 2), p_cell(r.p),
        ]
        for r in fits.effects.itertuples()
    ]  # fmt: skip
    left = fits.exclusions
    gone = [[r.reason, f"{r.rows_left_out:,}", f"{r.rows_left:,}"] for r in left.itertuples()]
    said = [
        f"{_name(r)}, beyond {r.beyond}, {r.structure}: {r.note}" for r in fits.gains.itertuples() if r.note
    ]
    settings = study.settings.study.described(study.about["corpus"]["averaged"])
    used = [(k, v) for k, v in settings if k not in ("response", "cross-validation", "permutations, seed")]
    formulas = [(f"formula, {k}", v) for k, v in fits.formulas.items()]
    return "".join(
        [
            list_html(fits.notes),
            table_html(head, rows),
            list_html(said) if said else "",
            f"<h3>Effects of the fixation</h3>{table_html(effects, own)}",
            f"<h3>Rows left out</h3>{table_html(('reason', 'rows left out', 'rows left'), gone)}",
            f"<h3>Settings</h3>{facts_html([*used, *formulas])}",
        ]
    )


def _spread(study: FixationResult) -> str:
    head = ("model", "words", "scale", "variance, model", "variance, people", "model / people", "95% CI", "n")
    rows = [
        [
            _name(r), r.words, r.scale, number(r.model_variance), number(r.human_variance), number(r.variance_ratio),
            _interval(r), f"{r.n_words:,}",
        ]
        for r in study.spread.itertuples()
    ]  # fmt: skip
    said = (
        "Relative to the mean: each duration divided by the mean of its source. 12 levels: the model's predicted duration "
        "from 0 to 12, and the twelfths of human times from 0 to 11, whose variance is that of a uniform distribution by "
        f"construction. Intervals: {'; '.join(dict.fromkeys(study.spread['interval']))}."
    )
    return table_html(head, rows) + f'<p class="small">{escape(said)}</p>'


def _rare(study: FixationResult) -> str:
    head = (
        "model", "words", "durations of", "mean, low", "mean, high", "unit", "low − high (SD)", "95% CI", "n low", "n high",
        "unknown to the model: mean", "n",
    )  # fmt: skip
    rows = [
        [
            _name(r), r.words, "people" if r.source == "human" else "the model", number(r.mean_low, 2),
            number(r.mean_high, 2), r.unit, number(r.difference_sd), _interval(r), f"{r.n_low:,}", f"{r.n_high:,}",
            "" if pd.isna(r.mean_unknown) else number(r.mean_unknown, 2), f"{r.n_unknown:,}",
        ]
        for r in study.rare_words.itertuples()
    ]  # fmt: skip
    said = (
        f"Low frequency: below {study.settings.rare_below:g} on the Zipf scale. Differences are in standard deviations of "
        "all words compared, so that models and people can be set side by side."
    )
    return table_html(head, rows) + f'<p class="small">{escape(said)}</p>'


def _references(study: FixationResult) -> str:
    keys = ["huang2023", "vanheuven2014"]
    if not study.fits.gains.empty:
        keys += ["bates2015", "kuznetsova2017", "holm1979"]
    if study.correlations["interval"].str.contains("Fisher").any():
        keys.append("bonett2000")
    citation = study.about["corpus"]["card"].get("citation")
    listed = [REFERENCES[k] for k in keys] + ([f"{study.corpus}: {citation}"] if citation else [])
    return list_html(sorted(listed))
