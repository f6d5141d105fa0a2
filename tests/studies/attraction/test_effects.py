"""Effects against the counts and signs of the published design."""

from __future__ import annotations

import pandas as pd
import pytest

from psymem.data.items.attraction_design import CONDITIONS
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS, UNRELIABLE, add_predictors, human_effect

BY_NAME = {e.name: e for e in ATTRACTION_EFFECTS}


@pytest.mark.parametrize("effect", ATTRACTION_EFFECTS, ids=lambda e: e.name)
def test_weights_are_the_subtraction(effect):
    means = dict(zip("ABCDEFGH", [3.0, 1.5, 8.0, 0.5, 11.0, 13.0, 2.5, 7.0], strict=True))
    assert sum(w * means[c] for c, w in effect.weights.items()) == eval(effect.subtraction, {}, means)


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("agreement-attraction", "negative"),
        ("semantic-attraction", "negative"),
        ("interaction", UNRELIABLE),
        ("double-attraction", "negative"),
        ("agreement-in-double", UNRELIABLE),
        ("semantic-in-double", "negative"),
        ("additivity", UNRELIABLE),
    ],
)
def test_human_direction(name, direction):
    assert BY_NAME[name].human_direction == direction


def test_the_paper_s_coding_differs_in_one_effect():
    other = {e.name: e.paper_direction for e in ATTRACTION_EFFECTS if e.paper_direction != e.human_direction}
    assert other == {"agreement-in-double": "negative"}
    assert BY_NAME["agreement-in-double"].human_evidence.endswith(
        "not distinguishable from zero. Timkey & Linzen (2023) count it as attraction: a lower value in H than in E has a "
        "check mark in their Tables 6 and 7."
    )


def test_human_effect_is_that_of_independent_proportions():
    points, low, high = human_effect({"A": -1, "B": 1})
    error = (((75 - 57) / 3.92) ** 2 + ((50 - 29) / 3.92) ** 2) ** 0.5
    assert (points, low, high) == pytest.approx((-27, -27 - 1.96 * error, -27 + 1.96 * error))


def test_predictors_of_each_condition():
    frame = pd.DataFrame({"condition": list(CONDITIONS)})
    frame[["attraction", "violation"]] = [CONDITIONS[c] for c in CONDITIONS]
    coded = add_predictors(frame).set_index("condition")
    assert "".join(coded.index[coded["single_attr"]]) == "BDFGH"
    assert "".join(coded.index[coded["gram_attr"]]) == "BFH"
    assert "".join(coded.index[coded["sem_attr"]]) == "DFG"
    assert list(coded["attraction"].cat.categories) == ["none", "double", "semantic", "grammatical"]


def test_rows_of_an_effect_keep_the_baseline_first(toy_scores):
    rows = BY_NAME["agreement-in-double"].rows(toy_scores)
    assert set(rows["condition"]) == {"E", "H"}
    assert list(rows["attraction"].cat.categories) == ["none", "grammatical"]
    assert "single_attr" not in toy_scores.columns
