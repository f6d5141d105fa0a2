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
from psymem.errors import FitError, PsymemError
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
            "item, surprisal. These are the columns of the table.\n",
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


def message(*arguments):
    with pytest.raises(PsymemError) as raised:
        run(*arguments)
    return str(raised.value)


@pytest.mark.parametrize(
    ("header", "cell", "formula", "expected"),
    [
        (
            "y,x,g",
            "1,abc,a",
            "y ~ x + (1|g)",
            "Column 'x' has the text 'abc' in row 12, where a number is expected. Correct it, or leave the cell empty "
            "if the value is missing. If the column holds categories, write factor() around its name.",
        ),
        (
            "y,x,g",
            "1,inf,a",
            "y ~ x + (1|g)",
            "'x' is infinite in row 12 (1 such value in all). Leave such rows out with where, or mark them as missing.",
        ),
        (
            "y,x,g",
            "1,-3,a",
            "y ~ log(x) + (1|g)",
            "log(x) needs positive values; x is -3 in row 12. Leave such rows out with where, or transform the "
            "column first.",
        ),
        (
            "y,x,g",
            "1,1000,a",
            "y ~ exp(x) + (1|g)",
            "exp(x) is not a finite number in row 12 (1 such value in all). Leave such rows out with where, or "
            "transform the column first.",
        ),
        (
            "y,x,g",
            "1,0,a",
            "y ~ I(1/x) + (1|g)",
            "I(1/x) is not a finite number in row 12 (1 such value in all). Leave such rows out with where, or "
            "transform the column first.",
        ),
        (
            "y,x,g",
            "1e300,2,a",
            "y ~ x + (1|g)",
            "'y' reaches 1e+300 (row 12), too large to be squared on a computer. Correct the value, or measure it in "
            "another unit.",
        ),
        (
            "y,1st,g",
            "1,2,a",
            "y ~ 1st + (1|g)",
            "The formula does not parse at position 6: expected an operator, found 'st'. If this is a column name, "
            "put it in backquotes: `1st`.\n    y ~ 1st + (1|g)\n         ^",
        ),
    ],
)
def test_a_message_names_the_row_as_the_spreadsheet_does(tmp_path, header, cell, formula, expected):
    rows = [f"{0.5 * k * k},{k + 1},{'abc'[k % 3]}" for k in range(9)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([header, *rows, "", cell]) + "\n", encoding="utf-8")  # row 11 is empty
    assert message(path, "-f", formula) == expected


@pytest.mark.parametrize("written", ["1,000", "0,5"])
def test_numbers_with_a_comma_are_not_categories(tmp_path, written):
    path = tmp_path / "rows.csv"
    path.write_text(f'y,x\n1,7\n2,"{written}"\n4,8\n3,7\n', encoding="utf-8")
    assert message(path, "-f", "y ~ x") == (
        f"Column 'x' has '{written}' in row 3, a number with a comma, which may mark decimals or thousands. "
        "Write decimals with a point and thousands with nothing."
    )


@pytest.mark.parametrize(("family", "needs"), [("binomial", "0 and 1"), ("poisson", "counts: 0, 1, 2, ...")])
def test_a_response_outside_its_family(tmp_path, family, needs):
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n1,7\n0,4\n1.5,8\n0,7\n", encoding="utf-8")
    assert message(path, "-f", "y ~ x", "--family", family) == (
        f"The response 'y' is 1.5 in row 4; a {family} model needs {needs}. For other numbers leave the family out."
    )


def test_a_level_given_twice(table):
    given = "attraction=none,double,none,semantic"
    assert message(table, "-f", FORMULA, "--levels", given) == (
        "The levels of 'attraction' name 'none' twice; give each level once."
    )


def test_responses_too_small_to_square(table):
    frame = pd.read_csv(table)
    frame["surprisal"] *= 1e-200
    with pytest.raises(FitError) as raised:
        fit(frame, FORMULA)
    assert str(raised.value) == (
        f"'surprisal' reaches {frame['surprisal'].max():g} (row {frame['surprisal'].argmax() + 1}), too small to be "
        "squared on a computer. Correct the value, or measure it in another unit."
    )
