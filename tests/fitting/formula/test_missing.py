"""Missing cells mean the same in the command, in the function and in the exported R script."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import FitError
from psymem.fitting.cross_validation import cross_validate, group_column
from psymem.fitting.fit import fit
from psymem.fitting.formula.missing import with_missing

FORMULA = "score ~ type + (1|school)"
# lme4 1.1-31 and lmerTest, d <- read.csv(path, na.strings = c("NA", ""), stringsAsFactors = TRUE):
#   m <- lmer(score ~ type + (1|school), d); logLik(m); coef(summary(m))
LOGLIK = -191.810451673
ESTIMATES = [34.085023402, -1.912475551, -3.798090120]
DF = [10.89962322, 72.13683206, 72.12350499]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """88 rows of 8 schools: two without a type, three without a school, one without a score, two without a result."""
    k = np.arange(88)
    kind = (k * 7 + k // 5) % 3
    score = np.round(30 + 4 * np.sin(k // 11) + 2 * kind + 3 * np.cos(1.7 * k), 2)
    names = np.array(["small", "regular", "aide"])[kind]
    table = pd.DataFrame({"school": [f"s{i}" for i in k // 11], "type": names, "score": score}).astype(object)
    table["passed"] = np.where(score > 31, "yes", "no")
    table.loc[[5, 40], "type"] = ["NA", ""]
    table.loc[[11, 12, 60], "school"] = ["NA", "", "NA"]
    table.loc[70, "score"] = "NA"
    table.loc[[3, 50], "passed"] = ["NA", ""]
    path = tmp_path_factory.mktemp("missing") / "scores.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def as_text(written):
    """The file as a frame in which "NA" and "" are text."""
    frame = pd.read_csv(written, keep_default_na=False)
    return frame.assign(score=pd.to_numeric(frame["score"], errors="coerce"))


def command(*arguments):
    result = CliRunner().invoke(build(), [str(a) for a in arguments], catch_exceptions=False)
    return json.loads(result.stdout)


def test_command_leaves_out_what_lme4_leaves_out(written):
    found = command("fit", written, "-f", FORMULA, "--json", "-q")
    assert (found["n_obs"], found["n_groups"]) == (82, {"school": 8})
    assert found["dropped_rows"] == {"missing values": 6}
    assert found["levels"] == {"type": ["aide", "regular", "small"]}
    assert found["loglik"] == pytest.approx(LOGLIK, abs=1e-6)
    assert [row["estimate"] for row in found["coefficients"]] == pytest.approx(ESTIMATES, rel=1e-6)
    assert [row["df"] for row in found["coefficients"]] == pytest.approx(DF, rel=1e-3)


@pytest.mark.parametrize("kind", ["pandas", "text", "categories"])
def test_function_does_what_the_command_does(written, as_text, kind):
    frame = {
        "pandas": pd.read_csv(written),
        "text": as_text,
        "categories": as_text.astype({"type": "category", "school": "category"}),
    }[kind]
    found = fit(frame, FORMULA)
    assert (found.n_obs, dict(found.n_groups)) == (82, {"school": 8})
    assert found.loglik == pytest.approx(LOGLIK, abs=1e-6)


@pytest.mark.r
def test_exported_script_does_what_the_command_does(written, rscript, tmp_path):
    script = tmp_path / "refit.R"
    script.write_text(
        fit(pd.read_csv(written), FORMULA).to_r(str(written)) + "cat(nobs(m), ngrps(m))\n", "utf-8"
    )
    done = subprocess.run([rscript, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "82 8"
    assert f"'log Lik.' {LOGLIK:.4f}" in done.stdout


def test_comparison_uses_the_same_rows(written):
    """anova(m0, m1) of lme4 after subset(d, !is.na(type)), both by maximum likelihood: 26.65424."""
    base = ["--base", "score ~ 1 + (1|school)", "--full", FORMULA, "--complete-rows", "--json", "-q"]
    row = command("compare", written, *base)["comparison"][1]
    assert (row["n_obs"], row["df"]) == (82, 2)
    assert row["chi_square"] == pytest.approx(26.65424, rel=1e-5)


def test_response_of_yes_no_and_missing_has_two_categories(written):
    """R's glm(passed ~ type, d, family = binomial): 84 rows."""
    found = command("fit", written, "-f", "passed ~ type", "--family", "binomial", "--json", "-q")
    assert found["n_obs"] == 84
    estimates = [row["estimate"] for row in found["coefficients"]]
    assert estimates == pytest.approx([1.2527629685, -0.6021754024, -1.8505999692], rel=1e-6)
    assert found["loglik"] == pytest.approx(-52.1987568385, abs=1e-8)


def test_condition_is_not_satisfied_by_what_is_missing(written):
    found = command("fit", written, "-f", "score ~ 1", "--where", "type != 'aide'", "--json", "-q")
    expected = pd.read_csv(written).query("type == 'small' or type == 'regular'")["score"].dropna()
    assert found["n_obs"] == len(expected)
    assert found["coefficients"][0]["estimate"] == pytest.approx(expected.mean())


def test_prediction_of_a_row_without_a_category_is_missing(as_text):
    found = fit(as_text, FORMULA).predict(as_text)
    assert np.flatnonzero(np.isnan(found)).tolist() == [5, 40]


def test_rows_without_a_group_are_not_held_out_as_a_group(as_text):
    fits = [fit(as_text, formula, reml=False) for formula in ("score ~ 1", "score ~ school")]
    with pytest.raises(FitError) as raised:
        cross_validate(fit(as_text, "score ~ 1"), fits[:1], group_column(as_text, "school"), folds=4)
    assert str(raised.value) == "3 rows have no value in 'school', the column that groups are held out by."


def test_other_words_stay_categories():
    frame = pd.DataFrame({"a": ["null", "nan", "None", "NA", ""], "n": [1, 2, 3, 4, 5]})
    assert with_missing(frame)["a"].isna().tolist() == [False, False, False, True, True]
    assert with_missing(frame, ["n"]) is frame
