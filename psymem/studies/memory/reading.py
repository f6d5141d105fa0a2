"""What recurrent models keep of words while they read texts: responses word by word and their curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from psymem.backends.base import Backend
from psymem.errors import MeasureError
from psymem.measures.base import Measure
from psymem.measures.memory_response import (
    MemoryHalfLife,
    MemoryResponse,
    half_lives,
    response_lengths,
    retention,
    shares,
)
from psymem.measures.memory_response_linearised import (
    RECURRENCE,
    LinearisedMemoryResponse,
    linearised_lengths,
    recurrence_size,
)
from psymem.scoring.score import unknown_words
from psymem.trace import Trace

WORDS_AT_ONCE = 2_000
"""Words read together; what every cell kept and wrote is in memory for them."""
HEATMAP_WORDS = 24
"""Words of a text of which all pairs are kept."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Kind:
    """How the response of a model is found: the word for it, its measures, and its lengths (n, n)."""

    name: str
    measures: tuple[Measure, ...]
    lengths: Callable[[Trace, int], np.ndarray]

    @property
    def requires(self) -> frozenset[str]:
        """What a trace has to hold."""
        return frozenset[str]().union(*(m.requires for m in self.measures))

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for."""
        return frozenset[str]().union(*(getattr(m, "needs", m.requires) for m in self.measures))


KINDS = (
    Kind("exact", (MemoryResponse(), MemoryHalfLife()), response_lengths),
    Kind("linearised", (LinearisedMemoryResponse(),), linearised_lengths),
)


def kind_of(backend: Backend) -> Kind:
    """Exact where the model shows its cells, else linearised."""
    for kind in KINDS:
        if kind.requires <= backend.provides:
            return kind
    raise MeasureError(
        f"The model {backend.name} does not show what its cells keep and write, so it has no memory response. "
        "Models of the families lstm, elstm, gru, fgp-lstm and fgl-lstm have an exact one, srn, fgp-rnn and "
        "fgl-rnn a linearised one."
    )


@dataclass
class TextsRead:
    """What one model made of all texts."""

    curves: np.ndarray  # (n_words, longest + 1, 2): retention and share at each distance, NaN beyond the text
    text_of_word: np.ndarray
    words: pd.DataFrame
    pairs: pd.DataFrame
    half_lives: np.ndarray
    facts: dict[str, float]


def read_texts(
    backend: Backend,
    kind: Kind,
    texts: list[pd.DataFrame],
    longest: int,
    pictured: int | None,
    progress: Progress | None,
    *,
    lower_case: bool = False,
) -> TextsRead:
    """Read all texts, some at a time."""
    curves, lives, tables = [], [], []
    pairs, facts = pd.DataFrame(), dict[str, float]()
    for number, (frame, trace) in enumerate(_traces(backend, kind, texts, progress, lower_case)):
        lengths = kind.lengths(trace, len(frame))
        curves.append(by_distance(lengths, longest))
        lives.append(half_lives(lengths))
        values = {c: v for m in kind.measures for c, v in m(trace, frame).items()}
        about = {"model": backend.name, "response": kind.name, "oov": unknown_words(trace, len(frame))}
        tables.append(frame.assign(**about, **values))
        if number == pictured:
            pairs = _pairs(frame, lengths).assign(model=backend.name, response=kind.name)
        if not facts:
            facts = _facts(trace, kind)
    text_of_word = np.repeat(np.arange(len(texts)), [len(f) for f in texts])
    every = pd.concat(tables, ignore_index=True)
    return TextsRead(np.concatenate(curves), text_of_word, every, pairs, np.concatenate(lives), facts)


def _traces(
    backend: Backend, kind: Kind, texts: list[pd.DataFrame], progress: Progress | None, lower_case: bool
) -> Iterator[tuple[pd.DataFrame, Trace]]:
    """Yield each text with its trace."""
    sizes = np.cumsum([len(f) for f in texts])
    for part in np.split(np.arange(len(texts)), np.flatnonzero(np.diff(sizes // WORDS_AT_ONCE)) + 1):
        frames = [texts[i] for i in part]
        names = [str(f["text_id"].iloc[0]) for f in frames]
        read = [(f["word"].str.lower() if lower_case else f["word"]).tolist() for f in frames]
        traces = backend.read_many(read, names=names, needs=kind.needs)
        for number, frame, trace in zip(part, frames, traces, strict=True):
            yield frame, trace
            if progress is not None:
                progress(backend.name, int(number) + 1, len(texts))


def by_distance(lengths: np.ndarray, longest: int) -> np.ndarray:
    """(n, longest + 1, 2): retention of each word, and its share of what is left, so many words later."""
    n = len(lengths)
    found = np.full((n, longest + 1, 2), np.nan)
    for column, matrix in enumerate((retention(lengths), shares(lengths))):
        for distance in range(min(longest, n - 1) + 1):
            found[: n - distance, distance, column] = np.diagonal(matrix, -distance)
    return found


def _pairs(frame: pd.DataFrame, lengths: np.ndarray) -> pd.DataFrame:
    """One row per word read and word before it (or itself), of the first words of a text."""
    n = min(len(frame), HEATMAP_WORDS)
    at, of = np.tril_indices(n)
    ids, words = frame["word_id"].to_numpy(), frame["word"].to_numpy()
    return pd.DataFrame(
        {
            "text_id": frame["text_id"].iloc[0],
            "at_word_id": ids[at],
            "at_word": words[at],
            "of_word_id": ids[of],
            "of_word": words[of],
            "share": shares(lengths)[at, of],
            "retention": retention(lengths)[at, of],
        }
    )


def _facts(trace: Trace, kind: Kind) -> dict[str, float]:
    """Number of cells; size of the recurrence where the response is linearised."""
    cells = next(trace.extras[n] for n in sorted(kind.requires) if trace.extras[n].ndim == 2)
    size = recurrence_size(trace.extras[RECURRENCE][0]) if RECURRENCE in kind.requires else {}
    return {"n_cells": cells.shape[1], **size}
