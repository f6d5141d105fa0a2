"""Words and the sub-word tokens of a pretrained tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from psymem.alignment import Alignment, word_spans, words_of_spans
from psymem.errors import ModelError

MARKS = ("\u0120", "\u2581")
"""How byte-level (G with dot) and SentencePiece (lower one eighth block) vocabularies mark a word's
beginning."""


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

    Attributes
    ----------
    bos_id
        Token that opens a text, or None.
    beginnings
        (V,) bool: tokens that begin a word; None if the vocabulary does not mark beginnings.
    """

    def __init__(self, tokenizer: Any, vocabulary_size: int, name: str, separator: str = " ") -> None:
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

    def align(self, texts: Sequence[Sequence[str]]) -> list[Alignment]:
        """Tokenize each text as running text and give every token to one word."""
        joined = [self.separator.join(words) for words in texts]
        encodings = self.backend.encode_batch(joined, add_special_tokens=False)
        return [self._align(words, e) for words, e in zip(texts, encodings, strict=True)]

    def _align(self, words: Sequence[str], encoding: Any) -> Alignment:
        ids = np.array(encoding.ids, dtype=np.int64)
        if len(ids) and ids.max() >= self.vocabulary_size:
            raise ModelError(
                f"The tokenizer of {self.name} gives token number {ids.max()}, but the model knows "
                f"{self.vocabulary_size}: they do not belong together."
            )
        spans = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        return Alignment(
            tuple(encoding.tokens), ids, words_of_spans(spans, word_spans(words, self.separator))
        )

    def _usable(self, number: int | None) -> int | None:
        """Return a special token's id if the model has a row for it."""
        return number if number is not None and 0 <= number < self.vocabulary_size else None

    def _find_beginnings(self, tokenizer: Any) -> np.ndarray | None:
        """(V,) bool: tokens that start with the mark that a space turns into, or None without such a mark."""
        spaced = self.backend.encode("a a", add_special_tokens=False).tokens
        mark = next((m for m in MARKS if any(t.startswith(m) for t in spaced[1:])), None)
        if mark is None:
            return None
        begins = np.zeros(self.vocabulary_size, dtype=bool)
        for token, number in tokenizer.get_vocab().items():
            if number < self.vocabulary_size:
                begins[number] = token.startswith(mark)
        return begins
