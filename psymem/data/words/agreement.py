"""Verbs that agree with a noun before them, found by spaCy: which number, and which nouns stand between.

English marks the number of a third-person subject on present-tense verbs and on forms of *be*. A verb is taken only if
the noun that the parse names as its subject has the number of the verb's form, which leaves most wrong parses out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from psymem.data.words.parses import load_pipeline

SINGULAR, PLURAL = "singular", "plural"
AUXILIARIES = {
    "is": SINGULAR, "was": SINGULAR, "has": SINGULAR, "does": SINGULAR,
    "are": PLURAL, "were": PLURAL, "have": PLURAL, "do": PLURAL,
}  # fmt: skip
VERB_TAGS = {"VBZ": SINGULAR, "VBP": PLURAL}
NOUN_TAGS = {"NN": SINGULAR, "NNP": SINGULAR, "NNS": PLURAL, "NNPS": PLURAL}
SUBJECTS = ("nsubj", "nsubjpass")
QUANTITIES = frozenset(
    "number lot majority variety couple people police range series pair none all most".split()
)
"""Nouns whose number the verb does not have to follow ("a number of them are")."""

_LINK = (
    r"(?:of|in|with|for|from|to|on|at|by|between|behind|near|under|about|among|over|through|against|into|that|which|who"
    r"|whom)"
)
_FORMS = "(?:" + "|".join(AUXILIARIES) + ")"
ACROSS = re.compile(rf"\b{_LINK}\b(?:\s+[\w'’-]+){{1,6}}?,?\s+{_FORMS}\b", re.IGNORECASE)
"""A preposition or relative pronoun, up to six words, an auxiliary."""
ACROSS_ANY = re.compile(rf"\w+\s+{_LINK}\b(?:\s+[\w'’-]+){{1,6}}?\s+\w", re.IGNORECASE)
"""The same with any word in the place of the auxiliary."""
INITIAL = re.compile(
    r"^(?:The|A|An|My|His|Her|Our|These|Those|This|That|Their|Your|Some|Most|Many)\s+(?:\w+\s+)?\w+\s+"
    r"(?:(?:often|also|never|always|usually|sometimes|only|probably|certainly|still|now)\s+)?"
    + _FORMS
    + r"\b"
)
"""A sentence that begins with a noun phrase of up to three words and an auxiliary."""


@dataclass(frozen=True)
class AgreeingVerb:
    """A verb and its subject in one sentence.

    Attributes
    ----------
    position, subject
        Tokens of the verb and of its subject's noun, counted from 0.
    number
        "singular" or "plural".
    between
        Numbers of the nouns between the two, in order.
    """

    position: int
    subject: int
    number: str
    between: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What stands between: nouns of which at least one is of the "other" number, of the "same" only, or "none"."""
        if not self.between:
            return "none"
        return "same" if set(self.between) == {self.number} else "other"


@dataclass(frozen=True)
class AgreementSentence:
    """A sentence as tokens of the parser, with the verbs that agree with a noun before them."""

    text: str
    words: tuple[str, ...]
    verbs: tuple[AgreeingVerb, ...]


def parse_agreement(sentences: Iterable[str], pipeline: str) -> Iterator[AgreementSentence]:
    """Yield the sentences in which a verb agrees with a noun before it, parsed by a spaCy pipeline.

    Raises
    ------
    DataError
        If spaCy or the pipeline is not installed.
    """
    parser = load_pipeline(pipeline, exclude=("ner", "lemmatizer", "attribute_ruler"))
    for doc in parser.pipe(sentences, batch_size=256):
        verbs = tuple(agreeing_verbs(doc))
        if verbs:
            yield AgreementSentence(doc.text, tuple(t.text for t in doc), verbs)


def agreeing_verbs(doc: Any) -> Iterator[AgreeingVerb]:
    """Yield the verbs of a parsed text (spaCy's Doc, or what has its attributes) with their subjects."""
    for verb in doc:
        number = AUXILIARIES.get(verb.lower_) or VERB_TAGS.get(verb.tag_)
        subject = _subject(verb) if number else None
        if subject is None or NOUN_TAGS.get(subject.tag_) != number:
            continue
        between = [NOUN_TAGS[t.tag_] for t in doc[subject.i + 1 : verb.i] if t.tag_ in NOUN_TAGS]
        yield AgreeingVerb(verb.i, subject.i, str(number), tuple(between))


def _subject(verb: Any) -> Any:
    """Return the noun a finite verb agrees with; None without one, after a modal verb, or where it is not clear."""
    auxiliary = verb.dep_ in ("aux", "auxpass")
    head = verb.head if auxiliary else verb
    if auxiliary and any(t.tag_ == "MD" for t in head.lefts):
        return None
    found = [t for t in head.lefts if t.dep_ in SUBJECTS]
    if len(found) != 1 or found[0].i > verb.i or found[0].lower_ in QUANTITIES:
        return None
    joined = any(t.dep_ == "conj" for t in found[0].children)
    return None if joined else found[0]
