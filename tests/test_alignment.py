"""Every token belongs to exactly one word, whatever the words look like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from psymem.alignment import align_pieces, sum_over_words, word_spans, words_of_spans

VISIBLE = st.characters(blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"])
WORD = st.text(VISIBLE, min_size=1, max_size=8).filter(lambda w: w.split() == [w])
TRICKY = st.sampled_from(
    ["don't", "well-known", "naïve", "naïve", "👩‍🚀", "日本語", "...", "“so”", "e.g.", "x" * 40]
)
TEXT = st.lists(WORD | TRICKY, min_size=1, max_size=12)
CORPUS = [
    "the key to the cabinets was rusty",
    "don't know well-known naïve things",
    "日本語 👩‍🚀 ... so e.g.",
] * 3


def trained(kind: str) -> Tokenizer:
    if kind == "byte-level BPE":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False)
    elif kind == "SentencePiece":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=80, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


@pytest.fixture(scope="module", params=["byte-level BPE", "SentencePiece", "WordPiece"])
def tokenizer(request):
    return trained(request.param)


@given(words=TEXT)
@settings(deadline=None, max_examples=60)
def test_tokens_of_running_text_are_shared_out_among_its_words(tokenizer, words):
    encoding = tokenizer.encode(" ".join(words), add_special_tokens=False)
    spans, bounds = np.array(encoding.offsets).reshape(-1, 2), word_spans(words)
    index = words_of_spans(spans, bounds)
    assert len(index) == len(encoding.ids)
    assert (np.diff(index) >= 0).all()
    text = " ".join(words)
    for (start, end), word in zip(spans, index, strict=True):
        inside = [k for k, c in enumerate(text[start:end], start=start) if not c.isspace()]
        if inside:  # the word is the one that holds the token's first visible character
            assert bounds[word, 0] <= inside[0] < bounds[word, 1]
    surprisal = np.linspace(0.5, 3.0, len(index))
    assert np.nansum(sum_over_words(surprisal, index, len(words))) == pytest.approx(surprisal.sum())


@given(words=TEXT, size=st.integers(1, 5))
def test_word_by_word_alignment_keeps_every_piece_in_order(words, size):
    def pieces(word):
        cut = [word[i : i + size] for i in range(0, len(word), size)]
        return cut, [len(p) for p in cut]

    aligned = align_pieces(words, pieces)
    for number, word in enumerate(words):
        assert (
            "".join(t for t, w in zip(aligned.tokens, aligned.word_index, strict=True) if w == number) == word
        )
    assert aligned.ids.tolist() == [len(t) for t in aligned.tokens]


@pytest.mark.parametrize(
    ("spans", "words", "expected"),
    [
        ([(0, 3), (3, 7)], [(0, 3), (4, 7)], [0, 1]),  # " key" is the key's
        ([(0, 3), (3, 4), (4, 7), (7, 8)], [(0, 3), (4, 7)], [0, 1, 1, 1]),  # stray white space
        ([(0, 1), (0, 1), (0, 1), (1, 3)], [(0, 1), (2, 3)], [0, 0, 0, 1]),  # bytes of one emoji
        ([(0, 5), (5, 7)], [(0, 3), (4, 7)], [0, 1]),  # a token across two words goes with the first
    ],
    ids=["leading space", "white space tokens", "byte pieces", "across words"],
)
def test_spans(spans, words, expected):
    assert words_of_spans(np.array(spans), np.array(words)).tolist() == expected


def test_sums_are_per_word_and_missing_values_stay_missing():
    values = np.array([[1.0, 2.0, np.nan, 4.0], [1.0, 1.0, 1.0, 1.0]])
    summed = sum_over_words(values, np.array([0, 0, 1, 3]), 4)
    np.testing.assert_array_equal(summed, [[3.0, np.nan, np.nan, 4.0], [2.0, 1.0, np.nan, 1.0]])
    np.testing.assert_array_equal(
        sum_over_words(values[1], np.array([0, 0, 1, 3]), 4, empty=0.0), [2.0, 1.0, 0.0, 1.0]
    )


def test_no_words_no_spans():
    assert word_spans([]).shape == (0, 2)
    assert words_of_spans(np.zeros((0, 2), dtype=int), word_spans([])).tolist() == []
