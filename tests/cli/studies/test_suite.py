"""``psymem suite`` as a user runs it."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build

CONDITIONS = {"match": "are", "mismatch": "is"}


@pytest.fixture
def suite(tmp_path):
    content = {
        "meta": {"name": "agreement", "metric": "sum"},
        "region_meta": {"1": "subject", "2": "verb"},
        "predictions": [{"type": "formula", "formula": "(2;%match%) < (2;%mismatch%)"}],
        "items": [
            {
                "item_number": number,
                "conditions": [
                    {
                        "condition_name": name,
                        "regions": [
                            {"region_number": 1, "content": subject},
                            {"region_number": 2, "content": verb},
                        ],
                    }
                    for name, verb in CONDITIONS.items()
                ],
            }
            for number, subject in enumerate(("The keys", "Dogs", "Zebras"), start=1)
        ],
    }
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def run(*arguments):
    result = CliRunner().invoke(build(), [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_accuracies_are_shown_and_written(suite, tmp_path, small_checkpoint):
    out = tmp_path / "out"
    result = run("suite", suite, "-m", "toy", "-m", small_checkpoint, "--out", out)
    assert "agreement" in result.stdout
    assert result.stderr == (
        f"1 item(s) with words out of vocabulary were left out: Zebras.\nResults are in {out}.\n"
    )
    accuracy = pd.read_csv(out / "accuracy.csv")
    assert accuracy["n_analysed"].tolist() == [2, 2]
    names = ("accuracy", "items", "items_left_out", "regions", "scores")
    assert {p.name for p in out.iterdir()} == {"provenance.json", *(f"{n}.csv" for n in names)}


def test_json_has_accuracies_and_items(suite, tmp_path):
    out = tmp_path / "out"
    printed = json.loads(run("suite", suite, "-m", "toy", "-o", out, "--json", "--export").stdout)
    assert printed["accuracy"][0]["n_items"] == 3
    assert [row["item"] for row in printed["items"]] == ["1", "2", "3"]
    assert printed["out"] == str(out)
    assert (out / "suite_agreement_toy.json").is_file()


def test_quiet_prints_nothing(suite, tmp_path):
    result = run(
        "suite", suite, "-m", "toy", "-o", tmp_path / "out", "--quiet", "--keep-oov", "--uncorrected"
    )
    assert (result.stdout, result.stderr) == ("", "")


def test_a_folder_that_cannot_be_written_is_one_line(suite, tmp_path, monkeypatch):
    from psymem.errors import OutputError
    from psymem.io import outputs

    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs.tempfile, "mkdtemp", full)
    with pytest.raises(OutputError) as caught:
        run("suite", suite, "-m", "toy", "-o", tmp_path / "new" / "out")
    assert str(caught.value) == (
        f"Cannot write into {tmp_path / 'new'}: No space left on device. Choose another folder with --out."
    )
    assert not (tmp_path / "new").exists()
