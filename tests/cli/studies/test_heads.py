"""``psymem heads`` as a user runs it."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError

CONLLU = "1\tThe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tkey\t_\t_\t_\t_\t3\tnsubj\t_\t_\n3\tturned\t_\t_\t_\t_\t0\troot\t_\t_\n"


def run(*arguments) -> str:
    result = CliRunner().invoke(build(), ["heads", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_sample_is_the_default(tmp_path):
    printed = run("--model", "toy", "--out", tmp_path / "o")
    assert "nsubj (32 dependencies), toy: heads by accuracy, 95% Wilson intervals" in printed
    assert "Baseline: always 5 back 0.500 [0.336, 0.664]; even choice 0.169." in printed
    assert len(pd.read_csv(tmp_path / "o" / "heads.csv")) == 4
    sidecar = json.loads((tmp_path / "o" / "provenance.json").read_text(encoding="utf-8"))
    assert sidecar["input"] == ["dependencies-sample"]
    assert (sidecar["relation"], sidecar["order"], sidecar["query"]) == ("nsubj", "dependent-first", "first")


def test_a_treebank_of_ones_own(tmp_path):
    path = tmp_path / "mine.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    printed = json.loads(run("--model", "toy", "--conllu", path, "--json", "--lower-case"))
    assert [h["n"] for h in printed["heads"]] == [1] * 4
    assert printed["model"] == "toy"
    assert run("--model", "toy", "--conllu", path, "--quiet") == ""


def test_one_source_only(tmp_path):
    with pytest.raises(PsymemError) as caught:
        run("--model", "toy", "--conllu", tmp_path / "a.conllu", "--text", tmp_path / "a.txt")
    assert str(caught.value) == "Give --conllu or --text, not both."
