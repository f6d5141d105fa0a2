"""The report of a reading study: one HTML file that loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import pandas as pd

from psymem.reports.page import (
    command_fact,
    facts_html,
    figure_html,
    model_facts,
    p_cell,
    page,
    scores_facts,
    section,
    software_facts,
)
from psymem.reports.references import REFERENCES
from psymem.reports.tables import list_html, table_html
from psymem.reports.wording import number, short_name, stars
from psymem.studies.common.rows import display_name
from psymem.studies.reading.figures import power_note, readers_note, shape_note, spillover_note
from psymem.studies.reading.predictive_power import INTERCEPTS, SLOPES
from psymem.studies.reading.result import Analysis, ReadingResult
from psymem.studies.reading.wording import data_sentences, methods_paragraph, result_sentences

POWER_HEAD = (
    "model", "measure", "random effects", "in the sample: ΔlogLik of all rows (nats)", "χ²", "df",
    "p of the likelihood ratio", "adjusted", "held out: gain per row (nats)", "95% CI of the gain", "p held out", "adjusted",
)  # fmt: skip
POWER_NOTE = (
    "ΔlogLik is a total over the rows that the models were fitted to; the held-out gain is an average per row that they "
    "were not fitted to. A useless measure is expected to lose when held out, so its gain is no test: p held out asks "
    "whether the effects added are 0, one-sided, by flipping the signs of the scores of whole texts or sentences."
)
EFFECT_HEAD = (
    "model",
    "measure",
    "random effects",
    "word",
    "estimate",
    "95% CI",
    "df",
    "t",
    "p",
    "p (adjusted)",
)


def report_html(study: ReadingResult, images: Mapping[str, bytes]) -> str:
    """Return the report as one HTML page.

    Parameters
    ----------
    study
        The study.
    images
        Figures by file name, as PNG.
    """
    title = f"Reading times: {', '.join(dict.fromkeys(a.corpus for a in study.analyses))}"
    sections = [f"<h1>{escape(title)}</h1>", section("What was run", _facts(study))]
    sections += [section("In words", list_html(result_sentences(study)))]
    for analysis in study.analyses:
        sections.append(section(escape(analysis.name), _analysis(analysis)))
    sections += [
        section("Figures", _figures(study, images)),
        section("Methods paragraph", f"<blockquote><p>{escape(methods_paragraph(study))}</p></blockquote>"),
        section("References", _references(study)),
    ]
    return page(title, sections)


def _facts(study: ReadingResult) -> str:
    facts = [command_fact()]
    for corpus in study.about.get("corpora", []):
        card = corpus.get("card", {})
        described = ", ".join(str(card[k]) for k in ("title", "licence") if k in card)
        about = f"{corpus['words']:,} words, {corpus['rows']:,} rows"
        facts.append((f"corpus {corpus['name']}", f"{about}{'; ' + described if described else ''}"))
    facts += model_facts(study.about.get("scoring", {}).get("models", []))
    facts += scores_facts(study.about.get("scores", []))
    facts += software_facts()
    notes = [f"{c['name']}: {n}" for c in study.about.get("corpora", []) for n in c.get("notes", [])]
    notes += [str(n) for n in study.about.get("scoring", {}).get("notes", [])]
    return facts_html(facts) + (list_html(notes) if notes else "")


def _analysis(analysis: Analysis) -> str:
    power = analysis.power
    parts = [
        list_html([*data_sentences(analysis), *analysis.notes]),
        "<h3>What each measure adds to the base model</h3>",
        _power_html(power.table),
        "<h3>Effects of the measures</h3>",
        _effects_html(power.coefficients),
        "<h3>Is the effect a straight line?</h3>",
        _shape_html(analysis),
        "<h3>Base model</h3>",
        _base_html(power.base.coefficients),
        "<h3>Rows left out</h3>",
        _exclusions_html(analysis.exclusions),
        "<h3>Settings</h3>",
        facts_html([*analysis.settings.described(analysis.averaged), *_formulas(power.formulas)]),
    ]
    return "\n".join(parts)


def _formulas(formulas: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(f"formula, {name}", formula) for name, formula in formulas.items()]


def _power_html(table: pd.DataFrame) -> str:
    rows, classes = [], []
    for row in table.itertuples():
        name = display_name(row.model)
        cells = [f"one instance: {name}" if row.instance_of else name, short_name(row.measure), row.structure]
        if pd.isna(row.delta_loglik):
            rows.append([*cells, str(row.note), *[""] * 8])
        else:
            interval = (
                ""
                if pd.isna(row.held_out_gain_per_obs)
                else f"[{number(row.held_out_gain_ci_low, 4)}, {number(row.held_out_gain_ci_high, 4)}]"
            )
            rows.append(
                [
                    *cells,
                    number(row.delta_loglik, 2),
                    number(row.chi_square, 2),
                    number(row.df, 0),
                    p_cell(row.p),
                    p_cell(row.p_adjusted),
                    "" if pd.isna(row.held_out_gain_per_obs) else number(row.held_out_gain_per_obs, 4),
                    interval,
                    p_cell(row.held_out_p),
                    p_cell(row.held_out_p_adjusted),
                ]
            )
        classes.append("slopes" if row.instance_of else "")
    notes = table.loc[table["note"].fillna("") != "", ["model", "structure", "note"]]
    said = [f"{r.model}, {r.structure}: {r.note}" for r in notes.itertuples()]
    explained = f"<p>{escape(POWER_NOTE)}</p>" if table["held_out_gain_per_obs"].notna().any() else ""
    return table_html(POWER_HEAD, rows, classes) + explained + (list_html(said) if said else "")


def _effects_html(table: pd.DataFrame) -> str:
    rows, classes = [], []
    for row in table.itertuples():
        name = display_name(row.model)
        back = int(row.words_back)
        rows.append(
            [
                f"one instance: {name}" if row.instance_of else name,
                short_name(row.measure),
                row.structure,
                "itself" if back == 0 else f"{back} before",
                f"{number(row.estimate, 2)}{stars(row.p)} {row.unit}",
                f"[{number(row.ci_low, 2)}, {number(row.ci_high, 2)}]",
                number(row.df, 1),
                number(row.t, 2),
                p_cell(row.p),
                p_cell(row.p_adjusted),
            ]
        )
        classes.append("slopes" if row.instance_of else "")
    return table_html(EFFECT_HEAD, rows, classes)


def _shape_html(analysis: Analysis) -> str:
    rows = [
        [
            display_name(model),
            short_name(measure),
            number(float(shape.test["chi_square"].iloc[0]), 2),
            number(float(shape.test["df"].iloc[0]), 0),
            p_cell(shape.test["p"].iloc[0]),
            str(shape.test["knots"].iloc[0]),
        ]
        for (model, measure), shape in analysis.shapes.items()
    ]
    return table_html(("model", "measure", "χ², spline against line", "df", "p", "knots"), rows)


def _base_html(table: pd.DataFrame) -> str:
    rows = [
        [
            row.term,
            number(row.estimate, 3),
            number(row.se, 3),
            f"[{number(row.ci_low, 3)}, {number(row.ci_high, 3)}]",
            number(row.df, 1),
            number(row.t, 2),
            p_cell(row.p),
        ]
        for row in table.itertuples()
    ]
    return table_html(("term", "estimate", "SE", "95% CI", "df", "t", "p"), rows)


def _exclusions_html(table: pd.DataFrame) -> str:
    rows = [[r.reason, f"{r.rows_left_out:,}", f"{r.rows_left:,}"] for r in table.itertuples()]
    return table_html(("reason", "rows left out", "rows left"), rows)


def _figures(study: ReadingResult, images: Mapping[str, bytes]) -> str:
    notes = {
        "delta_loglik": power_note,
        "spillover": spillover_note,
        "shape": shape_note,
        "by_reader": readers_note,
    }
    shown = []
    for name, image in images.items():
        if name.endswith("_column"):
            continue
        caption = f"{name.replace('_', ' ')}: {notes[name](study)}"
        shown.append(figure_html(image, caption, f"{name}.pdf"))
    return "".join(shown)


def _references(study: ReadingResult) -> str:
    keys = ["holm1979", "goodkind2018"]
    if any(a.power.held_out is not None for a in study.analyses):
        keys.append("hemerik2020")
    if any(a.rows.random for a in study.analyses):
        keys += ["bates2015", "kuznetsova2017"]
    structures = set(study.delta_loglik["structure"])
    keys += ["barr2013"] if structures > {INTERCEPTS} or SLOPES in structures else []
    listed = [REFERENCES[k] for k in keys]
    for corpus in study.about.get("corpora", []):
        citation = corpus.get("card", {}).get("citation")
        listed += [f"{corpus['name']}: {citation}"] if citation else []
    return list_html(sorted(dict.fromkeys(listed)))
