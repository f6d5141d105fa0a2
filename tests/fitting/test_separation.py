"""Effects whose estimates are infinite, and fits that did not converge."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import FitError
from psymem.fitting.fit import fit
from psymem.fitting.formula.design import build as build_design
from psymem.fitting.separation import separating_columns
from psymem.fitting.spec import make_spec

SENTENCE = (
    "Separation: taskreading predicts correct without error in some rows, so its estimate is infinite. The numbers shown "
    "for it are where the search stopped, and their standard errors and p-values mean nothing. Merge categories or leave "
    "the term out, or use a method that shrinks estimates (R's blme or brglm2)."
)


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    """12 people, 240 answers to two tasks: nobody errs in one of them."""
    k = np.arange(240)
    frame = pd.DataFrame({"person": [f"p{i}" for i in k % 12], "task": np.where(k % 2, "reading", "naming")})
    frame["length"] = np.round(np.sin(1.3 * k), 3)
    frame["correct"] = ((frame["task"] == "reading") | (np.cos(2.1 * k) > -0.4)).astype(int)
    return frame


def separating(frame, formula, family="binomial"):
    return separating_columns(build_design(frame, make_spec(formula, family=family)), family)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param({"x": [1, 2, 3, 4, 5, 6], "y": [0, 0, 0, 1, 1, 1]}, ["x"], id="complete"),
        pytest.param({"x": [1, 2, 3, 3, 4, 5], "y": [0, 0, 0, 1, 1, 1]}, ["x"], id="but for a tie"),
        pytest.param({"x": [1, 2, 3, 4, 5, 6], "y": [0, 1, 0, 1, 0, 1]}, [], id="overlapping"),
        pytest.param({"x": [1, 2, 3, 4, 5, 6], "y": [1, 1, 1, 1, 1, 1]}, ["x"], id="one outcome"),
    ],
)
def test_direction_that_separates(rows, expected):
    assert separating(pd.DataFrame(rows), "y ~ x") == expected


def test_only_the_term_that_separates_is_named(answers):
    assert separating(answers, "correct ~ task + length") == ["taskreading"]
    assert separating(answers[answers["task"] == "naming"], "correct ~ length") == []


def test_counts_that_are_all_0_in_a_category():
    frame = pd.DataFrame({"y": [0, 0, 0, 2, 1, 0], "group": ["a", "a", "a", "b", "b", "b"]})
    assert separating(frame, "y ~ group", "poisson") == ["groupb"]


def test_it_is_the_first_thing_a_fit_says(answers):
    found = fit(answers, "correct ~ task + length", family="binomial")
    assert found.warnings[0] == SENTENCE
    fine = fit(answers[answers["task"] == "naming"], "correct ~ length", family="binomial")
    assert not [w for w in fine.warnings if w.startswith("Separation")]


@pytest.mark.r
def test_lme4_is_no_different(rscript, answers):
    """lme4's own words are a message about its Hessian, or none; a singular fit is something else."""
    found = fit(answers, "correct ~ task + length + (1|person)", family="binomial", engine="lme4")
    assert found.warnings[0] == SENTENCE
    assert found.coefficients.set_index("term").loc["taskreading", "se"] > 20


def test_message_about_the_hessian_is_not_a_singular_fit():
    from psymem.fitting.engines.lme4 import UNCONVERGED, _sentences

    hessian = "Hessian is numerically singular: parameters are not uniquely determined"
    assert _sentences((hessian,)) == [f"lme4 says: {hessian}."]
    assert any(part in hessian for part in UNCONVERGED)
    assert _sentences(("boundary (singular) fit: see help('isSingular')",))[0].startswith(
        "The fit is singular"
    )


@pytest.fixture
def stopped(monkeypatch, tmp_path):
    """A table, while the default engine may take no more than one step."""
    monkeypatch.setattr("psymem.fitting.profiled.optimise.MAX_ITERATIONS", 1)
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(10), 6)
    frame = pd.DataFrame({"g": group, "x": rng.normal(size=60)})
    frame["y"] = rng.normal(size=10)[group] * (1 + frame["x"]) + rng.normal(size=60)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


FORMULA = "y ~ x + (1 + x|g)"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["fit", "-f", FORMULA], id="fit"),
        pytest.param(["compare", "--base", "y ~ 1 + (1 + x|g)", "--full", FORMULA], id="compare"),
        pytest.param(["power", "-f", FORMULA, "--simulations", "2"], id="power"),
    ],
)
def test_no_table_of_a_fit_that_did_not_converge(stopped, tmp_path, command):
    out = tmp_path / "out"
    given = [command[0], str(stopped), *command[1:], "--out", str(out), "-q"]
    result = CliRunner().invoke(build(), given)
    assert isinstance(result.exception, FitError)
    message = str(result.exception)
    assert message.startswith(f"The fit of {command[2]} did not converge, so no table is given. ")
    assert message.endswith(
        "Simplify the random effects, rescale predictors or choose another engine; --force shows the numbers all the same."
    )
    assert result.stdout == ""
    assert not out.exists()


def test_a_user_can_insist(stopped):
    result = CliRunner().invoke(build(), ["fit", str(stopped), "-f", FORMULA, "--force", "--json", "-q"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["converged"] is False
