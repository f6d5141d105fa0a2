"""How long recurrent networks remember words: what each word left in the cells, against distance.

Retention of a word n words later is ``||mr_k(k + n)|| / ||mr_k(k)||``, exact for gated cells and linearised, and
called so, for tanh networks (`psymem.measures.memory_response`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from psymem.backends.base import Backend
from psymem.backends.load import load_backends
from psymem.designs.decay import decay_table
from psymem.errors import DataError, MeasureError
from psymem.measures.base import Measure
from psymem.measures.memory_half_life import MemoryHalfLife
from psymem.measures.memory_response import (
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
from psymem.outputs import whole_folder, write_table
from psymem.tables import WORDS, check
from psymem.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = ("text", "sentence")
WORDS_AT_ONCE = 2_000
"""Words read together; what every cell kept and wrote is in memory for them."""
SHOWN_AT = (1, 5, 10, 20)
"""Distances in words of which the table of models gives the median retention."""
HEATMAP_WORDS = 50

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


@dataclass(frozen=True)
class MemoryResult:
    """Memory responses of one or more models to the same words.

    Attributes
    ----------
    decay
        One row per model and distance: ``model, response, distance_words``, then median, quartiles and interval
        of the median for ``retention`` and ``share``, ``n_words, n_texts``.
    models
        One row per model: kind of response, cells, half-life, span, retention at some distances.
    words
        WORDS with ``model, response`` and the measures of every word.
    pairs
        Share and retention of every earlier word at every word of one text; empty if none was asked for.
    about
        Where models and words come from.
    """

    decay: pd.DataFrame
    models: pd.DataFrame
    words: pd.DataFrame
    pairs: pd.DataFrame
    about: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def figure(self) -> Figure:
        """Retention and share against distance, a line per model."""
        from psymem.plotting.memory import decay_figure

        return decay_figure(self.decay)

    @cached_property
    def heatmap(self) -> Figure | None:
        """Shares of earlier words at the words of one text, a panel per model; None if not asked for."""
        from psymem.plotting.memory import share_heatmap

        return share_heatmap(self.pairs) if len(self.pairs) else None

    def save(self, folder: str | Path) -> list[Path]:
        """Write decay.csv (the plotted numbers), models.csv, words.csv and figures, all or none."""
        with whole_folder(Path(folder)) as temporary:
            for name in ("decay", "models", "words", *(["pairs"] if len(self.pairs) else [])):
                write_table(getattr(self, name), temporary / f"{name}.csv", self.about)
            for stem, figure in (("decay", self.figure), ("pairs", self.heatmap)):
                if figure is not None:
                    figure.savefig(temporary / f"{stem}.pdf", metadata={"CreationDate": None})
                    figure.savefig(temporary / f"{stem}.png", dpi=300)
            names = sorted(p.name for p in temporary.iterdir())
        return [Path(folder) / name for name in names]


def memory_decay(
    models: str | Path | Backend | Sequence[str | Path | Backend],
    words: pd.DataFrame,
    *,
    unit: str = "text",
    longest: int = 50,
    heatmap: str | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> MemoryResult:
    """Let models read words and see how what each left decays.

    Parameters
    ----------
    models
        Names, folders or backends.
    words
        WORDS.
    unit
        What is read from an empty memory: a whole "text" or each "sentence".
    longest
        Greatest distance in words.
    heatmap
        ``text_id`` of a text (with unit "sentence": of its first sentence) of which every pair of words is kept.
    seed
        Of the bootstrap over texts.
    progress
        Called as texts are read.
    settings
        Settings of the models, such as ``bos=False``.

    Raises
    ------
    MeasureError
        If a model has no cells to look into, or `unit` does not exist.
    DataError
        If `words` is no WORDS table, or has no text called `heatmap`.
    """
    if unit not in UNITS:
        raise MeasureError(f"unit={unit!r} is not known; expected one of {', '.join(UNITS)}.")
    texts = _texts(check(words, WORDS), unit)
    pictured = _pictured(texts, heatmap)
    kinds = [_kind(b) for b in load_backends(models, **settings)]  # before a setting is refused
    backends = _reading(models, unit, settings)
    read = [
        _read(backend, kind, texts, longest, pictured, progress)
        for backend, kind in zip(backends, kinds, strict=True)
    ]
    each = list(zip(backends, kinds, read, strict=True))
    return MemoryResult(
        decay=pd.concat(
            [
                decay_table(r.curves, r.text_of_word, seed).assign(model=b.name, response=k.name)
                for b, k, r in each
            ],
            ignore_index=True,
        )[["model", "response", *DECAY_COLUMNS]],
        models=pd.DataFrame([_summary(b, k, r, len(texts)) for b, k, r in each]),
        words=pd.concat([r.words for r in read], ignore_index=True),
        pairs=pd.concat([r.pairs for r in read], ignore_index=True),
        about={
            "models": [b.provenance() for b in backends],
            "unit": unit,
            "seed": seed,
            "interval": "of the median: 95%, percentile bootstrap over texts",
            "half_life_words": "depends on the words that follow",
        },
    )


DECAY_COLUMNS = (
    "distance_words",
    *(f"{what}_{s}" for what in ("retention", "share") for s in ("median", "q25", "q75", "ci_low", "ci_high")),
    "n_words",
    "n_texts",
)


def _texts(words: pd.DataFrame, unit: str) -> list[pd.DataFrame]:
    """Return what is read in one go, in order."""
    if words.empty:
        raise DataError("The table of words has no rows.")
    keys = ["text_id"] if unit == "text" else ["text_id", "sentence_id"]
    return [frame for _, frame in words.groupby(keys, sort=False)]


def _pictured(texts: list[pd.DataFrame], heatmap: str | None) -> int | None:
    """Return the number of the text of which pairs are kept."""
    if heatmap is None:
        return None
    names = [frame["text_id"].iloc[0] for frame in texts]
    if heatmap not in names:
        raise DataError(f"There is no text {heatmap!r}; the first are {', '.join(dict.fromkeys(names[:5]))}.")
    return names.index(heatmap)


def _reading(
    models: str | Path | Backend | Sequence[str | Path | Backend], unit: str, settings: dict[str, Any]
) -> list[Backend]:
    """Load models so that they read such units from an empty memory; the toy model reads what it is given."""
    given = [models] if isinstance(models, (str, Path, Backend)) else models
    return [
        backend
        for model in given
        for backend in load_backends(model, **settings, **({} if model == "toy" else {"context": unit}))
    ]


def _kind(backend: Backend) -> Kind:
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
class _Read:
    """What one model made of all texts."""

    curves: np.ndarray  # (n_words, longest + 1, 2): retention and share at each distance, NaN beyond the text
    text_of_word: np.ndarray
    words: pd.DataFrame
    pairs: pd.DataFrame
    half_lives: np.ndarray
    facts: dict[str, float]


def _read(
    backend: Backend,
    kind: Kind,
    texts: list[pd.DataFrame],
    longest: int,
    pictured: int | None,
    progress: Progress | None,
) -> _Read:
    """Read all texts, some at a time."""
    curves, lives, tables, pairs, facts = [], [], [], pd.DataFrame(), {}
    for number, (frame, trace) in enumerate(_traces(backend, kind, texts, progress)):
        lengths = kind.lengths(trace, len(frame))
        curves.append(by_distance(lengths, longest))
        lives.append(half_lives(lengths))
        values = {c: v for m in kind.measures for c, v in m(trace, frame).items()}
        tables.append(frame.assign(model=backend.name, response=kind.name, **values))
        if number == pictured:
            pairs = _pairs(frame, lengths).assign(model=backend.name, response=kind.name)
        if not facts:
            facts = _facts(trace, kind)
    text_of_word = np.repeat(np.arange(len(texts)), [len(f) for f in texts])
    every = pd.concat(tables, ignore_index=True)
    return _Read(np.concatenate(curves), text_of_word, every, pairs, np.concatenate(lives), facts)


def _traces(
    backend: Backend, kind: Kind, texts: list[pd.DataFrame], progress: Progress | None
) -> Iterator[tuple[pd.DataFrame, Trace]]:
    """Yield each text with its trace."""
    sizes = np.cumsum([len(f) for f in texts])
    for part in np.split(np.arange(len(texts)), np.flatnonzero(np.diff(sizes // WORDS_AT_ONCE)) + 1):
        frames = [texts[i] for i in part]
        names = [str(f["text_id"].iloc[0]) for f in frames]
        traces = backend.read_many([f["word"].tolist() for f in frames], names=names, needs=kind.needs)
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


def _summary(backend: Backend, kind: Kind, read: _Read, n_texts: int) -> dict[str, Any]:
    """One row of the table of models."""
    lives = np.sort(np.nan_to_num(read.half_lives, nan=np.inf))
    middle = lives[(len(lives) - 1) // 2]  # lower median, so that it is a number of words
    medians = np.nanmedian(read.curves[:, : max(SHOWN_AT) + 1, 0], axis=0) if len(lives) else np.array([])
    span = next(c for c in read.words.columns if c.startswith("memory_span"))
    return {
        "model": backend.name,
        "response": kind.name,
        **{k: v for k, v in read.facts.items() if k == "n_cells"},
        "n_texts": n_texts,
        "n_words": len(read.words),
        "half_life_median_words": middle if np.isfinite(middle) else np.nan,
        "half_life_unknown_percent": 100.0 * float(np.isinf(lives).mean()),
        "span_mean_words": float(read.words[span].mean()),
        **{f"retention_after_{d}": medians[d] if d < len(medians) else np.nan for d in SHOWN_AT},
        **{k: v for k, v in read.facts.items() if k != "n_cells"},
    }
