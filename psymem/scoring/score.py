"""WORDS -> a backend's Traces -> SCORES: one row per word and model, one column per measure.

What a model reads in one go is its own business (`Backend.context`): memory models read a sentence at a time
and start each with an empty memory; the rows of a sentence are those with the same ``text_id`` and
``sentence_id``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from psymem.backends.base import Backend
from psymem.backends.load import load_backends
from psymem.errors import DataError, ModelError, PsymemWarning
from psymem.measures.base import Measure, require_provided, require_roles, resolve, with_heads
from psymem.scoring.reading import Reading
from psymem.sentences import sentence_numbers
from psymem.tables import WORDS, check
from psymem.trace import Trace

WORDS_AT_ONCE = 50_000
"""Words scored before their rows are handed on; bounds memory on large corpora."""
WITH_ATTENTION = 5_000
"""The same where attention is kept, which takes a number for each pair of tokens of a text and each head."""

Texts: TypeAlias = str | Sequence[str] | Sequence[Sequence[str]] | pd.DataFrame
Models = str | Path | Backend | Sequence[str | Path | Backend]
Measures = str | Measure | Sequence[str | Measure]
ScoreProgress = Callable[[str, int, int], None]
"""Called with a model's name, the number of sentences (or texts) it has read and the number in all."""


def score(
    texts: Texts,
    models: Models = "cbr-rnn",
    measures: Measures | None = None,
    *,
    reading: Reading = Reading(),
    lower_case: bool = False,
    progress: ScoreProgress | None = None,
) -> pd.DataFrame:
    """Score every word with every model.

    Parameters
    ----------
    texts
        A WORDS frame (one word per row, as `psymem.load_stimuli` returns), or a list of texts: strings, whose
        words are split at white space and whose sentences by the rule of `psymem.sentences`, or lists of
        words, each of them one sentence.
    models
        A name, directory or backend, or a list of them; "cbr-rnn" is every bundled CBR-RNN.
    measures
        Measure names, or measures with settings such as ``RelativeAttention(query="last")``. By default surprisal
        and, if one of the models reads words in pieces, surprisal without the correction for word boundaries,
        the number of pieces and that of pieces before the word.
    reading
        How models read: beginning of sentence, context, attention heads, device and the rest.
    lower_case
        Whether models read the words in lower case, as ``reading=Reading(lower_case=True)``.
    progress
        Called as sentences are finished.

    Returns
    -------
    pandas.DataFrame
        SCORES: the columns of WORDS, then ``model``, ``oov`` (the word or a part of it is not in the model's
        vocabulary), ``causal`` where a model's values may depend on later words (False), and the columns of the
        measures, with the unit in the name. NaN where a value is not defined.

    Raises
    ------
    UnknownNameError
        For a model or measure that does not exist.
    MeasureError
        If a model or the table lacks what a measure needs; checked before any weights are loaded.
    ModelError
        If a model cannot read one of the texts.
    DataError
        If the words are not a proper WORDS frame.

    Examples
    --------
    >>> import psymem
    >>> frame = psymem.score(["The key to the cabinets was rusty ."], "toy", ["surprisal"])
    >>> list(frame.columns)
    ['text_id', 'sentence_id', 'word_id', 'word', 'model', 'oov', 'surprisal_bits']
    """
    if reading.heads or reading.query:
        named = ("surprisal",) if measures is None else measures
        measures = with_heads(resolve(named), reading.heads, reading.query)
    lower = lower_case or reading.lower_case
    run = Run(texts, models, measures, lower_case=lower, **reading.settings)
    frame = pd.concat(list(run.chunks(progress=progress)), ignore_index=True)
    for note in run.notes():
        warnings.warn(note, PsymemWarning, stacklevel=2)
    return frame


class Run:
    """A scoring run that has been checked and not yet started.

    Parameters
    ----------
    texts, models, measures
        As in `score`, which see for the errors.
    lower_case
        Whether words are put into lower case before they are read; the rows keep them as they are.
    settings
        Settings of the models, such as ``bos=False``.

    Attributes
    ----------
    words
        The WORDS frame.
    backends
        The models.
    measures
        The measures.
    """

    def __init__(
        self,
        texts: Texts,
        models: Models,
        measures: Measures | None = None,
        *,
        lower_case: bool = False,
        **settings: Any,
    ) -> None:
        self.words = as_words(texts)
        self.lower_case = lower_case
        named = None if measures is None else resolve(measures)
        require_roles(named or (), self.words)
        self.backends = load_backends(models, **settings)
        self.measures = usual_measures(self.backends) if named is None else named
        for backend in self.backends:
            require_provided(self.measures, backend.name, backend.provides)
            _reading_units(self.words, backend)  # refuses texts that are too long
        self._notes: list[str] = []

    def chunks(
        self, words_at_once: int | None = None, progress: ScoreProgress | None = None
    ) -> Iterator[pd.DataFrame]:
        """Yield SCORES in pieces of whole texts, all of one model before the next."""
        for part in self.parts(words_at_once, progress):
            yield part()

    def parts(
        self, words_at_once: int | None = None, progress: ScoreProgress | None = None
    ) -> list[Callable[[], pd.DataFrame]]:
        """Return functions that compute the pieces of `chunks`, each by itself."""
        keeps_attention = any("attention" in m.requires for m in self.measures)
        words_at_once = words_at_once or (WITH_ATTENTION if keeps_attention else WORDS_AT_ONCE)
        found: list[Callable[[], pd.DataFrame]] = []
        for backend in self.backends:
            texts = _reading_units(self.words, backend)
            done = 0
            for group in _groups(texts, words_at_once):
                shifted = _shifted(progress, backend.name, done, len(texts))
                found.append(partial(self._score, backend, group, shifted))
                done += len(group)
        return found

    def notes(self) -> list[str]:
        """Say which measures look ahead, and what the models found odd about the words, once they have been read."""
        later = [
            f"{' and '.join(m.columns)} of a word depends on the words that follow it."
            for m in self.measures
            if not getattr(m, "causal", True)
        ]
        own = (n for b in self.backends for n in getattr(b, "notes", ()))
        return list(dict.fromkeys([*later, *self._notes, *own]))

    def add_notes(self, notes: Sequence[str]) -> None:
        """Take over what models found odd in other processes."""
        self._notes.extend(notes)

    def provenance(self) -> dict[str, Any]:
        """Return what identifies the numbers: models and measures with their settings."""
        measures = [{"measure": m.name, **vars(m)} for m in self.measures]
        models = [b.provenance() for b in self.backends]
        return {"models": models, "measures": measures, "lower_case": self.lower_case}

    def _score(
        self, backend: Backend, positions: list[np.ndarray], progress: Callable[[int, int], None] | None
    ) -> pd.DataFrame:
        """Score the texts whose rows are at `positions` of the words."""
        frames = [self.words.iloc[p] for p in positions]
        texts = [(f["word"].str.lower() if self.lower_case else f["word"]).tolist() for f in frames]
        names = [str(f["text_id"].iloc[0]) for f in frames]
        needs = frozenset[str]().union(*(getattr(m, "needs", m.requires) for m in self.measures))
        traces = backend.read_many(texts, progress, names=names, needs=needs)
        unknown = [unknown_words(t, len(w)) for t, w in zip(traces, texts, strict=True)]
        new: dict[str, Any] = {"model": backend.name, "oov": np.concatenate(unknown)}
        if not all(getattr(b, "causal", True) for b in self.backends):
            new["causal"] = getattr(backend, "causal", True)
        for measure in self.measures:
            values = [measure(t, f) for t, f in zip(traces, frames, strict=True)]
            new |= {column: np.concatenate([v[column] for v in values]) for column in measure.columns}
        return self.words.iloc[np.concatenate(positions)].reset_index(drop=True).assign(**new)


def usual_measures(backends: Sequence[Backend]) -> list[Measure]:
    """Return what is computed if no measures are named: surprisal, and what else one of the models calls usual."""
    own = [name for b in backends for name in getattr(b, "usual_measures", ())]
    return resolve(list(dict.fromkeys(("surprisal", *own))))


def as_words(texts: Texts) -> pd.DataFrame:
    """Return a WORDS frame: checked if it is one, made from strings or lists of words otherwise."""
    if isinstance(texts, pd.DataFrame):
        if texts.empty:
            raise DataError("The table of words has no rows.")
        return _in_reading_order(check(texts, WORDS))
    entries = [texts] if isinstance(texts, str) else list(texts)
    if not entries:
        raise DataError("There is no text to score.")
    frames = [_text_frame(entry, number) for number, entry in enumerate(entries, start=1)]
    return pd.concat(frames, ignore_index=True)


def _text_frame(entry: str | Sequence[str], number: int) -> pd.DataFrame:
    """Return one text as WORDS."""
    words = entry.split() if isinstance(entry, str) else list(entry)
    wrong = [w for w in words if not isinstance(w, str)]
    if wrong:
        raise DataError(
            f"Text {number} has {wrong[0]!r} where a word was expected; give a string or a list of strings."
        )
    if not words:
        raise DataError(f"Text {number} has no words.")
    return pd.DataFrame(
        {
            "text_id": pd.Series(str(number), index=range(len(words)), dtype="str"),
            "sentence_id": sentence_numbers(words) if isinstance(entry, str) else 1,
            "word_id": np.arange(1, len(words) + 1),
            "word": pd.Series(words, dtype="str"),
        }
    )


def _in_reading_order(words: pd.DataFrame) -> pd.DataFrame:
    """Return `words` if the word numbers of each text go up, as reading does."""
    falls = words.groupby("text_id", sort=False)["word_id"].diff() < 0
    if falls.any():
        text = words.loc[falls, "text_id"].iloc[0]
        raise DataError(
            f"The words of text {text!r} are not in order of word_id. Sort the table by text_id and word_id."
        )
    return words


def _reading_units(words: pd.DataFrame, backend: Backend) -> list[np.ndarray]:
    """Row positions of each sentence (or text) that the backend reads in one go, in order of appearance.

    Raises ModelError, naming the text, if one has more words than the model can read.
    """
    keys = ["text_id", "sentence_id"] if backend.context == "sentence" else ["text_id"]
    number = words.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    units = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    longest = max(units, key=len)
    if backend.max_words is not None and len(longest) > backend.max_words:
        row = words.iloc[longest[0]]
        sentence = f"Sentence {row['sentence_id']} of text" if len(keys) > 1 else "Text"
        raise ModelError(
            f"{sentence} {row['text_id']!r} has {len(longest)} words; {backend.name} reads at most "
            f"{backend.max_words} at a time. Split it into sentences."
        )
    return units


def _groups(units: list[np.ndarray], words_at_once: int) -> Iterator[list[np.ndarray]]:
    """Yield reading units in groups of about `words_at_once` words."""
    group: list[np.ndarray] = []
    size = 0
    for positions in units:
        group.append(positions)
        size += len(positions)
        if size >= words_at_once:
            yield group
            group, size = [], 0
    if group:
        yield group


def _shifted(
    progress: ScoreProgress | None, model: str, before: int, total: int
) -> Callable[[int, int], None] | None:
    """Turn progress within a group of texts into progress over all texts."""
    return None if progress is None else lambda done, _: progress(model, before + done, total)


def unknown_words(trace: Trace, n_words: int) -> np.ndarray:
    """(n_words,) bool: whether any token of the word stands for an unknown one."""
    return np.bincount(trace.word_index, weights=trace.oov, minlength=n_words) > 0
