"""Durations of words as durations of tokens."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.data.corpora.token_durations import token_durations
from psymem.errors import DataError

WORDS = pd.DataFrame(
    {
        "text_id": "1",
        "word_id": [1, 2, 3],
        "word": pd.Series(["“We", "didn't", "go."], dtype="str"),
        "gaze_duration": [200.0, np.nan, 310.0],
    }
)


def test_tokens_with_a_letter_have_the_duration_of_their_word():
    found = token_durations(WORDS, [["``", "We"], ["did", "n't"], ["go", "."]], ["gaze_duration"])
    assert found["token"].tolist() == ["``", "We", "did", "n't", "go", "."]
    assert found["token_id"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found["word_id"].tolist() == [1, 1, 2, 2, 3, 3]
    np.testing.assert_array_equal(found["gaze_duration"], [0.0, 200.0, np.nan, np.nan, 310.0, 0.0])


def test_tokens_have_to_spell_the_word():
    with pytest.raises(DataError) as caught:
        token_durations(WORDS, [["``", "We"], ["do", "n't"], ["go", "."]], ["gaze_duration"])
    assert str(caught.value) == """The tokens "do n't" do not spell the word "didn't" (text 1, word 2)."""


def test_every_word_needs_tokens():
    with pytest.raises(DataError) as caught:
        token_durations(WORDS, [["We"]], ["gaze_duration"])
    assert str(caught.value) == "There are tokens of 1 words, and 3 words."
