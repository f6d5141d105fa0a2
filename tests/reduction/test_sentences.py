"""Sentences as predictors, against TreePCA on vectors put together by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import DataError
from psymem.reduction import TreePCA, sentence_vectors

SENTENCES = [
    "The key was old .",
    "Who said that ?",
    "It opened",
    "Xyzzy",
    "the old key opened the old museum ,",
]


@pytest.fixture
def words() -> pd.DataFrame:
    rows = [("1", number, word) for number, sentence in enumerate(SENTENCES, 1) for word in sentence.split()]
    frame = pd.DataFrame(rows, columns=["text_id", "sentence_id", "word"])
    return frame.assign(word_id=range(1, len(frame) + 1))


@pytest.fixture
def vectors(rng) -> dict[str, np.ndarray]:
    names = "the key was old who said that it opened museum".split()
    return {name: rng.normal(size=2) for name in names}


def test_a_row_per_sentence(words, vectors):
    table, weights = sentence_vectors(words, vectors, positions=4)
    assert table["n_words"].tolist() == [5, 4, 2, 1, 8]
    assert table["n_unknown_words"].tolist() == [1, 1, 0, 1, 1]
    by_hand = np.zeros((5, 4, 2))
    v = vectors
    by_hand[0] = [v["the"], v["key"], v["was"], v["old"]]
    by_hand[1, :3] = [v["who"], v["said"], v["that"]]
    by_hand[2, :2] = [v["it"], v["opened"]]
    pairs = [("the", "old"), ("key", "opened"), ("the", "old"), ("museum",)]
    by_hand[4] = [np.mean([v[w] for w in pair], 0) for pair in pairs]
    reduction = TreePCA(2).fit(by_hand.reshape(5, 8))
    found = table[["tree_pca_1", "tree_pca_2"]].to_numpy()
    np.testing.assert_allclose(found, reduction.transform(by_hand.reshape(5, 8)), atol=1e-12)
    np.testing.assert_allclose(weights["weight"], reduction.position_weights_)
    assert weights["position"].tolist() == [1, 2, 3, 4]
    assert weights["weight_percent"].sum() == pytest.approx(100)


def test_words_without_vectors(words):
    message = r"^None of the 15 different words has a vector; are they spelled as the vectors' words\?$"
    with pytest.raises(DataError, match=message):
        sentence_vectors(words, {"zebra": np.ones(2)})
