"""The effects table against lme4 (real scores), t-tests (one instance) and hand-made p-values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import FitError, FormulaError, PsymemWarning, UnknownNameError
from psymem.studies.attraction import significance
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.common.rows import region_rows
from psymem.studies.common.structures import (
    AS_PUBLISHED,
    BY_ITEM_SLOPES,
    CROSSED,
    ITEMS_BY_INSTANCES,
    STRUCTURES,
)
from psymem.units import bits_to_nats

FACTORS = ["attraction", "violation"]


def table_of(scores, measures=("surprisal_bits", "relative_attention"), **settings):
    rows = region_rows(scores, list(measures), FACTORS)
    return significance.effects_table(rows, list(measures), FACTORS, significance.Tests(**settings), True)


@pytest.fixture(scope="module")
def published_table(published):
    return table_of(published)


@pytest.mark.shared
@pytest.mark.parametrize("effect", ATTRACTION_EFFECTS, ids=lambda e: e.name)
@pytest.mark.parametrize("measure", ["surprisal_bits", "relative_attention"])
def test_published_scores_give_the_numbers_of_lme4(published_table, published_lme4, effect, measure):
    expected = published_lme4(effect.name, measure)
    found = published_table.query(
        "effect == @effect.name and measure == @measure and structure == @AS_PUBLISHED"
    )
    row = found.iloc[0]
    unit = bits_to_nats(1.0) if measure == "surprisal_bits" else 1.0
    assert row["estimate"] * unit == pytest.approx(expected["est"], abs=1e-6)
    assert row["se"] * unit == pytest.approx(expected["se"], rel=1e-4)
    assert row["t"] == pytest.approx(expected["t"], rel=1e-4)
    assert row["df"] == pytest.approx(expected["df"], rel=2e-3)
    assert row["p"] == pytest.approx(expected["p"], rel=1e-2, abs=1e-12)
    assert row["n_obs"] == expected["n"]
    assert row["subtraction"] == effect.subtraction


@pytest.mark.shared
def test_verdicts_about_people_on_the_published_scores(published_table):
    first = published_table[published_table["structure"] == CROSSED]
    assert (first["df"] < 45).all()
    said = first.pivot(index="effect", columns="measure", values="verdict")
    assert said["surprisal_bits"].to_dict() == {
        "agreement-attraction": "as people",
        "semantic-attraction": "as people",
        "interaction": "undecided",
        "double-attraction": "as people",
        "agreement-in-double": "against people",
        "semantic-in-double": "as people",
        "additivity": "undecided",
    }
    assert said["relative_attention"].to_dict() == {
        "agreement-attraction": "as people",
        "semantic-attraction": "undecided",
        "interaction": "against people",
        "double-attraction": "as people",
        "agreement-in-double": "against people",
        "semantic-in-double": "as people",
        "additivity": "undecided",
    }
    paper = first.dropna(subset=["paper_direction"])
    assert set(paper["effect"]) == {"agreement-in-double"}
    assert set(paper["paper_direction"]) == {"negative"}


@pytest.mark.shared
def test_by_item_slopes_on_the_published_scores(published_table):
    slopes = published_table[published_table["structure"] == BY_ITEM_SLOPES]
    p = slopes.set_index(["measure", "effect"])["p"]
    assert p["relative_attention", "semantic-attraction"] == pytest.approx(0.124, abs=0.002)
    assert p["relative_attention", "agreement-attraction"] < 0.001


def test_columns_and_order(two_instances):
    table = table_of(two_instances, ["surprisal_bits"])
    assert list(table.columns) == list(significance.EFFECT_COLUMNS)
    assert list(table["effect"].unique()) == [e.name for e in ATTRACTION_EFFECTS]
    assert list(table["structure"][:4]) == [CROSSED, AS_PUBLISHED, BY_ITEM_SLOPES, ITEMS_BY_INSTANCES]
    assert set(table["baseline"]) == {"none"}
    assert set(table["model"]) == {"cbr-rnn"}
    assert set(table["n_models"]) == {2}


def test_one_instance_equals_the_paired_t_test(toy_scores):
    table = table_of(toy_scores, ["surprisal_bits"])
    row = table.query("effect == 'agreement-attraction' and structure == @AS_PUBLISHED").iloc[0]
    wide = toy_scores.pivot(index="item", columns="condition", values="surprisal_bits")
    expected = stats.ttest_rel(wide["B"], wide["A"])
    assert row["random_effects"] == "(1|item)"
    assert row["t"] == pytest.approx(expected.statistic, rel=1e-4)
    assert row["df"] == pytest.approx(11, rel=1e-3)
    assert row["p"] == pytest.approx(expected.pvalue, rel=1e-3)


def test_one_instance_additivity_with_slopes_equals_the_t_test_of_items_interactions(make_scores):
    scores = make_scores(n_items=20, slopes=2.0)
    table = table_of(scores, ["surprisal_bits"])
    row = table.query("effect == 'additivity' and structure == @BY_ITEM_SLOPES").iloc[0]
    wide = scores.pivot(index="item", columns="condition", values="surprisal_bits")
    expected = stats.ttest_1samp(wide["F"] - wide["G"] - wide["H"] + wide["E"], 0)
    assert row["random_effects"] == "(1 + gram_attr + sem_attr|item)"
    assert row["t"] == pytest.approx(expected.statistic, rel=1e-3)
    assert row["df"] == pytest.approx(19, rel=1e-2)
    assert row["p"] == pytest.approx(expected.pvalue, rel=1e-2)


def test_what_cannot_be_estimated_says_why(toy_scores):
    table = table_of(toy_scores, ["surprisal_bits"])
    row = table.query("effect == 'agreement-attraction' and structure == @BY_ITEM_SLOPES").iloc[0]
    assert np.isnan(row["estimate"])
    assert row["consistent"] is None
    assert row["note"] == (
        "Not estimable: with one model instance there is one value per item and condition, so that a by-item "
        "slope cannot be told from the residual. (1|item) is then the paired t-test over items and already "
        "lets items differ."
    )


def test_holm_is_over_the_effects_of_one_measure_and_structure(two_instances):
    table = table_of(two_instances)
    family = table.query("measure == 'surprisal_bits' and structure == @AS_PUBLISHED")
    ordered = family.sort_values("p")
    stepwise = np.maximum.accumulate(ordered["p"].to_numpy() * np.arange(7, 0, -1)).clip(max=1)
    assert ordered["p_holm"].to_numpy() == pytest.approx(stepwise)


def test_attention_entropy_has_no_human_direction(two_instances):
    table = table_of(two_instances, ["attention_entropy_bits"])
    assert table["human_direction"].isna().all()
    assert table["consistent"].isna().all()


def test_a_measure_without_values_does_not_stop_the_others(two_instances):
    table = table_of(two_instances.assign(relative_attention=np.nan))
    empty = table[table["measure"] == "relative_attention"]
    assert empty["estimate"].isna().all()
    assert empty["note"].str.startswith("Not estimable: ").all()
    assert table.loc[table["measure"] == "surprisal_bits", "estimate"].notna().all()


def test_spillover_effects_are_not_compared_with_people(two_instances):
    later = two_instances.assign(role="spillover", region="spillover_1", word_id=6)
    scores = pd.concat([two_instances, later], ignore_index=True)
    table = table_of(scores, ["surprisal_bits"], spillover=True)
    assert list(table["region"].unique()) == ["critical", "spillover_1"]
    assert table.loc[table["region"] == "spillover_1", "consistent"].isna().all()
    assert set(table_of(scores, ["surprisal_bits"])["region"]) == {"critical"}


def own_table(scores, **settings):
    rows = region_rows(scores, ["surprisal_bits"], FACTORS)
    tests = significance.Tests(**settings)
    return significance.effects_table(rows, ["surprisal_bits"], FACTORS, tests, True)


def test_own_formula_tests_its_coefficients(two_instances):
    scores = two_instances[two_instances["condition"].isin(list("AB"))]
    table = own_table(scores, formula="y ~ attraction")
    assert list(table["effect"]) == ["attractiongrammatical"] * 3
    assert list(table["structure"]) == list(STRUCTURES)
    assert list(table["random_effects"]) == [
        "(1|item) + (1|model)",
        "(1 + attraction|item) + (1|model)",
        "(1 + attraction|item) + (1|model) + (1|item:model)",
    ]
    standard = table_of(two_instances, ["surprisal_bits"]).iloc[0]
    assert table["estimate"].iloc[0] == pytest.approx(standard["estimate"])


def test_own_random_effects_are_kept(two_instances):
    scores = two_instances[two_instances["condition"].isin(list("AB"))]
    with pytest.warns(PsymemWarning, match=r"^The random effects \(1\|item\) know nothing of the 2 model"):
        table = own_table(scores, formula="surprisal_bits ~ attraction + (1|item)")
    assert list(table["structure"]) == ["as given"]
    assert list(table["random_effects"]) == ["(1|item)"]


def test_own_levels_turn_the_effect_round(two_instances):
    scores = two_instances[two_instances["condition"].isin(list("AB"))]
    table = own_table(scores, formula="y ~ attraction", levels={"attraction": ["grammatical", "none"]})
    assert table["effect"].iloc[0] == "attractionnone"
    assert table["estimate"].iloc[0] > 0


def test_own_contrasts(two_instances):
    scores = two_instances[two_instances["condition"].isin(list("AB"))]
    table = own_table(scores, formula="y ~ attraction", contrasts={"attraction": {"agr": [-0.5, 0.5]}})
    standard = table_of(two_instances, ["surprisal_bits"]).iloc[0]
    assert table["effect"].iloc[0] == "attractionagr"
    assert table["estimate"].iloc[0] == pytest.approx(standard["estimate"])


def test_formula_without_tilde(two_instances):
    with pytest.raises(FormulaError) as error:
        own_table(two_instances, formula="attraction * violation")
    assert str(error.value) == (
        "The formula 'attraction * violation' needs one '~' between the measure (or y, for each measure) "
        "and the predictors, as in 'y ~ attachment * length'."
    )


def test_formula_for_another_measure_names_the_measures(two_instances):
    with pytest.raises(UnknownNameError) as error:
        own_table(two_instances, formula="surprisal ~ attraction")
    assert str(error.value) == (
        "There is no measure column called 'surprisal'. Did you mean 'surprisal_bits'? Known: surprisal_bits, "
        "y. (y stands for each measure in turn)"
    )


def test_alpha_outside_zero_and_one():
    with pytest.raises(FitError) as error:
        significance.Tests(alpha=5)
    assert str(error.value) == "The significance level is 5; it has to lie between 0 and 1, as in 0.05."


def test_unknown_engine(two_instances):
    with pytest.raises(UnknownNameError) as error:
        table_of(two_instances, ["surprisal_bits"], engine="lme5")
    assert str(error.value).startswith("There is no fitting engine called 'lme5'. Did you mean 'lme4'?")


def test_a_structure_that_explains_everything_does_not_stop_the_others(two_instances):
    scores = two_instances[two_instances["condition"].isin(list("AB"))]
    item = scores["item"].astype(int)
    again, second = scores["condition"] == "B", scores["model"] == "cbr-rnn/2"
    table = own_table(
        scores.assign(surprisal_bits=item % 5 + (item % 3) * again + (item % 7) * second),
        formula="y ~ attraction",
    ).set_index("structure")
    assert table.loc[[AS_PUBLISHED, BY_ITEM_SLOPES], "estimate"].notna().all()
    assert np.isnan(table.loc[ITEMS_BY_INSTANCES, "estimate"])
    assert table.loc[ITEMS_BY_INSTANCES, "note"] == (
        "Not estimable: The response 'surprisal_bits' is determined completely by the fixed effects and item, model, "
        "item:model: no residual variance is left, so nothing can be tested. Is the response an average per level, or a copy "
        "of a predictor?"
    )
