"""``psymem models import-timkey`` as a user runs it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.models import timkey


@pytest.fixture
def converted(monkeypatch):
    """Record the arguments of the conversion, which has its own tests, and return a card."""
    calls = []

    def convert(*arguments, **options):
        calls.append((*map(str, arguments), options))
        return {"words": 14, "words_never_met": 2}

    monkeypatch.setattr(timkey, "import_timkey", convert)
    return calls


def run(*arguments):
    result = CliRunner().invoke(build(), ["models", "import-timkey", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_it_says_what_was_written(converted, tmp_path):
    out = tmp_path / "out"
    printed = run("model.pt", "--vocab", "vocab.txt", "--out", out, "--supertag-weight", 5)
    assert printed == (
        f"Wrote {out}: 14 words, of which 2 are spelled in a way that psymem's tokenizer never produces.\n"
    )
    assert converted == [("model.pt", "vocab.txt", str(out), {"supertag_weight": 5.0})]


def test_json_and_quiet(converted, tmp_path):
    common = ("model.pt", "--vocab", "vocab.txt", "--out", tmp_path / "out")
    assert json.loads(run(*common, "--json")) == {"words": 14, "words_never_met": 2}
    assert run(*common, "--quiet") == ""
