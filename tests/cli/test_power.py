"""``psymem power`` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError
from psymem.fitting.fit import fit
from psymem.fitting.power import power


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(31)
    item, x = (a.ravel() for a in np.meshgrid(np.arange(12), [0.0, 1.0], indexing="ij"))
    frame = pd.DataFrame(
        {"item": item, "x": x, "y": rng.normal(0, 1, 12)[item] + 0.5 * x + rng.normal(0, 1, 24)}
    )
    path = tmp_path_factory.mktemp("pilot") / "pilot.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments) -> str:
    result = CliRunner().invoke(build(), ["power", *(str(a) for a in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_design_has_its_row(table, tmp_path):
    out = tmp_path / "power.csv"
    run(
        table,
        "-f",
        "y ~ x + (1|item)",
        "--size",
        "item=10,20",
        "--effect",
        "x=0.9",
        "-n",
        30,
        "-j",
        1,
        "--out",
        out,
    )
    written = pd.read_csv(out)
    assert written.n_item.tolist() == [10, 20]
    assert written.n_obs.tolist() == [20, 40]
    frame = pd.read_csv(table)
    model = fit(frame, "y ~ x + (1|item)")
    expected = power(model, frame, sizes={"item": 20}, effects={"x": 0.9}, simulations=30).table
    assert written.power[1] == expected.power[0]
    sidecar = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert (sidecar["simulations"], sidecar["effects"]) == (30, {"x": 0.9})


def test_json_and_the_design_of_the_pilot(table):
    found = json.loads(run(table, "-f", "y ~ x + (1|item)", "-n", 5, "-j", 1, "--json", "--quiet"))
    assert found["power"][0]["n_item"] == 12
    assert found["power"][0]["simulations"] == 5


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("item", "--size was given 'item'; it has to look like 'item=60'."),
        ("item=many", "--size was given 'many' for 'item'; it has to be a number."),
        ("item=10.5", "--size needs whole numbers of levels; 'item' was given 10.5."),
    ],
)
def test_sizes_that_do_not_parse(table, value, message):
    with pytest.raises(PsymemError) as error:
        run(table, "-f", "y ~ x + (1|item)", "--size", value)
    assert str(error.value) == message
