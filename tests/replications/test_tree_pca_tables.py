"""Tables on reduced sequences: by hand-made numbers, resuming, the report, the command."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.data.words.labelled_texts import LabelledTexts
from psymem.errors import PsymemError, TrainingError
from psymem.replications.tree_pca_report import orderings_in_words
from psymem.replications.tree_pca_tables import (
    ReductionSettings,
    load_tables,
    ordering_table,
    pair_table,
    run_all,
    tokens_of,
)

NAME = "tmpca-tables"
SETTINGS = ReductionSettings(positions=(2, 4), width=3, epochs=3)


def hand_made() -> pd.DataFrame:
    """Two seeds of one collection: accuracy, nats and seconds by method, N = 8."""
    rows = [
        (1, "embedding-bag", None, 0.90, None, None),
        (2, "embedding-bag", None, 0.91, None, None),
        (1, "tree-pca", 8, 0.92, 1.0, 0.10),
        (2, "tree-pca", 8, 0.94, 1.1, 0.11),
        (1, "pca", 8, 0.92, 1.2, 0.21),
        (2, "pca", 8, 0.93, 1.4, 0.20),
        (1, "mean", 8, 0.80, 0.2, 0.01),
        (2, "mean", 8, 0.81, 0.2, 0.01),
    ]
    frame = pd.DataFrame(rows, columns=["seed", "method", "positions", "accuracy", "nats", "seconds"])
    return frame.assign(collection="c", grams="unigrams").astype({"positions": "Int64"})


def collection(rng: np.random.Generator) -> LabelledTexts:
    names = [f"w{chr(97 + n)}" for n in range(20)]
    texts = []
    for _ in range(120):
        label = int(rng.integers(2))
        texts.append((" ".join(rng.choice(names[:14] if label else names[6:], 5)), str(label)))
    return LabelledTexts("mine", tuple(texts), (), ("SMSSpamCollection",))


def test_orderings_are_judged_by_their_differences():
    found = ordering_table(load_tables(NAME), hand_made()).set_index(["quantity", "better", "worse"])
    accuracy = found.loc[("accuracy", "tree-pca", "embedding-bag")]
    expected = stats.ttest_1samp([2.0, 3.0], 0).confidence_interval(0.95)
    assert accuracy[["difference", "ci_low", "ci_high"]].tolist() == pytest.approx([2.5, *expected])
    assert accuracy["verdict"] == "undecided"
    time = found.loc[("seconds", "tree-pca", "pca")]
    assert time["difference"] == pytest.approx(100 * np.mean([1 - 0.10 / 0.21, 1 - 0.11 / 0.20]))
    assert time["verdict"] == "holds"
    assert found.loc[("nats", "tree-pca", "mean"), "difference"] == pytest.approx(0.85)
    assert found.loc[("nats", "pca", "tree-pca"), "difference"] == pytest.approx(0.25)
    turned = hand_made().replace({"method": {"mean": "tree-pca", "tree-pca": "mean"}})
    again = ordering_table(load_tables(NAME), turned).set_index(["quantity", "worse"])
    assert again.loc[("nats", "mean"), "verdict"] == "does not hold"
    counted = orderings_in_words(found.reset_index())
    assert counted[["holds", "does not hold", "undecided"]].sum().sum() == len(found)


def test_ratios_of_determinants_and_of_times():
    nats = pair_table(hand_made(), "nats", [("pca", "tree-pca")]).iloc[0]
    assert nats["difference_nats"] == pytest.approx(0.25)
    assert nats["ratio"] == pytest.approx(np.exp(0.5))
    times = pair_table(hand_made(), "seconds", [("pca", "tree-pca")]).iloc[0]
    assert times["ratio"] == pytest.approx(np.exp(np.log([2.1, 0.20 / 0.11]).mean()))
    assert times[["seconds_first", "seconds_second"]].tolist() == pytest.approx([0.205, 0.105])


def test_one_seed_decides_nothing():
    found = ordering_table(load_tables(NAME), hand_made().query("seed == 1"))
    assert set(found["verdict"]) == {"undecided"}


def test_bigrams_follow_the_words():
    assert tokens_of("The film wasn't bad, really", bigrams=False) == ["film", "bad", ",", "really"]
    assert tokens_of("bad old film", bigrams=True) == ["bad", "old", "film", "bad old", "old film"]


def test_runs_go_on_and_refuse_other_settings(rng, tmp_path, monkeypatch):
    mine = collection(rng)
    said: list[str] = []
    first = run_all([mine], SETTINGS, [1], tmp_path, said.append)
    assert said == ["mine, unigrams, seed 1", "mine, bigrams, seed 1"]
    monkeypatch.setattr("psymem.replications.tree_pca_tables._run", lambda *a: pytest.fail("ran again"))
    assert run_all([mine], SETTINGS, [1], tmp_path) == first
    file = tmp_path / "runs/mine-unigrams-seed-1.json"
    expected = f"{file} is of a run with other settings or texts. Give the same, or another --out."
    with pytest.raises(TrainingError, match=f"^{re.escape(expected)}$"):
        run_all([mine], ReductionSettings(positions=(2,), width=3), [1], tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"positions": (4, 6)}, "--positions 6 is no power of two from 2 on."),
        ({"width": 0}, "--width has to be at least 1, not 0."),
    ],
)
def test_settings_that_cannot_work(settings, message):
    with pytest.raises(TrainingError, match=f"^{re.escape(message)}$"):
        ReductionSettings(**settings)


def test_words_too_rare_for_vectors(rng, tmp_path):
    message = r"^No word stands 500 times in 96 training texts; give --minimum-count 1\.$"
    with pytest.raises(TrainingError, match=message):
        run_all([collection(rng)], ReductionSettings(minimum_count=500), [1], tmp_path)


def test_the_command_writes_tables_report_and_figure(rng, tmp_path):
    texts = collection(rng).train
    (tmp_path / "data").mkdir()
    content = "".join(f"{label}\t{text}\n" for text, label in texts)
    (tmp_path / "data/SMSSpamCollection").write_text(content, encoding="utf-8")
    out = tmp_path / "out"
    arguments = [NAME, "--data", f"mine={tmp_path / 'data'}", "--seeds", "1-2", "--positions", "2"]
    arguments += ["--positions", "8", "--width", "3", "--epochs", "3", "--out", str(out), "--json", "-q"]
    done = CliRunner().invoke(build(), arguments, catch_exceptions=False)
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    accuracies = pd.read_csv(out / "tmpca_tables.csv")
    assert len(printed["accuracies"]) == len(accuracies) == 2 * (1 + 2 * 3)
    runs = pd.read_csv(out / "tmpca_tables_runs.csv")
    own = runs.query("method == 'pca' and positions == 8 and grams == 'bigrams'")["accuracy"]
    row = accuracies.query("method == 'pca' and positions == 8 and grams == 'bigrams'").iloc[0]
    assert row["accuracy"] == pytest.approx(100 * own.mean())
    weights = pd.read_csv(out / "tmpca_tables_positions.csv").query("positions == 8")
    sums = weights.groupby("grams")["position_weights"].sum()
    assert sums.to_list() == pytest.approx([3, 3])
    page = (out / "tmpca_tables.md").read_text(encoding="utf-8")
    for part in ("Source: Su, Y. (2019).", "## Orderings of the paper", "## At full size", "a random fifth"):
        assert part in page
    assert (out / "tmpca_tables.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["x"], "--data 'x' is not understood; expected NAME=FOLDER, such as sms-spam=data."),
        (["a/b=c"], "--data 'a/b=c' is not understood; expected NAME=FOLDER, such as sms-spam=data."),
    ],
)
def test_collections_that_are_not_named(given, message):
    arguments = [NAME, *(x for d in given for x in ("--data", d))]
    with pytest.raises(PsymemError, match=f"^{re.escape(message)}$"):
        CliRunner().invoke(build(), arguments, catch_exceptions=False)
