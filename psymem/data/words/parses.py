"""Dependency parses: CoNLL-U files, or spaCy's parses of plain text, as words with the relations between them.

Words are those of running text (split at white space): the parts of a contraction and the punctuation that a
treebank splits off belong to the word they are written in.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psymem.errors import DataError
from psymem.io.encoding import read_text
from psymem.progress import Progress

SAMPLE = "dependencies-sample"
UNIVERSAL = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "dobj": "obj",
    "dative": "iobj",
    "relcl": "acl:relcl",
}
"""Labels of spaCy's English pipelines that have another name in Universal Dependencies."""
NOMINALS = frozenset({"NOUN", "PROPN", "PRON"})
"""Parts of speech of nouns and pronouns."""

_COLUMNS = 10
NO_PARSER = "Or give parsed sentences with --conllu."
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
    tags
        For each word the universal parts of speech of what is written in it ("It's": PRON, AUX).
    numbers
        For each word the number of the noun or pronoun in it, "Sing" or "Plur"; "" where there is none or it is not
        marked.
    """

    name: str
    words: tuple[str, ...]
    relations: tuple[tuple[str, int, int], ...]
    tags: tuple[frozenset[str], ...] = ()
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Token:
    """A syntactic word: form as written, whether a blank follows, head (0: root), relation, part of speech, number."""

    form: str
    blank_after: bool
    head: int
    relation: str
    tag: str = ""
    number: str = ""


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
    parser = load_pipeline(pipeline, instead=NO_PARSER)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError(f"{path} has no words.")
    return [s for doc in parser.pipe(lines) for s in sentences_of_doc(doc)]


def load_pipeline(pipeline: str, exclude: tuple[str, ...] = (), instead: str = "") -> Any:
    """Load a spaCy pipeline that is installed, without the components in `exclude`.

    Parameters
    ----------
    pipeline
        Its name.
    exclude
        Components that are not needed.
    instead
        What else the user can do where it is not installed.

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
            f"python -m spacy download {pipeline}. {instead}".strip()
        ) from error


def parse_words(
    sentences: Sequence[Sequence[str]],
    pipeline: str = "en_core_web_sm",
    progress: Progress | None = None,
) -> list[ParsedSentence]:
    """Parse sentences that are words already: the parser gets these words and finds no others.

    Parameters
    ----------
    sentences
        Words of each sentence, punctuation and clitics words of their own, as in a treebank or WikiText.
    pipeline
        spaCy pipeline.
    progress
        Called as sentences are parsed.

    Raises
    ------
    DataError
        If spaCy or the pipeline is not installed.
    """
    parser = load_pipeline(pipeline, instead=NO_PARSER)
    from spacy.tokens import Doc

    found = []
    docs = (Doc(parser.vocab, words=list(words)) for words in sentences)
    for number, doc in enumerate(parser.pipe(docs, batch_size=128), 1):
        found.append(_between_words(str(number), [_spacy_token(t, 0, blank=True) for t in doc]))
        if progress is not None and (number % 128 == 0 or number == len(sentences)):
            progress("parsing", number, len(sentences))
    return found


def read_words(path: Path) -> list[list[str]]:
    """Read sentences that are words already (``.gz`` allowed).

    Either a sentence a line, words with blanks between; or a word a line, further columns after a tab (such as a
    supertag), sentences with empty lines between.

    Raises
    ------
    DataError
        If there are no words, or only some lines have tabs; the line is named.
    """
    lines = _content(Path(path)).split("\n")
    tabs = [("\t" in line) for line in lines if line.strip()]
    if not tabs:
        raise DataError(f"{path} has no words.")
    if not any(tabs):
        return [line.split() for line in lines if line.strip()]
    found: list[list[str]] = [[]]
    for number, line in enumerate(lines, 1):
        word, tab, _ = line.partition("\t")
        if not line.strip():
            found.append([])
        elif not tab or not word.strip() or len(word.split()) > 1:
            raise DataError(
                f"{path}, line {number}: expected one word before a tab, or an empty line, as in other lines; found "
                f"{line.strip()[:40]!r}."
            )
        else:
            found[-1].append(word.strip())
    return [sentence for sentence in found if sentence]


def sentences_of_doc(doc: Any) -> Iterator[ParsedSentence]:
    """Turn a parsed spaCy Doc into sentences, relations named as in Universal Dependencies."""
    for number, sentence in enumerate(doc.sents, start=1):
        tokens = [_spacy_token(t, sentence.start, blank=bool(t.whitespace_)) for t in sentence]
        yield _between_words(str(number), tokens)


def _spacy_token(token: Any, start: int, *, blank: bool) -> _Token:
    """One token of spaCy, its relation named as in Universal Dependencies."""
    return _Token(
        token.text,
        blank,
        0 if token.head.i == token.i else token.head.i - start + 1,
        UNIVERSAL.get(token.dep_, token.dep_),
        token.pos_,
        next(iter(token.morph.get("Number")), ""),
    )


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
            if index != str(len(tokens) + 1):
                raise DataError(
                    f"{path}, line {number}: the word has the number {index!r}, and {len(tokens) + 1} was expected. Words "
                    "of a sentence are numbered 1, 2, 3; a blank line ends a sentence."
                )
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
    if cells[6] == "_":  # not annotated: a word without relation
        return _Token(form.replace(" ", "\u00a0"), blank_after, 0, "_")
    if not cells[6].isdigit():
        raise DataError(f"{path}, line {number}: the head {cells[6]!r} is not a number.")
    features = dict(f.split("=", 1) for f in cells[5].split("|") if "=" in f)
    number_of_word = features.get("Number", "")
    return _Token(form.replace(" ", "\u00a0"), blank_after, int(cells[6]), cells[7], cells[3], number_of_word)


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
    tags: list[set[str]] = [set() for _ in words]
    numbers = [""] * len(words)
    for position, token in zip(word, listed, strict=True):
        tags[position].add(token.tag)
        if token.tag in NOMINALS and not numbers[position]:
            numbers[position] = token.number
    return ParsedSentence(name, tuple(words), relations, tuple(map(frozenset, tags)), tuple(numbers))
