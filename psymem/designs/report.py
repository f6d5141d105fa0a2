"""One HTML file that holds everything about a run: it loads nothing from elsewhere and can be mailed."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem._version import __version__
from psymem.designs import wording
from psymem.designs.effects import ATTRACTION_EFFECTS, BY_ITEM_SLOPES
from psymem.designs.figures import by_item_note, means_note
from psymem.designs.rows import CRITICAL, regions_of
from psymem.outputs import base_provenance

if TYPE_CHECKING:
    from psymem.designs.factorial import FactorialResult

STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font: 13px/1.4 system-ui, sans-serif; margin: .8rem 0; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 1.5px solid #222; } tbody tr:last-child td { border-bottom: 1.5px solid #222; }
tr.slopes td { color: #666; border-bottom: 1px solid #e4e4e4; }
.scroll { overflow-x: auto; }
td.text { text-align: left; white-space: normal; } .small { font-size: .85rem; color: #555; }
blockquote { border-left: 3px solid #0072B2; margin: .8rem 0; padding: .1rem 1rem; background: #f4f8fb; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
figcaption { font-size: .85rem; color: #555; }
code { font-size: .85em; overflow-wrap: anywhere; }
"""


def report_html(result: FactorialResult, images: Mapping[str, bytes]) -> str:
    """Return the report as one HTML page.

    Parameters
    ----------
    result
        The result.
    images
        Figures by file name, as PNG; the ones at page width are shown.
    """
    title = f"{', '.join(result.models)} on {_item_set(result).get('name', 'an item set')}"
    sections = [
        f"<h1>{escape(title)}</h1>",
        _section("What was run", _facts(result)),
        _section("Items left out", _left_out(result)),
        _section("Effects at the critical word", _effects(result)),
        _section("Figures", _figures(result, images)),
        _section("Which version to cite", _paragraph(wording.which_to_cite(result))),
        _section(
            "Methods paragraph", f"<blockquote>{_paragraph(wording.methods_paragraph(result))}</blockquote>"
        ),
        _section("Results in words", "".join(_paragraph(s) for s in wording.result_sentences(result))),
        _section("Condition means", _means(result)),
        _section("What the fits say", _notes(result)),
        _section("References", _references(result)),
    ]
    body = "\n".join(s for s in sections if s)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _section(heading: str, content: str) -> str:
    return f"<h2>{heading}</h2>\n{content}" if content and content != "<p></p>" else ""


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _item_set(result: FactorialResult) -> dict[str, Any]:
    return dict(result.about.get("item_set", {}))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """Return an HTML table of cells that are escaped here."""
    cells = ["".join(f"<td>{escape(c)}</td>" for c in row) for row in rows]
    kinds = list(classes) or [""] * len(cells)
    body = "\n".join(
        f'<tr class="{k}">{c}</tr>' if k else f"<tr>{c}</tr>" for c, k in zip(cells, kinds, strict=True)
    )
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _facts(result: FactorialResult) -> str:
    item_set, run = _item_set(result), base_provenance()
    facts = [("command", run["command"]), ("item set", str(item_set.get("name", "")))]
    facts += [("items file sha256", str(item_set["sha256"]))] if "sha256" in item_set else []
    facts += [(f"model {m.get('model', '')}", _model_fact(m)) for m in result.about.get("models", [])]
    facts += [
        ("measures", ", ".join(result.measures)),
        ("engine, alpha", f"{result.tests.engine}, {result.tests.alpha:g}"),
        ("psymem", f"{__version__}, Python {run['python']}"),
        ("packages", ", ".join(f"{k} {v}" for k, v in run["packages"].items())),
    ]
    rows = "".join(
        f'<tr><td>{escape(k)}</td><td class="text"><code>{escape(v)}</code></td></tr>' for k, v in facts
    )
    notes = "".join(f"<li>{escape(n)}</li>" for n in item_set.get("notes", []))
    return f"<table><tbody>{rows}</tbody></table>" + (f"<ul>{notes}</ul>" if notes else "")


def _model_fact(about: Any) -> str:
    flat = {k: v for k, v in dict(about).items() if isinstance(v, (str, int, float))}
    return ", ".join(f"{k} {v}" for k, v in flat.items())


def _left_out(result: FactorialResult) -> str:
    left, total = result.left_out, result.scores["item"].nunique()
    if left.empty:
        return _paragraph(
            f"None: every target, attractor and critical word of all {total} items is in the vocabulary."
        )
    verdict = "kept on request" if result.keep_oov else "left out"
    intro = (
        f"{left['item'].nunique()} of {total} items have a target, attractor or critical word outside the "
        "vocabulary "
        f"of a model and were {verdict}, for all models alike."
    )
    rows = left[["item", "role", "word", "conditions", "models"]].astype(str).to_numpy().tolist()
    return _paragraph(intro) + _table(["item", "role", "word", "conditions", "models"], rows)


def _effects(result: FactorialResult) -> str:
    parts = []
    critical = result.effects[result.effects["region"] == CRITICAL]
    for (model, measure), part in critical.groupby(["model", "measure"], sort=False):
        head = [
            "effect",
            "random effects",
            "estimate",
            "95% CI",
            "df",
            "t",
            "p",
            "p (Holm)",
            "people",
            "consistent",
        ]
        rows, classes = [], []
        for _, row in part.iterrows():
            rows.append(_effect_cells(row))
            classes.append("slopes" if row["structure"] == BY_ITEM_SLOPES else "")
        parts.append(
            f"<h3>{escape(wording.short_name(str(measure)))}, {escape(str(model))}</h3>"
            + _table(head, rows, classes)
        )
    return "".join(parts) + _reading(result)


def _effect_cells(row: pd.Series) -> list[str]:
    name = (
        row["effect"]
        if pd.isna(row["subtraction"])
        else f"{row['effect'].replace('-', ' ')}: {row['subtraction']}"
    )
    cells = [
        name.replace(" - ", " − "),
        "not estimable" if pd.isna(row["random_effects"]) else row["random_effects"],
    ]
    if pd.isna(row["estimate"]):
        return [*cells, *["NA"] * 6, *_human_cells(row)]
    interval = f"[{wording.number(row['ci_low'])}, {wording.number(row['ci_high'])}]"
    numbers = [
        wording.number(row["estimate"]) + wording.stars(row["p"]),
        interval,
        wording.number(row["df"], 1),
    ]
    tests = [
        wording.number(row["t"], 2),
        *(wording.p_value(row[c]).removeprefix("= ") for c in ("p", "p_holm")),
    ]
    return [*cells, *numbers, *tests, *_human_cells(row)]


def _human_cells(row: pd.Series) -> list[str]:
    people = "" if pd.isna(row["human_direction"]) else str(row["human_direction"])
    agreed = "" if pd.isna(row["consistent"]) else "yes" if row["consistent"] else "no"
    return [people, agreed]


def _reading(result: FactorialResult) -> str:
    """Explain the columns under the table."""
    if not result.attraction:
        return ""
    text = (
        "A negative estimate means attraction: lower surprisal, or less attention to the subject, with an "
        "attractor. "
        "People: the effect on the percentage of trials judged implausible; negative means fewer with an "
        "attractor, null "
        "that it cannot be told from zero. Consistent: people's effect is reliable, and the model's has "
        "the same sign "
        f"and p < {result.tests.alpha:g}; or people's is null, and the model's p is at least "
        f"{result.tests.alpha:g} "
        "(absence of evidence, on both sides). Attention entropy has no human counterpart. Stars: p < .05, "
        ".01, .001, "
        "uncorrected."
    )
    rows = "".join(
        f"<li>{escape(e.label)} ({escape(e.subtraction)}): {escape(e.human_evidence)}</li>"
        for e in ATTRACTION_EFFECTS
    )
    return f'<p class="small">{escape(text)}</p><ul class="small">{rows}</ul>'


def _figures(result: FactorialResult, images: Mapping[str, bytes]) -> str:
    shown = []
    for name, image in images.items():
        if name.endswith("_column"):
            continue
        caption = by_item_note(result) if name.endswith("by_item") else means_note(result)
        encoded = base64.b64encode(image).decode("ascii")
        shown.append(
            f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{encoded}">'
            f"<figcaption>{escape(name)}.pdf. {escape(caption)}</figcaption></figure>"
        )
    return "".join(shown)


def _means(result: FactorialResult) -> str:
    """Table of means: conditions in rows, measures in columns, one block per model and region."""
    parts = []
    for model in result.models:
        for region in regions_of(result.means):
            part = result.means[(result.means["model"] == model) & (result.means["region"] == region)]
            cells = part.assign(
                cell=[
                    f"{wording.number(m)} [{wording.number(a)}, {wording.number(b)}]"
                    for m, a, b in part[["mean", "ci_low", "ci_high"]].itertuples(index=False)
                ]
            )
            wide = cells.pivot(index="condition", columns="measure", values="cell")[list(result.measures)]
            rows = [
                [str(i), *(str(v) for v in row)] for i, row in zip(wide.index, wide.to_numpy(), strict=True)
            ]
            head = ["condition", *(wording.short_name(m) for m in result.measures)]
            parts.append(f"<h3>{escape(region)}, {escape(model)}</h3>" + _table(head, rows))
    return "".join(parts) + f'<p class="small">Mean [interval]. {escape(means_note(result))}</p>'


def _notes(result: FactorialResult) -> str:
    """List what fits warn of, once each with the number of fits."""
    notes = result.effects["note"].fillna("").replace("", pd.NA).dropna()
    if notes.empty:
        return _paragraph("Every model converged without a warning.")
    counted = notes.value_counts()
    return "<ul>" + "".join(f"<li>{escape(str(n))} ({k}×)</li>" for n, k in counted.items()) + "</ul>"


def _references(result: FactorialResult) -> str:
    keys = (
        list(wording.REFERENCES)
        if result.attraction
        else [k for k in wording.REFERENCES if k not in ("timkey2023", "laurinavichyute2022", "barr2013")]
    )
    listed = sorted(wording.REFERENCES[k] for k in keys)
    card = _item_set(result).get("card", {})
    listed += [f"Items: {card['citation']}"] if isinstance(card, dict) and "citation" in card else []
    return "<ul>" + "".join(f"<li>{escape(r)}</li>" for r in listed) + "</ul>"
