"""Summary, LaTeX, HTML and the R script of a fit."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from psymem.fitting.fit import fit
from psymem.fitting.reports import r_condition
from psymem.fitting.summary import number, p_value


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(7)
    item = np.repeat(np.arange(10), 6)
    attraction = np.tile(["none", "double"], 30)
    y = 9 + rng.normal(0, 2, 10)[item] - 0.5 * (attraction == "double") + rng.normal(0, 0.6, 60)
    frame = pd.DataFrame({"item": item, "attraction": attraction, "y_bits": y})
    frame.loc[0, "y_bits"] = np.nan
    return fit(
        frame, "y_bits ~ attraction + (1|item)", levels={"attraction": ["none", "double"]}, where="item != 9"
    )


def test_summary_shows_what_an_lme4_user_looks_for(found):
    text = str(found)
    for part in (
        "Linear mixed model fitted by REML [engine: profiled]",
        "Formula: y_bits ~ attraction + (1|item)",
        "   Rows: item != 9",
        "Left out: 6 rows (not selected by where)",
        "Left out: 1 row (missing values)",
        " Levels: attraction = none, double (treatment coding)",
        f"REML logLik {found.loglik:.4f}",
        "Number of obs: 53, groups: item, 9",
        "Converged; not singular.",
    ):
        assert part in text
    assert re.search(r"^ item +\(Intercept\) +\d", text, re.MULTILINE)
    assert re.search(r"^ attractiondouble +-0\.\d+ +0\.\d+ +43\.\d\d", text, re.MULTILINE)


def test_correlations_stand_in_the_row_of_the_later_term(crossed):
    text = fit(crossed, "y ~ x + (1 + x|subject)").summary()
    assert re.search(r"^ {10,}x +0\.\d+ +0\.\d+ +-?0\.\d\d$", text, re.MULTILINE)


def test_latex_escapes_names(found):
    text = found.to_latex()
    assert text.startswith(
        "\\begin{table}\n\\centering\n\\begin{tabular}{lrrrrrl}\n\\toprule\nTerm & Estimate"
    )
    assert (
        r"y\_bits \textasciitilde{} attraction + (1|item) where item != 9 (REML; 53 observations, 9 item;"
        in text
    )


def test_html_escapes_and_holds_both_tables(crossed):
    text = fit(crossed, "y ~ x + (1|subject)", where="x < 2").to_html()
    assert "where x &lt; 2" in text
    assert text.count("<table") == text.count("</table>") == 2


def test_r_script_sets_levels_contrasts_and_rows(crossed):
    found = fit(
        crossed,
        "y ~ condition * plural + (1|subject)",
        where="block in ('b0', 'b1') and not x > 2",
        levels={"condition": ["none", "double", "semantic"]},
        contrasts={"condition": "sum"},
        reml=False,
    )
    assert found.to_r("scores.csv") == (
        "# Refits a model of psymem with lme4; the results should agree.\n"
        "library(lme4)\n"
        "library(lmerTest)\n"
        "\n"
        'd <- read.csv("scores.csv", na.strings = c("NA", ""), check.names = FALSE, strip.white = TRUE)\n'
        'd <- subset(d, block %in% c("b0", "b1") & !(x > 2))\n'
        'd[["condition"]] <- factor(d[["condition"]], levels = c("none", "double", "semantic"))\n'
        'contrasts(d[["condition"]]) <- contr.sum(3)\n'
        'd[["plural"]] <- factor(d[["plural"]], levels = c("FALSE", "TRUE"))\n'
        'd[["subject"]] <- factor(d[["subject"]])\n'
        "\n"
        "m <- lmer(y ~ condition * plural + (1|subject), data = d, REML = FALSE)\n"
        "summary(m)\n"
        "logLik(m)\n"
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a == 'x' or b not in (1, 2)", 'a == "x" | !(b %in% c(1, 2))'),
        ("(`my column` >= -1) && flag == True", "(`my column` >= -(1)) & flag == TRUE"),
    ],
)
def test_conditions_in_r(condition, expected):
    assert r_condition(condition) == expected


def test_numbers_have_five_digits():
    assert [number(v) for v in (0.0, 12.3456789, -0.00012345678, 1234567.0, float("nan"))] == [
        "0.0000",
        "12.346",
        "-0.00012346",
        "1.2346e+06",
        "NA",
    ]
    assert [p_value(p) for p in (1e-20, 0.000123, 0.04567)] == ["<2e-16", "0.000123", "0.0457"]
