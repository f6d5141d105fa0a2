"""``psymem pairs`` as a user runs it."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build

LINES = (
    {"sentence_good": "The keys are rusty.", "sentence_bad": "The keys is rusty.", "UID": "x", "pairID": "0"},
    {"sentence_good": "Zebras are old.", "sentence_bad": "Zebras is old.", "UID": "x", "pairID": "1"},
)


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    return path


def run(*arguments):
    result = CliRunner().invoke(build(), [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_accuracies_are_shown_and_written(pairs, tmp_path, small_checkpoint):
    out = tmp_path / "out"
    result = run("pairs", pairs, "-m", small_checkpoint, "--out", out)
    assert "(all)" in result.stdout
    assert (
        result.stderr == f"Pairs with words out of vocabulary were left out: Zebras.\nResults are in {out}.\n"
    )
    accuracy = pd.read_csv(out / "accuracy.csv")
    assert accuracy["paradigm"].tolist() == ["(all)", "x"]
    assert accuracy["share_left_out_oov"].tolist() == [0.5, 0.5]
    names = ("accuracy", "pairs", "words_left_out")
    assert {p.name for p in out.iterdir()} == {"provenance.json", *(f"{n}.csv" for n in names)}


def test_json_and_quiet(pairs, tmp_path):
    printed = json.loads(run("pairs", pairs, "-m", "toy", "-o", tmp_path / "out", "--json").stdout)
    assert printed["accuracy"][0]["n_pairs"] == 2
    result = run("pairs", pairs, "-m", "toy", "-o", tmp_path / "out", "--quiet", "--keep-oov")
    assert (result.stdout, result.stderr) == ("", "")
