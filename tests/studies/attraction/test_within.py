"""Effects within levels of an item property, against t-tests over items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import DataError, UnknownNameError
from psymem.fitting.multiplicity import adjust
from psymem.studies.attraction import significance
from psymem.studies.attraction.study import analyse
from psymem.studies.common.structures import AS_PUBLISHED, CROSSED, OVER_ITEMS
from tests.studies.conftest import FACTORS, simulated


@pytest.fixture(scope="module")
def scores():
    made = simulated(n_items=10)
    plural = made["item"].astype(int) % 2 == 0
    reversed_ = plural & made["condition"].isin(["B", "F", "H"])
    return made.assign(
        target_number=np.where(plural, "plural", "singular"),
        surprisal_bits=made["surprisal_bits"] + 1.1 * reversed_,
    )


def result_of(scores, **settings):
    return analyse(
        scores, FACTORS, attraction=True, measures=["surprisal_bits"], tests=significance.Tests(**settings)
    )


def item_effects(scores, level):
    part = scores[scores["target_number"] == level]
    wide = part.pivot(index="item", columns="condition", values="surprisal_bits")
    return (wide["B"] - wide["A"]).to_numpy()


@pytest.fixture(scope="module", params=[OVER_ITEMS, AS_PUBLISHED])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def found(scores, kind):
    table = result_of(scores, within="target_number").within
    chosen = table.query("measure == 'surprisal_bits' and effect == 'agreement-attraction'")
    return chosen[chosen["structure"] == kind].dropna(subset=["estimate"]).set_index("level")


@pytest.mark.parametrize("level", ["singular", "plural"])
def test_one_instance_gives_the_paired_t_test_of_each_level(scores, found, level):
    expected = stats.ttest_1samp(item_effects(scores, level), 0)
    assert found.loc[level, "estimate"] == pytest.approx(item_effects(scores, level).mean(), abs=1e-9)
    assert found.loc[level, "t"] == pytest.approx(expected.statistic, rel=1e-5)
    assert found.loc[level, "p"] == pytest.approx(expected.pvalue, rel=1e-3)


def test_the_difference_is_the_t_test_between_the_items_of_both_levels(scores, found, kind):
    first, second = (item_effects(scores, level) for level in ("singular", "plural"))
    expected = stats.ttest_ind(second, first)
    assert found.loc["difference", "estimate"] == pytest.approx(second.mean() - first.mean(), abs=1e-8)
    assert found.loc["difference", "t"] == pytest.approx(expected.statistic, rel=1e-4)
    terms = {AS_PUBLISHED: "attractiongrammatical:target_numberplural", OVER_ITEMS: "levelplural"}
    assert found.loc["difference", "term"] == terms[kind]


def test_p_of_differences_is_corrected_over_the_effects(scores):
    table = result_of(scores, within="target_number").within
    difference = table[(table["level"] == "difference") & (table["structure"] == OVER_ITEMS)]
    assert len(difference) == 7
    assert difference["p_holm"].to_numpy() == pytest.approx(adjust(difference["p"].to_numpy(), "holm"))


def test_nothing_is_divided_unless_asked(scores):
    assert result_of(scores).within is None


def card(scores, **settings):
    about = {"item_set": {"name": "made up", "card": {"within": "target_number"}}}
    return analyse(
        scores,
        FACTORS,
        attraction=True,
        measures=["surprisal_bits"],
        tests=significance.Tests(**settings),
        about=about,
    ).within


def test_the_card_of_the_items_may_ask_and_the_user_refuse(scores):
    assert set(card(scores)["level"]) == {"singular", "plural", "difference"}
    assert card(scores, within="none") is None


def test_what_the_card_asks_for_is_left_out_where_too_few_items_remain(scores):
    few = scores[(scores["target_number"] == "singular") | (scores["item"] == "2")]
    assert card(few) is None
    with pytest.raises(DataError) as error:
        result_of(few, within="target_number")
    assert str(error.value) == (
        "Only one item has target_number = 'plural'; effects are tested over items, so each level needs at least 2."
    )


def test_a_property_that_is_none_is_refused(scores):
    with pytest.raises(DataError) as error:
        result_of(scores, within="violation")
    assert str(error.value) == (
        "Column 'violation' changes within item '1'; --within takes a property that is the same in all conditions of an "
        "item."
    )
    with pytest.raises(
        DataError, match=r"Column 'pair' has 10 level\(s\); --within takes a property with 2 to 6\."
    ):
        result_of(scores.assign(pair=scores["item"]), within="pair")
    with pytest.raises(DataError, match="Column 'item' is part of the design, not a property of the items"):
        result_of(scores, within="item")
    with pytest.raises(UnknownNameError, match="target_number"):
        result_of(scores, within="target_numbr")


def test_effects_of_ones_own_take_the_property_in_the_formula(scores):
    with pytest.raises(DataError) as error:
        result_of(scores, within="target_number", formula="y ~ attraction")
    assert str(error.value) == (
        "--within target_number divides the effects of the conditions A-H. For effects of your own, name the column in "
        "--formula, as in 'y ~ a * target_number'."
    )


def test_several_instances_add_by_item_slopes_and_their_difference(scores):
    second = scores.assign(model="toy/2", surprisal_bits=scores["surprisal_bits"] + 0.1)
    both = pd.concat([scores.assign(model="toy/1"), second])
    noise = np.random.default_rng(2).normal(0, 0.2, len(both))
    table = result_of(
        both.assign(surprisal_bits=both["surprisal_bits"] + noise), within="target_number"
    ).within
    slopes = table[(table["structure"] == "by-item slopes") & (table["effect"] == "agreement-attraction")]
    assert slopes["estimate"].notna().all()
    first = table[(table["structure"] == CROSSED) & (table["effect"] == "agreement-attraction")]
    assert first["level"].tolist() == ["singular", "plural", "difference"]
    values = first.set_index("level")["estimate"]
    assert values["difference"] == pytest.approx(values["plural"] - values["singular"])
    assert slopes["level"].tolist() == ["singular", "plural", "difference"]
