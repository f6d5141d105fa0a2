"""Sentences in which number agreement can be learnt, chosen from text and marked at the verb.

Few sentences tell agreement with the subject from agreement with the nearest noun: in a hundred words there are some
verbs that mark number, and one in fifty of them has a noun of the other number before it that is not its subject. The
sentences chosen here are natural ones of the text, three kinds in fixed numbers: with a noun of the *other* number
between subject and verb (all there are), with nouns of the *same* number between, and with *none*; the last two in equal
numbers of singular and plural subjects.
"""

from __future__ import annotations

import gzip
import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from psymem.data.words.agreement import (
    ACROSS,
    ACROSS_ANY,
    INITIAL,
    PLURAL,
    SINGULAR,
    AgreementSentence,
    parse_agreement,
)
from psymem.errors import TrainingError
from psymem.io.outputs import write_atomically
from psymem.train.text.files import read_sentences, text_files

MARK = "agreement"
SHORTEST, LONGEST = 10, 400
"""Characters of a sentence."""


@dataclass(frozen=True)
class AgreementChoice:
    """Which sentences to take.

    Parameters
    ----------
    text
        Files or folders whose auxiliaries (is, are, was, were, has, have, does, do) are looked at.
    verbs_too
        Files or folders, beside those in `text`, whose lexical verbs are looked at as well; for modern text, since
        parsing takes its time and old novels have few verbs in the present tense.
    each
        Most sentences with nouns of the same number between, and most with none, for each number of the subject.
    seed
        Decides which, and the order.
    pipeline
        Name of the spaCy pipeline.
    """

    text: tuple[Path, ...]
    verbs_too: tuple[Path, ...] = ()
    each: int = 15_000
    seed: int = 1
    pipeline: str = "en_core_web_sm"

    def __post_init__(self) -> None:
        """Refuse a choice of nothing."""
        if self.each < 1:
            raise TrainingError(f"--each has to be at least 1, not {self.each}.")
        if not self.text and not self.verbs_too:
            raise TrainingError("There is no text to choose from: give --text or --verbs-too.")


def write_agreement_sentences(
    choice: AgreementChoice, out: Path, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, int]:
    """Choose sentences and write them as ``word TAB mark`` lines, gzipped where `out` ends in ``.gz``.

    Parameters
    ----------
    progress
        Called with how many sentences have gone to the parser, and of how many.

    Returns
    -------
    dict
        Sentences written, by kind and number, such as "other, plural".

    Raises
    ------
    TrainingError, DataError
        If no sentence is found, a file cannot be read, or spaCy or its pipeline is not installed.
    """
    found: dict[tuple[str, str], list[AgreementSentence]] = defaultdict(list)
    for sentence in parse_agreement(_counted(list(candidates(choice)), progress), choice.pipeline):
        found[_kind(sentence)].append(sentence)
    rng = np.random.default_rng(choice.seed)
    chosen = {key: _some(found[key], key[0], found, choice.each, rng) for key in sorted(found)}
    sentences = [s for some in chosen.values() for s in some]
    if not sentences:
        names = ", ".join(map(str, (*choice.text, *choice.verbs_too)))
        raise TrainingError(f"No sentence of {names} has a verb that agrees with a noun before it.")
    lines = "".join(_lines(sentences[i]) for i in rng.permutation(len(sentences)))
    write_atomically(out, lambda path: path.write_bytes(_packed(lines, out)))
    return {", ".join(key): len(some) for key, some in chosen.items()}


def candidates(choice: AgreementChoice) -> Iterator[str]:
    """Yield each distinct sentence that is worth parsing."""
    seen: set[str] = set()
    for paths, across in ((choice.text, ACROSS), (choice.verbs_too, ACROSS_ANY)):
        for path in text_files(list(paths)) if paths else []:
            for sentence in read_sentences(path):
                if not SHORTEST <= len(sentence) <= LONGEST or sentence in seen:
                    continue
                if across.search(sentence) or INITIAL.match(sentence):
                    seen.add(sentence)
                    yield sentence


def _counted(sentences: list[str], progress: Callable[[int, int], None]) -> Iterator[str]:
    for n, sentence in enumerate(sentences):
        if n % 1000 == 0:
            progress(n, len(sentences))
        yield sentence
    progress(len(sentences), len(sentences))


def _kind(sentence: AgreementSentence) -> tuple[str, str]:
    """Kind and number of the verb that says most: one with a noun of the other number before it, if there is one."""
    rank = ("other", "same", "none")
    verb = min(sentence.verbs, key=lambda v: rank.index(v.kind))
    return verb.kind, verb.number


def _some(
    sentences: Sequence[AgreementSentence],
    kind: str,
    found: dict[tuple[str, str], list[AgreementSentence]],
    each: int,
    rng: np.random.Generator,
) -> list[AgreementSentence]:
    if kind == "other":
        return list(sentences)
    n = min(each, *(len(found.get((kind, number), ())) for number in (SINGULAR, PLURAL)))
    return [sentences[i] for i in np.sort(rng.permutation(len(sentences))[:n])]


def _lines(sentence: AgreementSentence) -> str:
    marked = {verb.position for verb in sentence.verbs}
    rows = (
        f"{word.strip()}\t{MARK if i in marked else ''}\n"
        for i, word in enumerate(sentence.words)
        if word.strip()
    )
    return "".join(rows) + "\n"


def _packed(lines: str, out: Path) -> bytes:
    content = lines.encode("utf-8")
    if out.suffix != ".gz":
        return content
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:  # the same bytes for the same sentences
        file.write(content)
    return packed.getvalue()
