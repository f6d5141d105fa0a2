"""Choosing measures by name, and their heads."""

from __future__ import annotations

import pytest

from psymem.errors import MeasureError
from psymem.measures.attention_entropy import AttentionEntropy
from psymem.measures.base import resolve, with_heads
from psymem.measures.surprisal import Surprisal


def test_names_become_measures_once():
    assert resolve(["surprisal", "surprisal"]) == [Surprisal()]
    assert resolve("attention-entropy") == [AttentionEntropy()]
    assert resolve(Surprisal(corrected=False)) == [Surprisal(corrected=False)]


def test_heads_go_to_measures_of_attention():
    found = with_heads(["surprisal", "attention-entropy"], "4:3,0:11")
    assert found == [Surprisal(), AttentionEntropy(heads=((4, 3), (0, 11)))]
    assert found[1].columns == ("attention_entropy_4_3_bits", "attention_entropy_0_11_bits")
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
    ],
    ids=["spelling", "no attention"],
)
def test_heads_that_make_no_sense_are_refused(measures, heads, message):
    with pytest.raises(MeasureError) as caught:
        with_heads(measures, heads)
    assert str(caught.value) == message
