"""Kneser-Ney probabilities, worked out by hand and by their properties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.data.words.ngram import UNKNOWN, count_ngrams, train_ngram
from psymem.errors import DataError

SENTENCES = [s.split() for s in ("a b", "a b", "a c", "c b", "d")]


def test_bigram_by_hand():
    model = count_ngrams(SENTENCES, order=2)
    # words: a b c known (d once: <unk>). Bigrams: <s>a 3, ab 2, ac 1, <s>c 1, cb 1, <s><unk> 1
    # once 4, twice 1: d2 = 4/6. Left neighbours: a 1, b 2, c 2, <unk> 1; once 2, twice 2: d1 = 2/6
    d2, d1 = 4 / 6, 2 / 6
    lower = (2 - d1) / 6 + d1 * 4 / 6 / 4
    assert model.discounts == pytest.approx((d1, d2))
    assert model.probability("b", ["<s>", "a"]) == pytest.approx((2 - d2) / 3 + d2 * 2 / 3 * lower)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("context", [["<s>"], ["<s>", "a"], ["<s>", "a", "c"], ["<s>", UNKNOWN, "b"]])
def test_probabilities_sum_to_one(order, context):
    model = count_ngrams(SENTENCES, order=order)
    words = [*model.vocabulary, UNKNOWN]
    assert sum(model.probability(w, context) for w in words) == pytest.approx(1.0)


def words(sentence: str) -> pd.DataFrame:
    """One sentence as WORDS."""
    own = sentence.split()
    return pd.DataFrame({"text_id": "1", "sentence_id": 1, "word_id": range(len(own)), "word": own})


def test_surprisal_depends_on_earlier_words_only(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The key fell.\nThe key was old.\nThe old key fell.\n", encoding="utf-8")
    model = train_ngram(path, order=3)
    one, other = (model.surprisal(words(s)) for s in ("The key fell — hard", "The key fell"))
    np.testing.assert_array_equal(one[:3], other)
    assert one[3:].isna().all()  # a dash, and a word that is not known
    assert one[1] == pytest.approx(-np.log2(model.probability("key", ["<s>", "the"])))


def test_text_without_a_repeated_word(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("Every word once.\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        train_ngram(path)
    assert str(caught.value) == f"{path} has no word that occurs 2 times or more; train on a longer text."


def test_order_has_to_be_positive():
    with pytest.raises(DataError) as caught:
        count_ngrams(SENTENCES, order=0)
    assert str(caught.value) == "The order of an n-gram model is at least 1, not 0."
