"""What is committed in analyses/results/: where it came from, and that README.md shows it as it is.

A block of README.md after ``<!-- from: PATH -->`` has to be part of that file, line by line.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "analyses" / "results"
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SIDECARS = sorted(RESULTS.glob("*.json"))
TABLES = ("fgp_table1", "fgp_table2", "fgp_table3")
SHOWN = re.compile(r"^<!-- from: (?P<file>\S+) -->\n+(?P<body>.+?)\n\n", re.MULTILINE | re.DOTALL)
ABSOLUTE = re.compile(r"""(?:^|[\s"'=])(/|[A-Z]:\\)[\w.-]+/""")
VERDICTS = {"holds", "does not hold", "undecided"}


def about(name: str) -> dict:
    """Content of a sidecar."""
    return dict(json.loads((RESULTS / name).with_suffix(".json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", SIDECARS, ids=[p.stem for p in SIDECARS])
def test_a_table_says_where_it_came_from(path: Path):
    said = about(path.name)
    assert {"command", "psymem", "python", "packages", "table", "rows"} <= set(said)
    table = path.with_suffix(".csv")
    assert table.name.endswith(said["table"])
    assert len(pd.read_csv(table)) == said["rows"]
    assert not ABSOLUTE.search(path.read_text(encoding="utf-8")), "a path of somebody's machine"


def test_readme_shows_results_as_they_are():
    shown = list(SHOWN.finditer(README))
    assert shown
    assert len(shown) == README.count("<!-- from:")
    wrong = [
        m["file"] for m in shown if m["body"] not in (REPOSITORY / m["file"]).read_text(encoding="utf-8")
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ["fgp_table1", "fgp_table3"])
def test_perplexities_and_verdicts_follow_from_the_runs(name: str):
    runs, rows, orderings = (
        pd.read_csv(RESULTS / f"{name}{part}.csv") for part in ("_runs", "", "_orderings")
    )
    said = about(name)
    assert runs["tokens_seen"].min() >= 1_000_000
    assert runs.groupby("model").size().min() >= 3
    nats = {model: found["nats"] for model, found in runs.groupby("model")}
    trained = rows[rows["n_seeds"] > 0].set_index("model")
    assert set(trained.index) == set(nats)
    for model, row in trained.iterrows():
        interval = np.exp(stats.ttest_1samp(nats[model], 0).confidence_interval(0.95))
        expected = [np.exp(nats[model].mean()), *interval]
        assert row[["perplexity", "ci_low", "ci_high"]].tolist() == pytest.approx(expected)
        assert row["beats_trigram"] == (np.exp(nats[model]) < said["trigram"]["perplexity"]).all()
    for row in orderings.to_dict("records"):
        if row["n_better"] and row["n_worse"]:
            test = stats.ttest_ind(nats[row["better"]], nats[row["worse"]], equal_var=False)
            interval = np.exp(test.confidence_interval(0.95))
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(interval))
            side = "holds" if interval[1] < 1 else "does not hold" if interval[0] > 1 else "undecided"
            assert row["verdict"] == side


@pytest.mark.parametrize("name", TABLES)
def test_the_report_has_size_source_and_limits(name: str):
    words = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    for heading in (
        "Source: Huang, X., ",
        "## Orderings of the paper",
        "## How to read this",
        "Trained again",
    ):
        assert heading in words
    rows = pd.read_csv(RESULTS / f"{name}.csv")
    untrained = rows.loc[rows["n_seeds"] == 0, "label"]
    assert [label for label in untrained if f"{label}: not trained" not in words] == []
    assert set(pd.read_csv(RESULTS / f"{name}_orderings.csv")["verdict"]) <= VERDICTS
    assert {"study", "settings", "seeds"} <= set(about(name))


def test_accuracies_of_sentiment_by_both_rules():
    rows = pd.read_csv(RESULTS / "fgp_table2.csv")
    assert about("fgp_table2")["n_texts"] == 994
    assert (rows["n_seeds"] == len(about("fgp_table2")["seeds"])).all()
    assert (rows["published_rule"] >= rows["nested"]).all(), "the best epoch on the test is no worse"


def test_cells_are_summarised_as_their_networks():
    networks, summary = (pd.read_csv(RESULTS / f"{n}.csv") for n in ("cells", "cells_summary"))
    assert summary["n_networks"].sum() == len(networks)
    means = networks.groupby(["size", "cell"])["nats_per_word"].mean().apply(np.exp)
    found = summary.set_index(["size", "cell"])["perplexity_mean"]
    assert found.to_dict() == pytest.approx(means.to_dict())
    shown = [f"{value:.1f}" for value in found]
    assert [number for number in shown if number not in README] == []
