"""Reading by white-space words gives what the tokenizer gives for whole sentences."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.trainers import WordLevelTrainer

from psymem.models.word_tokenizer import SPECIAL_TOKENS, build_tokenizer
from psymem.train.text.byte_pairs import learn_byte_pairs
from psymem.train.text.vocabulary import VocabularyRule, frequent_types
from psymem.train.text.white_space_words import count_words, encode, is_word_level

PIECES = [
    "the",
    "Café",
    "don't",
    "dogs'",
    "1,200th",
    "''",
    "--",
    "-",
    "- -",
    "...",
    "<s>",
    "<unk>",
    "</s>x",
    "ﬁn",
    "¨a",
]
PIECES += [
    " ",
    "\t",
    "\u00a0",
    "\u2003",
    "\u200b",
    "\x1c",
    "a\x1fb",
    "\u0301",
    "\u1680",
    "é",
    "I.",
    "“he’ll”",
    "\x00",
    "\ufeff",
]
texts = st.lists(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join), max_size=4
)


def by_the_library(sentences: list[str], size: int, minimum: int) -> list[str]:
    """Vocabulary as the trainer of the tokenizers library chooses it."""
    counter = build_tokenizer([])
    trainer = WordLevelTrainer(
        vocab_size=size + len(SPECIAL_TOKENS),
        min_frequency=minimum,
        special_tokens=list(SPECIAL_TOKENS),
        show_progress=False,
    )
    counter.train_from_iterator(sentences, trainer)
    ids = counter.get_vocab(with_added_tokens=False)
    return [w for w in sorted(ids, key=ids.__getitem__) if w not in SPECIAL_TOKENS]


@given(texts)
@settings(max_examples=400, deadline=None)
def test_ids_are_those_of_whole_sentences(sentences):
    tokenizer = build_tokenizer(
        ["the", "cafe", "do", "n't", "dogs", "'", "--", "...", "fin", "a", "b", "he", "'ll", "i"]
    )
    whole = [e.ids for e in tokenizer.encode_batch(sentences, add_special_tokens=False)]
    assert list(encode(sentences, tokenizer)) == whole


@given(texts, st.integers(1, 12), st.integers(1, 3))
@settings(max_examples=400, deadline=None)
def test_the_vocabulary_is_that_of_whole_sentences(tmp_path_factory, sentences, size, minimum):
    counts = count_words(sentences)
    ordered = sorted((w for w, n in counts.items() if n >= minimum), key=lambda w: (-counts[w], w))
    found = [w for w in ordered[:size] if w not in SPECIAL_TOKENS]
    assert found == by_the_library(sentences, size, minimum)


def test_types_by_frequency_then_by_alphabet(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("b a c\nc 1 2 3\n", encoding="utf-8")
    assert frequent_types([path], 3, 1) == ["c", "a"], "a numeral is one of the three"
    assert count_words(["b a c", "c 1 2 3"]) == Counter({"<num>": 3, "c": 2, "a": 1, "b": 1})


def test_other_tokenizers_are_not_taken_apart(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the dog\n" * 9, encoding="utf-8")
    assert is_word_level(build_tokenizer(["the"]))
    assert not is_word_level(learn_byte_pairs([path], VocabularyRule(270)))
    changed = build_tokenizer(["the"])
    changed.add_tokens(["of the"])
    assert not is_word_level(changed)
