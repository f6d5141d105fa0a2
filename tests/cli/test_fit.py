"""``psymem fit`` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.fitting.fit import fit

FORMULA = "surprisal ~ attraction + (1|item)"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(9)
    item = np.repeat(np.arange(12), 6)
    attraction = np.tile(["none", "double", "semantic"], 24)
    surprisal = 8 + rng.normal(0, 1, 12)[item] - 0.5 * (attraction == "double") + rng.normal(0, 0.5, 72)
    frame = pd.DataFrame({"item": item, "attraction": attraction, "surprisal": surprisal})
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    result = CliRunner().invoke(build(), ["fit", *(str(a) for a in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_table_and_sidecar_hold_the_fit(table, tmp_path):
    out = tmp_path / "fit.csv"
    options = {"where": "attraction != 'semantic'", "levels": {"attraction": ["none", "double"]}}
    shown = run(
        table, "-f", FORMULA, "--where", options["where"], "--levels", "attraction=none,double", "-o", out
    )
    expected = fit(pd.read_csv(table), FORMULA, **options)
    assert "Linear mixed model fitted by REML" in shown
    pd.testing.assert_frame_equal(pd.read_csv(out), expected.coefficients, check_dtype=False)
    side = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert side["loglik"] == pytest.approx(expected.loglik)
    assert side["n_groups"] == {"item": 12}
    assert side["dropped_rows"] == {"not selected by where": 24}
    assert (side["converged"], side["singular"], side["warnings"]) == (True, False, [])
    assert [row["group"] for row in side["variance_components"]] == ["item", "Residual"]


def test_contrasts_from_a_file(table, tmp_path):
    weights = tmp_path / "weights.csv"
    weights.write_text(
        "level,any,both\nnone,-0.667,0\ndouble,0.333,-0.5\nsemantic,0.333,0.5\n", encoding="utf-8"
    )
    shown = json.loads(
        run(
            table,
            "-f",
            FORMULA,
            "--levels",
            "attraction=none,double,semantic",
            "--contrasts",
            f"attraction={weights}",
            "--json",
            "-q",
        )
    )
    assert [row["term"] for row in shown["coefficients"]] == [
        "(Intercept)",
        "attractionany",
        "attractionboth",
    ]


def test_marginal_means_and_pairs_are_printed(table):
    shown = run(table, "-f", FORMULA, "--means", "attraction", "--adjust", "holm", "-q")
    assert "Marginal means of attraction:" in shown
    assert "Pairwise comparisons (holm):" in shown


@pytest.mark.parametrize(
    ("ending", "start"), [("tex", "\\begin{table}"), ("html", "<table"), ("R", "# Refits a model")]
)
def test_other_endings_write_other_formats(table, tmp_path, ending, start):
    out = tmp_path / f"fit.{ending}"
    assert run(table, "-f", FORMULA, "-o", out, "-q") == ""
    assert out.read_text(encoding="utf-8").startswith(start)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-f", "surprisl ~ attraction + (1|item)"],
            "psymem: There is no column called 'surprisl'. Did you mean 'surprisal'? Known: attraction, "
            "item, surprisal. (columns of "
            "the table)\n",
        ),
        (
            ["-f", "surprisal ~ attraction + (1|item"],
            "psymem: The formula does not parse at position 26: this parenthesis is not closed.\n"
            "    surprisal ~ attraction + (1|item\n                             ^\n",
        ),
    ],
    ids=["column", "formula"],
)
def test_bad_input_ends_with_a_message_and_code_2(table, arguments, message):
    done = subprocess.run(
        [sys.executable, "-m", "psymem", "fit", str(table), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
