"""Every token belongs to one word, whatever the characters: real tokenizers of three kinds, words at random."""

from __future__ import annotations

import re

import numpy as np
import pytest
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers.convert_slow_tokenizer import bytes_to_unicode

from psymem.alignment import sum_over_words
from psymem.backends.punctuation import attached
from psymem.backends.subwords import SubwordTokenizer

LETTERS = st.characters(exclude_categories=("Zs", "Zl", "Zp", "Cc", "Cs", "Cn"), exclude_characters="\u2581")
WORD = st.one_of(
    st.text(LETTERS, min_size=1, max_size=6),
    st.sampled_from(
        [
            "didn't",
            "'s",
            "well-known",
            "👩‍🚀",
            "🏳️‍🌈",
            "naïve",
            "nai\u0308ve",
            "...",
            "日本",
            "1,000",
            "<s>",
            "ŉ",
            ".",
            ",",
            ")",
            "(",
            "?!",
            "n't",
        ]
    ),
)
TEXT = st.lists(WORD, min_size=1, max_size=6)
OFTEN = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def byte_level(small_pretrained):
    tokenizer = transformers.AutoTokenizer.from_pretrained(small_pretrained("gpt2"))
    return SubwordTokenizer(tokenizer, len(tokenizer), "byte-level BPE")


@pytest.fixture(scope="module")
def sentence_piece(small_pretrained):
    tokenizer = transformers.AutoTokenizer.from_pretrained(small_pretrained("llama"))
    return SubwordTokenizer(tokenizer, len(tokenizer), "SentencePiece")


@pytest.fixture(scope="module")
def word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator(["the key to the cabinets was rusty", "naïve museums didn't open"], trainer)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")
    return SubwordTokenizer(fast, len(fast), "WordPiece")


def one_word_each(tokenizer, words):
    """Check order and range, and that sums over words lose nothing; return the alignment."""
    (aligned,) = tokenizer.align([words])
    index = aligned.word_index
    assert len(index) == len(aligned.tokens) == len(aligned.ids)
    assert (np.diff(index) >= 0).all()
    assert len(index) == 0 or (index[0] >= 0 and index[-1] < len(words))
    values = np.linspace(0.5, 2.0, len(index))
    assert np.nansum(sum_over_words(values, index, len(words))) == pytest.approx(values.sum())
    return aligned


def runs(words):
    """Yield the numbers of words that are written together, and what is written."""
    joined = attached(words)
    starts = [n for n in range(len(words)) if not joined[n]]
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        yield range(start, end), "".join(words[start:end])


@OFTEN
@given(words=TEXT)
def test_byte_level_pieces_spell_their_word(byte_level, words):
    aligned = one_word_each(byte_level, words)
    alphabet = {c: b for b, c in bytes_to_unicode().items()}
    for numbers, written in runs(words):
        tokens = [t for t, w in zip(aligned.tokens, aligned.word_index, strict=True) if w in numbers]
        spelled = bytes(alphabet[c] for c in "".join(tokens)).decode("utf-8")
        assert spelled == (" " if numbers[0] else "") + written


@OFTEN
@given(words=TEXT)
def test_sentence_pieces_spell_their_word(sentence_piece, words):
    aligned = one_word_each(sentence_piece, words)
    for numbers, written in runs(words):
        tokens = [t for t, w in zip(aligned.tokens, aligned.word_index, strict=True) if w in numbers]
        assert b"".join(map(as_bytes, tokens)).decode("utf-8") == " " + written


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_fused_punctuation_is_taken_apart(kind, small_pretrained):
    """Vocabularies join marks that follow each other: each row keeps tokens of its own all the same."""
    fast = transformers.AutoTokenizer.from_pretrained(small_pretrained(kind))
    fast.add_tokens([")."])
    tokenizer = SubwordTokenizer(fast, len(fast), kind)
    words = ["the", "(", "key", "?", ")", ".", "it", ")", ".", "''", "was"]
    (aligned,) = tokenizer.align([words])
    assert np.bincount(aligned.word_index, minlength=len(words)).min() > 0
    assert aligned.attached.tolist() == attached(words).tolist()
    spelled = "".join(aligned.tokens).translate({0x120: " ", 0x2581: " "}).strip()
    assert spelled == "the (key?). it). '' was"
    said = "In 2 place(s) a token of " + kind + " goes over two rows, the first over ')' and '.'. "
    assert tokenizer.spanning_note().startswith(said)


def test_a_token_over_a_word_and_its_full_stop_is_said(small_pretrained):
    fast = transformers.AutoTokenizer.from_pretrained(small_pretrained("llama"))
    fast.add_tokens(["s."])
    tokenizer = SubwordTokenizer(fast, len(fast), "a model")
    assert tokenizer.spanning_note() is None
    (aligned,) = tokenizer.align([["the", "dogs", ".", "was"]])
    assert np.bincount(aligned.word_index, minlength=4).min() > 0
    assert tokenizer.spanning_note() == (
        "In 1 place(s) a token of a model goes over two rows, the first over 'dogs' and '.'. Where the second row is left "
        "without a token, both are read as pieces that the tokenizer would not produce; else the token counts for the row "
        "in which it begins."
    )


def test_rows_of_punctuation_stay_apart_on_request(small_pretrained):
    fast = transformers.AutoTokenizer.from_pretrained(small_pretrained("gpt2"))
    apart = SubwordTokenizer(fast, len(fast), "byte-level BPE", punctuation="spaced")
    (aligned,) = apart.align([["was", "."]])
    assert aligned.tokens[-2:] == ("Ġ", ".") or aligned.tokens[-1] == "Ġ."
    assert aligned.attached is None


def as_bytes(token: str) -> bytes:
    """Spell a piece, or the byte that it stands for."""
    byte = re.fullmatch(r"<0x([0-9A-F]{2})>", token)
    return bytes([int(byte.group(1), 16)]) if byte else token.replace("\u2581", " ").encode()


@OFTEN
@given(words=TEXT)
def test_word_pieces_have_one_word_each(word_piece, words):
    aligned = one_word_each(word_piece, words)
    for token, word in zip(aligned.tokens, aligned.word_index, strict=True):
        letters = token.removeprefix("##")
        assert token == "[UNK]" or letters[0] in plain(words[word])


def plain(word: str) -> str:
    """Spell a word as BERT's normaliser does."""
    return normalizers.BertNormalizer(lowercase=True).normalize_str(word)
