"""Suites: regions, truth of predictions in each item, accuracy."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from psymem.data.items.prediction_formula import parse_formula
from psymem.data.items.suite import Condition, Item, Prediction, Suite
from psymem.data.items.syntaxgym import read_suite
from psymem.errors import DataError
from psymem.scoring.score import score
from psymem.studies.suites.study import analyse_suites, run_suites

VERBS = {"match": "are", "mismatch": "is"}
SUBJECTS = ("The keys", "Dogs", "The old cats", "They", "Cabinets", "The arts")


def suite(*formulas: str, metric: str = "sum", subjects=SUBJECTS, name: str = "agreement") -> Suite:
    """Return a suite with two conditions and four regions, the second without words."""
    items = [
        Item(
            number,
            tuple(
                Condition(c, {1: subject, 2: "", 3: f"{verb} not", 4: "rusty ."}) for c, verb in VERBS.items()
            ),
        )
        for number, subject in enumerate(subjects, start=1)
    ]
    predictions = tuple(Prediction(f, parse_formula(f)) for f in formulas)
    names = {1: "subject", 2: "pause", 3: "verb", 4: "end"}
    return Suite({"name": name, "metric": metric}, names, predictions, tuple(items))


def scored(chosen: Suite, values=None) -> pd.DataFrame:
    """Return scores of a suite with given values, or 1, 2, 3, ... bits."""
    words = chosen.words
    values = np.arange(1.0, len(words) + 1) if values is None else values
    return words.assign(model="m", oov=False, surprisal_bits=values)


PREDICTION = "(3;%match%) < (3;%mismatch%)"


def test_a_prediction_holds_where_plain_arithmetic_says_so():
    chosen = suite(PREDICTION, "[(*;%match%) - (1;%match%)] + (2;%match%) > (4;%mismatch%) * 1.5")
    result = run_suites(chosen, "toy")
    expected = []
    for first in (True, False):
        for subject in SUBJECTS:
            words = {c: f"{subject} {verb} not rusty .".split() for c, verb in VERBS.items()}
            n = len(subject.split())
            bits = {c: score([w], "toy")["surprisal_bits"].to_numpy() for c, w in words.items()}
            if first:
                expected.append(bits["match"][n : n + 2].sum() < bits["mismatch"][n : n + 2].sum())
            else:
                expected.append(bits["match"][n:].sum() > 1.5 * bits["mismatch"][n + 2 :].sum())
    assert result.items["holds"].tolist() == expected
    assert result.items["item"].tolist() == [*"123456"] * 2
    for number, row in enumerate(result.accuracy.to_dict("records")):
        true = sum(expected[6 * number : 6 * number + 6])
        assert row["n_true"] == true
        assert row["accuracy"] == true / 6
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(proportion_confint(true, 6, method="wilson"))
        assert row["ci_method"] == "Wilson score"


@pytest.mark.parametrize(
    ("metric", "verb", "empty"),
    [("sum", 7.0, 0.0), ("mean", 3.5, None), ("median", 3.5, None), ("range", 1.0, None), ("max", 4.0, None)],
)
def test_a_regions_value_follows_the_suites_metric(metric, verb, empty):
    chosen = suite(metric=metric, subjects=["The keys"])
    regions = analyse_suites(scored(chosen), [chosen]).regions
    match = regions[regions["condition"] == "match"].set_index("region_number")
    assert match.loc[3, "surprisal_bits"] == verb  # words 3 and 4 of 1, 2, 3, ...
    assert match["n_words"].tolist() == [2, 0, 2, 2]
    assert match["content"].tolist() == ["The keys", "", "are not", "rusty ."]
    if empty is None:
        assert math.isnan(match.loc[2, "surprisal_bits"])
    else:
        assert match.loc[2, "surprisal_bits"] == empty


def test_the_star_is_the_metric_over_the_whole_sentence():
    chosen = suite("(*;%match%) = 3.5", "(*;%mismatch%) = 9.5", metric="mean", subjects=["The keys"])
    assert analyse_suites(scored(chosen), [chosen]).items["holds"].tolist() == [True, True]


def test_regions_may_be_numbered_from_0_and_formulas_may_have_none():
    chosen = suite("1 < 2", "(0;%match%) < (*;%match%)", subjects=["The keys", "Dogs"])
    items = [
        Item(
            i.number, tuple(Condition(c.name, {n - 1: t for n, t in c.regions.items()}) for c in i.conditions)
        )
        for i in chosen.items
    ]
    names = {n - 1: name for n, name in chosen.region_names.items()}
    chosen = Suite(chosen.meta, names, chosen.predictions, tuple(items))
    assert analyse_suites(scored(chosen), [chosen]).items["holds"].tolist() == [True] * 4


def test_items_with_unknown_words_are_left_out_for_all_models_alike():
    chosen = suite(PREDICTION)
    one = scored(chosen)
    other = one.assign(model="n", oov=(one["word"] == "Dogs") & (one["condition"] == "match"))
    scores = pd.concat([one, other], ignore_index=True)
    result = analyse_suites(scores, [chosen])
    assert result.accuracy["n_analysed"].tolist() == [5, 5]
    assert result.accuracy["n_left_out_oov"].tolist() == [1, 1]
    left = result.items[~result.items["analysed"]]
    assert left[["model", "item", "oov"]].to_numpy().tolist() == [["m", "2", True], ["n", "2", True]]
    assert result.left_out.to_numpy().tolist() == [["agreement", "2", 1, "Dogs", "match", "n"]]
    kept = analyse_suites(scores, [chosen], keep_oov=True)
    assert kept.accuracy["n_analysed"].tolist() == [6, 6]
    assert kept.accuracy["n_left_out_oov"].tolist() == [0, 0]
    assert kept.items["oov"].sum() == 2


def test_undefined_surprisal_makes_a_prediction_undefined():
    chosen = suite("(1;%match%) > 1 | (3;%match%) > 1")
    values = np.where(chosen.words["word_id"] == 1, np.nan, 2.0)
    values[0] = 2.0
    result = analyse_suites(scored(chosen, values), [chosen])
    assert result.items["holds"].isna().tolist() == [False, *[True] * 5]
    assert result.accuracy[["n_undefined", "n_analysed", "n_true"]].to_numpy().tolist() == [[5, 1, 1]]


def test_nothing_left_to_analyse_is_an_error():
    chosen = suite(PREDICTION)
    scores = scored(chosen)
    with pytest.raises(DataError) as caught:
        analyse_suites(scores.assign(oov=scores["word"] == "rusty"), [chosen])
    assert str(caught.value) == (
        "All items have a word outside the vocabulary of the model (rusty), so nothing is left to analyse. "
        "Use other suites or another model, or keep them with --keep-oov."
    )
    with pytest.raises(DataError) as caught:
        analyse_suites(scores.assign(surprisal_bits=np.nan), [chosen])
    assert str(caught.value) == (
        "No prediction could be computed in any item: the surprisal of a region is not defined. The first "
        "word has none where a model reads without a beginning-of-sentence token."
    )


def test_a_suite_without_predictions_gives_regions():
    result = run_suites(suite(), "toy")
    assert result.accuracy.empty
    assert len(result.regions) == 6 * 2 * 4


def test_several_suites_and_models_are_written_with_where_they_come_from(tmp_path, small_checkpoint):
    chosen = [suite(PREDICTION), suite(PREDICTION, name="other", metric="mean")]
    result = run_suites(chosen, ["toy", str(small_checkpoint)], tmp_path / "out", export=True, seed=3)
    assert len(result.accuracy) == 4
    assert result.mean_accuracy["n_predictions"].tolist() == [2, 2]
    expected = result.accuracy.groupby("model", sort=False)["accuracy"].mean().tolist()
    assert result.mean_accuracy["mean_accuracy"].tolist() == expected
    for name, table in result.tables().items():
        written = pd.read_csv(tmp_path / "out" / f"{name}.csv", keep_default_na=False)
        assert len(written) == len(table)
        sidecar = json.loads((tmp_path / "out" / "provenance.json").read_text(encoding="utf-8"))
        assert [m["model"] for m in sidecar["models"]] == ["toy", str(small_checkpoint)]
        assert [s["name"] for s in sidecar["suites"]] == ["agreement", "other"]
        assert sidecar["seed"] == 3
    exported = read_suite(tmp_path / "out" / "suite_other_toy.json")
    assert exported.words.equals(chosen[1].words)
    region = json.loads(exported.path.read_text(encoding="utf-8"))["items"][0]["conditions"][1]["regions"][2]
    rows = result.regions.query(
        "suite == 'other' and model == 'toy' and item == '1' and condition == 'mismatch'"
    )
    assert region["metric_value"] == {"mean": rows["surprisal_bits"].iloc[2]}


@pytest.mark.shared
def test_every_published_suite_runs(shared):
    result = run_suites(shared / "data" / "stimuli" / "syntaxgym", "toy")
    assert result.accuracy["suite"].nunique() == 17
    assert (result.accuracy["n_analysed"] == result.accuracy["n_items"]).all()
    assert result.regions["surprisal_bits"].notna().all()


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_regions_add_up_to_the_sentence_with_sub_word_tokenizers(small_pretrained, kind):
    chosen = suite(PREDICTION)
    result = run_suites(chosen, str(small_pretrained(kind)))
    keys = ["item", "condition"]
    sums = result.regions.groupby(keys)["surprisal_bits"].sum()
    text = {key: " ".join(rows["word"]) for key, rows in chosen.words.groupby(keys)}
    scores = score([t.split() for t in text.values()], str(small_pretrained(kind)))
    totals = scores.groupby(scores["text_id"].astype(int))["surprisal_bits"].sum()
    assert sums.loc[list(text)].tolist() == pytest.approx(totals.tolist(), abs=1e-4)
