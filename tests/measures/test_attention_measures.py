"""Relative attention and attention entropy against plain arithmetic on a hand-written attention matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import MeasureError
from psymem.measures.attention import AttentionEntropy, RelativeAttention
from psymem.trace import Trace

NAN = np.nan
# words:   0 key   1 to   2 cabinets (pieces 2 and 3)   3 was (pieces 4 and 5)
INDEX = [0, 1, 2, 2, 3, 3]
WEIGHTS = np.array(
    [
        [NAN, NAN, NAN, NAN, NAN, NAN],
        [1.0, 0, 0, 0, 0, 0],
        [0.5, 0.5, 0, 0, 0, 0],
        [0.2, 0.3, 0.5, 0, 0, 0],
        [0.3, 0.1, 0.2, 0.4, 0, 0],
        [0.1, 0.1, 0.1, 0.2, 0.5, 0],
    ]
)
OTHER = np.where(np.isnan(WEIGHTS), NAN, np.tri(6, 6, -1) / np.maximum(np.arange(6), 1)[:, None])  # uniform


def trace(*heads: np.ndarray) -> Trace:
    attention = np.stack(heads)[None]
    return Trace(tuple("abcdef"), np.array(INDEX), np.zeros(6), np.zeros(6, bool), attention)


def words(*roles: str) -> pd.DataFrame:
    return pd.DataFrame({"word": ["key", "to", "cabinets", "was"], "role": roles})


MARKED = words("target", "", "attractor", "critical")


def test_relative_attention_is_the_targets_share_at_words_after_both_nouns():
    found = RelativeAttention()(trace(WEIGHTS), MARKED)["relative_attention"]
    np.testing.assert_allclose(found, [NAN, NAN, NAN, 0.3 / (0.3 + 0.2 + 0.4)])


@pytest.mark.parametrize(
    ("query", "expected"),
    [("first", 0.3 / 0.9), ("last", 0.1 / 0.4), ("mean", 0.2 / 0.65)],
)
def test_the_row_of_a_word_in_pieces_is_stated(query, expected):
    found = RelativeAttention(query=query)(trace(WEIGHTS), MARKED)["relative_attention"]
    np.testing.assert_allclose(found[3], expected)


def test_heads_have_a_column_each_and_their_mean_is_the_default():
    both = trace(WEIGHTS, OTHER)
    found = RelativeAttention(heads=((0, 0), (0, 1)))(both, MARKED)
    assert list(found) == ["relative_attention_L0H0", "relative_attention_L0H1"]
    np.testing.assert_allclose([v[3] for v in found.values()], [0.3 / 0.9, 1 / 3])
    mean = RelativeAttention()(both, MARKED)["relative_attention"]
    np.testing.assert_allclose(mean[3], (0.3 + 0.25) / (0.9 + 0.75))


@pytest.mark.parametrize(
    "roles",
    [
        ("target", "", "", "critical"),
        ("", "", "attractor", "critical"),
        ("", "", "", ""),
        ("target attractor", "", "", ""),
    ],
    ids=["no attractor", "no target", "no roles", "one word has both roles"],
)
def test_relative_attention_is_missing_without_two_nouns(roles):
    assert np.isnan(RelativeAttention()(trace(WEIGHTS), words(*roles))["relative_attention"]).all()


def test_relative_attention_is_missing_in_a_table_without_roles():
    found = RelativeAttention()(trace(WEIGHTS), MARKED.drop(columns="role"))["relative_attention"]
    assert np.isnan(found).all()


def test_relative_attention_is_missing_where_neither_noun_gets_any():
    only_to = np.where(np.isnan(WEIGHTS), NAN, 0.0)
    only_to[1:, 1] = 1.0
    assert np.isnan(RelativeAttention()(trace(only_to), MARKED)["relative_attention"]).all()


def test_attention_entropy_is_over_the_words_before():
    found = AttentionEntropy()(trace(WEIGHTS), MARKED)["attention_entropy_bits"]
    share = np.array([0.3, 0.1, 0.6])
    np.testing.assert_allclose(found, [NAN, 0.0, 1.0, -(share * np.log2(share)).sum()])


def test_attention_entropy_leaves_out_the_word_itself():
    found = AttentionEntropy(query="last")(trace(WEIGHTS), MARKED)["attention_entropy_bits"]
    of_cabinets = np.array([0.2, 0.3]) / 0.5  # its last piece gives half its weight to its first
    of_was = np.array([0.1, 0.1, 0.3]) / 0.5
    expected = [NAN, 0.0, -(of_cabinets * np.log2(of_cabinets)).sum(), -(of_was * np.log2(of_was)).sum()]
    np.testing.assert_allclose(found, expected)


def test_uniform_attention_has_the_entropy_of_as_many_words():
    single = Trace(tuple("abcd"), np.arange(4), np.zeros(4), np.zeros(4, bool), OTHER[None, None, :4, :4])
    found = AttentionEntropy()(single, MARKED)["attention_entropy_bits"]
    np.testing.assert_allclose(found, [NAN, 0.0, 1.0, np.log2(3)])


def test_a_head_that_does_not_exist_is_named():
    with pytest.raises(MeasureError) as caught:
        AttentionEntropy(heads=((1, 0),))(trace(WEIGHTS, OTHER), MARKED)
    assert str(caught.value) == (
        "There is no head 1:0; the model has 1 layer(s) 0 to 0 with 2 head(s) 0 to 1 each."
    )


def test_a_row_that_does_not_exist_is_named():
    with pytest.raises(MeasureError) as caught:
        RelativeAttention(query="middle")
    assert str(caught.value) == "query='middle' is not known; expected one of first, last, mean."


def test_a_trace_without_attention_is_refused():
    bare = Trace(("a",), np.array([0]), np.zeros(1), np.zeros(1, bool))
    with pytest.raises(MeasureError) as caught:
        AttentionEntropy()(bare, words("", "", "", "").iloc[:1])
    assert str(caught.value) == "The model gave no attention for this text."
