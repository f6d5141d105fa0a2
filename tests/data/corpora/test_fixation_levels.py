"""Levels of reading time: quantiles as pandas cuts them, one level for all tokens of a word."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.fixation_levels import (
    check_levels,
    levelled_sentences,
    quantile_levels,
    word_durations,
)
from psymem.errors import DataError, PsymemWarning
from psymem.models.word_tokenizer import split_words

WORDS = ["Well-known", "dogs,", "bark", "."]
TIMES = {  # NaN: not fixated
    "x": [400.0, 200.0, 100.0, np.nan],
    "y": [600.0, np.nan, 300.0, np.nan],
}


def corpus(times=TIMES, measure="total_reading_time") -> Corpus:
    words = pd.DataFrame(
        {"text_id": ["t"] * 4, "sentence_id": [1, 1, 2, 2], "word_id": range(1, 5), "word": WORDS}
    )
    rows = [
        ("c", subject, "t", i + 1, WORDS[i], np.isnan(value), value)
        for subject, values in times.items()
        for i, value in enumerate(values)
    ]
    columns = ["corpus", "subject", "text_id", "word_id", "word", "skipped", measure]
    return Corpus("c", words, pd.DataFrame(rows, columns=columns))


def test_a_reader_who_did_not_fixate_counts_as_0_ms():
    found = word_durations(corpus())
    mean = (400 + 200 + 100 + 600 + 300) / 8
    np.testing.assert_allclose(found["mean_duration"], np.array([500, 100, 200, 0]) / mean)
    np.testing.assert_allclose(found["duration_variance"], np.array([20000, 20000, 20000, 0]) / mean**2)
    assert found["n_readers"].tolist() == [2, 2, 2, 2]


def test_a_word_that_nobody_has_data_of_has_no_duration():
    times = {s: values[:3] for s, values in TIMES.items()}
    found = word_durations(corpus(times))
    assert np.isnan(found["mean_duration"].iloc[3])
    assert found["n_readers"].tolist() == [2, 2, 2, 0]


def test_quantile_levels_are_those_of_pandas(rng):
    values = rng.gamma(2, 100, 998)  # no value lies on an edge, where pandas takes the level below
    for k in (12, 4):
        expected = pd.qcut(values, k, labels=False) * (12 // k)
        np.testing.assert_array_equal(quantile_levels(values, k), expected)


def test_a_value_on_an_edge_belongs_above_it_and_nan_stays():
    found = quantile_levels(np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan]), 2)
    np.testing.assert_array_equal(found, [0, 0, 6, 6, 6, np.nan])


def test_tokens_share_the_level_of_their_word_and_punctuation_is_short():
    one, two = levelled_sentences(corpus(), split_words, k=4, punctuation_level=1)
    assert one.tokens == ["well", "-", "known", "dogs", ","]
    assert one.levels.tolist() == [9, 1, 9, 3, 1]
    assert two.tokens == ["bark", "."]
    assert two.levels.tolist() == [6, 1]
    assert two.mean[1] == 0
    assert np.isinf(two.variance[1])


def test_words_of_too_few_readers_have_no_level():
    times = {"x": TIMES["x"], "y": TIMES["y"][:2]}
    one, two = levelled_sentences(corpus(times), split_words, least_readers=2)
    assert not np.isnan(one.levels).any()
    assert np.isnan(two.levels[0])
    assert two.levels[1] == 0, "punctuation has its level whoever read it"


def test_levels_out_of_range():
    for k in (0, 13):
        with pytest.raises(DataError) as caught:
            check_levels(k)
        assert str(caught.value) == (
            f"{k} is no number of fixation levels: the duration scale has 12 levels, so it has to be between 1 and 12."
        )
    with pytest.raises(DataError) as caught:
        levelled_sentences(corpus(), split_words, punctuation_level=12)
    assert str(caught.value) == "Level 12 is out of range; levels go from 0 to 11."


def test_levels_that_do_not_divide_12_warn():
    with pytest.warns(PsymemWarning) as caught:
        assert check_levels(5) == 2
    assert str(caught[0].message) == (
        "12 levels of duration cannot be shared equally by 5: each gets 2 level(s), the last 4. Divisors of 12 avoid this."
    )


def test_a_corpus_without_total_reading_times():
    with pytest.raises(DataError) as caught:
        word_durations(corpus(measure="gaze_duration"))
    assert str(caught.value) == (
        "The corpus 'c' has no total reading times, from which fixations are predicted; it has gaze_duration."
    )


def test_durations_in_seconds():
    with pytest.raises(DataError) as caught:
        word_durations(corpus({"x": [0.4, 0.2, 0.1, 0.3]}))
    assert str(caught.value) == (
        "The longest total reading time of the corpus 'c' is 0.4; times in ms were expected. Are they in seconds, or "
        "scaled? --ms-per-unit 1000 reads seconds in a table of your own."
    )


def test_a_duration_of_more_than_a_minute():
    with pytest.raises(DataError) as caught:
        word_durations(corpus({"x": [400.0, 70000.0, 100.0, 300.0]}))
    assert str(caught.value) == (
        "The corpus 'c' has a total reading time of 70000 ms for reader x, text t, word 2; at most 60000 ms was "
        "expected. Mend or drop it."
    )


def test_a_corpus_without_any_time():
    with pytest.raises(DataError) as caught:
        levelled_sentences(corpus(), split_words, least_readers=3)
    assert str(caught.value) == "No word of the corpus 'c' has total reading times of 3 reader(s) or more."
