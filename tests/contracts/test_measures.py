"""What every measure has to do."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest

from psymem.backends.toy import ToyBackend
from psymem.measures.base import Measure
from psymem.measures.columns import describe, split_column
from psymem.registry import MEASURES
from psymem.scoring.score import as_words

WORDS = "The key to the cabinets was rusty .".split()
ROLES = ["", "target", "", "", "attractor", "critical", "spillover", ""]


@pytest.fixture(scope="module", params=MEASURES.names())
def measure(request):
    return MEASURES.load(request.param)()


@pytest.fixture(scope="module")
def trace():
    return ToyBackend().read(WORDS)


@pytest.fixture(scope="module")
def words() -> pd.DataFrame:
    return as_words([WORDS]).assign(role=ROLES)


def test_it_is_a_measure_named_as_users_type_it(measure):
    assert isinstance(measure, Measure)
    assert MEASURES.load(measure.name) is type(measure)
    assert type(measure).__doc__.strip()


def test_it_holds_settings_only_and_cannot_be_changed(measure):
    assert is_dataclass(measure)
    assert type(measure).__dataclass_params__.frozen
    assert all(f.default is not f.default_factory for f in fields(measure))
    assert hash(measure) == hash(type(measure)())


def test_it_says_everything_about_its_columns(measure):
    assert {c.name for c in measure.facts} >= set(measure.columns)
    for column in measure.facts:
        assert describe(column.name) == column
        assert describe(column.of_head(10, 3)) == column
        assert split_column(column.of_head(10, 3)) == (column.name, "10:3")
        assert column.label
        assert column.larger
        assert column.name.isidentifier()
        if column.unit:
            assert column.label.endswith(f"({column.unit})") or column.unit in column.label, (
                "the unit is in the label"
            )


def test_a_head_has_a_column_of_its_own(measure):
    if not hasattr(measure, "heads"):
        pytest.skip("it reads no attention")
    asked = replace(measure, heads=((0, 1), (2, 0)))
    (fact,) = measure.facts
    assert asked.columns == (fact.of_head(0, 1), fact.of_head(2, 0))
    assert asked.needs == {"attention 0:1", "attention 2:0"}


def test_it_gives_one_value_per_word_for_each_column(measure, trace, words):
    values = measure(trace, words)
    assert tuple(values) == measure.columns
    for column in values.values():
        assert column.shape == (len(words),)
        assert column.dtype in (np.float64, np.int64)
        assert not np.isinf(column).any()


def test_it_leaves_trace_and_words_alone(measure, trace, words):
    before = {
        k: None if v is None else np.copy(v) for k, v in vars(trace).items() if k not in ("tokens", "extras")
    }
    frame = words.copy()
    measure(trace, words)
    for name, value in before.items():
        if value is not None:
            np.testing.assert_array_equal(getattr(trace, name), value)
    pd.testing.assert_frame_equal(words, frame)


def test_later_words_change_nothing_before(measure, trace, words):
    if not getattr(measure, "causal", True):
        pytest.skip("it says itself that it depends on later words")
    whole = measure(trace, words)
    for n in range(5, len(words)):  # both nouns have been read
        part = measure(ToyBackend().read(WORDS[:n]), words.iloc[:n])
        for column in measure.columns:
            np.testing.assert_allclose(part[column], whole[column][:n], rtol=1e-12)


def test_a_one_word_text_is_no_trouble(measure):
    one = as_words([["Dogs"]]).assign(role="")
    for column in measure(ToyBackend().read(["Dogs"]), one).values():
        assert column.shape == (1,)
