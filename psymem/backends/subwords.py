"""Words and the sub-word tokens of a pretrained tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from psymem.alignment import Alignment, word_spans, words_of_spans
from psymem.backends.punctuation import Punctuation, attached, check_punctuation
from psymem.errors import ModelError

MARKS = ("\u0120", "\u2581")
"""How byte-level (G with dot) and SentencePiece (lower one eighth block) vocabularies mark a word's
beginning."""

TOO_FEW = 1000
"""Tokens below which a vocabulary says nothing about case."""


class SubwordTokenizer:
    """A fast tokenizer of transformers, seen from words.

    Parameters
    ----------
    tokenizer
        As AutoTokenizer gives it.
    vocabulary_size
        Number of rows of the model's output layer; ids beyond it are refused.
    name
        What the model is called, for messages.
    separator
        What stands between words of running text: a space, or nothing in languages written without.
    punctuation
        Whether a row of punctuation is "attached" to the word before it, as in running text, or "spaced" like
        any word (`psymem.backends.punctuation`). Where the vocabulary does not mark beginnings of words, spaces
        have no part in the score, and every row is taken as it is.

    Attributes
    ----------
    bos_id
        Token that opens a text, or None.
    beginnings
        (V,) bool: tokens that begin a word; None if the vocabulary does not mark beginnings.
    spanning
        Rows over which single tokens went so far.
    """

    def __init__(
        self,
        tokenizer: Any,
        vocabulary_size: int,
        name: str,
        separator: str = " ",
        punctuation: Punctuation = "attached",
    ) -> None:
        check_punctuation(punctuation)
        if not getattr(tokenizer, "is_fast", False):
            raise ModelError(
                f"The tokenizer of {name} gives no character positions, so words cannot be told apart."
            )
        self.backend = tokenizer.backend_tokenizer
        self.backend.encode_special_tokens = True  # "<|endoftext|>" in a text is text
        self.backend.no_padding()
        self.backend.no_truncation()
        self.name, self.separator, self.vocabulary_size = name, separator, vocabulary_size
        self.bos_id = self._usable(tokenizer.bos_token_id)
        self.unknown_id = self._usable(
            tokenizer.unk_token_id if tokenizer.unk_token_id != self.bos_id else None
        )
        self.beginnings = self._find_beginnings(tokenizer) if separator == " " else None
        self.attaches = punctuation == "attached" and self.beginnings is not None
        self.spanning: list[str] = []

    def case_note(self, texts: Sequence[Sequence[str]]) -> str | None:
        """Say so if the texts have capitals that the vocabulary has not; None if all is well."""
        capital = next((w for words in texts for w in words if w != w.lower()), None)
        if capital is None or self._keeps_case is None:
            return None
        return f"{self._keeps_case} (the first word with capitals is {capital!r})."

    @cached_property
    def _keeps_case(self) -> str | None:
        """What is wrong with capitals; None if they are known."""
        upper, lower = (self.backend.encode(w, add_special_tokens=False) for w in ("A", "a"))
        if upper.ids == lower.ids and self.unknown_id not in upper.ids:
            return (
                f"The tokenizer of {self.name} puts all text into lower case, so capitals make no difference"
            )
        vocabulary = self.backend.get_vocab(with_added_tokens=False)
        if len(vocabulary) < TOO_FEW or any(sum(c.isupper() for c in t) and len(t) > 2 for t in vocabulary):
            return None
        return (
            f"The vocabulary of {self.name} has no words with capitals, and the text has; they are taken to "
            "pieces or unknown. Use --lower-case (lower_case=True)"
        )

    def align(self, texts: Sequence[Sequence[str]]) -> list[Alignment]:
        """Tokenize each text as running text and give every token to one word."""
        joined = [attached(words) if self.attaches else None for words in texts]
        running = [self._running(words, a) for words, a in zip(texts, joined, strict=True)]
        encodings = self.backend.encode_batch(running, add_special_tokens=False)
        return [self._align(w, e, a) for w, e, a in zip(texts, encodings, joined, strict=True)]

    def _running(self, words: Sequence[str], joined: np.ndarray | None) -> str:
        """Words as running text."""
        if joined is None or not joined.any():
            return self.separator.join(words)
        parts = [w if number == 0 or joined[number] else f" {w}" for number, w in enumerate(words)]
        return "".join(parts)

    def _align(self, words: Sequence[str], encoding: Any, joined: np.ndarray | None) -> Alignment:
        ids = np.array(encoding.ids, dtype=np.int64)
        spans = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        places = word_spans(words, self.separator, joined)
        index = words_of_spans(spans, places)
        tokens = encoding.tokens
        if joined is not None and joined.any():
            self._remember_spanning(words, joined, (spans, places, index))
            tokens, ids, index = self._rows_apart(words, joined, (tokens, ids, index))
        if len(ids) and ids.max() >= self.vocabulary_size:
            raise ModelError(
                f"The tokenizer of {self.name} gives token number {ids.max()}, but the model knows "
                f"{self.vocabulary_size}: they do not belong together."
            )
        return Alignment(tuple(tokens), ids, index, joined if joined is not None and joined.any() else None)

    def _remember_spanning(
        self, words: Sequence[str], joined: np.ndarray, found: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> None:
        """Keep the rows over which single tokens go: "s." over "dogs" and "."."""
        spans, places, index = found
        for number in index[spans[:, 1] > places[index, 1]]:
            if number + 1 < len(words) and joined[number + 1]:
                self.spanning.append(f"{words[number]!r} and {words[number + 1]!r}")

    def spanning_note(self) -> str | None:
        """Say how often a token went over two rows; None if none did."""
        if not self.spanning:
            return None
        return (
            f"In {len(self.spanning)} place(s) a token of {self.name} goes over two rows, the first over "
            f"{self.spanning[0]}. Where the second row is left without a token, both are read as pieces that the tokenizer "
            "would not produce; else the token counts for the row in which it begins."
        )

    def _rows_apart(
        self, words: Sequence[str], joined: np.ndarray, found: tuple[list[str], np.ndarray, np.ndarray]
    ) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Give tokens of their own to rows whose characters were fused with the row before: ``)`` and ``.``."""
        tokens, ids, index = found
        counts = np.bincount(index, minlength=len(words))
        if not (joined & (counts == 0)).any():
            return found
        fused = joined & (counts == 0)
        fused[:-1] |= fused[1:] & joined[1:]  # what it was fused with is taken apart as well
        pieces: list[tuple[list[str], list[int]]] = []
        for number, word in enumerate(words):
            here = index == number
            own = ([t for t, h in zip(tokens, here, strict=True) if h], ids[here].tolist())
            pieces.append(self._alone(word, number, joined) or own if fused[number] else own)
        new = np.repeat(np.arange(len(words)), [len(numbers) for _, numbers in pieces])
        return [t for ts, _ in pieces for t in ts], np.array([i for _, ns in pieces for i in ns]), new

    def _alone(self, word: str, number: int, joined: np.ndarray) -> tuple[list[str], list[int]] | None:
        """Tokens of a row by itself, after a letter or a space as in its text; None if it clings to a letter."""
        if number == 0:
            encoding = self.backend.encode(word, add_special_tokens=False)
            return encoding.tokens, encoding.ids
        encoding = self.backend.encode(f"a{'' if joined[number] else ' '}{word}", add_special_tokens=False)
        if encoding.offsets[0][1] != 1:
            return None
        return encoding.tokens[1:], encoding.ids[1:]

    def _usable(self, number: int | None) -> int | None:
        """Return a special token's id if the model has a row for it."""
        return number if number is not None and 0 <= number < self.vocabulary_size else None

    def _find_beginnings(self, tokenizer: Any) -> np.ndarray | None:
        """(V,) bool: tokens that start with the mark that a space turns into, or None without such a mark.

        Tokens added to the vocabulary that take the white space before them count as well: the end of a
        sentence, in models trained on sentences, where no word goes on.
        """
        spaced = self.backend.encode("a a", add_special_tokens=False).tokens
        mark = next((m for m in MARKS if any(t.startswith(m) for t in spaced[1:])), None)
        if mark is None:
            return None
        begins = np.zeros(self.vocabulary_size, dtype=bool)
        for token, number in tokenizer.get_vocab().items():
            if number < self.vocabulary_size:
                begins[number] = token.startswith(mark)
        for number, added in tokenizer.added_tokens_decoder.items():
            if added.lstrip and number < self.vocabulary_size:
                begins[number] = True
        return begins
