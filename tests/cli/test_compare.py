"""``psymem compare`` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import FitError, NotNestedError, PsymemError
from psymem.fitting.comparison import compare
from psymem.fitting.cross_validation import cross_validate
from psymem.fitting.fit import fit

BASE = "rt ~ length + (1|subject)"
FULL = "rt ~ length + surprisal + (1|subject)"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(27)
    subject, word = (a.ravel() for a in np.meshgrid(np.arange(6), np.arange(60), indexing="ij"))
    words = pd.DataFrame(
        {"text_id": np.arange(60) // 6, "length": rng.normal(5, 2, 60), "surprisal": rng.normal(8, 3, 60)}
    )
    frame = words.iloc[word].reset_index(drop=True).assign(subject=[f"s{i}" for i in subject])
    frame["rt"] = (
        300 + 5 * frame.length + 4 * frame.surprisal + rng.normal(0, 30, 6)[subject] + rng.normal(0, 40, 360)
    )
    frame["previous"] = frame.surprisal.where(frame.index % 6 != 0)
    path = tmp_path_factory.mktemp("reading") / "reading.csv"
    frame.to_csv(path, index=False, na_rep="NA")
    return path


def run(*arguments) -> str:
    result = CliRunner().invoke(build(), ["compare", *(str(a) for a in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_tables_equal_those_of_the_functions(table, tmp_path):
    out = tmp_path / "out"
    text = run(
        table,
        "--base",
        BASE,
        "--full",
        FULL,
        "--folds",
        5,
        "--group-by",
        "text_id",
        "--seed",
        2,
        "--out",
        out,
    )
    frame = pd.read_csv(table)
    fits = [fit(frame, f, reml=False) for f in (BASE, FULL)]
    expected = compare(*fits).table
    written = pd.read_csv(out / "comparison.csv")
    np.testing.assert_allclose(
        written[["loglik", "chi_square", "p"]], expected[["loglik", "chi_square", "p"]]
    )
    held_out = cross_validate(fits[0], fits[1:], frame.text_id, folds=5, seed=2)
    rows = pd.read_csv(out / "held_out.csv").set_index("row")
    np.testing.assert_allclose(rows["full"], held_out.observations["full"])
    sidecar = json.loads((out / "cross_validation.json").read_text(encoding="utf-8"))
    assert {sidecar[k] for k in ("folds", "group_by", "seed", "unit")} == {5, "text_id", 2, "nats"}
    lines = text.splitlines()
    assert lines[:2] == [f"base: {BASE}", f"full: {FULL}"]
    assert "Likelihood-ratio tests, 360 rows, maximum likelihood" in lines
    assert "Held out: 5 folds by text_id, nats per observation, seed 2" in lines


def test_json(table):
    found = json.loads(run(table, "--base", BASE, "--full", FULL, "--json", "--quiet"))
    assert [row["model"] for row in found["comparison"]] == ["base", "full"]
    assert found["comparison"][0]["p"] is None
    assert found["comparison"][1]["df"] == 1


def test_rows_that_differ_are_refused_unless_asked_for(table):
    more = "rt ~ length + previous + (1|subject)"
    with pytest.raises(
        FitError, match=r"^The models were fitted to different rows: .* to 360, .* to 300, of which 300 "
    ):
        run(table, "--base", BASE, "--full", more)
    found = json.loads(run(table, "--base", BASE, "--full", more, "--complete-rows", "--json", "-q"))
    assert [row["n_obs"] for row in found["comparison"]] == [300, 300]


def test_models_that_are_not_nested_are_compared_held_out_only(table):
    other = "rt ~ surprisal + (1|subject)"
    with pytest.raises(NotNestedError):
        run(table, "--base", BASE, "--full", other)
    found = json.loads(
        run(table, "--base", BASE, "--full", other, "--folds", 3, "--group-by", "text_id", "--json", "-q")
    )
    assert list(found) == ["notes", "cross_validation"]


def test_folds_need_a_column(table):
    with pytest.raises(PsymemError) as error:
        run(table, "--base", BASE, "--full", FULL, "--folds", 5)
    assert str(error.value) == "--folds and --group-by go together, as in --folds 10 --group-by text_id."


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "--levels",
            "attraction",
            "--levels was given 'attraction'; it has to look like 'attraction=none,double'.",
        ),
        ("--contrasts", "a=", "--contrasts was given 'a='; it has to look like 'attraction=sum'."),
    ],
)
def test_options_that_do_not_parse(table, option, value, message):
    with pytest.raises(PsymemError) as error:
        run(table, "--base", BASE, "--full", FULL, option, value)
    assert str(error.value) == message
