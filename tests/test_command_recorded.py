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
        (["/a/analysis/__main__.py", "--out", "x"], "__main__.py --out x"),
    ],
)
def test_the_recorded_command_can_be_typed(
    monkeypatch: pytest.MonkeyPatch, argv: list[str], command: str
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    assert base_provenance()["command"] == command
