"""``psymem memory`` and ``psymem memory find-a`` as a user runs them."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError

TEXT = "The key to the cabinets was rusty .\nNobody knew the old museum .\n"


def run(*arguments) -> str:
    result = CliRunner().invoke(build(), ["memory", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "story.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_text_gives_tables_and_figures(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run("--model", "toy", "--text", text, "--heatmap", "2")
    assert "Memory of 14 words in 2 texts (medians over words; the span is a mean)" in printed
    assert "Tables and figures: results/memory/toy-on-story" in printed
    folder = tmp_path / "results" / "memory" / "toy-on-story"
    assert len(pd.read_csv(folder / "words.csv")) == 14
    assert {"decay.png", "decay.pdf", "pairs.png"} <= {p.name for p in folder.iterdir()}
    assert json.loads((folder / "provenance.json").read_text(encoding="utf-8"))["input"] == str(text)


def test_json_and_quiet(text, tmp_path):
    printed = json.loads(run("--model", "toy", "--text", text, "--out", tmp_path / "o", "--json"))
    assert [m["model"] for m in printed["models"]] == ["toy"]
    assert printed["decay"][0]["retention_median"] == 1
    assert run("--model", "toy", "--text", text, "--out", tmp_path / "o", "--quiet") == ""


@pytest.mark.parametrize("given", [[], ["--model", "toy"], ["--text", "story.txt"]])
def test_model_and_text_are_needed(given):
    with pytest.raises(PsymemError) as caught:
        run(*given)
    assert str(caught.value) == (
        "psymem memory needs one --model or more and a --text, as in psymem memory --model lstm --text story.txt."
    )


def test_find_a_is_a_command_of_its_own(tmp_path):
    given = ["--cell", "lstm", "--lengths", "2,3", "--seeds", "2", "--steps", "5", "--out", tmp_path / "o"]
    printed = run("find-a", *given)
    assert "Mean balanced accuracy of 2 networks (0.5: says the same of all)" in printed
    assert len(pd.read_csv(tmp_path / "o" / "find_a.csv")) == 4
    summary = json.loads(run("find-a", *given, "--json"))["summary"]
    assert [(r["cell"], r["length"]) for r in summary] == [("lstm", 2), ("lstm", 3)]
    assert run("find-a", *given, "--balanced", "--quiet") == ""
    sidecar = json.loads((tmp_path / "o" / "provenance.json").read_text(encoding="utf-8"))
    assert "find_a.csv" in sidecar["earlier"][0]["files"]
    assert sidecar["settings"]["balanced"] is True


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--lengths", "10-100"],
            "--lengths was given '10-100'; expected whole numbers with commas between, such as 10,20,30.",
        ),
        (["--cell", "rnn"], "cell='rnn' is not known; expected one of srn, lstm, gru, elstm."),
        (["--lengths", "1"], "lengths holds 1; expected 2 letters or more."),
    ],
    ids=["lengths", "cell", "length"],
)
def test_wrong_options_are_explained(given, message, tmp_path):
    with pytest.raises(PsymemError) as caught:
        run("find-a", *given, "--out", tmp_path / "o")
    assert str(caught.value) == message
    assert not (tmp_path / "o").exists()


def test_a_place_that_cannot_be_written_is_noticed_before_models_read(text, monkeypatch):
    monkeypatch.setattr(
        "psymem.studies.memory.study.memory_decay", lambda *a, **k: pytest.fail("read in vain")
    )
    with pytest.raises(PsymemError) as caught:
        run("--model", "toy", "--text", text, "--out", text)
    assert str(caught.value) == (
        f"Cannot write results into {text}: it is not a folder. Choose another folder with --out."
    )


def test_so_is_it_before_networks_are_trained(text, monkeypatch):
    monkeypatch.setattr("psymem.studies.memory.find_a.find_a", lambda *a, **k: pytest.fail("trained in vain"))
    with pytest.raises(PsymemError, match=r"^Cannot write results into .*: it is not a folder\."):
        run("find-a", "--out", text)
