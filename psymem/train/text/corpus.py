"""Sentences as word ids, kept flat so that 30 million words fit in memory many times over."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from tokenizers import Tokenizer

from psymem.errors import DataError
from psymem.train.text.files import read_sentences
from psymem.train.text.white_space_words import chunks, encode, encode_whole, is_word_level

NO_TAG = -100
"""Label of a token without supertag; the loss skips it."""

CLAUSE_END = (",", ";", ":", "--")


@dataclass(frozen=True)
class EncodedText:
    """Sentences of word ids.

    Attributes
    ----------
    ids
        (n_tokens,) int32: all sentences one after the other, without BOS and end-of-sentence.
    starts
        (n_sentences + 1,) int64: where each sentence starts in `ids`.
    complete
        (n_sentences,) bool: the sentence ends where the text's sentence ends (False for the first parts of a
        sentence that was too long), so that end-of-sentence is the word to predict after it.
    tags
        (n_tokens,) int32 supertag of each token, NO_TAG where there is none; None for plain text.
    """

    ids: np.ndarray
    starts: np.ndarray
    complete: np.ndarray
    tags: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """(n_sentences,) tokens per sentence."""
        return np.diff(self.starts)

    def sentence(self, i: int) -> np.ndarray:
        """Word ids of sentence `i`."""
        return self.ids[self.starts[i] : self.starts[i + 1]]

    def take(self, which: np.ndarray) -> EncodedText:
        """Return the chosen sentences, in the order given."""
        where = np.concatenate(
            [np.arange(self.starts[i], self.starts[i + 1]) for i in which] or [np.empty(0, int)]
        )
        starts = np.concatenate([[0], np.cumsum(self.lengths[which])])
        tags = None if self.tags is None else self.tags[where]
        return EncodedText(self.ids[where], starts, self.complete[which], tags)

    def followed_by(self, other: EncodedText) -> EncodedText:
        """Return these sentences and then those of `other`, both without tags."""
        return EncodedText(
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.starts, other.starts[1:] + len(self.ids)]),
            np.concatenate([self.complete, other.complete]),
        )


def encode_files(files: Iterable[Path], tokenizer: Tokenizer, longest: int) -> EncodedText:
    """Encode the sentences of `files`; ones of more than `longest` tokens are cut at clause ends."""
    return encode_sentences((s for path in files for s in read_sentences(path)), tokenizer, longest)


def encode_sentences(sentences: Iterable[str], tokenizer: Tokenizer, longest: int) -> EncodedText:
    """Encode raw sentences; see :func:`encode_files`."""
    ends = {i for t in CLAUSE_END if (i := tokenizer.token_to_id(t)) is not None}
    parts: list[np.ndarray] = []
    complete: list[bool] = []
    for ids in _ids(sentences, tokenizer):
        pieces = list(_cut(np.asarray(ids, np.int32), longest, ends))
        parts += pieces
        complete += [False] * (len(pieces) - 1) + [True] * bool(pieces)
    return _join(parts, complete, None)


def _ids(sentences: Iterable[str], tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Yield the ids of each sentence."""
    if is_word_level(tokenizer):
        yield from encode(sentences, tokenizer)
    else:
        for chunk in chunks(sentences):
            yield from encode_whole(chunk, tokenizer)


def read_tagged(path: Path) -> list[list[tuple[str, str]]]:
    """Read ``word TAB tag`` lines, sentences separated by blank lines (``.gz`` allowed); a tag may be empty.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is neither blank nor two fields; the line is named.
    """
    sentences: list[list[tuple[str, str]]] = [[]]
    with _readable(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\r\n").split("\t")
            if fields == [""]:
                sentences.append([])
            elif len(fields) == 2 and fields[0]:
                sentences[-1].append((fields[0], fields[1]))
            else:
                raise DataError(
                    f"{path}, line {number}: expected `word TAB tag` or a blank line, found {line.strip()!r}."
                )
    return [s for s in sentences if s]


@contextmanager
def _readable(path: Path) -> Iterator[IO[str]]:
    """Open a text file, gzipped or not; what goes wrong while it is read is said in words."""
    opener: Any = gzip.open if path.name.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            yield file
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}. Give a file of `word TAB tag` lines.") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error


def choose_tags(sentences: Iterable[list[tuple[str, str]]], minimum_count: int = 10) -> list[str]:
    """Return the supertags seen at least `minimum_count` times, most frequent first."""
    counts = Counter(tag for sentence in sentences for _, tag in sentence if tag)
    return sorted((t for t, n in counts.items() if n >= minimum_count), key=lambda t: (-counts[t], t))


def encode_tagged(
    sentences: list[list[tuple[str, str]]], tags: list[str], tokenizer: Tokenizer, longest: int
) -> EncodedText:
    """Encode tagged sentences; a word's last token carries its tag, rarer tags than those in `tags` are none."""
    index = {tag: i for i, tag in enumerate(tags)}
    parts, labels, complete = [], [], []
    for sentence in sentences:
        encodings = tokenizer.encode_batch([word for word, _ in sentence], add_special_tokens=False)
        ids = np.concatenate([np.asarray(e.ids, np.int32) for e in encodings])
        label = np.full(len(ids), NO_TAG, np.int32)
        ends = np.cumsum([len(e.ids) for e in encodings]) - 1
        for end, encoding, (_, tag) in zip(ends, encodings, sentence, strict=True):
            if encoding.ids:
                label[end] = index.get(tag, NO_TAG)
        for start in range(0, len(ids), longest):
            parts.append(ids[start : start + longest])
            labels.append(label[start : start + longest])
            complete.append(start + longest >= len(ids))
    return _join(parts, complete, labels)


def encode_emphasised(paths: Iterable[Path], tokenizer: Tokenizer, longest: int) -> EncodedText:
    """Encode files of ``word TAB mark`` lines; a marked word's last token has the tag 0.

    Raises
    ------
    DataError
        If a line is neither blank nor two fields, or no word of a file is marked.
    """
    sentences: list[list[tuple[str, str]]] = []
    for path in paths:
        read = [[(word, "mark" if mark else "") for word, mark in s] for s in read_tagged(Path(path))]
        if not any(mark for sentence in read for _, mark in sentence):
            raise DataError(
                f"{path} marks no word: expected `word TAB mark` lines with a mark at some words."
            )
        sentences += read
    return encode_tagged(sentences, ["mark"], tokenizer, longest)


def _cut(ids: np.ndarray, longest: int, ends: set[int]) -> Iterator[np.ndarray]:
    while len(ids) > longest:
        last = next((i for i in range(longest - 1, longest // 2, -1) if int(ids[i]) in ends), longest - 1)
        yield ids[: last + 1]
        ids = ids[last + 1 :]
    if len(ids):
        yield ids


def _join(parts: list[np.ndarray], complete: list[bool], labels: list[np.ndarray] | None) -> EncodedText:
    starts = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64)
    flat = np.concatenate(parts) if parts else np.empty(0, np.int32)
    tags = None if labels is None else (np.concatenate(labels) if labels else np.empty(0, np.int32))
    return EncodedText(flat, starts, np.asarray(complete, bool), tags)
