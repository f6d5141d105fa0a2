"""``psymem fixations`` as a user runs it, on the bundled sample."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import PsymemError

SAMPLE = ["fixations", "--corpus", "csv", "--data", "reading-sample"]


def run(*arguments: str):
    """Run the command; errors of psymem come through."""
    result = CliRunner().invoke(build(), [*SAMPLE, "--resamples", "100", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def fgp(tmp_path_factory, gated_checkpoint_writer):
    return str(gated_checkpoint_writer(tmp_path_factory.mktemp("model") / "fgp", "fgp-lstm", components=3))


def test_tables_report_and_json(fgp, tmp_path):
    options = ["--model", fgp, "--keep-oov", "--spillover", "0", "--random", "none", "--sentence", "3"]
    shown = run(*options, "--no-mixed-models", "--out", str(tmp_path / "a")).stdout
    assert "No mixed models: they were switched off.\n" in shown
    assert "344 of 344 words compared; left out 0 of punctuation alone and 0 that nobody read; " in shown
    assert "Spearman's rho with total reading time, mean within texts" in shown
    assert shown.endswith(f"\nReport: {tmp_path / 'a' / 'report.html'}\n")
    found = json.loads(run(*options, "--out", str(tmp_path / "b"), "--json").stdout)
    assert found["corpus"] == "reading-sample"
    assert [g["beyond"] for g in found["gains"]] == ["length, frequency", "length, frequency, its surprisal"]
    assert {p["text_id"] for p in found["sentences_plotted"]} == {"3"}
    table = pd.read_csv(tmp_path / "a" / "correlations.csv")
    assert table["rho"].tolist() == pytest.approx([r["rho"] for r in found["correlations"]])


def test_scores_made_elsewhere(fgp, tmp_path):
    first = tmp_path / "first"
    run("--model", fgp, "--no-mixed-models", "--quiet", "--out", str(first))
    words = pd.read_csv(first / "words.csv").rename(columns={"fixation": "n_active"})
    path = tmp_path / "mine.csv"
    words[["text_id", "word_id", "word", "n_active", "surprisal_bits"]].to_csv(path, index=False)
    out = tmp_path / "second"
    shown = run("--scores", str(path), "--no-mixed-models", "--quiet", "--out", str(out))
    assert shown.stdout == ""
    rho = [
        pd.read_csv(f / "correlations.csv").query(
            "words != 'known to the model'" if f == first else "model == 'mine'"
        )
        for f in (first, out)
    ]
    assert rho[0].iloc[0]["rho"] == pytest.approx(rho[1].iloc[0]["rho"])
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"{path} (psymem cannot tell whether they look at later words)" in page


def test_options_of_a_plain_table_belong_to_csv(tmp_path):
    with pytest.raises(PsymemError) as raised:
        CliRunner().invoke(
            build(),
            ["fixations", "--corpus", "cmcl", "--data", str(tmp_path), "--averaged", "--zero", "unread"],
            catch_exceptions=False,
        )
    assert str(raised.value) == (
        "--zero, --averaged belong to --corpus csv, a table of your own; --corpus cmcl was given."
    )


def test_unknown_names_are_refused(fgp, tmp_path):
    with pytest.raises(PsymemError) as raised:
        run("--model", fgp, "--unread", "none", "--out", str(tmp_path / "x"))
    assert str(raised.value) == "unread='none' is not known; expected left-out or zero."
    assert not (tmp_path / "x").exists()
