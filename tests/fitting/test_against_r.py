"""Simulated maximal designs and odd formulas, with lme4 and lmerTest as oracle: one run of R for all of them."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest

from psymem.fitting.fit import fit

pytestmark = pytest.mark.r

MODELS: dict[str, dict] = {
    "maximal": {"formula": "y ~ condition + x + (1 + x|subject) + (1 + condition|item)"},
    "functions": {
        "formula": "y ~ condition * x + I(x^2) + scale(z) + log(z + 10) + (1 + x|subject) + (1|item)"
    },
    "uncorrelated": {"formula": "y ~ condition + x + (1 + x + z || subject) + (1|item)", "reml": False},
    "nested": {"formula": "y ~ plural * condition + (0 + plural|subject) + (1|block/item)"},
    "polynomial": {"formula": "y ~ poly(x, 2) + (1|subject) + (1|subject:block) + (0 + x|item)"},
    "interaction alone": {"formula": "y ~ condition:plural + x + (1|subject)"},
    "no intercept": {"formula": "y ~ 0 + condition + x + (1|subject)"},
    "own levels": {
        "formula": "y ~ condition + (0 + condition|subject) + (1|item)",
        "levels": {"condition": ["semantic", "none", "double"]},
    },
    "sum": {"formula": "y ~ condition * x + (1|subject)", "contrasts": {"condition": "sum"}},
    "helmert": {"formula": "y ~ condition * plural + (1|subject)", "contrasts": {"condition": "helmert"}},
    "custom": {
        "formula": "y ~ condition + (1|subject)",
        "contrasts": {"condition": {"any": [-2 / 3, 1 / 3, 1 / 3], "both": [0, -0.5, 0.5]}},
    },
    "rank deficient": {"formula": "y ~ x + I(2 * x - 1) + condition + (1|subject)"},
    "linear model": {"formula": "y ~ condition * x"},
}

PRELUDE = """
suppressMessages({library(lme4); library(lmerTest); library(emmeans)})
report <- function(name, m) {
  s <- coef(summary(m)); v <- vcov(m)
  cat("@", name, "\\t", format(as.numeric(logLik(m)), digits = 15), "\\n", sep = "")
  for (k in rownames(s)) cat(k, "\\t", paste(format(s[k, ], digits = 15), collapse = "\\t"), "\\n", sep = "")
}
"""


@pytest.fixture(scope="module")
def expected(rscript, crossed, tmp_path_factory):
    """Model name to (log-likelihood, {term: numbers of R's summary})."""
    folder = tmp_path_factory.mktemp("r")
    script = PRELUDE
    for name, model in MODELS.items():
        options = dict(model)
        found = fit(crossed, **options)
        script += found.to_r(str(folder / "table.csv")).replace(
            "summary(m)\nlogLik(m)", f"report({json.dumps(name)}, m)"
        )
    crossed.assign(plural=np.where(crossed.plural, "TRUE", "FALSE")).to_csv(
        folder / "table.csv", index=False, float_format="%.17g"
    )
    script += "".join(EXTRA)
    (folder / "all.R").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [rscript, str(folder / "all.R")], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, tuple[float, dict[str, list[float]]]] = {}
    for line in done.stdout.splitlines():
        head, _, rest = line.partition("\t")
        if line.startswith("@"):
            current: dict[str, list[float]] = {}
            results[head[1:]] = (float(rest), current)
        elif rest:
            current[head] = [float(cell) for cell in rest.split("\t")]
    return results


INTERVALS = "y ~ x + (1|subject)"
MEANS = "y ~ condition * x + plural + (1|subject) + (1|item)"
EXTRA = (
    f"m <- lmer({INTERVALS}, d)\n"
    'i <- suppressMessages(confint(m, parm = c("(Intercept)", "x"), method = "profile"))\n'
    'cat("@profile\\t0\\n"); for (k in rownames(i)) cat(k, "\\t", paste(format(i[k, ], digits = 15), '
    'collapse = "\\t"), "\\n", sep = "")\n',
    'd$condition <- factor(d$condition, levels = c("none", "double", "semantic"))\n',
    "contrasts(d$condition) <- contr.treatment(3)\n",
    f'm <- lmer({MEANS}, d)\ne <- emmeans(m, "condition", lmer.df = "satterthwaite")\n',
    'cat("@emmeans\\t0\\n"); s <- as.data.frame(e)\n',
    'for (k in seq_len(nrow(s))) cat(as.character(s$condition[k]), "\\t", paste(format(as.numeric(s[k, '
    'c("emmean", "SE", "df")]), '
    'digits = 15), collapse = "\\t"), "\\n", sep = "")\n',
    'cat("@pairs\\t0\\n"); s <- as.data.frame(pairs(e))\n',
    'for (k in seq_len(nrow(s))) cat(as.character(s$contrast[k]), "\\t", paste(format(as.numeric(s[k, '
    'c("estimate", "SE", "df", '
    '"p.value")]), digits = 15), collapse = "\\t"), "\\n", sep = "")\n',
)


@pytest.mark.parametrize("name", MODELS)
def test_equals_r(crossed, expected, name):
    loglik, rows = expected[name]
    found = fit(crossed, **MODELS[name])
    table = found.coefficients.set_index("term")
    assert table.index.tolist() == list(rows)
    theirs = np.array(list(rows.values()))
    np.testing.assert_array_less(np.abs(table.estimate - theirs[:, 0]) / theirs[:, 1], 5e-4)
    np.testing.assert_allclose(table.se, theirs[:, 1], rtol=1e-4)
    if found.n_groups:
        np.testing.assert_allclose(table["df"], theirs[:, 2], rtol=0.01)
        assert found.loglik > loglik - 1e-4
    assert found.loglik == pytest.approx(loglik, abs=1e-4)


def test_profile_intervals_equal_confint(crossed, expected):
    _, rows = expected["profile"]
    found = fit(crossed, INTERVALS, intervals="profile").coefficients
    theirs = np.array([rows[term] for term in found.term])
    np.testing.assert_allclose(found[["ci_low", "ci_high"]], theirs, rtol=2e-4)


def test_marginal_means_equal_emmeans(crossed, expected):
    found = fit(crossed, MEANS, levels={"condition": ["none", "double", "semantic"]})
    means = found.marginal_means("condition").set_index("condition")
    for level, (mean, se, df) in expected["emmeans"][1].items():
        row = means.loc[level]
        assert row.estimate == pytest.approx(mean, rel=1e-5)
        assert (row.se, row["df"]) == (pytest.approx(se, rel=1e-4), pytest.approx(df, rel=0.01))
    pairs = found.pairwise("condition").set_index("contrast")
    for contrast, (estimate, se, df, p) in expected["pairs"][1].items():
        row = pairs.loc[contrast]
        assert row.estimate == pytest.approx(estimate, rel=1e-4)
        assert (row.se, row["df"]) == (pytest.approx(se, rel=1e-4), pytest.approx(df, rel=0.01))
        assert row.p == pytest.approx(p, abs=1e-4)


def test_uncentred_slope_is_not_worse_than_r_and_equals_the_centred_model(crossed):
    """A slope on years: lme4 stops early there, so the oracle is the same model with years counted from their mean."""
    year = 2000 + np.round(5 * crossed.x)
    raw = fit(crossed.assign(year=year), "y ~ year + (1 + year|subject)")
    centred = fit(crossed.assign(year=year - year.mean()), "y ~ year + (1 + year|subject)")
    assert raw.loglik == pytest.approx(centred.loglik, abs=1e-5)
    columns = ["estimate", "se", "df"]
    pd.testing.assert_series_equal(
        raw.coefficients.loc[1, columns].astype(float),
        centred.coefficients.loc[1, columns].astype(float),
        rtol=1e-4,
    )
