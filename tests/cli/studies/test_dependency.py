"""``psymem dependency`` as a user runs it."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError


def run(*arguments) -> str:
    done = CliRunner().invoke(build(), ["dependency", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_sample_is_the_default(tmp_path):
    printed = run("--model", "toy", "--out", tmp_path / "o", "--mixed-model", "none")
    assert (
        "nsubj: share of cases with the largest weight on the right word; 95% intervals over sentences"
        in printed
    )
    assert "Cases: kept 28 (the largest of the models)." in printed
    shares = pd.read_csv(tmp_path / "o/shares.csv")
    assert set(shares["by"]) == {"all", "length", "between"}
    sidecar = json.loads((tmp_path / "o/provenance.json").read_text(encoding="utf-8"))
    assert sidecar["input"] == ["dependencies-sample"]
    assert (sidecar["relation"], sidecar["kind"]) == ("nsubj", "nouns")
    assert sidecar["retrieval"] == {"toy": "attention"}
    assert len(pd.read_csv(tmp_path / "o/responses.csv")) == 28


def test_json(tmp_path):
    arguments = ("--model", "toy", "--out", tmp_path / "o", "--mixed-model", "none", "--json", "-q")
    printed = json.loads(run(*arguments))
    assert {r["among"] for r in printed["shares"]} == {"words", "candidates"}
    assert printed["model"] == []


def test_two_sources(tmp_path):
    (tmp_path / "a.txt").write_text("A key .", encoding="utf-8")
    file = str(tmp_path / "a.txt")
    message = "Give one of --conllu, --words and --text; --text and --words were given."
    with pytest.raises(PsymemError, match=f"^{re.escape(message)}$"):
        run("--model", "toy", "--text", file, "--words", file)
