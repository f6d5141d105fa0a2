"""The command that the sidecars and the report record."""

from __future__ import annotations

import sys

import pytest

from psymem.io.outputs import base_provenance


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["/a/psymem/__main__.py", "attraction", "--model", "cbr-rnn"], "psymem attraction --model cbr-rnn"),
        (["/a/bin/psymem", "fit", "y ~ x + (1|item)"], "psymem fit 'y ~ x + (1|item)'"),
        (
            ["/a/analysis/__main__.py", "--out", "x"],
            "a Python script that called psymem: python /a/analysis/__main__.py --out x",
        ),
        (["run.py"], "a Python script that called psymem: python run.py"),
        ([""], "a Python session that called psymem"),
        (["-c"], "a Python session that called psymem"),
        (["/x/site-packages/ipykernel_launcher.py", "-f", "k.json"], "a Python session that called psymem"),
    ],
)
def test_the_recorded_command_can_be_typed(
    monkeypatch: pytest.MonkeyPatch, argv: list[str], command: str
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    assert base_provenance()["command"] == command
