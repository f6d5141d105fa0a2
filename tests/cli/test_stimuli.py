"""``psymem stimuli``: what is printed, what is written, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError, StimuliError, UnknownNameError

GOOD = "item,condition,sentence,critical\n1,a,The dog barks at noon.,barks\n1,b,The dog runs at noon.,runs\n"


def run(*arguments: str, code: int = 0):
    result = CliRunner().invoke(build(), ["stimuli", *arguments])
    if isinstance(result.exception, PsymemError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def items(tmp_path) -> Path:
    path = tmp_path / "items.csv"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def no_fetched_files(tmp_path, monkeypatch):
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path / "data"))


def test_list_names_bundled_and_published_sets():
    lines = run("list").stdout.splitlines()
    assert [line.split(maxsplit=3)[:3] for line in lines] == [
        ["name", "items", "design"],
        ["agreement-development", "40", "agreement"],
        ["attraction-core", "48", "attraction"],
        ["attraction-number", "32", "agreement"],
        ["attraction-relative-clause", "32", "agreement"],
        ["lvdm2022-exp3", "27", "attraction"],
    ]
    title = "Attraction items: agreement, semantic and double violations"
    assert lines[2].split("attraction  ", 1)[1].split("  ", 1)[0] == title
    assert [line.rsplit("  ", 1)[1].strip() for line in lines] == [
        "on this machine",
        *["yes"] * 4,
        "no: psymem stimuli fetch lvdm2022-exp3",
    ]
    assert [row["name"] for row in json.loads(run("list", "--json").stdout)] == [
        line.split()[0] for line in lines[1:]
    ]


def test_show_prints_sentences_and_counts(items):
    result = run("show", str(items))
    assert result.stdout.splitlines() == [
        "item  condition  sentence",
        "1     a          The dog barks at noon.",
        "1     b          The dog runs at noon.",
    ]
    assert result.stderr == "items: 1 items, 2 conditions.\n"
    assert run("show", str(items), "--quiet").stderr == ""


def test_show_one_item():
    result = run("show", "attraction-core", "--item", "3")
    assert len(result.stdout.splitlines()) == 9
    assert result.stdout.splitlines()[4] == (
        "3     D          semantic     semantic     The noise of the singer rarely speaks in the early "
        "evening."
    )
    records = json.loads(run("show", "attraction-core", "--item", "3", "--json").stdout)
    assert [r["text_id"] for r in records] == [f"3-{c}" for c in "ABCDEFGH"]


def test_show_an_unknown_item(items):
    with pytest.raises(UnknownNameError) as caught:
        run("show", str(items), "--item", "7")
    assert str(caught.value) == "There is no item of items called '7'. Known: 1."


def test_check_says_what_is_right(items):
    assert run("check", str(items)).stdout.splitlines() == [
        f"{items}: 1 items, 2 sentences",
        "design: none declared (any conditions)",
        "factors: none",
        "covariates: none",
        "roles: critical, spillover_1, spillover_2",
        "condition  sentences",
        "a          1",
        "b          1",
        "No problems found.",
    ]


def test_check_lists_all_problems_and_notes(items):
    items.write_text(GOOD.replace(",barks", ",").replace(",runs", ",ran").replace(",", ";"), encoding="utf-8")
    result = run("check", str(items), code=2)
    assert result.stdout.splitlines()[-4:] == [
        "note: items.csv is separated by semicolons.",
        "problem: items.csv, row 2, column 'critical': the cell is empty. Write - if this sentence has none.",
        "problem: items.csv, row 3, column 'critical': 'ran' is not in its sentence 'The dog runs at noon.'.",
        "2 problems found.",
    ]
    found = json.loads(run("check", str(items), "--json", code=2).stdout)
    assert (found["valid"], len(found["problems"]), found["texts_per_condition"]) == (
        False,
        2,
        {"a": 1, "b": 1},
    )


def test_check_a_bundled_set():
    assert run("check", "attraction-core").stdout.splitlines()[-1] == "No problems found."


@pytest.mark.shared
def test_fetch_from_a_file_then_use_the_name(shared, tmp_path):
    copy = shared / "data" / "stimuli" / "laurinavichyute_malsburg_2022_exp3" / "exp3_no_compounds.csv"
    path = tmp_path / "data" / "stimuli" / "lvdm2022-exp3" / "exp3_no_compounds.csv"
    assert (
        run("fetch", "lvdm2022-exp3", "--from", str(copy)).stderr
        == f"lvdm2022-exp3 is in {path}; its sha256 is right.\n"
    )
    assert len(run("show", "lvdm2022-exp3").stdout.splitlines()) == 217
    assert run("list").stdout.splitlines()[-1].endswith("  yes")


def test_lists_are_written_with_their_provenance(tmp_path):
    out = tmp_path / "lists.csv"
    assert run("lists", "attraction-core", "--out", str(out)).stderr == f"8 lists of 48 items are in {out}.\n"
    lists = pd.read_csv(out)
    assert lists.groupby("list").size().tolist() == [48] * 8
    facts = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert (facts["item_set"], facts["lists"], facts["seed"], facts["rows"]) == (
        "attraction-core",
        8,
        None,
        384,
    )


def test_uneven_lists_are_mentioned(items, tmp_path):
    assert run("lists", str(items), "--out", str(tmp_path / "lists.csv")).stderr.splitlines()[-1] == (
        "The items do not divide evenly over the conditions, so lists differ by one item."
    )


def test_nothing_is_written_for_a_broken_set(items, tmp_path):
    items.write_text(GOOD.replace(",barks", ","), encoding="utf-8")
    with pytest.raises(StimuliError):
        run("lists", str(items), "--out", str(tmp_path / "out" / "lists.csv"))
    assert not (tmp_path / "out").exists()


def test_suite_writes_syntaxgym_json(items, tmp_path):
    out = tmp_path / "suite.json"
    result = run("suite", str(items), "--prediction", "(2;%a%) < (2;%b%)", "--out", str(out))
    assert result.stderr == (
        f"1 items with the regions 1 start, 2 critical, 3 spillover_1, 4 spillover_2 are in {out}.\n"
    )
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["predictions"] == [{"type": "formula", "formula": "(2;%a%) < (2;%b%)"}]
    assert [r["content"] for r in content["items"][0]["conditions"][1]["regions"]] == [
        "The dog",
        "runs",
        "at",
        "noon.",
    ]
