"""Does retrieval find the subject (Timkey & Linzen, 2023, 4.1, Figure 3)? For any relation and any model that retrieves."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem._version import __version__
from psymem.backends.base import Backend
from psymem.backends.load import load_backends
from psymem.data.words.parses import ParsedSentence
from psymem.progress import Progress
from psymem.scoring.reading import Reading
from psymem.scoring.resumable import write_resumably
from psymem.studies.common.results_folder import drawn, write_results
from psymem.studies.dependency.cases import find_cases, relation_named
from psymem.studies.dependency.retrieval import (
    Attention,
    Memory,
    response_parts,
    retrieval_of,
)
from psymem.studies.dependency.shares import METHOD, counts, share_table
from psymem.studies.dependency.success_model import SuccessModel, success_models

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

RESPONSES = "responses.csv"


@dataclass(frozen=True)
class DependencyResult:
    """Whether models retrieve the word that another depends on.

    Attributes
    ----------
    shares
        See :func:`psymem.studies.dependency.shares.share_table`.
    model
        Coefficients of the mixed logistic models of success; empty if none was fitted.
    cases
        The dependencies; see :func:`psymem.studies.dependency.cases.find_cases`.
    responses
        Every model's response to every case.
    counts
        Cases in each bin.
    left_out
        ``model, reason, n``: cases that are not in the shares.
    about
        Where models and sentences come from.
    """

    shares: pd.DataFrame
    model: pd.DataFrame
    cases: pd.DataFrame = field(repr=False)
    responses: pd.DataFrame = field(repr=False)
    counts: pd.DataFrame = field(repr=False)
    left_out: pd.DataFrame
    about: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def figure(self) -> Figure:
        """Shares against distance and against words in between, beside chance."""
        from psymem.plotting.dependency import dependency_figure

        return dependency_figure(self.shares, self.about["relation"], self.about["kind"])

    def save(self, folder: str | Path) -> list[Path]:
        """Write shares.csv (the plotted numbers), model.csv, cases.csv, counts.csv, left_out.csv and the figure."""
        tables = {
            "shares": self.shares,
            "cases": self.cases,
            "counts": self.counts,
            "left_out": self.left_out,
        }
        if len(self.model):
            tables["model"] = self.model
        return write_results(folder, tables, self.about, figures=drawn({"dependency": self.figure}))


def track_dependency(
    models: str | Path | Backend | Sequence[str | Path | Backend],
    sentences: Sequence[ParsedSentence],
    relation: str = "nsubj",
    *,
    order: str = "",
    reading: Reading | None = None,
    success: SuccessModel | None = None,
    out: str | Path | None = None,
    resumed: Callable[[int], None] | None = None,
    progress: Progress | None = None,
) -> DependencyResult:
    """Let models read parsed sentences and see whether they retrieve the right word at a distance.

    Parameters
    ----------
    models
        Names, folders, hub ids or backends.
    sentences
        Parsed sentences with parts of speech (:mod:`psymem.data.words.parses`).
    relation
        "nsubj" (active; a subtype such as "nsubj:pass" is a relation of its own), "obj", "acl:relcl", "reflexive", or
        another of Universal Dependencies.
    order
        Which word of the relation comes first, "dependent-first", "head-first" or "both"; "" for what is usual for it.
    reading
        How models read; ``heads="all"`` looks at each head by itself, and of several the mean is taken otherwise.
    success
        How the mixed models are fitted.
    out
        Folder in which finished responses are kept, so that a run that was killed goes on; ``responses.csv`` stays
        there. Without it nothing is written.
    resumed, progress
        Called with the number of parts an earlier run has finished; as sentences are read.

    Raises
    ------
    DataError
        If no sentence has such a dependency, or they have no parts of speech.
    MeasureError
        If a model has neither attention nor a memory response.

    Notes
    -----
    The later word of the dependency retrieves; the choice is among the words before it, a beginning-of-sentence token and
    the word itself left out. Cases with one word before are left out, since there is nothing to choose; so are those with a
    word that the model does not know. Success is the largest weight, among all words before, and among the nouns before and
    the target, which may be a pronoun ("candidates"; verbs for "obj").

    Intervals are over sentences: they say how the shares of these models would vary with other sentences, not how those of
    other models would.
    """
    reading, success = reading or Reading(), success or SuccessModel()
    chosen = relation_named(relation, order)
    cases, other_order = find_cases(sentences, chosen)
    if reading.lower_case:
        sentences = [replace(s, words=tuple(w.lower() for w in s.words)) for s in sentences]
    loaded = load_backends(models, **reading.settings)
    backends = [(b, retrieval_of(b, reading.heads, reading.query or "first")) for b in loaded]
    for backend, retrieval in backends:  # a head that does not exist is refused before anything is read
        probe = backend.read_many([list(sentences[0].words[:3])], needs=retrieval.needs)[0]
        retrieval.before(probe, probe.n_words - 1, probe.n_words)
    about = {
        "models": [b.provenance() for b, _ in backends],
        "retrieval": {b.name: r.name for b, r in backends},
        "relation": chosen.name,
        "kind": chosen.kind,
        "order": chosen.order,
        "reading": vars(reading),
        "sentences": len(sentences),
        "words": sum(len(s.words) for s in sentences),
        "interval": METHOD,
        "success_model": vars(success),
    }
    parts = response_parts(backends, sentences, cases, chosen, progress)
    responses = _collected(parts, out, about, _digest(sentences), resumed)
    model, notes = success_models(cases, responses, success)
    notes += [n for b, _ in backends for n in getattr(b, "notes", ())]
    return DependencyResult(
        shares=share_table(cases, responses),
        model=model,
        cases=cases,
        responses=responses,
        counts=counts(cases),
        left_out=_left_out(other_order, cases, responses),
        about={**about, "notes": list(dict.fromkeys(notes))},
    )


def _collected(
    parts: Sequence[Callable[[], pd.DataFrame]],
    out: str | Path | None,
    about: dict[str, Any],
    digest: str,
    resumed: Callable[[int], None] | None,
) -> pd.DataFrame:
    """All responses, through finished parts on disk where there is a folder."""
    if out is None:
        return pd.concat([part() for part in parts], ignore_index=True)
    path = Path(out) / RESPONSES
    identity = {**{k: v for k, v in about.items() if k != "success_model"}, "digest": digest}
    write_resumably(parts, path, about, {**identity, "psymem": __version__}, resumed=resumed)
    return pd.read_csv(path, dtype={"head": "str", "known": "boolean"})


def _digest(sentences: Sequence[ParsedSentence]) -> str:
    """Checksum of words, relations and parts of speech."""
    found = hashlib.sha256()
    for s in sentences:
        tags = ["/".join(sorted(t)) for t in s.tags]
        found.update(repr((s.words, s.relations, tags, s.numbers)).encode())
    return found.hexdigest()


def _left_out(other_order: int, cases: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """``model, reason, n`` in the order in which reasons count; what no model decides has none."""
    rows: list[dict[str, Any]] = [{"model": None, "reason": "words in the other order", "n": other_order}]
    single = set(cases.loc[cases["n_words_before"] < 2, "case"])
    for model, own in responses.drop_duplicates(["model", "case"]).groupby("model", sort=False):
        tests = {
            "sentence too long for the model": own["known"].isna(),
            "a word unknown to the model": own["known"].eq(False).fillna(False).astype(bool),
            "one word before, no choice": own["case"].isin(single),
            "no weight on any word before": own["hit_words"].isna(),
        }
        left = pd.Series(True, index=own.index)
        for reason, test in tests.items():
            rows.append({"model": model, "reason": reason, "n": int((left & test).sum())})
            left &= ~test
        rows.append({"model": model, "reason": "kept", "n": int(left.sum())})
    return pd.DataFrame(rows)


__all__ = ["Attention", "DependencyResult", "Memory", "SuccessModel", "track_dependency"]
