from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from psymem.cli.frames import cell, print_json, show


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (0.0123, "p", ".012"),
        (0.0001, "p_adjusted", "<.001"),
        (np.nan, "p", ""),
        (None, "note", ""),
        (pd.NA, "width", ""),
        (12.3456, "df", "12.3"),
        (0.0123456, "estimate", "0.01235"),
        (True, "consistent", "yes"),
        (1234, "n_obs", "1234"),
        (float("inf"), "df", "inf"),
    ],
)
def test_one_cell(value, column, text):
    assert cell(value, column) == text


def test_nothing_is_cut_off_however_narrow_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    long = "a formula with [brackets] that is longer than the terminal is wide"
    show(pd.DataFrame({"formula": [long], "p": [0.2]}), "[title]")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[title]"
    assert lines[2].split("  ")[0] == long


def test_json_has_null_for_missing_values(capsys):
    print_json({"rows": pd.DataFrame({"x": [1.5, np.nan]})}, seed=1)
    assert json.loads(capsys.readouterr().out) == {"seed": 1, "rows": [{"x": 1.5}, {"x": None}]}
