"""Sentences with words shaded by fixation duration, as HTML; what the sources and shades of the figure are called."""

from __future__ import annotations

from html import escape

import pandas as pd

from psymem.plotting.fixations import shade_colour
from psymem.reports.page import page
from psymem.reports.tables import table_html
from psymem.reports.wording import number
from psymem.studies.fixations.result import FixationResult
from psymem.studies.fixations.sentences import HUMAN
from psymem.studies.fixations.wording import NOT_CAUSAL, model_name

SENTENCE_STYLE = """
.sentence { margin: 1.1rem 0; } .row { display: flex; flex-wrap: wrap; margin: 2px 0; align-items: baseline; }
.row b { flex: 0 0 9rem; font: 12px system-ui, sans-serif; color: #444; overflow-wrap: anywhere; padding-right: .5rem; }
.row div { flex: 1; line-height: 1.75; } .row span { padding: .12rem .22rem; color: #000; }
.row span.none { color: #777; font-style: italic; }
.bar { display: inline-block; width: 11rem; height: .8rem; border: 1px solid #888; vertical-align: middle; margin: 0 .4rem; }
"""


def source_names(study: FixationResult) -> dict[str, str]:
    """What each source of the figure is called in it."""
    ahead = study.not_causal
    return {
        s: s if s == HUMAN else model_name(s, causal=s not in ahead)
        for s in dict.fromkeys(study.plotted["source"])
    }


def figure_note(study: FixationResult) -> str:
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


def sentences_page(study: FixationResult) -> str:
    """Return the figure as an HTML page; pointing at a word shows its value."""
    title = f"Model and human fixations: {study.corpus}"
    parts = [f"<h1>{escape(title)}</h1>", sentences_html(study), plotted_html(study)]
    return page(title, parts, SENTENCE_STYLE)


def sentences_html(study: FixationResult) -> str:
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


def plotted_html(study: FixationResult) -> str:
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
