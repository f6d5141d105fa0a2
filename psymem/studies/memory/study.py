"""How long recurrent networks remember words: what each word left in the cells, against distance.

Retention of a word n words later is ``||mr_k(k + n)|| / ||mr_k(k)||``, exact for gated cells and linearised, and
called so, for tanh networks (`psymem.measures.memory_response`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from psymem.backends.base import Backend
from psymem.backends.load import load_backends
from psymem.errors import DataError, MeasureError
from psymem.studies.common.intervals import FEWEST_TEXTS
from psymem.studies.common.results_folder import drawn, write_results
from psymem.studies.memory.decay import decay_table
from psymem.studies.memory.reading import Progress, TextsRead, kind_of, read_texts
from psymem.tables import WORDS, check

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = ("text", "sentence")
SHOWN_AT = (1, 5, 10, 20)
"""Distances in words of which the table of models gives the median retention."""


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
        tables = {"decay": self.decay, "models": self.models, "words": self.words}
        figures = {"decay": self.figure}
        if self.heatmap is not None:
            tables["pairs"], figures["pairs"] = self.pairs, self.heatmap
        return write_results(folder, tables, self.about, figures=drawn(figures))


def memory_decay(
    models: str | Path | Backend | Sequence[str | Path | Backend],
    words: pd.DataFrame,
    *,
    unit: str = "text",
    longest: int = 50,
    heatmap: str | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    lower_case: bool = False,
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
    lower_case
        Whether words are read in lower case; the tables keep them as they are.
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
    if isinstance(models, (str, Path, Backend)):
        models = [models]
    models = list(dict.fromkeys(models))
    for backend in load_backends(models, **settings):
        kind_of(backend)  # before a setting is refused
    backends = _reading(models, unit, settings)
    kinds = [kind_of(b) for b in backends]
    read = [
        read_texts(backend, kind, texts, longest, pictured, progress, lower_case=lower_case)
        for backend, kind in zip(backends, kinds, strict=True)
    ]
    named = [{"model": b.name, "response": k.name} for b, k in zip(backends, kinds, strict=True)]
    curves = [decay_table(r.curves, r.text_of_word, seed) for r in read]
    rows = [
        {**name, **_summary(r, curve, len(texts))} for name, r, curve in zip(named, read, curves, strict=True)
    ]
    decay = pd.concat([c.assign(**name) for name, c in zip(named, curves, strict=True)], ignore_index=True)
    return MemoryResult(
        decay=decay[["model", "response", *(c for c in decay if c not in named[0])]],
        models=pd.DataFrame(rows),
        words=pd.concat([r.words for r in read], ignore_index=True),
        pairs=pd.concat([r.pairs for r in read], ignore_index=True),
        about={
            "models": [b.provenance() for b in backends],
            "unit": unit,
            **({"lower_case": True} if lower_case else {}),
            "seed": seed,
            "interval": f"of the median: 95%, percentile bootstrap over texts; none below {FEWEST_TEXTS} texts",
            "half_life_words": "depends on the words that follow",
        },
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


def _reading(models: Sequence[str | Path | Backend], unit: str, settings: dict[str, Any]) -> list[Backend]:
    """Load models so that they read such units from an empty memory; the toy model reads what it is given."""
    found: dict[str, Backend] = {}
    for model in models:
        more = {} if model == "toy" else {"context": unit}
        found |= {b.name: b for b in load_backends(model, **settings, **more) if b.name not in found}
    return list(found.values())


def _summary(read: TextsRead, curve: pd.DataFrame, n_texts: int) -> dict[str, Any]:
    """One row of the table of models."""
    lives = np.sort(np.nan_to_num(read.half_lives, nan=np.inf))
    middle = lives[(len(lives) - 1) // 2]  # lower median, so that it is a number of words
    span = next(c for c in read.words.columns if c.startswith("memory_span"))
    kept = curve.set_index("distance_words")["retention_median"]
    size = {k: v for k, v in read.facts.items() if k != "n_cells"}
    return {
        "n_cells": read.facts["n_cells"],
        "n_texts": n_texts,
        "n_words": len(read.words),
        "n_unknown_words": int(read.words["oov"].sum()),
        "half_life_median_words": middle if np.isfinite(middle) else np.nan,
        "half_life_unknown_percent": 100.0 * float(np.isinf(lives).mean()),
        "span_mean_words": float(read.words[span].mean()),
        **{f"retention_after_{d}": float(kept.get(d, np.nan)) for d in SHOWN_AT},
        **size,
    }
