"""The word tokenizer: clitics, numerals, punctuation; words one by one give the tokens of the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psymem.models.word_tokenizer import SPECIAL_TOKENS, build_tokenizer, split_words

TOKENIZER = build_tokenizer(["the", "key", "do", "n't", ",", "'s"])


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I can't believe it's 5 o'clock", "i ca n't believe it 's <num> o'clock"),
        ("“Mr. Smith’s” well-known café — isn’t it?", "\" mr . smith 's \" well - known cafe -- is n't it ?"),
        ("1,200.50 1st 1890s 12-part 3:45", "<num> <num> <num> <num> - part <num>"),
        ("boys' don't' they'll've ...", "boys ' do n't ' they 'll 've ..."),
        ("don´t don`t", "do n't do n't"),
        ("<unk> <num> a<b", "<unk> <num> a < b"),
        ("NUL\x00 中文!", "nul 中文 !"),
    ],
)
def test_pieces(text, pieces):
    assert [p for p in split_words([text])[0] if p != "\x00"] == pieces.split(" ")


def test_special_tokens_come_first():
    assert [TOKENIZER.id_to_token(i) for i in range(5)] == list(SPECIAL_TOKENS)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(max_size=12).filter(lambda w: not any(c.isspace() for c in w)), max_size=8))
def test_tokens_of_a_text_are_those_of_its_words(words):
    whole = TOKENIZER.encode(" ".join(words), add_special_tokens=False).ids
    assert whole == [i for word in words for i in TOKENIZER.encode(word, add_special_tokens=False).ids]
