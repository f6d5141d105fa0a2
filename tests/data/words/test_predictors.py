"""Predictors of reading times, worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.data.words.predictors import bare, position, previous, with_values, word_length
from psymem.errors import DataError


def text() -> pd.DataFrame:
    """Two sentences in one text, one in another; word numbers jump although no word is missing."""
    return pd.DataFrame(
        {
            "text_id": pd.Series(["1"] * 6 + ["2"] * 2, dtype="str"),
            "sentence_id": [1, 1, 1, 2, 2, 2, 1, 1],
            "word_id": [2, 3, 5, 6, 7, 8, 1, 2],
            "word": pd.Series(["The", "key,", "fell.", "It", "was", "old.", '"No,"', "—"], dtype="str"),
            "x": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0],
            "words_missing_before": 0,
        }
    )


def readings() -> pd.DataFrame:
    """Two readers of all words, in shuffled order; reader b has no row for the second word."""
    frame = pd.concat([text().assign(subject=s, y=text()["x"] + k) for s, k in (("a", 1), ("b", 2))])
    frame = frame[(frame["subject"] != "b") | (frame["word_id"] != 3)]
    return frame.sample(frac=1, random_state=4).reset_index(drop=True)


def test_length_with_and_without_punctuation():
    words = text()["word"]
    assert word_length(words).tolist() == [3, 3, 4, 2, 3, 3, 2, 0]
    assert word_length(words, punctuation=True).tolist() == [3, 4, 5, 2, 3, 4, 5, 1]
    assert bare("(don't_)") == "don't"


def test_position_in_sentence_and_text():
    assert position(text()).tolist() == [1, 2, 3, 1, 2, 3, 1, 2]
    assert position(text(), ("text_id",)).tolist() == [1, 2, 3, 4, 5, 6, 1, 2]


def test_first_word_of_each_sentence_and_reader_has_no_previous_value():
    frame = readings()
    found = previous(frame, ["x", "y"], 2, words=text(), readers=("subject",)).join(frame)
    first = found[found["word"].isin(["The", "It", '"No,"'])]
    assert len(first) == 6
    assert first.filter(like="previous").isna().all(axis=None)


def test_previous_values_come_from_the_same_reader_and_sentence():
    frame = readings()
    found = previous(frame, ["y"], 2, words=text(), readers=("subject",)).join(frame)
    a = found[found["subject"] == "a"].set_index("word")
    assert a.loc["fell.", "y_previous_1"] == 21.0
    assert a.loc["fell.", "y_previous_2"] == 11.0
    b = found[found["subject"] == "b"].set_index("word")
    assert np.isnan(b.loc["fell.", "y_previous_1"])  # no row for "key,"; "The" does not slip in
    assert b.loc["fell.", "y_previous_2"] == 12.0
    assert b.loc["old.", "y_previous_1"] == 52.0


def test_looking_back_across_sentences_of_a_text_but_never_of_texts():
    found = previous(text(), ["x"], within=("text_id",))["x_previous_1"]
    assert found.tolist()[1:6] == [10.0, 20.0, 30.0, 40.0, 50.0]
    assert np.isnan(found[0])
    assert np.isnan(found[6])


def test_row_about_a_word_that_is_not_in_the_text():
    frame = pd.concat([text(), text().head(1).assign(word_id=99)], ignore_index=True)
    with pytest.raises(DataError) as caught:
        previous(frame, ["x"], words=text())
    assert str(caught.value) == (
        "1 row(s) are about words that the text does not have, the first word 99 of text 1. Check that both tables "
        "belong to the same release."
    )


def test_values_are_joined_by_key():
    values = text().rename(columns={"x": "surprisal_bits"}).sample(frac=1, random_state=1)
    joined = with_values(text().set_index(pd.Index(range(5, 13))), values, ["surprisal_bits"], "scores.csv")
    assert joined["surprisal_bits"].tolist() == text()["x"].tolist()
    assert joined.index.tolist() == list(range(5, 13))


def test_values_of_other_words_are_refused():
    values = text().assign(word=text()["word"].str.replace("key,", "keys,"))
    with pytest.raises(DataError) as caught:
        with_values(text(), values, ["x"], "scores.csv")
    assert str(caught.value) == (
        "scores.csv has 1 word(s) that differ from the text: text 1, word 3: 'key,' in the text, 'keys,' there. Join "
        "tables of the same release."
    )


def test_values_of_other_texts_are_refused():
    with pytest.raises(DataError) as caught:
        with_values(text(), text().head(3).assign(text_id="9"), ["x"], "scores.csv")
    assert str(caught.value) == (
        "scores.csv shares no word with the text: no pair of text_id and word_id occurs in both. The text begins at "
        "text_id '1', word_id 2; scores.csv at text_id '9', word_id 2."
    )


def test_repeated_values_are_refused():
    with pytest.raises(DataError) as caught:
        with_values(text(), pd.concat([text(), text().head(1)]), ["x"], "scores.csv")
    assert str(caught.value) == (
        "scores.csv has 1 repeated row(s), the first for text 1, word 2. Give one row per word."
    )
