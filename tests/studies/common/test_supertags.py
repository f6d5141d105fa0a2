"""Instances with and without supertags: a block is what its instances give when they are analysed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from psymem.errors import ModelError
from psymem.studies.attraction import significance
from psymem.studies.attraction.blocks import differences
from psymem.studies.attraction.study import analyse
from psymem.studies.common.rows import region_rows
from psymem.studies.common.supertags import block_sentence, select, supertag_weights, weight_blocks

FACTORS = ["attraction", "violation"]
MEASURES = ["surprisal_bits", "relative_attention"]
INSTANCES = ("cbr-rnn/1", "cbr-rnn/2", "cbr-rnn/3", "cbr-rnn/4")
ALPHAS = {"cbr-rnn/1": 0.0, "cbr-rnn/2": 5.0, "cbr-rnn/3": 0.0, "cbr-rnn/4": 5.0}


def about(models, alphas=ALPHAS) -> dict[str, Any]:
    cards = [{"model": m, "card": {"objective": {"alpha": alphas[m]}}} for m in models]
    return {"item_set": {"name": "own items"}, "models": cards}


def run(scores, models=INSTANCES, alphas=ALPHAS, by="alpha"):
    tests = significance.Tests(by=by)
    return analyse(
        scores, FACTORS, attraction=True, measures=MEASURES, about=about(models, alphas), tests=tests
    )


@pytest.fixture(scope="module")
def scores(make_scores):
    return make_scores(models=INSTANCES, slopes=0.4)


@pytest.fixture(scope="module")
def divided(scores):
    return run(scores)


def without_model(frame, model) -> pd.DataFrame:
    return frame[frame["model"] == model].drop(columns="model").reset_index(drop=True)


@pytest.mark.parametrize(
    ("block", "instances"),
    [
        ("cbr-rnn", INSTANCES),
        ("cbr-rnn-alpha0", ("cbr-rnn/1", "cbr-rnn/3")),
        ("cbr-rnn-alpha5", ("cbr-rnn/2", "cbr-rnn/4")),
    ],
)
def test_each_block_is_what_its_instances_give_alone(block, instances, divided, scores):
    alone = run(scores[scores["model"].isin(instances)], instances, dict.fromkeys(instances, 0.0))
    for table in ("effects", "means", "by_item"):
        expected = without_model(getattr(alone, table), "cbr-rnn")
        pd.testing.assert_frame_equal(without_model(getattr(divided, table), block), expected)


def test_table_figure_and_scores_tell_them_apart(divided):
    names = ["cbr-rnn", "cbr-rnn-alpha0", "cbr-rnn-alpha5"]
    assert divided.models == names
    assert list(divided.effects["model"].unique()) == names
    assert [p for p in divided.plotted["panel"].unique() if p.endswith("surprisal_bits")] == [
        f"{name}: surprisal_bits" for name in names
    ]
    assert divided.scores.groupby("model")["supertag_weight"].first().to_dict() == ALPHAS


def test_report_and_sidecars_say_which_instances_they_are(divided, tmp_path):
    divided.save(tmp_path)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>cbr-rnn on own items</h1>" in report
    assert "Sentences were read word by word by cbr-rnn (4 trained instances) with psymem" in report
    assert block_sentence(divided.blocks) in report
    assert '"cbr-rnn-alpha5": [' in (tmp_path / "provenance.json").read_text(encoding="utf-8")


def test_a_formula_with_a_term_of_model_leaves_out_blocks_of_one_instance(scores):
    alphas = ALPHAS | {"cbr-rnn/2": 0.0}
    result = analyse(
        scores,
        FACTORS,
        attraction=True,
        measures=MEASURES,
        tests=significance.Tests(formula="y ~ attraction + (1|item) + (1|model)"),
        about=about(INSTANCES, alphas),
    )
    assert result.models == ["cbr-rnn", "cbr-rnn-alpha0"], "cbr-rnn-alpha5 would be cbr-rnn/4 alone"
    assert result.effects["estimate"].notna().all()
    assert weight_blocks(INSTANCES, alphas, "y ~ attraction + (1|item)").keys() == {
        "cbr-rnn-alpha0",
        "cbr-rnn-alpha5",
    }


def test_blocks_that_do_not_differ_are_shown_only_if_asked_for(scores):
    assert run(scores, by=None).models == ["cbr-rnn"]


def test_blocks_that_differ_are_shown(scores):
    tagged = scores["model"].isin(["cbr-rnn/2", "cbr-rnn/4"]) & (scores["condition"] == "B")
    different = scores.assign(surprisal_bits=scores["surprisal_bits"] - 30.0 * tagged)
    assert run(different, by=None).models == ["cbr-rnn", "cbr-rnn-alpha0", "cbr-rnn-alpha5"]


def test_p_of_the_difference_is_the_t_test_between_instances(scores):
    rows = region_rows(scores, MEASURES, FACTORS)
    p = differences(
        rows, None, {"a": ["cbr-rnn/1", "cbr-rnn/3"], "b": ["cbr-rnn/2", "cbr-rnn/4"]}, "surprisal_bits"
    )
    means = scores.groupby(["model", "condition"])["surprisal_bits"].mean().unstack()
    effect = means["B"] - means["A"]
    expected = stats.ttest_ind(effect[["cbr-rnn/1", "cbr-rnn/3"]], effect[["cbr-rnn/2", "cbr-rnn/4"]])
    assert p[0] == pytest.approx(expected.pvalue)


def test_without_both_kinds_nothing_changes(scores):
    plain = run(scores, alphas=dict.fromkeys(INSTANCES, 5.0))
    assert plain.models == ["cbr-rnn"]
    assert "supertag_weight" not in plain.scores.columns
    assert plain.blocks == {}


def test_blocks_need_known_weights_of_one_family():
    assert weight_blocks(["a/1", "a/2", "b/1"], {"a/1": 0.0, "b/1": 1.0}) == {}
    assert weight_blocks(["a/1", "a/2", "a/3"], {"a/1": 0.5, "a/3": 0.0}) == {
        "a-alpha0": ["a/3"],
        "a-alpha0.5": ["a/1"],
    }
    assert block_sentence({"a-alpha0": ["a/3"], "a-alpha0.5": ["a/1"]}) == (
        "Instances by the weight alpha of the supertag loss they were trained with (a-alpha0: a/3; a-alpha0.5: a/1)."
    )
    assert block_sentence({}) == ""


@dataclass
class Named:
    """A backend as far as selection goes."""

    name: str
    card: dict[str, Any]

    def provenance(self):
        return {"model": self.name, "card": self.card}


def test_selection_by_weight():
    tagged, plain = (
        Named("cbr-rnn/1", {"objective": {"alpha": 5}}),
        Named("cbr-rnn/2", {"objective": {"alpha": 0}}),
    )
    other = Named("gpt2", {})
    assert select([tagged, plain, other], 0) == [plain, other]
    assert supertag_weights(b.provenance() for b in (tagged, plain, other)) == {
        "cbr-rnn/1": 5.0,
        "cbr-rnn/2": 0.0,
    }
    with pytest.raises(ModelError) as error:
        select([tagged, plain, other], 1)
    assert str(error.value) == (
        "No model was trained with the supertag weight 1 (cbr-rnn/1: 5, cbr-rnn/2: 0)."
    )
    with pytest.raises(ModelError) as error:
        select([other], 1)
    assert str(error.value) == (
        "No model was trained with the supertag weight 1 (none says a weight in its card)."
    )
