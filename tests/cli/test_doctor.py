"""The command ``psymem doctor``: what it prints and its exit code."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from psymem import doctor
from psymem.cli.app import build
from psymem.doctor import Finding

GOOD = Finding("torch", "works", "2.13.0")
ABSENT = Finding("R", "absent", "Rscript is not on the PATH", "brew install r")
BAD = Finding("model cbr-rnn/1", "broken", "[cut] short", "Get it anew.")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    """Run the command on a machine with these findings."""
    monkeypatch.setenv("COLUMNS", "120")

    def command(*arguments: str, findings: list[Finding]):
        monkeypatch.setattr(doctor, "CHECKS", (lambda: iter(findings),))
        return CliRunner().invoke(build(), ["doctor", *arguments])

    return command


def test_all_works(run):
    result = run(findings=[GOOD, ABSENT])
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["found", "what", "to", "do"],
        ["works", "torch", "2.13.0"],
        ["absent", "R", "Rscript", "is", "not", "on", "the", "PATH", "brew", "install", "r"],
        ["All", "that", "psymem", "needs", "works", "here."],
    ]


def test_broken_ends_with_1_and_names_it(run):
    result = run(findings=[GOOD, BAD])
    assert result.exit_code == 1
    assert "[cut] short" in result.stdout
    assert result.stdout.splitlines()[-1] == "psymem cannot work here yet: model cbr-rnn/1."


def test_quiet_shows_only_what_does_not_work(run):
    assert run("--quiet", findings=[GOOD]).stdout == "All that psymem needs works here.\n"
    assert "torch" not in run("--quiet", findings=[GOOD, BAD]).stdout


def test_json_has_everything(run):
    result = run("--json", findings=[GOOD, BAD])
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "ready": False,
        "findings": [
            {"name": "torch", "state": "works", "found": "2.13.0", "advice": ""},
            {"name": "model cbr-rnn/1", "state": "broken", "found": "[cut] short", "advice": "Get it anew."},
        ],
    }
