"""A fit printed the way lme4 and lmerTest print it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from psymem.fitting.fitted import Fitted

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))


def summarise(fit: Fitted) -> str:
    """Return the whole summary as text."""
    parts = [_heading(fit), _criteria(fit)]
    if fit.n_groups:
        parts.append("Random effects:\n" + _random_table(fit) + "\n" + _sizes(fit))
    else:
        parts.append(_sizes(fit))
    parts.append("Fixed effects:\n" + _fixed_table(fit))
    parts.append(_state(fit))
    return "\n\n".join(parts)


def _heading(fit: Fitted) -> str:
    spec = fit.spec
    if not fit.n_groups:
        kind = (
            "Linear model fitted by least squares"
            if spec.family == "gaussian"
            else f"Generalized linear model ({spec.family})"
        )
    elif spec.family != "gaussian":
        kind = f"Generalized linear mixed model ({spec.family}) fitted by maximum likelihood"
    else:
        kind = f"Linear mixed model fitted by {'REML' if spec.reml else 'maximum likelihood'}"
    lines = [f"{kind} [engine: {fit.engine}]", f"Formula: {spec.formula}"]
    lines += [f"Weights: {spec.weights}"] if spec.weights else []
    if spec.where:
        lines.append(f"   Rows: {spec.where}")
    for reason, count in fit.dropped_rows.items():
        lines.append(f"Left out: {count} row{'s' if count != 1 else ''} ({reason})")
    for column, levels in fit.levels.items():
        coding = fit.contrasts.get(column, "treatment")
        lines.append(f" Levels: {column} = {_shorten(levels)} ({coding} coding)")
    return "\n".join(lines)


def _shorten(levels: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(levels[:most])
    return shown if len(levels) <= most else f"{shown}, ... ({len(levels)} levels)"


def _criteria(fit: Fitted) -> str:
    name = "REML logLik" if fit.spec.reml and fit.n_groups and fit.spec.family == "gaussian" else "logLik"
    return f"{name} {fit.loglik:.4f}   AIC {fit.aic:.2f}   BIC {fit.bic:.2f}"


def _random_table(fit: Fitted) -> str:
    """Groups, names, variances, standard deviations and correlations."""
    table = fit.variance_components
    single = table[table.with_term.isna()]
    pairs = {
        (row.group, row.with_term, row.term): row.correlation
        for row in rows_of(table[table.with_term.notna()])
    }
    rows, last = [["Groups", "Name", "Variance", "Std.Dev.", "Corr"]], None
    earlier: list[str] = []
    for row in rows_of(single):
        if row.group != last:
            earlier = []
        found = [pairs.get((row.group, row.term, other)) for other in earlier]
        correlations = " ".join("" if c is None else "  NaN" if np.isnan(c) else f"{c:5.2f}" for c in found)
        group = str(row.group) if row.group != last else ""
        rows.append([group, str(row.term), number(row.variance), number(row.sd), correlations])
        earlier.append(row.term)
        last = row.group
    return columns(rows, "<<>><")


def _sizes(fit: Fitted) -> str:
    groups = "; ".join(f"{name}, {count}" for name, count in fit.n_groups.items())
    return f"Number of obs: {fit.n_obs}" + (f", groups: {groups}" if groups else "")


def _fixed_table(fit: Fitted) -> str:
    statistic = "t" if np.isfinite(fit.coefficients["df"]).any() else "z"
    percent = f"{100 * fit.spec.confidence:g}%"
    rows = [
        [
            "",
            "Estimate",
            "Std. Error",
            "df",
            f"{statistic} value",
            f"Pr(>|{statistic}|)",
            f"[{percent}",
            "CI]",
            "",
        ]
    ]
    for row in rows_of(fit.coefficients):
        stars = next((mark for limit, mark in STARS if row.p < limit), "")
        rows.append(
            [row.term, number(row.estimate), number(row.se), f"{row.df:.2f}", f"{row.t:.3f}", p_value(row.p)]
            + [number(row.ci_low), number(row.ci_high), stars]
        )
    return columns(rows, "<>>>>>>><") + "\nSignif. codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1"


def _state(fit: Fitted) -> str:
    lines = [
        f"{'Converged' if fit.converged else 'NOT CONVERGED'}; {'singular fit' if fit.singular else 'not singular'}."
    ]
    lines += [f"Note: {sentence}" for sentence in fit.warnings]
    return "\n".join(lines)


def rows_of(frame: pd.DataFrame) -> Iterator[Any]:
    """Yield the rows of a table with their columns as attributes."""
    yield from frame.itertuples()


def number(value: float) -> str:
    """Write a number with five significant digits."""
    if pd.isna(value):
        return "NA"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        return f"{value:.{max(0, 4 - int(np.floor(np.log10(abs(value) or 1))))}f}"
    return f"{value:.4e}"


def p_value(p: float) -> str:
    """Write a p value as R does."""
    if pd.isna(p):
        return "NA"
    return "<2e-16" if p < 2e-16 else f"{p:.3g}" if p < 1e-3 else f"{p:.4f}"


def columns(rows: list[list[str]], align: str) -> str:
    """Line up text in columns (``<`` left, ``>`` right)."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(align))]
    return "\n".join(
        " " + " ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, align, widths, strict=True)).rstrip()
        for row in rows
    )
