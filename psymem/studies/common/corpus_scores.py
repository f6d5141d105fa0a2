"""The scores of a reading study: every word of a corpus by every model, written so that a killed run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem._version import __version__
from psymem.backends.base import require_causal
from psymem.data.corpora.corpus import Corpus
from psymem.io.outputs import plain
from psymem.measures.base import with_heads
from psymem.scoring.parallel import Workers, compute_parts
from psymem.scoring.reading import Reading
from psymem.scoring.resumable import frame_digest, write_resumably
from psymem.scoring.score import Run
from psymem.tables import TEXT_KEY, WORDS

if TYPE_CHECKING:
    from psymem.backends.base import Backend

Models = str | Path | Sequence["str | Path | Backend"]
TEXT_COLUMNS = ("text_id", "sentence_id", "word", "model", "oov")


@dataclass(frozen=True)
class ScoringPlan:
    """What models are asked for, how they read, and who computes.

    Parameters
    ----------
    measures
        Measure names.
    reading
        How the models read.
    workers
        Processes or a cluster.
    words_at_once
        Words after which scores are safe on disk.
    """

    measures: Sequence[str] = ("surprisal",)
    reading: Reading = field(default_factory=Reading)
    workers: Workers = field(default_factory=Workers)
    words_at_once: int | None = None


def score_corpus(
    corpus: Corpus,
    models: Models,
    plan: ScoringPlan,
    out: Path | None,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[pd.DataFrame | None, dict[str, Any]]:
    """Score all words of a corpus.

    With `out`, the scores go to ``scores_CORPUS.csv`` there as they are computed; a run that is started again with the
    same models and settings goes on where it stopped, or takes them as they are if they are complete.

    Returns
    -------
    scores
        SCORES; None without models.
    facts
        What identifies the numbers.
    """
    if not models:
        return None, {}
    words = corpus.words[list(WORDS.required)]
    measures = with_heads(list(plan.measures), plan.reading.heads, plan.reading.query)
    run = Run(words, models, measures, lower_case=plan.reading.lower_case, **plan.reading.settings)  # type: ignore[arg-type]
    require_causal(run.backends)
    facts = run.provenance()
    compute = partial(
        compute_parts, run, workers=plan.workers, words_at_once=plan.words_at_once, progress=progress
    )
    if out is None:
        return pd.concat(list(compute()), ignore_index=True), {**facts, "notes": run.notes()}
    path = out / f"scores_{corpus.name}.csv"
    identity = {**facts, "words": frame_digest(words), "psymem": __version__}
    identity["parts"] = len(run.parts(plan.words_at_once))
    digest = hashlib.sha256(json.dumps(plain(identity), sort_keys=True).encode()).hexdigest()
    if not _complete(path, digest):
        about = {**facts, "corpus": corpus.name, "identity": digest}
        write_resumably(run.parts(plan.words_at_once), path, about, identity, compute=compute)
    return _read(path), {**facts, "notes": run.notes()}


def _complete(path: Path, digest: str) -> bool:
    """Whether the scores of exactly this run are there."""
    sidecar = path.with_suffix(".json")
    if not (path.is_file() and sidecar.is_file()):
        return False
    try:
        about = json.loads(sidecar.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(about, dict) and about.get("identity") == digest


def _read(path: Path) -> pd.DataFrame:
    """Read scores back, words as they are ("NA" is a word) and numbers exactly."""
    header = pd.read_csv(path, nrows=0).columns
    numeric = [c for c in header if c not in TEXT_COLUMNS]
    frame = pd.read_csv(
        path,
        dtype=dict.fromkeys(TEXT_COLUMNS, "str"),
        keep_default_na=False,
        na_values={column: ["NA"] for column in numeric},
        float_precision="round_trip",
    )
    frame = frame.assign(oov=frame["oov"] == "True")
    return frame.astype({TEXT_KEY[1]: "int64"})
