"""Studies in TOML: what they may say, and that each kind gives what its function gives."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import psymem
from psymem.cli.app import build
from psymem.errors import DataError, UnknownNameError
from psymem.studies.study_file import read_study, run

ITEMS = """item,condition,sentence,target,attractor,critical,number
1,a,The key to the cabinet was old,key,cabinet,was,singular
1,b,The key to the cabinets was old,key,cabinets,was,plural
2,a,The dog of the cat was old,dog,cat,was,singular
2,b,The dog of the cats was old,dog,cats,was,plural
3,a,The art of the museum was old,art,museum,was,singular
3,b,The art of the dogs was old,art,dogs,was,plural
4,a,The cat of the dog was old,cat,dog,was,singular
4,b,The cat of the dogs was old,cat,dogs,was,plural
"""
FACTORIAL = """
kind = "factorial"
stimuli = "items.csv"
models = ["toy"]
measures = ["surprisal"]
keep_oov = true

[reading]
lower_case = true

[tests]
formula = "y ~ number + (1 | item)"
"""
READING = """
kind = "reading"
models = ["toy"]
responses = ["gaze_duration"]

[[corpus]]
reader = "csv"
folder = "data"

[settings]
folds = 0
word_intercepts = "none"
"""


@pytest.fixture
def factorial(tmp_path: Path) -> Path:
    (tmp_path / "items.csv").write_text(ITEMS)
    path = tmp_path / "my_study.toml"
    path.write_text(FACTORIAL)
    return path


def test_a_factorial_study_gives_what_its_function_gives(factorial, tmp_path):
    found = run(factorial, tmp_path / "out")
    expected = psymem.attraction(
        "toy",
        tmp_path / "items.csv",
        measures=["surprisal"],
        keep_oov=True,
        reading=psymem.Reading(lower_case=True),
        tests=psymem.Tests(formula="y ~ number + (1 | item)"),
        seed=1,
    )
    pd.testing.assert_frame_equal(found.effects, expected.effects)
    about = json.loads((tmp_path / "out/effects.json").read_text())
    assert about["lower_case"] is True
    assert about["settings"]["formula"] == "y ~ number + (1 | item)"
    assert (tmp_path / "out/report.html").is_file()


@pytest.fixture
def reading_study(tmp_path: Path) -> Path:
    sample = Path(str(files("psymem.corpora"))) / "reading-sample"
    (tmp_path / "data").mkdir()
    for path in sample.glob("*.csv"):
        (tmp_path / "data" / path.name).write_bytes(path.read_bytes())
    path = tmp_path / "times.toml"
    path.write_text(READING)
    return path


def test_a_reading_study_is_run_with_its_settings(reading_study, tmp_path):
    found = run(reading_study, tmp_path / "out")
    (analysis,) = found.analyses
    assert (analysis.settings.folds, analysis.settings.word_intercepts) == (0, "none")
    assert set(found.delta_loglik["model"]) == {"toy"}
    assert (tmp_path / "out/delta_loglik.csv").is_file()


def test_the_command_runs_it(factorial, tmp_path):
    out = tmp_path / "there"
    done = CliRunner().invoke(build(), ["run", str(factorial), "--out", str(out), "--json", "--quiet"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["kind"] == "factorial"
    assert {row["model"] for row in told["effects"]} == {"toy"}
    shown = CliRunner().invoke(build(), ["run", str(factorial), "--out", str(out)])
    assert "Report:" in shown.stdout


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            'kind = "factorail"',
            UnknownNameError,
            "There is no kind of study called 'factorail'. Did you mean 'factorial'? Known: factorial, fixations, reading.",
        ),
        (
            "title = 'x'",
            DataError,
            'FILE does not say its kind; write kind = "factorial" or another at its top.',
        ),
        ("kind = ", DataError, "FILE is no study in TOML: Invalid value (at end of document)."),
        (
            'kind = "factorial"\nmodel = ["toy"]',
            UnknownNameError,
            "There is no setting of a study of kind 'factorial' called 'model'. Did you mean 'models'? Known: human, "
            "keep_oov, measures, models, reading, seed, stimuli, supertag_weight, tests, title.",
        ),
    ],
    ids=["kind", "no kind", "no TOML", "setting"],
)
def test_what_a_study_cannot_say(tmp_path, text, error, message):
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(error) as caught:
        read_study(path)
    assert str(caught.value) == message.replace("FILE", str(path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("alpha = 'small'", "my_study.toml, [tests]: alpha = 'small' is not a number."),
        ("spillover = 1", "my_study.toml, [tests]: spillover = 1 is not true or false."),
        ("formula = 3", "my_study.toml, [tests]: formula = 3 is not a text."),
    ],
)
def test_a_setting_of_another_kind_is_refused(factorial, line, message):
    factorial.write_text(FACTORIAL.replace('formula = "y ~ number + (1 | item)"', line))
    with pytest.raises(DataError) as caught:
        run(factorial)
    assert str(caught.value) == message


def test_an_unknown_setting_is_refused_with_near_names(factorial):
    factorial.write_text(FACTORIAL.replace("lower_case", "lowercase"))
    with pytest.raises(UnknownNameError) as caught:
        run(factorial)
    assert str(caught.value).startswith(
        "There is no setting in my_study.toml, [reading] called 'lowercase'. Did you mean 'lower_case' or 'others'?"
    )


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError) as caught:
        read_study(tmp_path / "none.toml")
    assert (
        str(caught.value) == f"The study {tmp_path / 'none.toml'} cannot be read: No such file or directory."
    )


def test_a_reading_study_without_corpus(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('kind = "reading"\nmodels = ["toy"]')
    with pytest.raises(DataError) as caught:
        run(path)
    assert str(caught.value) == (
        f'{path} names no corpus; write [[corpus]] with reader = "csv" and folder = "my_data".'
    )
