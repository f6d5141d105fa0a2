"""What ``psymem fit`` and ``compare`` show beyond the summary."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.fitting.fit import fit
from psymem.fitting.followup.bootstrap import bootstrap, bootstrap_test
from psymem.fitting.followup.random_tests import random_effect_tests

FORMULA = "rt ~ task * x + (1|person)"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """10 people x 12 rows."""
    k = np.arange(120)
    frame = pd.DataFrame({"person": [f"p{i}" for i in k % 10], "task": np.where(k // 10 % 2, "read", "name")})
    frame["x"] = np.round(np.sin(1.3 * k), 3)
    frame["rt"] = np.round(
        300 + 20 * (k // 10 % 2) + 10 * frame.x + 30 * np.sin(k % 10) + 15 * np.cos(k * k), 2
    )
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    result = CliRunner().invoke(build(), [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_every_table_is_printed_written_and_in_the_json(table, tmp_path):
    options = [
        "--anova",
        "III",
        "--random-tests",
        "--r2",
        "--ranef",
        "--diagnostics",
        "--bootstrap",
        "5",
        "--seed",
        "3",
    ]
    shown = run("fit", table, "-f", FORMULA, *options, "--out", tmp_path / "fit.csv")
    for title in (
        "Type III tests (satterthwaite)",
        "Random effects left out, likelihood ratios (conservative: a variance cannot be negative)",
        "R2 and variances (Nakagawa)",
        "Random effects (conditional modes)",
        "Residuals and random effects",
        "Parametric bootstrap, 5 simulations, seed 3",
    ):
        assert title in shown
    model = fit(pd.read_csv(table), FORMULA)
    expected = {
        "anova": model.anova(),
        "random_tests": random_effect_tests(model).fillna({"left_out": ""}),
        "r_squared": pd.DataFrame([model.r_squared()]),
        "random_effects": model.random_effects,
        "diagnostics": model.diagnostics(),
        "bootstrap": bootstrap(model, simulations=5, seed=3),
        "residuals": model.residual_table(),
    }
    whole = json.loads(run("fit", table, "-f", FORMULA, *options, "--json", "-q"))
    for name, made in expected.items():
        written = pd.read_csv(tmp_path / f"fit_{name}.csv")
        if name == "residuals":  # the rows of the file, whose header is row 1
            assert (written["row"] == made["row"] + 1).all()
            made = made.drop(columns="row")
        numeric = made.select_dtypes("number")
        np.testing.assert_allclose(written[numeric.columns], numeric, rtol=1e-9)
        if name != "residuals":
            assert len(whole[name]) == len(made)


def test_kenward_and_roger_on_request(table):
    found = json.loads(
        run("fit", table, "-f", FORMULA, "--anova", "II", "--ddf", "kenward-roger", "--json", "-q")
    )
    expected = fit(pd.read_csv(table), FORMULA).anova(kind="II", ddf="kenward-roger")
    assert [row["den_df"] for row in found["anova"]] == pytest.approx(expected["den_df"].tolist())


def test_means_say_what_they_are_averaged_over(table):
    shown = run("fit", table, "-f", FORMULA, "--means", "task", "-q")
    assert "Numbers are held at x = " in shown
    assert "p-values are not adjusted." in shown


def test_comparison_with_a_bootstrap(table):
    base = "rt ~ task + (1|person)"
    found = json.loads(
        run("compare", table, "--base", base, "--full", FORMULA, "--bootstrap", "9", "--json", "-q")
    )
    fits = [fit(pd.read_csv(table), formula, reml=False) for formula in (base, FORMULA)]
    assert found["comparison"][1]["p_bootstrap"] == bootstrap_test(*fits, simulations=9)["p"]
    assert found["comparison"][0]["p_bootstrap"] is None
