"""The report of a comparison of fixations, and its sentences as a page: HTML files that load nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from psymem._version import __version__
from psymem.designs.fixation_sentences import HUMAN
from psymem.designs.fixation_wording import (
    NOT_CAUSAL,
    data_sentences,
    methods_paragraph,
    model_name,
    result_sentences,
)
from psymem.designs.references import REFERENCES
from psymem.designs.report import STYLE
from psymem.designs.report_tables import list_html, table_html
from psymem.designs.wording import number, p_value, stars
from psymem.outputs import base_provenance
from psymem.plotting.fixations import shade_colour

if TYPE_CHECKING:
    from psymem.designs.fixations import FixationStudy

SENTENCE_STYLE = """
.sentence { margin: 1.1rem 0; } .row { display: flex; flex-wrap: wrap; margin: 2px 0; align-items: baseline; }
.row b { flex: 0 0 9rem; font: 12px system-ui, sans-serif; color: #444; overflow-wrap: anywhere; padding-right: .5rem; }
.row div { flex: 1; line-height: 1.75; } .row span { padding: .12rem .22rem; color: #000; }
.row span.none { color: #777; font-style: italic; }
.bar { display: inline-block; width: 11rem; height: .8rem; border: 1px solid #888; vertical-align: middle; margin: 0 .4rem; }
"""


def source_names(study: FixationStudy) -> dict[str, str]:
    """What each source of the figure is called in it."""
    ahead = study.not_causal
    return {
        s: s if s == HUMAN else model_name(s, causal=s not in ahead)
        for s in dict.fromkeys(study.plotted["source"])
    }


def figure_note(study: FixationStudy) -> str:
    """Say what the shades are."""
    who = (
        "mean" if study.about["corpus"]["averaged"] else f"mean of {study.about['corpus']['readers']} readers"
    )
    if study.settings.unread == "left-out" and not study.about["corpus"]["averaged"]:
        who += ", of those who fixated the word"
    measures = " or ".join(f"{u} at work" for u in dict.fromkeys(study.words["unit"]))
    said = (
        f"The darker, the longer. People: total reading time ({who}); models: expected number of {measures}. Each scale "
        "goes from the 5th to the 95th percentile of its words in the whole corpus. Grey italics: no value (punctuation, "
        "or read by nobody)."
    )
    return f"{said} {NOT_CAUSAL}" if study.not_causal else said


# pages -----------------------------------------------------------------------------------------------------
def sentences_page(study: FixationStudy) -> str:
    """Return the figure as an HTML page; pointing at a word shows its value."""
    title = f"Model and human fixations: {study.corpus}"
    return _page(title, f"<h1>{escape(title)}</h1>\n{sentences_html(study)}\n{plotted_html(study)}")


def report_html(study: FixationStudy) -> str:
    """Return the report as one HTML page."""
    title = f"Model and human fixations: {study.corpus}"
    warning = f"<p><strong>{escape(NOT_CAUSAL)}</strong></p>" if study.not_causal else ""
    sections = [
        f"<h1>{escape(title)}</h1>{warning}",
        _section("What was run", _facts(study)),
        _section("In words", list_html(result_sentences(study))),
        _section("Sentences", sentences_html(study) + '<p class="small">sentences.pdf, sentences.png</p>'),
        _section("Rank correlations within texts", _correlations(study)),
        _section(
            "Do fixations explain reading times beyond length, frequency and surprisal?", _models(study)
        ),
        _section("Variance of durations", _spread(study)),
        _section("Words of low and of high frequency", _rare(study)),
        _section("Methods paragraph", f"<blockquote><p>{escape(methods_paragraph(study))}</p></blockquote>"),
        _section("References", _references(study)),
    ]
    return _page(title, "\n".join(s for s in sections if s))


def _page(title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}{SENTENCE_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _section(heading: str, content: str) -> str:
    return f"<h2>{heading}</h2>\n{content}" if content else ""


def sentences_html(study: FixationStudy) -> str:
    """Return the sentences with shaded words, the models above people, and the legend."""
    table, names = study.plotted, source_names(study)
    parts = []
    for (text, sentence), own in table.groupby(["text_id", "sentence_id"], sort=False):
        rows = []
        for source, row in own.groupby("source", sort=False):
            words = " ".join(_word_html(cell) for cell in row.itertuples())
            rows.append(f'<div class="row"><b>{escape(names[str(source)])}</b><div>{words}</div></div>')
        label = escape(f"text {text}, sentence {sentence}")
        parts.append(f'<div class="sentence" aria-label="{label}">{"".join(rows)}</div>')
    legend = "".join(
        _legend_html(names[str(s)], own.iloc[0]) for s, own in table.groupby("source", sort=False)
    )
    return f'{"".join(parts)}\n{legend}\n<p class="small">{escape(figure_note(study))}</p>'


def _word_html(cell: object) -> str:
    value, shade, unit = cell.value, cell.shade, cell.unit  # type: ignore[attr-defined]
    word = escape(str(cell.word))  # type: ignore[attr-defined]
    if pd.isna(shade):
        return f'<span class="none">{word}</span>'
    colour = shade_colour(float(shade))
    return f'<span style="background:{colour}" title="{number(value, 2)} {escape(unit)}">{word}</span>'


def _legend_html(name: str, first: pd.Series) -> str:
    ends = f"{shade_colour(0.0)},{shade_colour(1.0)}"
    return (
        f'<p class="small">{escape(name)}: ≤ {number(first["scale_low"], 2)}'
        f'<span class="bar" style="background:linear-gradient(to right,{ends})"></span>'
        f"≥ {number(first['scale_high'], 2)} {escape(str(first['unit']))}</p>"
    )


def plotted_html(study: FixationStudy) -> str:
    """Return the plotted numbers as a table, a column for each source."""
    keys = ["text_id", "sentence_id", "word_id", "word"]
    names = source_names(study)
    wide = study.plotted.pivot(index=keys, columns="source", values="value").reset_index()
    order = study.plotted[keys].drop_duplicates().merge(wide, on=keys, how="left", validate="one_to_one")
    units = study.plotted.groupby("source", sort=False)["unit"].first()
    head = ["text", "sentence", "word number", "word", *(f"{names[s]} ({units[s]})" for s in names)]
    rows = [
        [*(str(row[k]) for k in keys), *("" if pd.isna(row[s]) else number(row[s], 2) for s in names)]
        for _, row in order.iterrows()
    ]
    return f"<h2>Plotted numbers</h2>{table_html(head, rows)}"


# sections --------------------------------------------------------------------------------------------------
def _facts(study: FixationStudy) -> str:
    run, corpus = base_provenance(), study.about["corpus"]
    card = ", ".join(str(corpus["card"][k]) for k in ("title", "licence") if k in corpus["card"])
    facts = [("command", run["command"]), (f"corpus {study.corpus}", card or f"{corpus['words']:,} words")]
    for model in study.about.get("scoring", {}).get("models", []):
        flat = {k: v for k, v in dict(model).items() if isinstance(v, (str, int, float))}
        facts.append((f"model {model.get('model', '')}", ", ".join(f"{k} {v}" for k, v in flat.items())))
    for path in study.about.get("scores", []):
        facts.append(
            ("scores made elsewhere", f"{path} (psymem cannot tell whether they look at later words)")
        )
    s = study.settings
    facts += [
        (
            "human times",
            f"{study.about['response']}, {study.about['response_unit']}; not fixated: {s.unread}",
        ),
        ("low frequency", f"Zipf below {s.rare_below:g}"),
        ("resamples, seed", f"{s.resamples:,}, {s.seed}"),
        ("psymem", f"{__version__}, Python {run['python']}"),
        ("packages", ", ".join(f"{k} {v}" for k, v in run["packages"].items())),
    ]
    notes = [*data_sentences(study), *corpus["notes"], *study.about.get("scoring", {}).get("notes", [])]
    return _pairs(facts) + list_html(notes)


def _pairs(facts: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><td>{escape(k)}</td><td class="text"><code>{escape(v)}</code></td></tr>' for k, v in facts
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _correlations(study: FixationStudy) -> str:
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
        f"texts is weighted by their words. Intervals: {'; '.join(kinds)}."
    )
    return table_html(head, rows) + f'<p class="small">{escape(said)}</p>'


def _name(row: object) -> str:
    return model_name(str(row.model), causal=bool(row.causal))  # type: ignore[attr-defined]


def _interval(row: object, digits: int = 3) -> str:
    low, high = row.ci_low, row.ci_high  # type: ignore[attr-defined]
    return "" if pd.isna(low) else f"[{number(low, digits)}, {number(high, digits)}]"


def _models(study: FixationStudy) -> str:
    fits = study.fits
    if fits.gains.empty:
        return list_html(fits.notes)
    head = ("model", "beyond", "random effects", "ΔlogLik (nats)", "χ²", "df", "p", "p (adjusted)")
    rows = [
        [
            _name(r), r.beyond, r.structure, number(r.delta_loglik, 2), number(r.chi_square, 2), number(r.df, 0),
            _p(r.p), _p(r.p_adjusted),
        ]
        for r in fits.gains.itertuples()
    ]  # fmt: skip
    effects = ("model", "beyond", "random effects", "word", "estimate", "95% CI", "t", "p")
    own = [
        [
            _name(r), r.beyond, r.structure, f"{int(r.words_back)} before" if r.words_back else "itself",
            f"{number(r.estimate, 2)}{stars(r.p)} {r.unit}", _interval(r, 2), number(r.t, 2), _p(r.p),
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
            f"<h3>Settings</h3>{_pairs([*used, *formulas])}",
        ]
    )


def _p(value: float) -> str:
    return "" if pd.isna(value) else p_value(value).removeprefix("= ")


def _spread(study: FixationStudy) -> str:
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


def _rare(study: FixationStudy) -> str:
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


def _references(study: FixationStudy) -> str:
    keys = ["huang2023", "vanheuven2014"]
    if not study.fits.gains.empty:
        keys += ["bates2015", "kuznetsova2017", "holm1979"]
    if study.correlations["interval"].str.contains("Fisher").any():
        keys.append("bonett2000")
    citation = study.about["corpus"]["card"].get("citation")
    listed = [REFERENCES[k] for k in keys] + ([f"{study.corpus}: {citation}"] if citation else [])
    return list_html(sorted(listed))
