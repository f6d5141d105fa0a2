"""Sentiment accuracies: both rules by hand-made numbers, resuming, the report, the command."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.replications.analyses import studies_of
from psymem.replications.sentiment_report import save
from psymem.replications.sentiment_table import (
    SentimentRuns,
    load_table,
    nested_rule,
    ordering_table,
    published_rule,
    row_table,
    summarise,
)

COLUMNS = ["model", "seed", "width", "components", "epoch", "validation", "test"]
EPOCHS = pd.DataFrame(
    [
        ("lstm", 1, 30, 1, 1, 0.60, 0.90),
        ("lstm", 1, 30, 1, 2, 0.70, 0.80),
        ("lstm", 1, 50, 1, 1, 0.65, 0.84),
        ("lstm", 2, 30, 1, 1, 0.50, 0.70),
        ("lstm", 2, 50, 1, 1, 0.80, 0.74),
        ("fgp-lstm-true", 1, 30, 3, 1, 0.60, 0.60),
        ("fgp-lstm-true", 2, 30, 3, 1, 0.60, 0.58),
    ],
    columns=COLUMNS,
)


def accuracies_of(runs: pd.DataFrame) -> dict[tuple[str, int], float]:
    return {(r.model, r.seed): r.accuracy for r in runs.itertuples()}


def test_the_table_of_the_paper():
    assert list(studies_of("sentiment")) == ["fgp-table2"]
    table = load_table("fgp-table2")
    published = {row.name: row.published for row in table.rows}
    assert all(published[a] > published[b] for a, b in table.orderings)


def test_the_published_rule_takes_the_best_epoch_on_the_test_at_the_best_setting():
    found = accuracies_of(published_rule(EPOCHS))
    # width 30: (0.90 + 0.70) / 2 = 0.80; width 50: (0.84 + 0.74) / 2 = 0.79
    assert found == {
        ("lstm", 1): 0.90,
        ("lstm", 2): 0.70,
        ("fgp-lstm-true", 1): 0.60,
        ("fgp-lstm-true", 2): 0.58,
    }


def test_the_nested_rule_never_looks_at_the_test():
    assert accuracies_of(nested_rule(EPOCHS))[("lstm", 1)] == 0.80
    assert accuracies_of(nested_rule(EPOCHS))[("lstm", 2)] == 0.74
    shuffled = EPOCHS.assign(test=np.random.default_rng(1).permutation(EPOCHS["test"]))
    chosen = nested_rule(shuffled)
    where = [1, 4]  # rows of EPOCHS that validation chooses for the LSTM
    assert sorted(chosen.loc[chosen["model"] == "lstm", "accuracy"]) == sorted(shuffled.loc[where, "test"])


def test_rows_have_both_rules_in_percent():
    found = row_table(load_table("fgp-table2"), EPOCHS).set_index("model")
    assert found.loc["lstm", ["nested", "published_rule"]].tolist() == pytest.approx([77.0, 80.0])
    interval = stats.ttest_1samp([80.0, 74.0], 0).confidence_interval(0.95)
    assert found.loc["lstm", "nested_ci_low"] == pytest.approx(interval.low)
    assert found.loc["fgp-lstm-fixed", "n_seeds"] == 0


def test_orderings_are_paired_by_seed():
    found = ordering_table(load_table("fgp-table2"), EPOCHS)
    own = found[(found["better"] == "lstm") & (found["worse"] == "fgp-lstm-true")].set_index("rule")
    assert own.loc["nested", "difference"] == pytest.approx((20 + 16) / 2)
    assert own["verdict"].tolist() == ["undecided", "undecided"], "18 +- 12.7 * 2 with two seeds"
    closer = EPOCHS.assign(test=EPOCHS["test"].where(EPOCHS["model"] == "lstm", 0.1))
    closer.loc[closer["model"] == "lstm", "test"] = [0.9, 0.8, 0.8, 0.8, 0.81]
    nested = ordering_table(load_table("fgp-table2"), closer).iloc[0]
    assert (nested["worse"], nested["verdict"]) == ("fgp-lstm-true", "holds")


def test_the_report_calls_the_published_rule_optimistic(tmp_path):
    result = summarise(load_table("fgp-table2"), SentimentRuns((30, 50), (3,)), EPOCHS, 994)
    table, orderings, text = save(result, tmp_path)
    words = text.read_text(encoding="utf-8")
    assert "The published rule is optimistic" in words
    assert "Trained again on 994 texts: widths 30, 50; components 3 (FGP); 30 epochs" in words
    assert "| LSTM | 2 | 77.0 | 38.9 to 115.1 | 80.0 |" in words
    assert len(pd.read_csv(orderings)) == 12
    assert "Not trained, since it needs --predictor: FGP-LSTM, fixed predictor." in words
    about = json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))
    assert (about["n_texts"], about["seeds"]) == (994, [1, 2])


def test_the_command_resumes(tmp_path, monkeypatch):
    sample = files("psymem.corpora") / "iitb" / "sample"
    calls = []

    def trained(texts, settings):
        calls.append((settings.family, settings.fixations, settings.fixation_weight, settings.seed))
        return pd.DataFrame({"epoch": [1, 2], "validation": [0.5, 0.6], "test": [0.7, 0.5]})

    monkeypatch.setattr("psymem.train.tasks.sentiment.accuracies", trained)
    arguments = [
        "fgp-table2",
        f"--data={sample}",
        "--seeds=1,2",
        "--width=30",
        "--components=3",
        "--json",
        "-q",
    ]
    for _ in range(2):
        done = CliRunner().invoke(build(), [*arguments, f"--out={tmp_path / 'o'}"])
        assert done.exit_code == 0, done.output
        rows = {r["model"]: r for r in json.loads(done.stdout)["rows"]}
        assert (rows["lstm"]["nested"], rows["lstm"]["published_rule"]) == (50.0, 70.0)
    models = [
        ("lstm", "adaptive", 0.0),
        ("fgp-lstm", "true", 0.0),
        ("fgp-lstm", "adaptive", 0.0),
        ("fgp-lstm", "adaptive", 0.001),
    ]
    assert calls == [(*m, seed) for seed in (1, 2) for m in models], "each once"
    other = CliRunner().invoke(build(), [*arguments, f"--out={tmp_path / 'o'}", "--epochs=3"])
    assert str(other.exception) == (
        f"{tmp_path / 'o/runs/lstm-30-1-seed-1.json'} is of a run with other settings. Give the same, or another --out."
    )
