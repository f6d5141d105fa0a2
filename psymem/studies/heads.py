"""Which attention heads track a dependency: whether a verb attends most to its subject.

As Ryu & Lewis (2021) looked for heads by hand, and as Clark et al. (2019) scored those of BERT, for causal
models: attention runs from the later word of a dependency to the earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from psymem.alignment import sum_over_words
from psymem.backends.load import load_backend
from psymem.data.words.parses import ParsedSentence
from psymem.errors import DataError, MeasureError, ModelError
from psymem.progress import Progress
from psymem.studies.common.proportions import METHOD, wilson_interval
from psymem.studies.common.results_folder import drawn, write_results
from psymem.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psymem.backends.base import Backend

ORDERS = ("dependent-first", "head-first", "both")
QUERIES = ("first", "last", "mean")
SENTENCES_AT_ONCE = 64
LONGEST_OFFSET = 10
CASE_COLUMNS = ("sentence", "relation", "from_word_id", "from_word", "to_word_id", "to_word")


@dataclass(frozen=True)
class HeadsResult:
    """How well each head of a model tracks a relation.

    Attributes
    ----------
    table
        One row per head: ``layer, head, accuracy, ci_low, ci_high, n_correct, n, mean_weight``. Accuracy is
        the share of cases in which the word attended to most is the right one; the weight is that of the
        right word among the words before, scaled to sum to 1.
    baselines
        The same for rules that look at no word: always the word ``offset`` places back; an even choice.
    cases
        The dependencies: from which word to which, word numbers from 1.
    model, relation, order, query
        What was asked.
    about
        Where model and sentences come from.
    """

    table: pd.DataFrame
    baselines: pd.DataFrame
    cases: pd.DataFrame
    model: str
    relation: str
    order: str
    query: str
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> pd.Series:
        """The head with the highest accuracy; of equals the one with more weight on the right word."""
        return self.table.sort_values(["accuracy", "mean_weight"], ascending=False, kind="stable").iloc[0]

    @property
    def baseline(self) -> pd.Series:
        """The fixed offset that is right most often."""
        fixed = self.baselines[self.baselines["offset"].notna()]
        return fixed.loc[fixed["accuracy"].idxmax()]

    @cached_property
    def figure(self) -> Figure:
        """Heat maps of accuracy and mean weight, layers in rows and heads in columns."""
        from psymem.plotting.heads import heads_figure

        rule = self.baseline
        return heads_figure(
            self.table,
            title=f"{self.relation}, {self.model}",
            note=f"{len(self.cases)} dependencies. Best fixed offset ({rule['offset']:.0f} back): accuracy "
            f"{rule['accuracy']:.2f}; even choice: {self.baselines['accuracy'].iloc[-1]:.2f}.",
        )

    def save(self, folder: str | Path) -> list[Path]:
        """Write heads.csv (the plotted numbers), baselines.csv, cases.csv and the figure, all or none."""
        about = {
            **self.about,
            "relation": self.relation,
            "order": self.order,
            "query": self.query,
            "interval": METHOD,
        }
        tables = {"heads": self.table, "baselines": self.baselines, "cases": self.cases}
        return write_results(folder, tables, about, figures=drawn({"heads": self.figure}))


def track_relation(
    model: str | Path | Backend,
    sentences: Sequence[ParsedSentence],
    relation: str = "nsubj",
    *,
    order: str = "dependent-first",
    query: str = "first",
    progress: Progress | None = None,
    **settings: Any,
) -> HeadsResult:
    """Score every head of a model on a dependency relation.

    Parameters
    ----------
    model
        Name, folder, hub id or backend.
    sentences
        Parsed sentences (`psymem.data.words.parses`).
    relation
        As in Universal Dependencies; "nsubj" includes its subtypes, "nsubj:pass" is that one alone.
    order
        "dependent-first": the head attends to its dependent, as a verb to the subject before it;
        "head-first"; or "both", always the later word to the earlier one.
    query
        Row of the later word if it has several tokens: "first", "last", or their "mean".
    progress
        Called as sentences are read.
    settings
        Settings of the model, such as ``bos=False``.

    Raises
    ------
    DataError
        If no sentence has such a dependency.
    MeasureError
        If the model has no attention, or `order` or `query` does not exist.

    Notes
    -----
    Words before the later one are the choice; the word itself and a beginning-of-sentence token are left
    out. Cases with one word before are left out, since there is nothing to choose. Where a head gives no
    weight to any word before, it is wrong, and the weight is not counted in the mean.
    """
    for given, name, known in ((order, "order", ORDERS), (query, "query", QUERIES)):
        if given not in known:
            raise MeasureError(f"{name}={given!r} is not known; expected one of {', '.join(known)}.")
    backend = load_backend(model, **settings)
    if "attention" not in backend.provides:
        raise MeasureError(f"The model {backend.name} has no attention, so there are no heads to look at.")
    pairs = [pairs_of(s, relation, order) for s in sentences]
    used = [i for i, found in enumerate(pairs) if found]
    if not used:
        raise DataError(nothing_found(sentences, relation, order))
    hits, weights = _read(backend, [sentences[i] for i in used], [pairs[i] for i in used], query, progress)
    notes = list(getattr(backend, "notes", ()))
    cases = _cases([sentences[i] for i in used], [pairs[i] for i in used], relation)
    return HeadsResult(
        table=_table(hits, weights),
        baselines=_baselines(cases),
        cases=cases,
        model=backend.name,
        relation=relation,
        order=order,
        query=query,
        about={"models": [backend.provenance()], "sentences": len(sentences), "notes": notes},
    )


def pairs_of(
    sentence: ParsedSentence, relation: str, order: str, *, fewest: int = 2, subtypes: bool = True
) -> list[tuple[int, int]]:
    """(later, earlier) word positions of each dependency in question with `fewest` words or more before the later."""
    found = []
    for name, dependent, head in sentence.relations:
        if name != relation and not (subtypes and name.partition(":")[0] == relation):
            continue
        fits = {"dependent-first": dependent < head, "head-first": head < dependent, "both": True}[order]
        later, earlier = max(dependent, head), min(dependent, head)
        if fits and later >= fewest:
            found.append((later, earlier))
    return found


def nothing_found(sentences: Sequence[ParsedSentence], relation: str, order: str) -> str:
    """Say why there is no dependency to look at."""
    known = sorted({name for s in sentences for name, _, _ in s.relations})
    other = sum(len(pairs_of(s, relation, "both")) for s in sentences)
    if other:
        return (
            f"None of the {other} dependencies {relation!r} is {order.replace('-', ' ')}, with two words or "
            "more to choose from; try --order both."
        )
    return (
        f"None of the {len(sentences)} sentences has a dependency {relation!r} with two words or more to "
        f"choose from. Relations found: {', '.join(known) or 'none'}."
    )


def _read(
    backend: Backend,
    sentences: list[ParsedSentence],
    pairs: list[list[tuple[int, int]]],
    query: str,
    progress: Progress | None,
) -> tuple[np.ndarray, np.ndarray]:
    """(layers, heads, n) whether the right word gets most, and its share of the weight on words before."""
    hits, weights = [], []
    for start in range(0, len(sentences), SENTENCES_AT_ONCE):
        part = slice(start, start + SENTENCES_AT_ONCE)
        texts = [list(s.words) for s in sentences[part]]
        names = [s.name for s in sentences[part]]
        traces = backend.read_many(texts, names=names, needs=frozenset({"attention"}))
        for trace, found in zip(traces, pairs[part], strict=True):
            for later, earlier in found:
                share = shares_before(trace, later, query)
                weights.append(share[..., earlier])
                hits.append(np.nan_to_num(share, nan=-1.0).argmax(-1) == earlier)
                hits[-1] &= np.isfinite(share[..., earlier])
        if progress is not None:
            progress(backend.name, min(start + SENTENCES_AT_ONCE, len(sentences)), len(sentences))
    return np.stack(hits, -1), np.stack(weights, -1)


def shares_before(trace: Trace, word: int, query: str) -> np.ndarray:
    """(layers, heads, word): weight of `word` on each word before it, scaled to sum to 1; NaN without any.

    Raises
    ------
    ModelError
        If the trace has no attention.
    """
    weights = weights_before(trace, word, query)
    total = weights.sum(-1, keepdims=True)
    return np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0)


def weights_before(trace: Trace, word: int, query: str) -> np.ndarray:
    """(layers, heads, word): weight of `word` on each word before it, as the model gives it.

    Raises
    ------
    ModelError
        If the trace has no attention.
    """
    if trace.attention is None:
        raise ModelError("The model gave no attention.")
    pieces = np.flatnonzero(trace.word_index == word)
    rows = {"first": pieces[:1], "last": pieces[-1:], "mean": pieces}[query]
    to_tokens = trace.attention[..., rows, :].astype(np.float64).mean(-2)  # (layers, heads, T)
    before = np.moveaxis(to_tokens, -1, 0)[trace.word_index < word]
    return sum_over_words(
        np.moveaxis(before, 0, -1), trace.word_index[trace.word_index < word], word, empty=0.0
    )


def _cases(
    sentences: list[ParsedSentence], pairs: list[list[tuple[int, int]]], relation: str
) -> pd.DataFrame:
    rows = [
        (s.name, relation, later + 1, s.words[later], earlier + 1, s.words[earlier])
        for s, found in zip(sentences, pairs, strict=True)
        for later, earlier in found
    ]
    return pd.DataFrame(rows, columns=list(CASE_COLUMNS))


def _table(hits: np.ndarray, weights: np.ndarray) -> pd.DataFrame:
    """One row per head."""
    layers, heads, n = hits.shape
    correct = hits.sum(-1)
    known = np.isfinite(weights)
    total = np.where(known, weights, 0.0).sum(-1)
    mean = np.divide(total, known.sum(-1), out=np.full(total.shape, np.nan), where=known.any(-1))
    rows = [
        {
            "layer": layer,
            "head": head,
            **_accuracy(int(correct[layer, head]), n),
            "mean_weight": mean[layer, head],
        }
        for layer in range(layers)
        for head in range(heads)
    ]
    return pd.DataFrame(rows)


def _baselines(cases: pd.DataFrame) -> pd.DataFrame:
    """Fixed offsets, and an even choice among the words before."""
    distance = (cases["from_word_id"] - cases["to_word_id"]).to_numpy()
    rows = [
        {"rule": f"{k} back", "offset": float(k), **_accuracy(int((distance == k).sum()), len(cases))}
        for k in range(1, LONGEST_OFFSET + 1)
    ]
    even = float((1.0 / (cases["from_word_id"] - 1)).mean())
    rows.append({"rule": "even choice", "offset": np.nan, "accuracy": even, "n": len(cases)})
    return pd.DataFrame(rows).assign(mean_weight=lambda t: t["accuracy"])


def _accuracy(correct: int, n: int) -> dict[str, float]:
    low, high = wilson_interval(correct, n)
    return {"accuracy": correct / n, "ci_low": low, "ci_high": high, "n_correct": correct, "n": n}
