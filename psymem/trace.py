"""Trace: what a backend returns for one text. Frozen, numpy only, no model in sight.

Rows of every array are tokens in reading order; BOS and padding never appear. A value that is not defined
(the first word of a model without BOS, attention before there is anything to attend to) is NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from psymem.errors import ModelError


@dataclass(frozen=True)
class Trace:
    """Token-level record of one text read by one model.

    Attributes
    ----------
    tokens
        Token strings, length T.
    word_index
        (T,) int: which word (0-based) each token belongs to; never decreases.
    logprob
        (T,) float64: natural log of p(token | everything before it); NaN where undefined.
    oov
        (T,) bool: the token stands for an unknown word.
    attention
        (layers, heads, T, T) float: weight at query token i on key token j < i (j <= i for transformers).
        A row sums to 1, together with `attention_bos` if the model has it, or is NaN throughout where there
        is nothing to attend to. None if the model has no attention.
    attention_bos
        (layers, heads, T) float: weight at query token i on the beginning-of-sentence token, where the model
        attends to one.
    attention_heads
        The (layer, head) pairs in `attention` if only some were asked for; its axes are then (1, chosen, T,
        T).
    entropy
        (T,) float64: entropy (nats) of the next-token distribution from which the token was drawn, or None.
    boundary
        (T + 1,) float64: natural log of p(a word begins | the first i tokens), where the tokenizer marks word
        beginnings; 0 at the start of the text. None where every token is a word or no
        beginning is marked.
    extras
        Further per-token arrays by name (model fixations, memory), first axis T.
    """

    tokens: tuple[str, ...]
    word_index: np.ndarray
    logprob: np.ndarray
    oov: np.ndarray
    attention: np.ndarray | None = None
    attention_bos: np.ndarray | None = None
    attention_heads: tuple[tuple[int, int], ...] | None = None
    entropy: np.ndarray | None = None
    boundary: np.ndarray | None = None
    extras: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check shapes and order, so that no measure has to."""
        n = len(self.tokens)
        for name in ("word_index", "logprob", "oov"):
            self._expect_shape(name, (n,))
        for name, length in (("entropy", n), ("boundary", n + 1)):
            if getattr(self, name) is not None:
                self._expect_shape(name, (length,))
        if n and (np.diff(self.word_index) < 0).any():
            raise ModelError("Trace.word_index must not decrease.")
        if self.attention is not None and (self.attention.ndim != 4 or self.attention.shape[-2:] != (n, n)):
            raise ModelError(
                f"Trace.attention has shape {self.attention.shape}, expected (layers, heads, {n}, {n})."
            )

    def _expect_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Raise ModelError if the array called `name` has another shape."""
        if getattr(self, name).shape != shape:
            raise ModelError(f"Trace.{name} has shape {getattr(self, name).shape}, expected {shape}.")

    @property
    def n_words(self) -> int:
        """Number of words read."""
        return int(self.word_index[-1]) + 1 if len(self.tokens) else 0

    def first_pieces(self, n_words: int | None = None) -> np.ndarray:
        """(n_words,) int: position of each word's first token; -1 for a word without tokens."""
        first = np.full(self.n_words if n_words is None else n_words, -1)
        first[self.word_index[::-1]] = np.arange(len(self.tokens))[::-1]
        return first

    def last_pieces(self, n_words: int | None = None) -> np.ndarray:
        """(n_words,) int: position of each word's last token; -1 for a word without tokens."""
        last = np.full(self.n_words if n_words is None else n_words, -1)
        last[self.word_index] = np.arange(len(self.tokens))
        return last


def no_such_head(layer: int, head: int, layers: int, heads: int) -> str:
    """Say which heads there are, to someone who asked for another."""
    return (
        f"There is no head {layer}:{head}; the model has {layers} layer(s) 0 to {layers - 1} "
        f"with {heads} head(s) 0 to {heads - 1} each."
    )
