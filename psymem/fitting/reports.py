"""A fit as LaTeX, as HTML, and as the R script that fits it again."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pandas as pd

from psymem.errors import FitError
from psymem.fitting.fitted import Fitted
from psymem.fitting.formula.contrasts import Contrast
from psymem.fitting.formula.expression import Node, parse
from psymem.fitting.summary import number, p_value, rows_of

HEADINGS = ("Term", "Estimate", "SE", "df", "t", "p", "CI")
SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        **{c: f"\\{c}" for c in "_&%$#{}"},
    }
)
R_FAMILY = {"binomial": "binomial", "poisson": "poisson"}


def coefficient_cells(fit: Fitted) -> list[list[str]]:
    """Return the coefficient table as text cells, the interval in one column."""
    return [
        [row.term, number(row.estimate), number(row.se), f"{row.df:.1f}", f"{row.t:.2f}", p_value(row.p)]
        + [f"[{number(row.ci_low)}, {number(row.ci_high)}]"]
        for row in rows_of(fit.coefficients)
    ]


def to_latex(fit: Fitted) -> str:
    """Return a booktabs table of the coefficients, with formula and sizes in the caption."""
    escape: Callable[[str], str] = lambda text: text.translate(SPECIAL).replace("<", "$<$")  # noqa: E731
    lines = [r"\begin{table}", r"\centering", r"\begin{tabular}{lrrrrrl}", r"\toprule"]
    lines += [" & ".join(HEADINGS) + r" \\", r"\midrule"]
    lines += [" & ".join(escape(cell) for cell in row) + r" \\" for row in coefficient_cells(fit)]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{escape(caption(fit))}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def to_html(fit: Fitted) -> str:
    """Return an HTML table of the coefficients and the variance components."""
    body = "\n".join(_row("td", row) for row in coefficient_cells(fit))
    heading = (
        f"<caption>{html.escape(caption(fit))}</caption>\n<thead>\n{_row('th', list(HEADINGS))}\n</thead>"
    )
    return f'<table class="fit">\n{heading}\n<tbody>\n{body}\n</tbody>\n</table>\n{_variances(fit)}'


def _variances(fit: Fitted) -> str:
    cells = [
        [str(row.group), str(row.term) + ("" if pd.isna(row.with_term) else f", {row.with_term}")]
        + [number(row.variance), "" if pd.isna(row.sd) else number(row.sd)]
        + ["" if pd.isna(row.correlation) else f"{row.correlation:.2f}"]
        for row in rows_of(fit.variance_components)
    ]
    heading = _row("th", ["Group", "Name", "Variance", "SD", "Correlation"])
    body = "\n".join(_row("td", row) for row in cells)
    return f'<table class="variances">\n<thead>\n{heading}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n'


def _row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def caption(fit: Fitted) -> str:
    """Say in one line what was fitted, to how many rows, and how."""
    method = (
        ("REML" if fit.spec.reml else "ML")
        if fit.n_groups and fit.spec.family == "gaussian"
        else fit.spec.family
    )
    groups = "".join(f", {count} {name}" for name, count in fit.n_groups.items())
    rows = f" where {fit.spec.where}" if fit.spec.where else ""
    return f"{fit.spec.formula}{rows} ({method}; {fit.n_obs} observations{groups}; log-likelihood {fit.loglik:.2f})"


def to_r(fit: Fitted, table: str) -> str:
    """Return the R script that fits the model again with lme4 and lmerTest.

    Parameters
    ----------
    fit
        The fit.
    table
        Name of the CSV file the script reads.
    """
    spec = fit.spec
    lines = [
        "# Refits a model of psymem with lme4; the results should agree.",
        "library(lme4)",
        "library(lmerTest)",
        "",
    ]
    if any(node.kind == "call" and node.value == "ns" for node in parse(spec.formula).walk()):
        lines.insert(3, "library(splines)")
    lines.append(
        f'd <- read.csv({json.dumps(table)}, na.strings = c("NA", ""), check.names = FALSE, strip.white = TRUE)'
    )
    if spec.where:
        lines.append(f"d <- subset(d, {r_condition(spec.where)})")
    for column, levels in fit.levels.items():
        quoted = ", ".join(json.dumps(level, ensure_ascii=False) for level in levels)
        cell = f"d[[{json.dumps(column, ensure_ascii=False)}]]"
        lines.append(f"{cell} <- factor({cell}, levels = c({quoted}))")
        if column in spec.contrasts:
            lines.append(f"contrasts({cell}) <- {_r_contrast(spec.contrasts[column], len(levels))}")
    for group in dict.fromkeys(part for name in fit.n_groups for part in name.split(":")):
        if group not in fit.levels:
            cell = f"d[[{json.dumps(group, ensure_ascii=False)}]]"
            lines.append(f"{cell} <- factor({cell})")
    lines += ["", f"m <- {_r_call(fit)}", "summary(m)", "logLik(m)"]
    return "\n".join(lines) + "\n"


def _r_call(fit: Fitted) -> str:
    formula = fit.spec.formula.replace("**", "^")
    given = f", weights = d[[{json.dumps(fit.spec.weights)}]]" if fit.spec.weights else ""
    if not fit.n_groups:
        return (
            f"lm({formula}, data = d{given})"
            if fit.spec.family == "gaussian"
            else f"glm({formula}, data = d, family = {fit.spec.family})"
        )
    if fit.spec.family != "gaussian":
        return f"glmer({formula}, data = d, family = {fit.spec.family})"
    return f"lmer({formula}, data = d, REML = {'TRUE' if fit.spec.reml else 'FALSE'}{given})"


def _r_contrast(contrast: Contrast, n_levels: int) -> str:
    if contrast.name != "custom":
        return (
            f"contr.{contrast.name}({n_levels})"
            if contrast.name != "treatment"
            else f"contr.treatment({n_levels})"
        )
    values = ", ".join(f"{row[j]:.15g}" for j in range(len(contrast.columns)) for row in contrast.matrix)
    names = ", ".join(json.dumps(c) for c in contrast.columns)
    return f"matrix(c({values}), nrow = {n_levels}, dimnames = list(NULL, c({names})))"


def r_condition(condition: str) -> str:
    """Write a row condition in R."""
    return _r(parse(condition, "condition"))


def _r(node: Node) -> str:
    """Write one node of a condition in R."""
    children = [_r(child) for child in node.arguments]
    if node.kind == "text":
        return json.dumps(node.value, ensure_ascii=False)
    if node.kind == "number":
        return f"{node.value:.15g}"
    if node.kind == "name":
        name = str(node.value)
        if name in ("True", "False"):
            return name.upper()
        return name if name.replace("_", "a").replace(".", "a").isalnum() and name[0] != "_" else f"`{name}`"
    if node.kind == "parenthesis":
        return f"({children[0]})"
    if node.kind == "list":
        return f"c({', '.join(children)})"
    if node.kind == "unary":
        return f"{node.value}({children[0]})"
    if node.kind != "binary":
        raise FitError(f"{node.value!r} cannot be written as an R condition.")
    if node.value in ("in", "not in", "%in%"):
        inside = f"{children[0]} %in% {children[1]}"
        return f"!({inside})" if node.value == "not in" else inside
    operator = {"and": "&", "or": "|", "&&": "&", "||": "|"}.get(str(node.value), str(node.value))
    return f"{children[0]} {operator} {children[1]}"
