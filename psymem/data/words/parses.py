"""Dependency parses: CoNLL-U files, or spaCy's parses of plain text, as words with the relations between them.

Words are those of running text (split at white space): the parts of a contraction and the punctuation that a
treebank splits off belong to the word they are written in.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psymem.errors import DataError
from psymem.io.encoding import read_text

SAMPLE = "dependencies-sample"
UNIVERSAL = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "dobj": "obj",
    "dative": "iobj",
}
"""Labels of spaCy's English pipelines that have another name in Universal Dependencies."""

_COLUMNS = 10
_INSTALL = "Install it with: pip install 'psymem[parses]'."


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence with its dependencies.

    Attributes
    ----------
    name
        What the source calls it.
    words
        Words, split at white space.
    relations
        ``(relation, dependent, head)``, words by 0-based position; relations inside a word are left out.
    """

    name: str
    words: tuple[str, ...]
    relations: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class _Token:
    """A syntactic word: its form as written, whether a blank follows, its head (0: root) and relation."""

    form: str
    blank_after: bool
    head: int
    relation: str


def read_conllu(path: Path) -> list[ParsedSentence]:
    """Read a CoNLL-U file (``.gz`` allowed); multiword tokens and ``SpaceAfter=No`` give the words as written.

    Raises
    ------
    DataError
        If the file cannot be read or a line is not CoNLL-U; the line is named.
    """
    path = Path(path)
    sentences = [_sentence(block, path) for block in _blocks(_content(path))]
    if not sentences:
        raise DataError(f"{path} has no sentence.")
    return sentences


def sample() -> list[ParsedSentence]:
    """Return the sentences that come with psymem."""
    from importlib.resources import as_file, files

    with as_file(files("psymem.corpora") / SAMPLE / "sample.conllu") as path:
        return read_conllu(path)


def parse_text(path: Path, pipeline: str = "en_core_web_sm") -> list[ParsedSentence]:
    """Parse a text file with a spaCy pipeline that is installed.

    Raises
    ------
    DataError
        If spaCy or the pipeline is not installed, or the file has no words.
    """
    text = read_text(Path(path), [])
    parser = load_pipeline(pipeline)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError(f"{path} has no words.")
    return [s for doc in parser.pipe(lines) for s in sentences_of_doc(doc)]


def load_pipeline(pipeline: str, exclude: tuple[str, ...] = ()) -> Any:
    """Load a spaCy pipeline that is installed, without the components in `exclude`.

    Raises
    ------
    DataError
        If spaCy or the pipeline is not installed.
    """
    try:
        import spacy
    except ImportError as error:
        raise DataError(f"Parsing text needs spaCy, which is not installed. {_INSTALL}") from error
    try:
        return spacy.load(pipeline, exclude=list(exclude))
    except OSError as error:
        raise DataError(
            f"spaCy has no pipeline {pipeline!r} on this machine. Install one with: "
            f"python -m spacy download {pipeline}. Or give parsed sentences with --conllu."
        ) from error


def sentences_of_doc(doc: Any) -> Iterator[ParsedSentence]:
    """Turn a parsed spaCy Doc into sentences, relations named as in Universal Dependencies."""
    for number, sentence in enumerate(doc.sents, start=1):
        tokens = [
            _Token(
                t.text,
                bool(t.whitespace_),
                0 if t.head.i == t.i else t.head.i - sentence.start + 1,
                UNIVERSAL.get(t.dep_, t.dep_),
            )
            for t in sentence
        ]
        yield _between_words(str(number), tokens)


def _content(path: Path) -> str:
    if path.suffix != ".gz":
        return read_text(path, [])
    try:
        return gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error


def _blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Lines of each sentence with their numbers."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []


def _sentence(block: list[tuple[int, str]], path: Path) -> ParsedSentence:
    name, first = "", block[0][0]
    tokens: list[_Token] = []
    until, written, blank = 0, "", True  # the multiword token that is being read
    for number, line in block:
        if line.startswith("#"):
            name = line.partition("=")[2].strip() if line.startswith("# sent_id") else name
            continue
        cells = line.split("\t")
        if len(cells) != _COLUMNS:
            raise DataError(
                f"{path}, line {number}: expected {_COLUMNS} columns separated by tabs (CoNLL-U), found "
                f"{len(cells)}."
            )
        index, space = cells[0], "SpaceAfter=No" not in cells[9].split("|")
        if "-" in index:
            until, written, blank = int(index.partition("-")[2]), cells[1], space
        elif "." not in index:
            inside = len(tokens) + 1 <= until
            form = written if inside else cells[1]
            written = "" if inside else written
            tokens.append(
                _token(cells, form, blank and len(tokens) + 1 == until if inside else space, path, number)
            )
    if not tokens:
        raise DataError(f"{path}, line {first}: a sentence without words.")
    wrong = next((i for i, t in enumerate(tokens, 1) if t.head > len(tokens)), None)
    if wrong:
        raise DataError(
            f"{path}, sentence {name or f'at line {first}'}: word {wrong} has head {tokens[wrong - 1].head}, "
            f"but the sentence has {len(tokens)} words."
        )
    return _between_words(name or f"line {first}", tokens)


def _token(cells: list[str], form: str, blank_after: bool, path: Path, number: int) -> _Token:
    if not cells[6].isdigit():
        raise DataError(f"{path}, line {number}: the head {cells[6]!r} is not a number.")
    return _Token(form.replace(" ", "\u00a0"), blank_after, int(cells[6]), cells[7])


def _between_words(name: str, tokens: Iterable[_Token]) -> ParsedSentence:
    """Join tokens to words as written and keep the relations between different words."""
    listed = list(tokens)
    breaks = np.array([t.blank_after for t in listed[:-1]], dtype=int)
    word = np.concatenate([[0], np.cumsum(breaks)])
    words = [""] * (int(word[-1]) + 1)
    for position, token in zip(word, listed, strict=True):
        words[position] += token.form
    relations = tuple(
        (token.relation, int(word[i]), int(word[token.head - 1]))
        for i, token in enumerate(listed)
        if token.head and word[i] != word[token.head - 1]
    )
    return ParsedSentence(name, tuple(words), relations)
