"""Dependencies as cases of retrieval: from which word to which, how far, and past which words of the same kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from psymem.data.words.parses import ParsedSentence
from psymem.errors import DataError
from psymem.studies.heads import ORDERS, nothing_found, pairs_of

REFLEXIVE = "reflexive"
REFLEXIVES = frozenset(
    "myself yourself himself herself itself oneself ourselves yourselves themselves".split()
)
KINDS = {"nouns": frozenset({"NOUN", "PROPN"}), "verbs": frozenset({"VERB", "AUX"})}
"""Parts of speech of the words among which the right one is sought; the right one is always among them, pronoun or not."""
CLIMB = 5
"""Heads that are followed from a reflexive to the verb whose subject it refers to."""
TAGS_NEEDED = (
    "The parsed sentences have no parts of speech, which the words between two others are counted by; give CoNLL-U with "
    "UPOS, or text."
)


@dataclass(frozen=True)
class Relation:
    """How a relation is looked at.

    Attributes
    ----------
    name
        As in Universal Dependencies, or "reflexive".
    order
        Which of its words comes first, as for `psymem.studies.heads.track_relation`.
    kind
        What is sought: "nouns" or "verbs".
    """

    name: str
    order: str
    kind: str


RELATIONS = {
    "nsubj": Relation("nsubj", "dependent-first", "nouns"),
    "nsubj:pass": Relation("nsubj:pass", "dependent-first", "nouns"),
    "obj": Relation("obj", "head-first", "verbs"),
    "acl:relcl": Relation("acl:relcl", "head-first", "nouns"),
    REFLEXIVE: Relation(REFLEXIVE, "dependent-first", "nouns"),
}
"""At a verb its subject; at an object its verb; at the verb of a relative clause the noun it is about; at a reflexive the
subject it refers to. In each case the later word retrieves the earlier one."""


def relation_named(name: str, order: str = "") -> Relation:
    """Return how a relation is looked at; other relations than those of `RELATIONS` seek nouns."""
    known = RELATIONS.get(name, Relation(name, "dependent-first", "nouns"))
    if order and order not in ORDERS:
        raise DataError(f"order={order!r} is not known; expected one of {', '.join(ORDERS)}.")
    return Relation(known.name, order or known.order, known.kind)


def find_cases(sentences: Sequence[ParsedSentence], relation: Relation) -> tuple[pd.DataFrame, int]:
    """Return the cases of a relation, and how many dependencies have their words in the other order.

    Returns
    -------
    tuple
        One row per case: ``case, sentence_number, sentence, relation, query_id, query, target_id, target`` (word numbers
        from 1), ``length_words``, ``n_words_before`` and ``n_candidates`` (words, and words of the kind sought, before
        the query, the target among them), ``between`` (of the kind sought, between both), ``matching_between`` (those of
        the target's number; NA where that is not marked). And a number.

    Raises
    ------
    DataError
        If there is no case, or the sentences have no parts of speech.
    """
    rows, other = [], 0
    for number, sentence in enumerate(sentences):
        own = list(_pairs(sentence, relation))
        other += _turned(sentence, relation, len(own))
        if own and not any(map(len, sentence.tags)):
            raise DataError(TAGS_NEEDED)
        rows += [_row(number, sentence, relation, *pair) for pair in own]
    if not rows:
        raise DataError(nothing_found(sentences, relation.name, relation.order))
    cases = pd.DataFrame(rows)
    cases.insert(0, "case", range(1, len(cases) + 1))
    return cases.astype({"matching_between": "Int64"}), other


def _pairs(sentence: ParsedSentence, relation: Relation) -> Iterator[tuple[int, int]]:
    """(later, earlier) of each case, also where there is one word before and so no choice."""
    if relation.name == REFLEXIVE:
        yield from _reflexives(sentence)
    else:
        yield from pairs_of(sentence, relation.name, relation.order, fewest=1, subtypes=False)


def _turned(sentence: ParsedSentence, relation: Relation, found: int) -> int:
    """How many dependencies of the relation have the other order."""
    if relation.name == REFLEXIVE:
        return 0
    return len(pairs_of(sentence, relation.name, "both", fewest=1, subtypes=False)) - found


def _reflexives(sentence: ParsedSentence) -> Iterator[tuple[int, int]]:
    """Each reflexive and the subject of the verb it hangs on."""
    head_of = {dependent: head for _, dependent, head in reversed(sentence.relations)}
    subjects = {h: d for name, d, h in reversed(sentence.relations) if name.partition(":")[0] == "nsubj"}
    for position, word in enumerate(sentence.words):
        if word.strip(".,;:!?\"'()").lower() not in REFLEXIVES:
            continue
        head: int | None = position
        for _ in range(CLIMB):
            head = head_of.get(head) if head is not None else None
            if head is None:
                break
            if head in subjects:
                if subjects[head] < position:
                    yield position, subjects[head]
                break


def _row(
    number: int, sentence: ParsedSentence, relation: Relation, later: int, earlier: int
) -> dict[str, object]:
    """One case."""
    candidates = candidates_before(sentence, relation.kind, later, earlier)
    between = [w for w in candidates if w > earlier]
    own = sentence.numbers[earlier] if sentence.numbers else ""
    matching = sum(sentence.numbers[w] == own for w in between) if own else None
    return {
        "sentence_number": number,
        "sentence": sentence.name,
        "relation": relation.name,
        "query_id": later + 1,
        "query": sentence.words[later],
        "target_id": earlier + 1,
        "target": sentence.words[earlier],
        "length_words": later - earlier,
        "n_words_before": later,
        "n_candidates": len(candidates),
        "between": len(between),
        "matching_between": matching,
    }


def candidates_before(sentence: ParsedSentence, kind: str, later: int, earlier: int) -> list[int]:
    """Positions of the words of a kind before `later`, with `earlier` whatever it is."""
    tags = KINDS[kind]
    return [w for w in range(later) if w == earlier or sentence.tags[w] & tags]
