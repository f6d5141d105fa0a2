"""The bag of embeddings against numpy, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from psymem.train.tasks.embedding_bag import (
    EmbeddingBagSettings,
    bag_accuracy,
    encode,
    train_embedding_bag,
    word_vectors,
)

TEXTS = [(["good", "film"], "+"), (["bad", "film", "?"], "-"), ([], "+"), (["unknown"], "-")]
ROWS = {"film": 0, "good": 1, "bad": 2}


def test_words_without_a_row_are_left_out():
    found = encode(TEXTS, ROWS, ["+", "-"])
    assert found.ids.tolist() == [1, 0, 2, 0]
    assert found.lengths.tolist() == [2, 2, 0, 0]
    assert found.classes.tolist() == [0, 1, 0, 1]


def test_logits_are_those_of_the_mean():
    texts = encode(TEXTS, ROWS, ["+", "-"])
    bag = train_embedding_bag(texts, 3, 2, EmbeddingBagSettings(width=4, epochs=1))
    vectors, classifier = word_vectors(bag), bag.classifier
    weight, bias = (p.detach().numpy() for p in (classifier.weight, classifier.bias))
    means = np.stack([vectors[[1, 0]].mean(0), vectors[[2, 0]].mean(0), np.zeros(4), np.zeros(4)])
    with torch.inference_mode():
        found = bag(*texts.batch(np.arange(4))).numpy()
    np.testing.assert_allclose(found, means @ weight.T + bias, atol=1e-6)
    assert bag_accuracy(bag, texts) == pytest.approx(np.mean(found.argmax(1) == texts.classes))


def test_it_learns_and_repeats_itself(rng):
    names = [f"w{n}" for n in range(30)]
    texts = []
    for _ in range(400):
        label = int(rng.integers(2))
        words = rng.choice(names[:20] if label else names[10:], 6)
        texts.append((list(words), str(label)))
    data = encode(texts, {w: n for n, w in enumerate(names)}, ["0", "1"])
    first, again = (train_embedding_bag(data, 30, 2, EmbeddingBagSettings(epochs=10)) for _ in range(2))
    assert bag_accuracy(first, data) > 0.9
    np.testing.assert_array_equal(word_vectors(first), word_vectors(again))
