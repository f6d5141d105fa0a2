"""Verbs and the nouns they agree with, from parses written by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from psymem.data.words.agreement import ACROSS, ACROSS_ANY, INITIAL, agreeing_verbs


@dataclass
class Word:
    i: int
    text: str
    tag_: str
    dep_: str
    head: Word | None = None
    children: list = field(default_factory=list)

    @property
    def lower_(self):
        return self.text.lower()

    @property
    def lefts(self):
        return [c for c in self.children if c.i < self.i]


def parsed(rows):
    """Rows of "word tag relation head", heads counted from 0; the root is its own head."""
    cells = [row.split() for row in rows.split(";")]
    words = [Word(i, c[0], c[1], c[2]) for i, c in enumerate(cells)]
    for word, c in zip(words, cells, strict=True):
        word.head = words[int(c[3])]
        if word.head is not word:
            word.head.children.append(word)
    return words


KEYS = "The DT det 1;keys NNS nsubj 5;to IN prep 1;the DT det 4;cabinet NN pobj 2;{verb};old JJ acomp 5"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        pytest.param(
            KEYS.format(verb="are VBP ROOT 5"), [(5, 1, "plural", "other")], id="another number between"
        ),
        pytest.param(
            KEYS.format(verb="is VBZ ROOT 5"), [], id="a verb of another number than the noun the parse names"
        ),
        pytest.param(
            "Keys NNS nsubj 3;of IN prep 0;doors NNS pobj 1;are VBP ROOT 3",
            [(3, 0, "plural", "same")],
            id="the same number",
        ),
        pytest.param(
            "Dogs NNS nsubj 2;often RB advmod 2;bark VBP ROOT 2",
            [(2, 0, "plural", "none")],
            id="an adverb between",
        ),
        pytest.param(
            "It PRP nsubj 1;is VBZ ROOT 1",
            [],
            id="a pronoun marks no number that the verb could be checked against",
        ),
        pytest.param("Dogs NNS nsubj 2;can MD aux 2;bark VB ROOT 2", [], id="a modal verb"),
        pytest.param(
            "Dogs NNS nsubj 2;have VBP aux 2;barked VBN ROOT 2", [(1, 0, "plural", "none")], id="an auxiliary"
        ),
        pytest.param(
            "Dog NN nsubj 3;and CC cc 0;cats NNS conj 0;is VBZ ROOT 3",
            [],
            id="nouns that are joined have their own rules",
        ),
        pytest.param(
            "Police NNS nsubj 1;are VBP ROOT 1", [], id="a noun whose number the verb need not follow"
        ),
        pytest.param("Where WRB advmod 1;are VBP ROOT 1;dogs NNS nsubj 1", [], id="a subject after the verb"),
    ],
)
def test_verbs_and_their_subjects(sentence, expected):
    found = [(v.position, v.subject, v.number, v.kind) for v in agreeing_verbs(parsed(sentence))]
    assert found == expected


@pytest.mark.parametrize(
    ("sentence", "across", "any_verb", "initial"),
    [
        ("the key to the cabinets is old", True, True, False),
        ("the key to the cabinets opens them", False, True, False),
        ("The old key is lost", False, False, True),
        ("The keys are often lost", False, False, True),
        ("He laughed", False, False, False),
    ],
)
def test_which_sentences_are_worth_parsing(sentence, across, any_verb, initial):
    assert (
        bool(ACROSS.search(sentence)),
        bool(ACROSS_ANY.search(sentence)),
        bool(INITIAL.match(sentence)),
    ) == (
        across,
        any_verb,
        initial,
    )
