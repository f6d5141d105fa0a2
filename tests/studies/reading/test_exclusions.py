"""First and last words of sentences."""

from __future__ import annotations

import pandas as pd
import pytest

from psymem.studies.reading.exclusions import with_edges


@pytest.mark.parametrize(
    ("sentence", "first", "last"),
    [
        ("The dog slept", [0], [2]),
        ("The dog slept .", [0], [2, 3]),
        ('" The dog , it slept ! "', [0, 1], [5, 6, 7]),
        ("Dogs .", [0], [0, 1]),
        (". .", [0, 1], [0, 1]),
    ],
)
def test_punctuation_of_its_own_is_no_first_or_last_word(sentence, first, last):
    words = sentence.split()
    frame = pd.DataFrame(
        {"text_id": "a", "sentence_id": 1, "word_id": range(1, len(words) + 1), "word": words}
    )
    other = frame.assign(sentence_id=2)
    found = with_edges(pd.concat([frame, other], ignore_index=True))
    for number in (1, 2):
        own = found[found["sentence_id"] == number].reset_index(drop=True)
        assert own.index[own["sentence_first"]].tolist() == first
        assert own.index[own["sentence_last"]].tolist() == last
