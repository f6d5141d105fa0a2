"""Parsed sentences with parts of speech, and a model whose attention is written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.data.words.parses import ParsedSentence
from psymem.trace import Trace


def parsed(name: str, words: str, relations: list[tuple[str, int, int]], plural: str = "") -> ParsedSentence:
    """Words as "form/TAG", numbers of nouns Sing but for those in `plural`."""
    pairs = [w.rsplit("/", 1) for w in words.split()]
    numbers = [
        ("Plur" if w in plural.split() else "Sing") if t in ("NOUN", "PROPN", "PRON") else ""
        for w, t in pairs
    ]
    tags = tuple(frozenset({t}) for _, t in pairs)
    return ParsedSentence(name, tuple(w for w, _ in pairs), tuple(relations), tags, tuple(numbers))


SENTENCES = [
    parsed(
        "a",
        "The/DET key/NOUN to/ADP the/DET cabinets/NOUN opened/VERB locks/NOUN",
        [("nsubj", 1, 5), ("obj", 6, 5), ("det", 0, 1)],
        "cabinets locks",
    ),
    parsed("b", "She/PRON saw/VERB herself/PRON", [("nsubj", 0, 1), ("obj", 2, 1)]),
    parsed(
        "c",
        "The/DET dogs/NOUN that/PRON the/DET cat/NOUN saw/VERB were/AUX found/VERB",
        [("acl:relcl", 5, 1), ("nsubj", 4, 5), ("nsubj:pass", 1, 7)],
        "dogs",
    ),
    parsed("d", "Here/ADV is/VERB a/DET key/NOUN", [("nsubj", 3, 1)]),
    parsed("e", "In/ADP rain/NOUN it/PRON works/VERB", [("nsubj", 2, 3)]),
]


class ByHand:
    """Each word attends to the first word with .1 and to the word two back with .6, to the others with less, itself most.

    Head 1 attends to all words before alike. "cat" is unknown to it, and it refuses sentences of more than `most` words.
    """

    name = "by hand"
    provides = frozenset({"logprob", "attention"})
    max_words = None
    context = "sentence"

    def __init__(self, name: str = "by hand", most: int = 99) -> None:
        self.name, self.most, self.read_sentences = name, most, 0

    def read_many(self, texts, progress=None, *, names=None, needs=None):
        from psymem.errors import ModelError

        if any(len(t) > self.most for t in texts):
            raise ModelError("too long")
        self.read_sentences += len(texts)
        return [self.read(words) for words in texts]

    def read(self, words):
        n = len(words)
        attention = np.full((1, 2, n, n), np.nan)
        for i in range(1, n):
            row = np.zeros(n)
            row[:i] = 0.01
            row[0] = 0.1
            row[max(i - 2, 0)] = 0.6
            row[i] = 0.9
            attention[0, 0, i] = row / row.sum()
            attention[0, 1, i] = np.append(np.full(i, 1 / i), np.zeros(n - i))
        oov = np.array([w == "cat" for w in words])
        return Trace(tuple(words), np.arange(n), np.zeros(n), oov, attention)

    def provenance(self):
        return {"model": self.name}


@pytest.fixture
def sentences() -> list[ParsedSentence]:
    return SENTENCES


@pytest.fixture
def by_hand():
    """The class of the model, to be made with a name."""
    return ByHand


@pytest.fixture
def known_sentences() -> list[ParsedSentence]:
    """Sentences of words that the small models know."""
    return [
        parsed(
            "k",
            "The/DET old/ADJ key/NOUN to/ADP the/DET cabinets/NOUN opened/VERB soon/ADV",
            [("nsubj", 2, 6)],
        ),
        parsed(
            "l", "the/DET dogs/NOUN that/PRON the/DET cat/NOUN chased/VERB opened/VERB", [("nsubj", 1, 6)]
        ),
        parsed("m", "the/DET museum/NOUN ,/PUNCT they/PRON said/VERB ,/PUNCT opened/VERB", [("nsubj", 1, 6)]),
    ]
