"""Settings of a training run that cannot work are refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from psymem.errors import TrainingError
from psymem.train.run import DataSettings
from psymem.train.text.vocabulary import VocabularyRule


@pytest.mark.parametrize(
    ("field", "option"),
    [
        ("size", "vocabulary-size"),
        ("minimum_count", "minimum-count"),
        ("also_minimum_count", "also-minimum-count"),
    ],
)
@pytest.mark.parametrize("given", [0, -3])
def test_counts_below_one(field, option, given):
    with pytest.raises(TrainingError) as raised:
        VocabularyRule(**{field: given})
    assert str(raised.value) == f"--{option} has to be at least 1, not {given}."


@pytest.mark.parametrize("given", [1, 0, -3])
def test_a_sentence_of_no_words(given):
    with pytest.raises(TrainingError) as raised:
        DataSettings(text=(Path("text.txt"),), longest=given)
    assert str(raised.value) == (
        f"--longest has to be at least 2 (a word after the sentence start), not {given}."
    )
