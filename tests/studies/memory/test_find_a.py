"""The find-A experiment: tables against plain loops over its networks."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from psymem.errors import TrainingError
from psymem.studies.memory.find_a import find_a, first_letter_left, state_difference
from psymem.train.tasks.find_a import FindASettings, Networks, strings_with_a_at

SETTINGS = FindASettings(lengths=(3, 6), seeds=(1, 2), steps=20, check_every=10)


@pytest.fixture(scope="module")
def result():
    return find_a(("srn", "elstm"), SETTINGS)


@pytest.mark.parametrize("cell", ["lstm", "gru", "elstm"])
def test_what_is_left_of_the_first_letter_is_a_product_of_gates(cell):
    networks = Networks(cell, SETTINGS)
    left = first_letter_left(networks)
    record = networks.read(strings_with_a_at(np.zeros((4, 1), int), 6))
    for run in range(4):
        for t in range(6):
            expected = abs(np.prod(record.retain[1 : t + 1, run, 0, 0]) * record.write[0, run, 0, 0])
            np.testing.assert_allclose(left[t, run], expected)


def test_that_of_an_srn_is_the_derivative_by_the_letters_drive():
    networks = Networks("srn", SETTINGS)
    left = first_letter_left(networks)
    of = {k: v.copy() for k, v in networks.parameters.items()}
    step = 1e-6
    ends = []
    for sign in (1, -1):  # scale what the A brings, which is at the first place only
        networks.parameters = {**of, "letters": of["letters"].copy()}
        networks.parameters["letters"][:, 1] *= 1 + sign * step
        ends.append(networks.read(strings_with_a_at(np.zeros((4, 1), int), 6)).hidden[:, :, 0, 0])
    np.testing.assert_allclose(left, abs(ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-10)


def test_states_differ_by_what_the_a_changed():
    networks = Networks("gru", SETTINGS)
    found = state_difference(networks)
    for run, (length, _) in enumerate(SETTINGS.runs):
        ends = [
            networks.read(strings_with_a_at(np.full((4, 1), place), 6)).memory[length - 1, run, 0]
            for place in (0, -1)
        ]
        np.testing.assert_allclose(found[run], np.linalg.norm(ends[0] - ends[1]))


def test_there_is_a_row_for_every_network_and_the_summary_follows(result):
    table = result.networks
    assert len(table) == 8
    assert table[["cell", "length", "seed"]].drop_duplicates().shape[0] == 8
    overall = (table["accuracy_with_a"] * table["length"] + table["accuracy_without_a"]) / (
        table["length"] + 1
    )
    np.testing.assert_allclose(table["accuracy"], overall)
    np.testing.assert_allclose(
        table["balanced_accuracy"], (table["accuracy_with_a"] + table["accuracy_without_a"]) / 2
    )
    for row in result.summary.itertuples():
        part = table[(table["cell"] == row.cell) & (table["length"] == row.length)]
        assert row.n_networks == len(part) == 2
        assert row.n_right_about_all == (part["accuracy"] == 1).sum()
        assert row.balanced_accuracy_mean == pytest.approx(part["balanced_accuracy"].mean())
        assert row.retention_median == pytest.approx(part["retention"].median())


def test_the_decay_ends_where_the_table_does(result):
    ends = result.responses[result.responses["letters_since"] == 5].set_index(["cell", "seed"])
    table = result.networks[result.networks["length"] == 6].set_index(["cell", "seed"])
    pd.testing.assert_series_equal(ends["retention"], table["retention"], check_names=False)
    starts = result.responses[result.responses["letters_since"] == 0]
    np.testing.assert_allclose(starts["retention"], 1)


def test_files_are_written_with_settings(result, tmp_path):
    result.save(tmp_path / "o")
    names = {p.name for p in (tmp_path / "o").iterdir()}
    assert {"find_a.csv", "find_a_summary.csv", "find_a_responses.csv", "find_a.pdf", "find_a.png"} <= names
    sidecar = json.loads((tmp_path / "o" / "provenance.json").read_text(encoding="utf-8"))
    assert sidecar["settings"]["lengths"] == [3, 6]
    assert sidecar["settings"]["steps"] == 20


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([], "No cell was given; expected one or more of srn, lstm, gru, elstm."),
        (["rnn"], "cell='rnn' is not known; expected one of srn, lstm, gru, elstm."),
    ],
)
def test_cells_that_do_not_exist_are_refused(cells, message):
    with pytest.raises(TrainingError) as caught:
        find_a(cells, SETTINGS)
    assert str(caught.value) == message
