"""Model fixations: how much of a fixation-guided network was at work on a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from psymem.errors import MeasureError
from psymem.measures.columns import Column
from psymem.trace import Trace

FIXATIONS, LAYERS, LEVEL = "fixations", "layer_fixations", "duration_level"
"""Extras of a Trace: freeze gates a of components (T, K) or layers (T, L); the predicted duration (T,)."""
LEVELS = 12
"""Durations are on a scale of twelve levels, whatever the number of components."""


@dataclass(frozen=True)
class ModelFixations:
    """How many components a word kept at work, how long it was fixated, how far it moved the state.

    - ``n_active``: ``sum_k (1 - a_k)``, the expected number of active components, from 0 to K (in an FGL network,
      of layers): the model's fixation of the word;
    - ``n_active_hard``: number of components with ``a_k < 0.5``;
    - ``fix_level``: predicted duration, cut to the scale of 0 to 12 levels;
    - ``update_norm``: ``||H_t - H_(t-1)|| / sqrt(K d)``, of cell states in an LSTM, of hidden states otherwise;
    - ``update_frac``: share of that squared change outside the first component (layer).

    A word's value is the mean over those of its tokens that have a word character (a letter, digit or underscore);
    punctuation by itself has none and is NaN, as is ``update_frac`` where nothing changed, and in a network of one
    component.
    """

    name: ClassVar[str] = "model-fixations"
    requires: ClassVar[frozenset[str]] = frozenset({FIXATIONS, LEVEL, "update_norm"})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (
        Column("n_active", "components active", "the model fixates the word longer"),
        Column("n_active_hard", "components active, each as a whole", "the model fixates the word longer"),
        Column("fix_level", "predicted duration (levels)", "the model fixates the word longer", "levels"),
        Column("update_norm", "size of the update", "the word changes the state more"),
        Column(
            "update_frac",
            "share of the update beyond the first component",
            "more of the change lies outside the first component",
        ),
    )
    columns: ClassVar[tuple[str, ...]] = tuple(column.name for column in facts)

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for, beside what it has to have."""
        return self.requires | {"update_frac"}

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) values for each column."""
        gates = _extra(trace, FIXATIONS).astype(np.float64)
        tokens = (
            active(gates),
            (gates < 0.5).sum(-1),
            np.clip(_extra(trace, LEVEL), 0.0, LEVELS),
            _extra(trace, "update_norm"),
            trace.extras.get("update_frac", np.full(len(gates), np.nan)),
        )
        over = mean_over_word_tokens(trace, words)
        return {column: over(values) for column, values in zip(self.columns, tokens, strict=True)}


@dataclass(frozen=True)
class LayersActive:
    """Expected number of layers at work on a word in an FGL network: ``sum_l (1 - a_l)``, from 0 to L.

    Mean over the word's tokens with a word character; punctuation by itself is NaN.
    """

    name: ClassVar[str] = "layers-active"
    requires: ClassVar[frozenset[str]] = frozenset({LAYERS})
    roles: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[tuple[Column, ...]] = (
        Column("layers_active", "layers active", "the model fixates the word longer", "layers"),
    )
    columns: ClassVar[tuple[str, ...]] = tuple(column.name for column in facts)

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) numbers of layers."""
        over = mean_over_word_tokens(trace, words)
        return {self.columns[0]: over(active(_extra(trace, LAYERS).astype(np.float64)))}


def active(gates: np.ndarray) -> np.ndarray:
    """(T,): expected number of units at work, given the freeze gates (T, U) of each token."""
    return (1.0 - gates).sum(-1)


def mean_over_word_tokens(trace: Trace, words: pd.DataFrame) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from (T,) values to (n_words,) means over each word's tokens with a word character.

    An unknown token shows nothing of what it stands for: it counts if its word has a word character.
    """
    of_word = words["word"].to_numpy()[trace.word_index]
    shown = zip(trace.tokens, of_word, trace.oov, strict=True)
    spoken = np.array(
        [bool(re.search(r"\w", word if oov else token)) for token, word, oov in shown], dtype=bool
    )
    index = trace.word_index[spoken]
    count = np.bincount(index, minlength=len(words))

    def mean(values: np.ndarray) -> np.ndarray:
        total = np.bincount(index, weights=values[spoken], minlength=len(words))
        return np.divide(total, count, out=np.full(len(words), np.nan), where=count > 0)

    return mean


def _extra(trace: Trace, name: str) -> np.ndarray:
    """Return an array of the trace, or raise MeasureError."""
    if name not in trace.extras:
        raise MeasureError(f"The model gave no {name} for this text.")
    return trace.extras[name]
