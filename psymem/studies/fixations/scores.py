"""Scores for a comparison of fixations: guided models with their fixations, others with their surprisal alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem import checkpoints
from psymem.backends.load import load_backends
from psymem.errors import MeasureError
from psymem.measures.model_fixations import LayersActive, ModelFixations
from psymem.scoring.score import Run
from psymem.studies.common.corpus_scores import Models
from psymem.tables import WORDS

if TYPE_CHECKING:
    from psymem.backends.base import Backend

Progress = Callable[[str, int, int], None]
ADVICE = "psymem train fgp-rnn, fgp-lstm, fgl-rnn and fgl-lstm make such models."


def guided_models(models: Models, **settings: Any) -> list[Backend]:
    """Return the models, if each gives fixations.

    Raises
    ------
    MeasureError
        If one gives none; the message names bundled models that do.
    """
    needed = ModelFixations.requires
    backends = load_backends(models, **settings)
    for backend in backends:
        if not needed <= backend.provides:
            able = [c.name for c in checkpoints.bundled() if needed <= c.provides]
            listed = f"Bundled models that do: {', '.join(able)}." if able else "No bundled model does."
            raise MeasureError(
                f"{backend.name} gives no fixations: nothing in it is frozen or let go by how long a word is fixated. "
                f"{listed} {ADVICE}"
            )
    return backends


def score_words(
    words: pd.DataFrame,
    guided: Sequence[Backend],
    others: Models = (),
    progress: Progress | None = None,
    *,
    lower_case: bool = False,
    **settings: Any,
) -> tuple[pd.DataFrame | None, dict[str, Any]]:
    """Score all words of a corpus.

    Parameters
    ----------
    words
        WORDS.
    guided
        Models with fixations, read for these and their surprisal.
    others
        Models read for their surprisal.
    progress
        Called as texts are read.
    lower_case
        Whether all of them read in lower case.
    settings
        Settings of the `others`.

    Returns
    -------
    scores
        SCORES; None without models.
    facts
        What identifies the numbers, and what models found odd.
    """
    words = words[list(WORDS.required)]
    runs = [Run(words, b, _measures(b), lower_case=lower_case) for b in guided]
    read = {b.name for b in guided}
    more = [b for b in load_backends(others, **settings) if b.name not in read]
    runs += [Run(words, b, ["surprisal"], lower_case=lower_case) for b in more]
    tables: list[pd.DataFrame] = []
    models: list[Any] = []
    measures: dict[str, Any] = {}
    notes: list[str] = []
    for run in runs:
        tables += run.chunks(progress=progress)
        facts = run.provenance()
        models += facts["models"]
        measures |= {m["measure"]: m for m in facts["measures"]}
        notes += run.notes()
    if not tables:
        return None, {}
    scores = pd.concat(tables, ignore_index=True)
    if "causal" in scores:
        scores["causal"] = scores["causal"].eq(False).eq(False)  # a model without the flag is causal
    return scores, {
        "models": models,
        "measures": list(measures.values()),
        "notes": list(dict.fromkeys(notes)),
    }


def _measures(backend: Backend) -> list[str]:
    """Fixations by components or by layers, and surprisal."""
    layered = LayersActive.requires <= backend.provides
    return [*([LayersActive.name] if layered else []), ModelFixations.name, "surprisal"]
