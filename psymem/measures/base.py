"""What a measure is, and the check that a model and a table can give it before any weights are loaded.

A measure is a frozen dataclass: its fields are its settings, calling it turns the Trace of one text into one
value per word. Adding one is a new file here and a row in ``psymem.registry.MEASURES``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from psymem import checkpoints
from psymem.errors import MeasureError
from psymem.measures.columns import Column
from psymem.registry import MEASURES
from psymem.trace import Trace

_NOTHING_TO_SET = {
    "heads": "Heads were given, but none of the measures asked for reads attention.",
    "query": "A query row was given, but none of the measures asked for reads the attention of one row.",
}


@runtime_checkable
class Measure(Protocol):
    """One value, or a few, per word, computed from what a model did while reading.

    Attributes
    ----------
    name
        What users type.
    requires
        What the model's Trace has to contain ("logprob", "attention", "entropy", ...).
    roles
        Roles that words of the table must have for the measure to be defined anywhere.
    facts
        What is to be said about every column that it may write (`psymem.measures.columns.Column`).
    columns
        Names of the resulting columns, the unit in the name; may depend on settings.
    """

    name: ClassVar[str]
    requires: ClassVar[frozenset[str]]
    roles: ClassVar[tuple[str, ...]]
    facts: ClassVar[tuple[Column, ...]]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the resulting columns."""
        ...

    def __call__(self, trace: Trace, words: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return (n_words,) float64 values for each column; NaN where undefined."""
        ...


def resolve(measures: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    """Turn names into measures with their usual settings; measures pass through.

    Raises
    ------
    UnknownNameError
        For a name that is no measure; near names are offered.
    MeasureError
        If two measures would write the same column.
    """
    wanted = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    resolved = [MEASURES.load(m)() if isinstance(m, str) else m for m in dict.fromkeys(wanted)]
    columns = [c for m in resolved for c in m.columns]
    twice = [c for c in dict.fromkeys(columns) if columns.count(c) > 1]
    if twice:
        raise MeasureError(f"Two of the measures asked for write the column {twice[0]}; ask for one of them.")
    return resolved


def with_heads(measures: Sequence[str | Measure], heads: str = "", query: str = "") -> list[Measure]:
    """Return the measures called `measures`, those of attention set to read as asked.

    Parameters
    ----------
    measures
        Names, or measures.
    heads
        LAYER:HEAD pairs such as "4:3,3:6", 0-based: each head has a column of its own. "" leaves it to the
        measure, the mean over all heads for most.
    query
        Row of a word in several pieces ("first", "last", "mean"), for measures that choose one.

    Raises
    ------
    MeasureError
        If `heads` or `query` is not spelled like that, or no measure can be set so.
    """
    resolved = resolve(measures)
    settings: dict[str, Any] = {"heads": _pairs(heads)} if heads else {}
    if query:
        settings["query"] = query
    for setting in settings:
        if not any(hasattr(m, setting) for m in resolved):
            raise MeasureError(_NOTHING_TO_SET[setting])
    return [
        replace(m, **{k: v for k, v in settings.items() if hasattr(m, k)})  # type: ignore[type-var]
        for m in resolved
    ]


def _pairs(heads: str) -> tuple[tuple[int, int], ...]:
    """Read "4:3,3:6"."""
    if not re.fullmatch(r"\d+:\d+(,\d+:\d+)*", heads):
        raise MeasureError(
            f"Heads {heads!r} are not understood; expected LAYER:HEAD,LAYER:HEAD such as 4:3,3:6."
        )
    pairs = (pair.split(":") for pair in heads.split(","))
    return tuple(dict.fromkeys((int(layer), int(head)) for layer, head in pairs))


def require_provided(measures: Iterable[Measure], model: str, provides: frozenset[str]) -> None:
    """Raise MeasureError, naming models that would do, if `model` cannot give one of `measures`."""
    for measure in measures:
        lacking = sorted(measure.requires - provides)
        if lacking:
            able = [c.name for c in checkpoints.bundled() if measure.requires <= c.provides]
            raise MeasureError(
                f"{measure.name} needs {' and '.join(lacking)}, which the model {model} does not have. "
                + (f"Models that have it: {', '.join(able)}." if able else "No bundled model has it.")
            )


def require_roles(measures: Iterable[Measure], words: pd.DataFrame) -> None:
    """Raise MeasureError if `words` marks none of the roles that one of `measures` needs."""
    for measure in measures:
        if not measure.roles:
            continue
        needed = " and ".join(measure.roles)
        if "role" not in words.columns:
            raise MeasureError(
                f"{measure.name} needs words marked as {needed}, but the table of words has no column "
                "'role'. "
                "Use an item set, or add the column."
            )
        present = {role for cell in words["role"].unique() for role in str(cell).split()}
        lacking = [role for role in measure.roles if role not in present]
        if lacking:
            raise MeasureError(
                f"{measure.name} needs words marked as {needed}, but no word has the role "
                f"{' or '.join(lacking)} "
                f"(roles found: {', '.join(sorted(present)) or 'none'})."
            )
