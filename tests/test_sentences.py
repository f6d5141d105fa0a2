"""The rule that splits running text into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psymem.sentences import sentence_numbers, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. He left! Why? Who knows", ["It rained.", "He left!", "Why?", "Who knows"]),
        ('"It rained." He left.', ['"It rained."', "He left."]),
        ("Dr. Smith met J. Jones at 3 p.m. today.", ["Dr. Smith met J. Jones at 3 p.m. today."]),
        ("So do I. She left.", ["So do I.", "She left."]),
        ("the end. of it", ["the end. of it"]),
        ("   ", []),
    ],
    ids=["ends", "quotes", "abbreviations", "the word I", "no capital", "white space"],
)
def test_sentences_end_where_the_rule_says(text, expected):
    assert split_sentences(text) == expected


@given(
    st.lists(
        st.sampled_from(["Dr.", "He", "left.", '"Oh!"', "I", "no.", "A", "3", "etc.", "(Yes.)"]), min_size=1
    )
)
def test_every_word_is_in_one_sentence_and_numbers_go_up_by_one(words):
    numbers = sentence_numbers(words)
    assert len(numbers) == len(words)
    assert numbers[0] == 1
    assert set(numbers[1:] - numbers[:-1]) <= {0, 1}
