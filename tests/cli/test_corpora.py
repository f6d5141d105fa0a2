"""``psymem corpora``: what is printed, and exit codes."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import DataError, PsymemError
from psymem.registry import CORPORA


def run(*arguments: str):
    result = CliRunner().invoke(build(), ["corpora", *arguments], env={"COLUMNS": "200"})
    if isinstance(result.exception, PsymemError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(autouse=True)
def no_fetched_files(tmp_path, monkeypatch):
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path / "data"))


def test_list_names_every_corpus_its_licence_and_how_to_get_it():
    rows = json.loads(run("list", "--json").stdout)
    assert [r["name"] for r in rows] == CORPORA.names()
    lines = run("list").stdout.splitlines()
    assert len(lines) == len(rows) + 1
    provo = next(line for line in lines if line.startswith("provo"))
    assert provo.split() == ["provo", "Provo", "Corpus:", "eye", "tracking", "by", "hand", "CC", "BY", "4.0"]


def test_show_prints_the_card():
    out = run("show", "natural-stories").stdout
    for line in (
        "Natural Stories Corpus: self-paced reading (natural-stories)",
        "licence: CC BY-NC-SA 4.0",
        "address: https://github.com/languageMIT/naturalstories",
        "fetch: psymem corpora fetch natural-stories",
        "file: naturalstories_RTS/processed_RTs.tsv: times per reader and word (may be missing)",
    ):
        assert line in out.splitlines()
    card = json.loads(run("show", "provo", "--json").stdout)
    assert card["fetch"] == "none"
    assert card["sample"].endswith("sample")


def test_check_reads_the_sample():
    lines = run("check", "cmcl", "--sample").stdout.splitlines()
    assert lines[0].startswith("training_data.csv: ")
    assert lines[1:6] == [
        "means over readers; 2 texts, 2 sentences, 5 words",
        "5 rows, 1 of them skipped",
        "first_fixation_duration_scaled: 4 values, mean 4.4 of 100",
        "go_past_time_scaled: 4 values, mean 29 of 100",
        "total_reading_time_scaled: 4 values, mean 7.6 of 100",
    ]
    facts = json.loads(run("check", "provo", "--sample", "--json").stdout)
    assert (facts["readers"], facts["texts"], facts["words"], facts["rows"]) == (2, 2, 14, 24)


def test_check_takes_the_settings_of_a_plain_table(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("item,nr,token,GD,p\n1,1,A,0.2,3\n1,2,dog,0,4\n", encoding="utf-8")
    columns = "text_id=item,word_id=nr,word=token,gaze_duration=GD"
    settings = ("--averaged", "--zero", "unread", "--keep", "p", "--ms-per-unit", "1000")
    lines = run("check", "csv", str(path), "--columns", columns, *settings).stdout.splitlines()
    assert lines[:2] == [f"*.csv: {path}", "texts.csv: not there (may be missing)"]
    assert "gaze_duration: 1 values, mean 200 ms" in lines
    with pytest.raises(DataError, match=r"^--columns GD: write NAME=COLUMN"):
        run("check", "csv", str(path), "--columns", "GD")
    with pytest.raises(DataError, match=r"^--columns was given 'word' twice\.$"):
        run("check", "csv", str(path), "--columns", "word=token,word=GD")


def test_check_says_what_is_missing(tmp_path):
    with pytest.raises(DataError, match="does not hold the corpus 'ucl'"):
        run("check", "ucl", str(tmp_path))
    result = CliRunner().invoke(build(), ["corpora", "check", "ucl", str(tmp_path)])
    assert result.stdout.splitlines() == ["eyetracking.RT.txt: MISSING", "stimuli.txt: MISSING"]
    with pytest.raises(DataError) as caught:
        run("check", "ucl")
    assert str(caught.value) == (
        "Say where the corpus 'ucl' is: psymem corpora check ucl FOLDER. How to get it: psymem corpora show ucl."
    )


def test_fetch_refuses_with_the_way_to_get_it():
    with pytest.raises(
        DataError, match=r"^psymem does not fetch the corpus 'iitb'\. The data are given out for"
    ):
        run("fetch", "iitb")


def test_one_card_without_a_way_to_get_it_hides_no_corpus(monkeypatch, tmp_path):
    from psymem.data.corpora import catalogue

    real = catalogue.files("psymem.corpora")
    shutil.copytree(real, tmp_path / "corpora")
    card = tmp_path / "corpora" / "ucl" / "card.toml"
    lines = card.read_text(encoding="utf-8").splitlines(keepends=True)
    card.write_text("".join(x for x in lines if not x.startswith(("fetch", "why_not"))), encoding="utf-8")
    (tmp_path / "corpora" / "iitb" / "card.toml").write_text("name = ", encoding="utf-8")
    monkeypatch.setattr(catalogue, "files", lambda _: tmp_path / "corpora")
    result = run("list", "--json")
    rows = {r["name"]: r["get"] for r in json.loads(result.stdout)}
    assert sorted(rows) == sorted(set(CORPORA.names()) - {"iitb"})
    assert rows["ucl"] == "by hand"
    assert result.stderr.startswith("The card of the corpus 'iitb' is damaged (")
    assert run("show", "ucl").stdout.splitlines()[-5].startswith("fetch: no.")


@pytest.mark.parametrize("command", [["corpora", "fetch"], ["stimuli", "lists"], ["stimuli", "suite"]])
def test_defaults_are_not_taken_for_markup(command):
    out = CliRunner().invoke(build(), [*command, "--help"], env={"COLUMNS": "200"}).output
    assert "Default: " in out
    assert " ." not in out
