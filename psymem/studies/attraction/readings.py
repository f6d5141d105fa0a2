"""What models read in the attraction experiment: the items, their grammatical controls, and a set for the checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.data.items.stimuli import names, read_item_set
from psymem.measures.surprisal import Surprisal
from psymem.progress import Progress
from psymem.scoring.score import Run
from psymem.studies.attraction.checks import has_numbers
from psymem.studies.common.rows import CRITICAL, has_role

if TYPE_CHECKING:
    from psymem.data.items.stimuli import ItemSet

NUMBER_SET = "attraction-number"
"""The bundled set that crosses the numbers of subject, attractor and verb; English."""
READ = ["text_id", "sentence_id", "word_id", "word", "role"]
"""Columns that a model and a measure can see."""


@dataclass(frozen=True)
class Readings:
    """Scores of everything that was read.

    Attributes
    ----------
    items
        SCORES of the item set.
    controls
        SCORES of a grammatical and plausible version of each sentence, same ``item`` and ``condition``; None without.
    numbers
        SCORES of sentences that cross the numbers of subject, attractor and verb; None without.
    number_set
        Name of the set they are from.
    other_subjects
        The same of sentences with another subject, which the verb fits.
    notes
        What models found odd about the words.
    """

    items: pd.DataFrame
    controls: pd.DataFrame | None = None
    numbers: pd.DataFrame | None = None
    number_set: str = ""
    other_subjects: pd.DataFrame | None = None
    notes: list[str] = field(default_factory=list)


def number_set_for(item_set: ItemSet, attraction: bool) -> ItemSet | None:
    """Return the bundled set for the checks; None for other designs, items in another language, and where it lacks."""
    if not attraction or NUMBER_SET not in names():
        return None
    language = str(item_set.card.get("language", "English"))
    return read_item_set(NUMBER_SET) if language.lower().startswith("en") else None


def read_everything(
    run: Run, item_set: ItemSet, attraction: bool, progress: Progress | None = None
) -> Readings:
    """Let the models of `run` read the items, the controls and the set for the checks.

    Parameters
    ----------
    run
        A run over the items (`psymem.studies.common.item_scores.scoring_run`).
    item_set
        The items.
    attraction
        Whether the conditions are A-H, so that controls and checks are about them.
    progress
        Called while texts are read.
    """
    controls = item_set.controls if attraction else None
    own = has_numbers(item_set.words)
    beside = number_set_for(item_set, attraction) if not own else None
    checked = attraction or own
    measures = [*run.measures]
    if checked and "surprisal_bits" not in (c for m in measures for c in m.columns):
        measures.append(Surprisal())
    others = item_set.other_subjects if attraction else None
    named = {"items": item_set.words, "controls": controls, "other_subjects": others}
    frames = {name: frame for name, frame in named.items() if frame is not None}
    scored, notes = _scored([*frames.values()], run, measures, progress)
    found = dict(zip(frames, scored, strict=True))
    numbers = found["items"] if own else None
    if beside is not None:
        (numbers,), more = _scored([until_critical(beside.words)], run, [Surprisal()], progress)
        notes += [n for n in more if n not in notes]
    name = item_set.name if own else beside.name if beside is not None else ""
    return Readings(**found, numbers=numbers, number_set=name, notes=notes)


def until_critical(words: pd.DataFrame) -> pd.DataFrame:
    """Return sentences up to the word after the critical one: what comes later cannot matter to a causal model."""
    last = words["word_id"].where(has_role(words, CRITICAL)).groupby(words["text_id"]).transform("max") + 1
    return words[words["word_id"] <= last].reset_index(drop=True)


def _scored(
    frames: Sequence[pd.DataFrame], run: Run, measures: Sequence[Any], progress: Progress | None
) -> tuple[list[pd.DataFrame], list[str]]:
    """Return SCORES of each frame; sentences that are the same in words and roles are read once."""
    named = [
        f.assign(_text=f["text_id"].astype(str) + (f" (control {i})" if i else ""))
        for i, f in enumerate(frames)
    ]
    joined = pd.concat(named, ignore_index=True)
    texts = joined.groupby("_text", sort=False)[["sentence_id", "word", "role"]].agg(tuple)
    texts = texts.assign(_read=texts.index)
    first = texts.groupby(["sentence_id", "word", "role"], sort=False)["_read"].transform("first")
    distinct = joined[joined["_text"].isin(set(first))]
    words = distinct.assign(text_id=distinct["_text"].astype("str"))[READ]
    again = Run(words, run.backends, list(measures), lower_case=run.lower_case)
    scores = pd.concat(list(again.chunks(progress=progress)), ignore_index=True)
    new = scores.drop(columns=["sentence_id", "word", "role"]).rename(columns={"text_id": "_read"})
    models = list(dict.fromkeys(scores["model"]))
    by_model = {m: new[new["model"] == m] for m in models}
    found = []
    for frame in named:
        keyed = frame.assign(_read=frame["_text"].map(first).astype("str"))
        parts = [
            keyed.merge(by_model[m], on=["_read", "word_id"], how="left", validate="many_to_one")
            for m in models
        ]
        found.append(pd.concat(parts, ignore_index=True).drop(columns=["_text", "_read"]))
    return found, again.notes()
