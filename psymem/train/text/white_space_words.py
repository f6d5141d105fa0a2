"""Reading text by its white-space words: each distinct one goes through the tokenizer once.

The tokenizer of our word-level models looks at nothing across white space (`psymem.models.word_tokenizer`), so that the
tokens of a sentence are those of its words, one after the other. Fifty million words have a million distinct ones at
most; taking each apart once makes reading ten times faster, with the same tokens.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from tokenizers import Tokenizer

from psymem.models.word_tokenizer import build_tokenizer, split_words

CHUNK = 20_000
"""Sentences that are read at once."""
SEPARATORS = re.compile("[\x1c-\x1f]")
"""White space to Python, but not to the tokenizer: a sentence with one of these goes through it as a whole."""


def is_word_level(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer is ours but for its vocabulary, so that white-space words can be taken one by one."""
    parts = ("normalizer", "pre_tokenizer", "post_processor", "added_tokens", "truncation", "padding")
    given, ours = (json.loads(t.to_str()) for t in (tokenizer, build_tokenizer([])))
    return given["model"]["type"] == "WordLevel" and all(given[p] == ours[p] for p in parts)


def count_words(sentences: Iterable[str]) -> Counter[str]:
    """Return how often each word form occurs, as the tokenizer's pipeline spells it."""
    words: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for chunk in chunks(sentences):
        odd = [s for s in chunk if SEPARATORS.search(s)]
        for pieces in split_words(odd):
            counts.update(pieces)
        plain = [s for s in chunk if not SEPARATORS.search(s)] if odd else chunk
        words.update(chain.from_iterable(map(str.split, plain)))
    distinct = list(words)
    for word, pieces in zip(distinct, split_words(distinct), strict=True):
        for piece in pieces:
            counts[piece] += words[word]
    return counts


def encode(sentences: Iterable[str], tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Yield the ids of each sentence, those of `tokenizer` (one of ours, see `is_word_level`)."""
    known: dict[str, list[int]] = {}
    for chunk in chunks(sentences):
        split = [s.split() for s in chunk]
        new = list({*chain.from_iterable(split)} - known.keys())
        known.update(zip(new, encode_whole(new, tokenizer), strict=True))
        for sentence, words in zip(chunk, split, strict=True):
            if SEPARATORS.search(sentence):
                yield encode_whole([sentence], tokenizer)[0]
            else:
                yield list(chain.from_iterable([known[word] for word in words]))


def encode_whole(texts: list[str], tokenizer: Tokenizer) -> list[list[int]]:
    """Return the ids of each text."""
    return [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]


def chunks(sentences: Iterable[str]) -> Iterator[list[str]]:
    """Yield the sentences in lists of some thousands."""
    iterator = iter(sentences)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
