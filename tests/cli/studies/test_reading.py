"""``psymem reading`` as a user runs it, on the bundled sample."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError

SAMPLE = ["reading", "--corpus", "csv", "--data", "reading-sample", "--name", "sample", "--model", "toy"]
QUICK = ["--folds", "2", "--permutations", "100"]


def run(*arguments: str):
    """Run the command; errors of psymem come through."""
    result = CliRunner().invoke(build(), [*SAMPLE, *QUICK, *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_tables_report_and_the_same_numbers_again(tmp_path):
    shown = run("--out", str(tmp_path / "a"))
    assert "sample: gaze_duration: 2,163 rows, 272 words in 24 texts, 10 readers\n" in shown.stdout
    assert f"Report: {tmp_path / 'a' / 'report.html'}\n" in shown.stdout
    again = json.loads(run("--out", str(tmp_path / "b"), "--json").stdout)
    table = pd.read_csv(tmp_path / "a" / "delta_loglik.csv")
    assert table["structure"].tolist() == ["intercepts", "by-subject slopes"]
    for row, other in zip(table.itertuples(), again["delta_loglik"], strict=True):
        assert row.delta_loglik == pytest.approx(other["delta_loglik"], rel=1e-12)
    assert again["analyses"][0]["rows"] == 2163
    sidecar = json.loads((tmp_path / "a" / "delta_loglik.json").read_text(encoding="utf-8"))
    assert sidecar["analyses"][0]["settings"]["longest"] is None
    assert sidecar["analyses"][0]["settings"]["seed"] == 1


def test_options_change_the_rows_and_the_formula(tmp_path):
    options = ["--shortest", "0", "--longest", "inf", "--leave-out", "none", "--spillover", "1", "--log"]
    found = json.loads(
        run(*options, "--word-intercepts", "type", "--folds", "0", "--out", str(tmp_path), "--json").stdout
    )
    reasons = {e["reason"]: e["rows_left_out"] for e in found["exclusions"]}
    assert reasons == {
        "all rows": 0,
        "no gaze_duration (not fixated in first pass)": 668,
        "gaze_duration of 0 ms, which has no logarithm": 0,
        "fewer than 1 word(s) before it to spill over": 175,
    }
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "log_gaze_duration ~ position + length + length_previous_1 + log_frequency + " in page
    assert "(1 | word_type)" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["reading", "--corpus", "csv", "--corpus", "ucl", "--data", "reading-sample"],
            "2 --corpus and 1 --data were given; give one folder for each corpus, in the same order.",
        ),
        (
            ["reading", "--corpus", "ucl", "--data", "reading-sample", "--averaged", "--name", "x"],
            "--averaged, --name belong to --corpus csv, a table of your own; it was not named.",
        ),
        (
            [
                "reading",
                "--corpus",
                "csv",
                "--data",
                "reading-sample",
                "--corpus",
                "csv",
                "--data",
                "reading-sample",
            ],
            "The corpus 'reading-sample' was given twice.",
        ),
        (
            [*SAMPLE, "--scores", "absent.csv"],
            "There is no file absent.csv.",
        ),
        (
            [*SAMPLE, "--jobs", "0"],
            "--jobs is 0; it is a number of processes from 1 up, or -1 for all cores.",
        ),
    ],
)
def test_what_cannot_be_run(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(build(), arguments)
    assert isinstance(result.exception, PsymemError)
    assert str(result.exception) == message
    assert not list(tmp_path.iterdir())
