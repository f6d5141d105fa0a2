"""From an item set and models to a scoring run, or to the surprisal of every word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.backends.base import require_causal
from psymem.backends.load import load_backends
from psymem.errors import MeasureError
from psymem.measures.base import with_heads
from psymem.measures.surprisal import Surprisal
from psymem.registry import MEASURES
from psymem.scoring.reading import Reading
from psymem.scoring.score import Run
from psymem.studies.common.supertags import select

if TYPE_CHECKING:
    from psymem.backends.base import Backend
    from psymem.data.items.stimuli import ItemSet


Progress = Callable[[str, int, int], None]
"""Called with the model's name, the sentences it has read and the number of sentences."""


DEFAULT_MEASURES = ("surprisal", "relative-attention", "attention-entropy")


def scoring_run(
    item_set: ItemSet,
    models: str | Path | Backend | Sequence[str | Path | Backend],
    measures: Sequence[str] | None,
    reading: Reading = Reading(),
    supertag_weight: float | None = None,
) -> Run:
    """Return a checked run over the words of an item set; nothing has been read yet.

    Parameters
    ----------
    item_set
        The sentences.
    models
        Names, folders or backends; "cbr-rnn" stands for all its instances.
    measures
        Measure names. By default surprisal, relative attention and attention entropy, as far as every model
        can give them and the words have the roles they need.
    reading
        Heads, query row, case and beginning of sentence.
    supertag_weight
        Only instances trained with this weight of the supertag loss (`psymem.studies.common.supertags`).

    Raises
    ------
    PsymemError
        For an unknown model or measure, and for a measure that was asked for and that a model cannot give.
    """
    backends = load_backends(models, **reading.settings)
    if supertag_weight is not None:
        backends = select(backends, supertag_weight)
    require_causal(backends)
    if measures:
        chosen = with_heads(list(measures), reading.heads, reading.query)
        return Run(item_set.words, backends, chosen, lower_case=reading.lower_case)
    roles = {role for cell in item_set.words["role"].unique() for role in cell.split()}
    candidates = [MEASURES.load(name)() for name in DEFAULT_MEASURES]
    given = frozenset.intersection(*(b.provides for b in backends))
    able = [m for m in candidates if m.requires <= given and set(m.roles) <= roles]
    if not able:
        raise MeasureError(
            f"None of the measures {', '.join(DEFAULT_MEASURES)} can be had for the item set {item_set.name} "
            f"from {', '.join(b.name for b in backends)}."
        )
    return Run(
        item_set.words,
        backends,
        with_heads(able, reading.heads, reading.query),
        lower_case=reading.lower_case,
    )


def read_surprisal(
    words: pd.DataFrame,
    models: str | Path | Backend | Sequence[str | Path | Backend],
    *,
    corrected: bool,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the surprisal of every word, and what identifies the numbers.

    Parameters
    ----------
    words
        WORDS with any further columns.
    models
        Names, folders or backends.
    corrected
        Whether to correct for word boundaries where the tokenizer marks them.
    reading
        Case and settings of the models.
    progress
        Called with the model's name, the sentences it has read and the number of sentences.

    Returns
    -------
    scores : pandas.DataFrame
        `words` with ``model, oov, surprisal_bits``, one row per word and model.
    provenance : dict
        Models and measure with their settings, and "notes": what the models found odd about the words.

    Raises
    ------
    PsymemError
        For an unknown model, or a sentence that a model cannot read.
    """
    measure = Surprisal(corrected=corrected)
    key = ["text_id", "word_id"]
    reading = reading or Reading()
    few = words[["text_id", "sentence_id", "word_id", "word"]]  # few columns are quick
    run = Run(few, models, measure, lower_case=reading.lower_case, **reading.settings)
    require_causal(run.backends)
    read = pd.concat(list(run.chunks(progress=progress)), ignore_index=True)
    new = read[[*key, "model", "oov", measure.columns[0]]]
    scores = new.merge(words, on=key, how="left", validate="many_to_one")
    scores = scores.rename(columns={measure.columns[0]: "surprisal_bits"})
    return scores[[*words.columns, "model", "oov", "surprisal_bits"]], {
        **run.provenance(),
        "notes": run.notes(),
    }


def item_set_facts(item_set: ItemSet) -> dict[str, Any]:
    """Return what identifies an item set, for the report and the sidecars."""
    facts = {
        "name": item_set.name,
        "sha256": item_set.sha256,
        "path": str(item_set.path),
        "card": item_set.card,
    }
    return {**facts, "notes": list(item_set.notes)}
