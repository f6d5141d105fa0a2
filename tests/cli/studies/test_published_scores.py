"""``psymem timkey2023-table6`` as a user runs it."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import DataError


def run(*arguments) -> str:
    result = CliRunner().invoke(build(), [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.shared
def test_from_a_copy_to_a_folder(shared, tmp_path):
    scores = shared / "data/stimuli/laurinavichyute_malsburg_2022_exp3/exp3_results.csv"
    text = run("timkey2023-table6", "--from", scores, "--out", tmp_path / "t6", "--quiet")
    assert len(pd.read_csv(tmp_path / "t6" / "effects.csv")) == 56  # 7 effects, 2 measures, 4 tests
    assert (tmp_path / "t6" / "report.md").is_file()
    assert "Printed table and data:" in text
    assert text.count("the sign is printed as +") == 2
    sidecar = json.loads((tmp_path / "t6" / "effects.json").read_text(encoding="utf-8"))
    assert sidecar["study"] == "timkey2023-table6"


def test_a_copy_that_is_not_there(tmp_path):
    with pytest.raises(DataError) as error:
        run("timkey2023-table7", "--from", tmp_path / "nothing.csv", "--out", tmp_path)
    assert str(error.value).startswith(f"There is no file {tmp_path / 'nothing.csv'}.")
    assert list(tmp_path.iterdir()) == []
