"""Texts cut into segments, by the examples of the paper and by plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.errors import DataError
from psymem.reduction import fixed_length
from psymem.reduction.segments import segment_sizes, segment_weights


@pytest.mark.parametrize(
    ("words", "positions", "sizes"),
    [
        (10, 4, [3, 2, 3, 2]),
        (11, 4, [3, 3, 3, 2]),
        (13, 8, [2, 2, 2, 2, 2, 1, 1, 1]),
        (8, 4, [2, 2, 2, 2]),
        (3, 4, [1, 1, 1, 0]),
        (0, 2, [0, 0]),
    ],
)
def test_sizes(words, positions, sizes):
    assert segment_sizes(words, positions) == sizes


@pytest.mark.parametrize("positions", [2, 4, 8, 16, 32])
def test_all_words_are_used(positions):
    assert all(sum(segment_sizes(n, positions)) == n for n in range(200))


def test_vectors_are_means_of_segments(rng):
    texts = [rng.normal(size=(n, 3)) for n in (10, 0, 3)]
    found = fixed_length(texts, 4)
    bounds = [0, 3, 5, 8, 10]
    for j in range(4):
        np.testing.assert_allclose(found[0, j], texts[0][bounds[j] : bounds[j + 1]].mean(0))
    assert not found[1].any()
    np.testing.assert_allclose(found[2], np.vstack([texts[2], np.zeros(3)]))


def test_widths_that_differ():
    message = r"^Widths of the word vectors: 2, 3; expected texts of \(words, D\) with one D\.$"
    with pytest.raises(DataError, match=message):
        fixed_length([np.ones((2, 2)), np.ones((2, 3))], 4)


def test_shares_of_words_leave_the_text_as_it_is(rng):
    words = np.array([3, 1, 3, 0, 2, 2])
    vectors = rng.normal(size=(4, 2))
    for positions in (2, 4):
        found = segment_weights([5, 1], words, 4, positions) @ vectors
        expected = fixed_length([vectors[[3, 1, 3, 0, 2]], vectors[[2]]], positions)
        np.testing.assert_allclose(found.reshape(2, positions, 2), expected)
        segment_weights([5, 1], words, 4, positions).sum_duplicates()
    assert words.tolist() == [3, 1, 3, 0, 2, 2]
