"""``psymem reading`` as a user runs it, on the bundled sample."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files

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
    sidecar = json.loads((tmp_path / "a" / "provenance.json").read_text(encoding="utf-8"))
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
            "--averaged, --name belong to --corpus csv, a table of your own; --corpus ucl was given.",
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


def test_the_language_of_frequencies_is_said_and_can_be_chosen(tmp_path):
    folder = shutil.copytree(files("psymem.corpora") / "reading-sample", tmp_path / "mine")
    arguments = [
        "reading",
        "--corpus",
        "csv",
        "--data",
        str(folder),
        "--name",
        "sample",
        "--model",
        "toy",
        "--folds",
        "0",
    ]
    result = CliRunner().invoke(build(), [*arguments, "--json", "--out", str(tmp_path / "en")])
    found = json.loads(result.stdout)
    assert (
        "sample: gaze_duration: Word frequencies are those of English: nobody said in which language the corpus sample is. "
        "Choose wordfreq's list of another one with --language, such as de."
    ) in found["notes"]
    german = json.loads(
        run("--folds", "0", "--language", "de", "--out", str(tmp_path / "de"), "--json").stdout
    )
    assert not any("frequencies" in note for note in german["notes"])
    for language in ("en", "de"):
        sidecar = json.loads((tmp_path / language / "delta_loglik.json").read_text(encoding="utf-8"))
        assert sidecar["analyses"][0]["settings"]["language"] == language
        page = (tmp_path / language / "report.html").read_text(encoding="utf-8")
        assert f"Zipf scale of wordfreq, language {language}" in page
    with pytest.raises(PsymemError, match=r"^There is no language of wordfreq called 'xx'\."):
        run("--language", "xx", "--out", str(tmp_path / "xx"))


def test_a_word_number_that_is_missing_is_no_silent_neighbour(tmp_path):
    folder = tmp_path / "lacking"
    shutil.copytree(files("psymem.corpora") / "reading-sample", folder)
    for name in ("reading.csv", "texts.csv"):
        table = pd.read_csv(folder / name, dtype="str", keep_default_na=False)
        table[(table["text_id"] != "1") | (table["word_id"] != "5")].to_csv(folder / name, index=False)
    whole = json.loads(run("--folds", "0", "--out", str(tmp_path / "a"), "--json").stdout)
    arguments = [
        "reading",
        "--corpus",
        "csv",
        "--data",
        str(folder),
        "--model",
        "toy",
        "--folds",
        "0",
        "--json",
    ]
    result = CliRunner().invoke(build(), [*arguments, "--out", str(tmp_path / "b")])
    lacking = json.loads(result.stdout)
    assert any(
        "1 word(s) are missing, where word numbers jump: text 1, between 4" in n for n in lacking["notes"]
    )
    paths = (tmp_path / "a" / "scores_sample.csv", tmp_path / "b" / "scores_csv.csv")
    scores = [pd.read_csv(p).set_index(["text_id", "word_id"])["surprisal_bits"] for p in paths]
    both = pd.concat(scores, axis=1, keys=["a", "b"])
    assert both.loc[1, "b"].isna().tolist()[4:] == [True] * (len(both.loc[1]) - 4)
    pd.testing.assert_series_equal(both["a"].drop(1), both["b"].drop(1), check_names=False)
    assert lacking["analyses"][0]["rows"] < whole["analyses"][0]["rows"]


def test_columns_of_an_interest_area_report_can_be_named(tmp_path):
    sample = files("psymem.corpora") / "eyelink" / "sample" / "r1.txt"
    path = tmp_path / "report.txt"
    text = (
        sample.read_text(encoding="utf-8")
        .replace("RECORDING_SESSION_LABEL", "participant_id")
        .replace("item", "page")
    )
    path.write_text(text, encoding="utf-8")
    arguments = [
        "reading",
        "--corpus",
        "eyelink",
        "--data",
        str(path),
        "--model",
        "toy",
        "--out",
        str(tmp_path / "x"),
    ]
    named = ["--columns", "subject=participant_id,text_id=page+TRIAL_INDEX"]
    result = CliRunner().invoke(build(), [*arguments, *named])
    assert str(result.exception).startswith("No row is left to analyse.")  # read, and too small to analyse
    result = CliRunner().invoke(build(), [*arguments, "--zero", "unread"])
    assert str(result.exception) == (
        "--zero belongs to --corpus csv, a table of your own; --corpus eyelink was given."
    )
    result = CliRunner().invoke(build(), ["reading", "--corpus", "ucl", "--data", "x", "--columns", "word=w"])
    assert (
        str(result.exception)
        == "--columns belongs to --corpus csv or eyelink or fixation-report or pcibex; --corpus ucl was given."
    )
