"""Words that a table lacks: what counts as a gap, and that nothing is looked up or scored across one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import psymem
from psymem.data.words.gaps import after_gap, gap_notes, words_missing_before
from psymem.data.words.ngram import count_ngrams
from psymem.data.words.predictors import position, previous
from psymem.errors import PsymemWarning

NA = np.nan


def words(*, missing: tuple[int, ...] = ()) -> pd.DataFrame:
    """A text of two sentences, four and three words, and one of two, without some words of the first text."""
    frame = pd.DataFrame(
        {
            "text_id": pd.Series(["1"] * 7 + ["2"] * 2, dtype="str"),
            "sentence_id": [1, 1, 1, 1, 2, 2, 2, 1, 1],
            "word_id": [1, 2, 3, 4, 5, 6, 7, 11, 12],
            "word": pd.Series("The old key fell . It was rusty now".split(), dtype="str"),
            "x": np.arange(1.0, 10),
        }
    )
    lacking = (frame["text_id"] == "1") & frame["word_id"].isin(missing)
    return frame[~lacking].reset_index(drop=True)


def test_a_jump_within_a_text_is_a_gap_and_a_text_may_begin_anywhere():
    assert words_missing_before(words()).tolist() == [0] * 9
    assert words_missing_before(words(missing=(2, 3))).tolist() == [0, 2, 0, 0, 0, 0, 0]
    assert words_missing_before(words(missing=(1,))).tolist() == [0] * 8


def test_a_column_says_it_where_numbers_do_not():
    frame = words(missing=(2,)).assign(words_missing_before=0)
    assert not after_gap(frame).any()
    assert gap_notes(frame) == []
    renumbered = words().assign(words_missing_before=[0, 0, 1, 0, 0, 0, 0, 0, 0])
    assert after_gap(renumbered).tolist() == [False, False, True, True, *[False] * 5]


def test_words_missing_between_sentences_count_for_the_second():
    assert after_gap(words(missing=(4,))).tolist() == [False] * 3 + [True] * 3 + [False] * 2


def test_the_note_names_places_and_counts():
    assert gap_notes(words(missing=(2, 3, 6))) == [
        "3 word(s) are missing, where word numbers jump: text 1, between 1 'The' and 4 'fell'; text 1, between 5 '.' and "
        "7 'was'. What models say of the 2 later word(s) of these sentences is NA, since they read them without the "
        "missing ones, and no word has what lies before a gap as the word before it. Add the missing words; if none is "
        "missing, number the words without gaps, or leave the column word_id out."
    ]


def test_nothing_is_looked_up_across_a_gap():
    frame = words(missing=(2,))
    found = previous(frame, ["x"], 2)
    np.testing.assert_array_equal(found["x_previous_1"], [NA, NA, 3, NA, 5, 6, NA, 8])
    np.testing.assert_array_equal(found["x_previous_2"], [NA, NA, NA, NA, NA, 5, NA, NA])


def test_positions_count_missing_words_and_are_unknown_after_a_gap_between_sentences():
    assert position(words(missing=(2,))).tolist() == [1, 3, 4, 1, 2, 3, 1, 2]
    np.testing.assert_array_equal(position(words(missing=(4,))), [1, 2, 3, NA, NA, NA, 1, 2])


def test_surprisal_after_a_gap_is_missing_up_to_the_end_of_the_sentence():
    whole = psymem.score(words(), "toy", ["surprisal"])
    with pytest.warns(
        PsymemWarning, match=r"^1 word\(s\) are missing, where word numbers jump: text 1, between 1 'The'"
    ):
        lacking = psymem.score(words(missing=(2,)), "toy", ["surprisal"])
    expected = whole["surprisal_bits"].drop(index=1).reset_index(drop=True)
    expected[1:3] = NA
    np.testing.assert_array_equal(lacking["surprisal_bits"], expected)


def test_the_n_gram_model_does_not_close_a_gap_up():
    model = count_ngrams([["the", "old", "key", "fell"]] * 3, 2)
    assert model.surprisal(words()).notna().tolist()[:4] == [True] * 4
    assert model.surprisal(words(missing=(2,))).notna().tolist()[:3] == [True, False, False]
