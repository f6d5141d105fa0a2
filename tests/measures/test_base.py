"""Choosing measures by name, and their heads."""

from __future__ import annotations

import pytest

from psymem.errors import MeasureError
from psymem.measures.attention import AttentionEntropy, RelativeAttention
from psymem.measures.base import resolve, with_heads
from psymem.measures.columns import by_head, split_column
from psymem.measures.surprisal import Surprisal
from psymem.measures.token_attention import AttentionShift


def test_names_become_measures_once():
    assert resolve(["surprisal", "surprisal"]) == [Surprisal()]
    assert resolve("attention-entropy") == [AttentionEntropy()]
    assert resolve(Surprisal(corrected=False)) == [Surprisal(corrected=False)]


def test_heads_go_to_measures_of_attention():
    found = with_heads(["surprisal", "attention-entropy"], "4:3,0:11")
    assert found == [Surprisal(), AttentionEntropy(heads=((4, 3), (0, 11)))]
    assert found[1].columns == ("attention_entropy_L4H3_bits", "attention_entropy_L0H11_bits")
    assert found[1].needs == {"attention 4:3", "attention 0:11"}
    assert with_heads(["attention-entropy"], "") == [AttentionEntropy()]


@pytest.mark.parametrize(
    ("measures", "heads", "message"),
    [
        (
            ["attention-entropy"],
            "4.3",
            "Heads '4.3' are not understood; expected LAYER:HEAD,LAYER:HEAD such as 4:3,3:6.",
        ),
        (["surprisal"], "4:3", "Heads were given, but none of the measures asked for reads attention."),
        (
            ["attention-entropy"],
            "4:3,",
            "Heads '4:3,' are not understood; expected LAYER:HEAD,LAYER:HEAD such as 4:3,3:6.",
        ),
    ],
    ids=["spelling", "no attention", "a comma too many"],
)
def test_heads_that_make_no_sense_are_refused(measures, heads, message):
    with pytest.raises(MeasureError) as caught:
        with_heads(measures, heads)
    assert str(caught.value) == message


def test_the_query_row_goes_to_measures_that_choose_one():
    found = with_heads(["surprisal", "relative-attention", "attention-shift"], "1:0", "last")
    assert found == [Surprisal(), RelativeAttention(((1, 0),), "last"), AttentionShift(((1, 0),))]
    with pytest.raises(MeasureError) as caught:
        with_heads(["surprisal", "attention-shift"], query="last")
    assert str(caught.value) == (
        "A query row was given, but none of the measures asked for reads the attention of one row."
    )
    with pytest.raises(MeasureError) as caught:
        with_heads(["relative-attention"], query="second")
    assert str(caught.value) == "query='second' is not known; expected one of first, last, mean."


def test_columns_tell_their_head():
    assert split_column("relative_attention_L4H3") == ("relative_attention", "4:3")
    assert split_column("attention_entropy_L0H11_bits") == ("attention_entropy_bits", "0:11")
    assert split_column("surprisal_bits") == ("surprisal_bits", "")
    assert split_column("attention_distance_L0H1_words") == ("attention_distance_words", "0:1")
    columns = ["a_L1H0", "b_L0H1", "surprisal_bits", "a_L0H1"]
    assert by_head(columns) == {"": ["surprisal_bits"], "1:0": ["a_L1H0"], "0:1": ["b_L0H1", "a_L0H1"]}
