"""Names of results folders."""

from __future__ import annotations

from pathlib import Path

from psymem.cli.folders import results_folder


def test_a_folder_is_named_after_its_models(tmp_path):
    (tmp_path / "mine").mkdir()
    models = ["cbr-rnn/1", str(tmp_path / "mine"), "cbr-rnn/1"]
    assert results_folder("suite", models) == Path("results") / "suite" / "cbr-rnn-1+mine"
