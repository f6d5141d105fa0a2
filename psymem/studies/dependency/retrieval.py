"""What a model retrieves at a word: attention on the words before, or what its cells still hold of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from psymem.backends.base import Backend
from psymem.data.words.parses import ParsedSentence
from psymem.errors import MeasureError, ModelError
from psymem.progress import Progress
from psymem.scoring.score import unknown_words
from psymem.studies.dependency.cases import Relation, candidates_before
from psymem.studies.heads import QUERIES, weights_before
from psymem.studies.memory.reading import Kind, kind_of
from psymem.trace import Trace

SENTENCES_AT_ONCE = 200
"""Sentences whose responses are safe on disk before the next are read."""
MEAN = "mean"
ALL = "all"
TOO_LONG = "in a sentence too long for the model"


@dataclass(frozen=True)
class Attention:
    """Attention of the later word on the words before it.

    Parameters
    ----------
    heads
        (layer, head) pairs; empty for the mean over all heads, or each of them with `every`.
    query
        Row of a word in pieces: "first", "last" or the "mean".
    every
        Whether each head is looked at by itself.
    """

    heads: tuple[tuple[int, int], ...] = ()
    query: str = "first"
    every: bool = False

    name = "attention"

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for."""
        return frozenset(f"attention {layer}:{head}" for layer, head in self.heads) or frozenset(
            {"attention"}
        )

    def before(self, trace: Trace, word: int, n_words: int) -> dict[str, np.ndarray]:
        """Head -> (word,) weight on each word before."""
        weights = weights_before(trace, word, self.query)
        if not self.heads and not self.every:
            return {MEAN: weights.mean((0, 1))}
        layers, heads = weights.shape[:2]
        named = self.heads or [(layer, head) for layer in range(layers) for head in range(heads)]
        chosen = trace.attention_heads or [(la, h) for la in range(layers) for h in range(heads)]
        flat = dict(zip(chosen, weights.reshape(-1, word), strict=True))
        missing = [pair for pair in named if pair not in flat]
        if missing:
            raise MeasureError(
                f"{missing[0][0]}:{missing[0][1]} is no head of a model of {layers} x {heads}."
            )
        return {f"{layer}:{head}": flat[layer, head] for layer, head in named}


@dataclass(frozen=True)
class Memory:
    """How much the cells of a gated network hold of each word before, once the later word has been read."""

    kind: Kind

    @property
    def name(self) -> str:
        """What it is called."""
        return f"memory response ({self.kind.name})"

    @property
    def needs(self) -> frozenset[str]:
        """What to ask a model for."""
        return self.kind.needs

    def before(self, trace: Trace, word: int, n_words: int) -> dict[str, np.ndarray]:
        """``{"mean": (word,) length of what each word before left}``; cells are no heads."""
        return {MEAN: self.kind.lengths(trace, n_words)[word, :word]}


def retrieval_of(backend: Backend, heads: str, query: str) -> Attention | Memory:
    """Return what is looked at in a model: attention where it has some, else its memory response.

    Raises
    ------
    MeasureError
        If it has neither, heads of a model without attention are asked for, or `heads` or `query` is not understood.
    """
    if query not in QUERIES:
        raise MeasureError(f"query={query!r} is not known; expected one of {', '.join(QUERIES)}.")
    if "attention" in backend.provides:
        return Attention(() if heads in ("", ALL) else _heads(heads), query, heads == ALL)
    if heads:
        raise MeasureError(f"The model {backend.name} has no attention, so there are no heads to choose.")
    try:
        return Memory(kind_of(backend))
    except MeasureError as error:
        raise MeasureError(
            f"The model {backend.name} has no attention and shows nothing of its memory, so there is no retrieval to look "
            "at."
        ) from error


def _heads(text: str) -> tuple[tuple[int, int], ...]:
    """Read "4:3,3:6"."""
    found = []
    for part in text.split(","):
        layer, colon, head = part.strip().partition(":")
        if not (colon and layer.isdigit() and head.isdigit()):
            raise MeasureError(f"heads={text!r} is not understood; expected LAYER:HEAD,..., or all.")
        found.append((int(layer), int(head)))
    return tuple(dict.fromkeys(found))


# responses -------------------------------------------------------------------------------------------------
def response_parts(
    backends: Sequence[tuple[Backend, Attention | Memory]],
    sentences: Sequence[ParsedSentence],
    cases: pd.DataFrame,
    relation: Relation,
    progress: Progress | None = None,
) -> list[Callable[[], pd.DataFrame]]:
    """Return functions that compute the responses of a model to some sentences, all of one model before the next.

    Each gives one row per case and head: ``case, model, retrieval, head, known`` (query and target are known to the
    model), ``hit_words`` and ``hit_candidates`` (whether the target has the largest weight of all words before, and of those
    of its kind; 1/k where k share it), ``weight_words`` and ``weight_candidates`` (the target's share of the weight).
    NA in a sentence that the model cannot read, and where nothing has any weight.
    """
    groups = [frame for _, frame in cases.groupby("sentence_number", sort=False)]
    parts: list[Callable[[], pd.DataFrame]] = []
    for backend, retrieval in backends:
        for start in range(0, len(groups), SENTENCES_AT_ONCE):
            chosen = groups[start : start + SENTENCES_AT_ONCE]
            done = (min(start + SENTENCES_AT_ONCE, len(groups)), len(groups))
            read = partial(_responses, backend, retrieval, sentences, chosen, relation)
            parts.append(partial(_reported, read, progress, backend.name, done))
    return parts


def _reported(
    read: Callable[[], pd.DataFrame], progress: Progress | None, name: str, done: tuple[int, int]
) -> pd.DataFrame:
    frame = read()
    if progress is not None:
        progress(name, *done)
    return frame


def _responses(
    backend: Backend,
    retrieval: Attention | Memory,
    sentences: Sequence[ParsedSentence],
    groups: Sequence[pd.DataFrame],
    relation: Relation,
) -> pd.DataFrame:
    """Read some sentences."""
    numbers = [int(frame["sentence_number"].iloc[0]) for frame in groups]
    traces = _read([sentences[n] for n in numbers], backend, retrieval)
    rows = []
    for number, frame, trace in zip(numbers, groups, traces, strict=True):
        sentence = sentences[number]
        about = {"model": backend.name, "retrieval": retrieval.name}
        unknown = None if trace is None else unknown_words(trace, len(sentence.words))
        for case in frame.itertuples():
            later, earlier = int(case.query_id) - 1, int(case.target_id) - 1
            if trace is None or unknown is None:
                rows.append({"case": case.case, **about, "head": None, "known": None, **_judged(None, 0, [])})
                continue
            known = not (unknown[later] or unknown[earlier])
            among = candidates_before(sentence, relation.kind, later, earlier)
            for head, weights in retrieval.before(trace, later, len(sentence.words)).items():
                judged = _judged(weights, earlier, among)
                rows.append({"case": case.case, **about, "head": head, "known": known, **judged})
    return pd.DataFrame(rows)


def _read(
    sentences: list[ParsedSentence], backend: Backend, retrieval: Attention | Memory
) -> list[Trace | None]:
    """Read sentences; one that the model refuses (too long) is None and stops no other."""
    texts, names = [list(s.words) for s in sentences], [s.name for s in sentences]
    try:
        return list(backend.read_many(texts, names=names, needs=retrieval.needs))
    except ModelError:
        if len(sentences) == 1:
            return [None]
        return [trace for s in sentences for trace in _read([s], backend, retrieval)]


def _judged(weights: np.ndarray | None, target: int, among: list[int]) -> dict[str, float]:
    """Hits and shares of weight, among all words and among some."""
    found: dict[str, float] = {}
    for name, chosen in (("words", None), ("candidates", among)):
        values = None if weights is None else weights if chosen is None else weights[chosen]
        own = target if chosen is None else among.index(target) if weights is not None else 0
        hit, share = (np.nan, np.nan) if values is None else _hit(values, own)
        found |= {f"hit_{name}": hit, f"weight_{name}": share}
    return found


def _hit(values: np.ndarray, own: int) -> tuple[float, float]:
    """Whether the word at `own` has the most, 1/k where k words share it; and its share."""
    total = values.sum()
    if not np.isfinite(total) or total <= 0:
        return np.nan, np.nan
    most = values == values.max()
    return float(most[own] / most.sum()), float(values[own] / total)
