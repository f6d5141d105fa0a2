"""Streams: every word is predicted once, from the word before it, and cuts differ between epochs only."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.errors import TrainingError
from psymem.models.word_tokenizer import EOS_ID, build_tokenizer
from psymem.train.text.corpus import encode_sentences
from psymem.train.text.streams import even_pieces, piece, plan_pieces, rows_of, stream_of

WORDS = ["the", "key", "door", "opens"]
TEXT = encode_sentences(["the key opens", "the door", "key key key"], build_tokenizer(WORDS), 5)


def test_sentence_ends_are_words_of_the_stream():
    assert stream_of(TEXT).tolist() == [5, 6, 8, EOS_ID, 5, 7, EOS_ID, 6, 6, 6, EOS_ID]


def test_the_first_part_of_a_long_sentence_has_no_end():
    text = encode_sentences(["the key opens the door"], build_tokenizer(WORDS), 3)
    assert stream_of(text).tolist() == [5, 6, 8, 5, 7, EOS_ID]


def test_other_values_are_laid_out_as_the_words_are():
    values = np.arange(len(TEXT.ids))
    assert stream_of(TEXT, values, -1).tolist() == [0, 1, 2, -1, 3, 4, -1, 5, 6, 7, -1]


def test_rows_are_consecutive_and_the_remainder_is_left_out():
    assert rows_of(np.arange(11), 3).tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_too_short_a_text_is_refused():
    with pytest.raises(TrainingError) as caught:
        rows_of(np.arange(11), 6)
    assert str(caught.value) == (
        "The text has 11 words and sentence ends, too few for 6 rows of a stream; give more text or a lower --rows."
    )


def test_pieces_cover_every_prediction_once():
    rows = rows_of(np.arange(5, 5 + 4000), 4)
    predicted = []
    for start, end in plan_pieces(rows.shape[1], 40, seed=1, epoch=0):
        batch = piece(rows, start, end)
        assert (batch.targets == batch.inputs + 1).all()
        predicted.append(batch.targets.numpy())
    np.testing.assert_array_equal(np.concatenate(predicted, 1), rows[:, 1:])


def test_lengths_are_random_but_the_same_for_one_epoch():
    first, again, later = (plan_pieces(100_000, 100, 1, epoch) for epoch in (0, 0, 1))
    assert first == again
    assert first != later
    lengths = np.array([end - start for start, end in first[:-1]])
    assert abs(lengths[lengths > 75].mean() - 100) < 1
    assert 0.02 < (lengths < 75).mean() < 0.09
    assert lengths.min() >= 25


def test_even_pieces():
    assert even_pieces(8, 3) == [(0, 3), (3, 6), (6, 7)]
