"""What is committed in analyses/results/: where it came from, and that README.md and docs/ show it as it is.

A block there after ``<!-- from: PATH -->`` has to be part of that file, line by line.
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
PAGES = "\n\n".join(
    p.read_text(encoding="utf-8")
    for p in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))
)
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


def test_pages_show_results_as_they_are():
    shown = list(SHOWN.finditer(PAGES))
    assert shown
    assert len(shown) == PAGES.count("<!-- from:")
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


def test_reduced_sequences_are_judged_by_their_runs():
    runs, accuracies, orderings, information = (
        pd.read_csv(RESULTS / f"tmpca_tables{part}.csv")
        for part in ("_runs", "", "_orderings", "_information")
    )
    assert set(orderings["verdict"]) <= VERDICTS
    assert len(orderings) == 6 * (
        1 + 3 * 4
    )  # accuracy at one N, the others at four; three sets, two kinds of words
    keys = ["collection", "grams", "method", "positions"]
    means = 100 * runs.groupby(keys, dropna=False)["accuracy"].mean()
    found = accuracies.set_index(keys)["accuracy"].sort_index()
    np.testing.assert_allclose(found, means.sort_index())
    wide = runs.pivot_table(
        index=["collection", "grams", "positions", "seed"], columns="method", values="nats"
    )
    for row in orderings.query("quantity == 'nats'").to_dict("records"):
        own = wide.loc[(row["collection"], row["grams"], row["positions"])]
        gain = own[row["better"]] - own[row["worse"]]
        low, high = stats.ttest_1samp(gain, 0).confidence_interval(0.95)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), rel=1e-6, abs=1e-9)
        assert row["verdict"] == ("holds" if low > 0 else "does not hold" if high < 0 else "undecided")
    assert (wide["pca"] >= wide["tree-pca"] - 1e-9).all(), "no orthonormal map keeps more than PCA"
    small = information.query("first == 'pca'")
    np.testing.assert_allclose(small["ratio"], np.exp(2 * small["difference_nats"]))
    words = (RESULTS / "tmpca_tables.md").read_text(encoding="utf-8")
    for heading in (
        "Source: Su, Y. (2019)",
        "## Orderings of the paper",
        "## How to read this",
        "## At full size",
    ):
        assert heading in words


def test_cells_are_summarised_as_their_networks():
    networks, summary = (pd.read_csv(RESULTS / f"{n}.csv") for n in ("cells", "cells_summary"))
    assert summary["n_networks"].sum() == len(networks)
    means = networks.groupby(["size", "cell"])["nats_per_word"].mean().apply(np.exp)
    found = summary.set_index(["size", "cell"])["perplexity_mean"]
    assert found.to_dict() == pytest.approx(means.to_dict())
    shown = [f"{value:.1f}" for value in found]
    assert [number for number in shown if number not in PAGES] == []


def minus(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def test_fixations_on_cmcl_are_told_as_they_are():
    rows = pd.read_csv(RESULTS / "fixations_cmcl_correlations.csv").query("words == 'known to the model'")
    own, length, surprisal = (
        rows[rows["predictor"].str.startswith(p)].iloc[0] for p in ("model fixation", "length", "surprisal")
    )
    prose = " ".join(PAGES.split())
    low, high = minus(own["ci_low"]), minus(own["ci_high"])
    assert (
        f"on the {own['n_words']:,} known words of the CMCL 2021 table (means over readers of ZuCo): the correlation is "
        f"{minus(own['rho'])} [{low}, {high}], that of length {length['rho']:.2f}, that of its surprisal "
        f"{surprisal['rho']:.2f}" in prose
    )
    gains = pd.read_csv(RESULTS / "fixations_cmcl_gains.csv")
    beyond = "length, frequency, its surprisal"
    gain = gains[gains["beyond"] == beyond].iloc[0]
    effects = pd.read_csv(RESULTS / "fixations_cmcl_effects.csv")
    effect = effects[(effects["beyond"] == beyond) & (effects["words_back"] == 0)].iloc[0]
    interval = f"[{effect['ci_low']:.2f}, {effect['ci_high']:.2f}]"
    assert (
        f"longer by {effect['estimate']:.2f} {interval} points of 0-100 (χ²(3) = {gain['chi_square']:.1f} in "
        f"{gain['n_obs']:,} words)" in prose
    )


def test_memory_is_told_as_it_is():
    kept = pd.read_csv(RESULTS / "memory_decay.csv").set_index(["model", "distance_words"])[
        "retention_median"
    ]
    said = {
        name: f"{100 * kept[model, 10]:.0f}% {{}}and {100 * kept[model, 20]:.0f}%"
        for name, model in (("ELSTM", "elstm/1"), ("GRU", "gru/1"), ("LSTM", "lstm/1"))
    }
    prose = " ".join(PAGES.split())
    assert f"the ELSTM keeps {said['ELSTM'].format('after ten words ')} after twenty" in prose
    assert f"the GRU {said['GRU'].format('')}, the LSTM {said['LSTM'].format('')}," in prose


def test_effects_of_the_bundled_networks_are_those_of_the_job(tmp_path: Path):
    """The readme's table and the committed one, against the job run anew and t-tests over items."""
    import psymem
    from psymem.cli.studies.effects_table import effects_table
    from psymem.studies.common.structures import ITEMS_BY_INSTANCES

    result = psymem.attraction("cbr-rnn", out=tmp_path / "out")
    committed = pd.read_csv(RESULTS / "attraction_effects.csv")
    keys = ["model", "region", "measure", "effect", "baseline", "structure"]
    both = result.effects.merge(committed, on=keys, validate="one_to_one", suffixes=("", "_committed"))
    assert len(both) == len(committed) == len(result.effects)
    np.testing.assert_allclose(both["estimate"], both["estimate_committed"], atol=1e-4)
    np.testing.assert_allclose(both["p"], both["p_committed"], rtol=0.01, atol=1e-6)
    scores = result.scores[result.scores["role"] == "critical"]
    for measure in ("surprisal_bits", "relative_attention"):
        means = scores.pivot_table(index="item", columns="condition", values=measure)
        rows = result.effects[
            (result.effects["model"] == "cbr-rnn")
            & (result.effects["measure"] == measure)
            & (result.effects["structure"] == ITEMS_BY_INSTANCES)
        ].set_index("subtraction")
        for on, off in ("BA", "DC", "FE", "HE", "GE"):
            row = rows.loc[f"{on} - {off}"]
            expected = stats.ttest_rel(means[on], means[off])
            assert row["estimate"] == pytest.approx((means[on] - means[off]).mean(), abs=1e-9)
            assert row["p"] == pytest.approx(expected.pvalue, rel=1e-3)
    from rich.console import Console

    console = Console(width=100)
    with console.capture() as printed:
        console.print(effects_table(result.first))
    lines = [line.rstrip() for line in printed.get().splitlines()]
    assert "\n".join(lines).strip() in PAGES
    for sentence in result.checks.sentences("cbr-rnn"):
        assert sentence in PAGES
