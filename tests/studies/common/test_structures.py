"""Random effects of the attraction effects and of own formulas, and what they test: t-tests over items, lme4."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.studies.attraction import significance
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.common.rows import region_rows
from psymem.studies.common.structures import (
    AS_GIVEN,
    AS_PUBLISHED,
    BY_ITEM_SLOPES,
    ITEMS_BY_INSTANCES,
    STRUCTURES,
    random_effects,
    structures_of,
)

FACTORS = ["attraction", "violation"]
INSTANCES = ("cbr-rnn/1", "cbr-rnn/2", "cbr-rnn/3")
CROSSED = "gram_attr * sem_attr"


def table_of(scores, **settings):
    rows = region_rows(scores, ["surprisal_bits"], FACTORS)
    return significance.effects_table(rows, ["surprisal_bits"], FACTORS, significance.Tests(**settings), True)


@pytest.fixture(scope="module")
def scores(make_scores):
    """Instances that find other items hard, and items that differ in the effects."""
    return make_scores(n_items=16, models=INSTANCES, slopes=0.8, cells=1.5)


@pytest.fixture(scope="module")
def table(scores):
    return table_of(scores).set_index(["effect", "structure"])


def test_the_published_structure_is_first():
    assert STRUCTURES == (AS_PUBLISHED, BY_ITEM_SLOPES, ITEMS_BY_INSTANCES)


@pytest.mark.parametrize(
    ("fixed", "structure", "expected"),
    [
        ("attraction", AS_PUBLISHED, "(1|item) + (1|model)"),
        ("attraction", BY_ITEM_SLOPES, "(1 + attraction|item) + (1|model)"),
        ("attraction", ITEMS_BY_INSTANCES, "(1 + attraction|item) + (1|model) + (1|item:model)"),
        (CROSSED, AS_PUBLISHED, "(1|item) + (1|model)"),
        (CROSSED, BY_ITEM_SLOPES, "(1 + gram_attr * sem_attr|item) + (1|model)"),
        (
            CROSSED,
            ITEMS_BY_INSTANCES,
            "(1 + gram_attr * sem_attr|item) + (1|model) + (1 + gram_attr + sem_attr|item:model)",
        ),
    ],
)
def test_several_instances(fixed, structure, expected):
    assert random_effects(fixed, structure, 15) == expected


@pytest.mark.parametrize(
    ("fixed", "expected"),
    [
        ("attraction", ["(1|item)", None, None]),
        (CROSSED, ["(1|item)", "(1 + gram_attr + sem_attr|item)", None]),
    ],
)
def test_one_instance(fixed, expected):
    assert [random_effects(fixed, structure, 1) for structure in STRUCTURES] == expected


@pytest.mark.parametrize("effect", ATTRACTION_EFFECTS, ids=lambda e: e.name)
def test_items_by_instances_are_the_t_test_over_items(scores, table, effect):
    means = scores.groupby(["item", "condition"])["surprisal_bits"].mean().unstack()
    by_item = sum(weight * means[condition] for condition, weight in effect.weights.items())
    expected = stats.ttest_1samp(by_item, 0)
    row = table.loc[(effect.name, ITEMS_BY_INSTANCES)]
    assert row["estimate"] == pytest.approx(by_item.mean(), abs=1e-7)
    assert row["t"] == pytest.approx(expected.statistic, rel=1e-3)
    assert row["df"] == pytest.approx(15, rel=5e-3)
    assert row["p"] == pytest.approx(expected.pvalue, rel=5e-3)


def test_without_items_by_instances_their_variance_is_noise(make_scores):
    part = make_scores(n_items=16, models=INSTANCES).query("condition in ['A', 'B']")
    hard = np.random.default_rng(4).normal(0, 1.5, 16 * 3)[part.groupby(["item", "model"]).ngroup()]
    table = table_of(part.assign(surprisal_bits=part["surprisal_bits"] + hard), formula="y ~ attraction")
    alone, both = (table.set_index("structure").loc[s] for s in (BY_ITEM_SLOPES, ITEMS_BY_INSTANCES))
    assert alone["singular"]
    assert alone["note"].startswith("The fit is singular: ")
    assert alone["estimate"] == pytest.approx(both["estimate"])
    assert alone["se"] > 3 * both["se"]


@pytest.mark.r
def test_equals_lme4(rscript, make_scores):
    scores = make_scores(n_items=8, models=INSTANCES, slopes=0.8, cells=1.5)
    part = scores[scores["condition"].isin(list("EFGH"))]
    formula = f"y ~ {CROSSED} + {random_effects(CROSSED, ITEMS_BY_INSTANCES, 3)}"
    frame = part.assign(
        gram_attr=part["condition"].isin(["F", "H"]), sem_attr=part["condition"].isin(["F", "G"])
    )
    ours, theirs = (
        own_table(frame, formula=formula, engine=engine).set_index("term") for engine in ("profiled", "lme4")
    )
    for column, rtol in {"estimate": 1e-5, "se": 2e-3, "df": 1e-2, "t": 2e-3}.items():
        np.testing.assert_allclose(ours[column], theirs.loc[ours.index, column], rtol=rtol)


def own_table(frame, **settings):
    factors = ["gram_attr", "sem_attr"]
    rows = region_rows(frame, ["surprisal_bits"], factors)
    return significance.effects_table(
        rows, ["surprisal_bits"], factors, significance.Tests(**settings), False
    )


def test_one_instance_has_no_items_by_instances(toy_scores):
    table = table_of(toy_scores).query("structure == @ITEMS_BY_INSTANCES")
    assert table["effect"].tolist() == [effect.name for effect in ATTRACTION_EFFECTS]
    assert table[["estimate", "se", "df", "t", "p", "p_holm"]].isna().all(axis=None)
    assert set(table["note"]) == {
        "Not estimable: with one model instance, items by instances are the items themselves."
    }


# formulas of the user's own ---------------------------------------------------------------------------------
def design(models=2, **factors):
    """Rows of six items and of every combination of the levels."""
    names, levels = list(factors), list(factors.values())
    index = pd.MultiIndex.from_product([range(6), range(models), *levels], names=["item", "model", *names])
    return index.to_frame(index=False)


TWO, THREE = ["a", "b"], ["a", "b", "c"]


@pytest.mark.parametrize(
    ("fixed", "rows", "expected"),
    [
        ("x", design(x=TWO), "(1|item:model)"),
        ("x", design(x=THREE), "(1|item:model)"),
        ("x * z", design(x=TWO, z=THREE), "(1 + x + z|item:model)"),
        ("x * z * w", design(x=TWO, z=TWO, w=TWO), "(1 + x + z + w|item:model)"),
        ("x * log(z)", design(x=TWO, z=TWO), "(1|item:model)"),
    ],
    ids=["two-levels", "three-levels", "crossed", "three-factors", "other-terms"],
)
def test_own_formula_with_several_instances(fixed, rows, expected):
    by_item = f"(1 + {fixed}|item) + (1|model)"
    assert structures_of(fixed, ["x", "z", "w"], rows) == [
        (AS_PUBLISHED, "(1|item) + (1|model)"),
        (BY_ITEM_SLOPES, by_item),
        (ITEMS_BY_INSTANCES, f"{by_item} + {expected}"),
    ]


def test_what_one_instance_reads_once_has_no_effects_of_its_own():
    between = design(x=TWO).query("(item % 2 == 0) == (x == 'a')")
    assert [name for name, _ in structures_of("x", ["x"], between)] == [AS_PUBLISHED, BY_ITEM_SLOPES]
    mixed = design(x=TWO, z=TWO).query("(item % 2 == 0) == (z == 'a')")
    assert structures_of("x * z", ["x", "z"], mixed)[-1] == (
        ITEMS_BY_INSTANCES,
        "(1 + x * z|item) + (1|model) + (1|item:model)",
    )


def test_own_formula_with_one_instance():
    assert structures_of("x * z * w", ["x", "z", "w"], design(1, x=TWO, z=TWO, w=TWO)) == [
        (AS_PUBLISHED, "(1|item)"),
        (BY_ITEM_SLOPES, "(1 + (x + z + w)^2|item)"),
    ]
    assert structures_of("x", ["x"], design(1, x=TWO)) == [(AS_PUBLISHED, "(1|item)")]


def test_random_effects_given_are_kept():
    assert structures_of("x + (1 + x|item)", ["x"], design(x=TWO)) == [(AS_GIVEN, "(1 + x|item)")]
