"""What a measure is, and the check that a model and a table can give it before any weights are loaded.

A measure is a frozen dataclass: its fields are its settings, calling it turns the Trace of one text into one
value per word. Adding one is a new file here and a row in ``psymem.registry.MEASURES``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from psymem import checkpoints
from psymem.errors import MeasureError
from psymem.registry import MEASURES
from psymem.trace import Trace


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
    columns
        Names of the resulting columns, the unit in the name; may depend on settings.
    """

    name: ClassVar[str]
    requires: ClassVar[frozenset[str]]
    roles: ClassVar[tuple[str, ...]]

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


def with_heads(measures: Sequence[str], heads: str) -> list[Measure]:
    """Return the measures called `measures`, those of attention set to read `heads` such as "4:3,3:6".

    Raises
    ------
    MeasureError
        If `heads` is not spelled like that, or no measure reads attention.
    """
    resolved = resolve(measures)
    if not heads:
        return resolved
    if not re.fullmatch(r"\d+:\d+(,\d+:\d+)*", heads):
        raise MeasureError(
            f"Heads {heads!r} are not understood; expected LAYER:HEAD,LAYER:HEAD such as 4:3,3:6."
        )
    pairs = tuple((int(layer), int(head)) for layer, head in (pair.split(":") for pair in heads.split(",")))
    readers = [m for m in resolved if "attention" in m.requires]
    if not readers:
        raise MeasureError("Heads were given, but none of the measures asked for reads attention.")
    return [replace(m, heads=pairs) if m in readers else m for m in resolved]  # type: ignore[type-var]


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
