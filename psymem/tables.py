"""Column schemas of the tables that flow through psymem, and one check for all of them.

WORDS -> (a backend's Trace) -> SCORES -> Fit; READING holds human data on the same keys. SCORES have the columns of
WORDS, ``model``, and those of the measures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from psymem.errors import DataError, UnknownNameError


@dataclass(frozen=True)
class Schema:
    """Columns a table must have.

    Parameters
    ----------
    name
        What the table is called in messages.
    required
        Columns that must be there.
    key
        Columns that together identify a row.
    strings
        Columns that stay text, whatever they look like ("null", "NA" and "true" are words).
    """

    name: str
    required: tuple[str, ...]
    key: tuple[str, ...]
    strings: tuple[str, ...] = ()


TEXT_KEY = ("text_id", "word_id")

WORDS = Schema("words", ("text_id", "sentence_id", "word_id", "word"), TEXT_KEY, ("text_id", "word"))
STIMULI = Schema(
    "stimuli",
    ("text_id", "sentence_id", "word_id", "word", "item", "condition", "region", "role"),
    TEXT_KEY,
    ("text_id", "word", "item", "condition", "region", "role"),
)
READING = Schema(
    "reading data",
    ("corpus", "subject", "text_id", "word_id", "word", "skipped"),
    ("corpus", "subject", *TEXT_KEY),
    ("corpus", "subject", "text_id", "word"),
)


def check(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return `frame` unchanged if it fits `schema`.

    Raises
    ------
    DataError
        If a column is missing, a text column holds something else, or key rows repeat (the first is named).
    """
    missing = [c for c in schema.required if c not in frame.columns]
    if missing:
        raise DataError(
            f"The table of {schema.name} lacks the column{'s' if len(missing) > 1 else ''} "
            f"{', '.join(missing)}; it has {', '.join(map(str, frame.columns))}."
        )
    for column in schema.strings:
        if not pd.api.types.is_string_dtype(frame[column]) and len(frame):
            raise DataError(
                f"Column {column!r} of the table of {schema.name} has to hold text, not {frame[column].dtype}."
            )
    repeated = frame.duplicated(list(schema.key))
    if repeated.any():
        first = frame.loc[repeated, list(schema.key)].iloc[0]
        key = ", ".join(f"{k}={v}" for k, v in first.items())
        raise DataError(
            f"The table of {schema.name} has {int(repeated.sum())} repeated row(s), the first at {key}."
        )
    return frame


def require_columns(frame: pd.DataFrame, columns: Iterable[str], where: str = "the table") -> None:
    """Raise UnknownNameError for the first of `columns` that `frame` lacks, offering near names."""
    for column in columns:
        if column not in frame.columns:
            raise UnknownNameError(
                "column", column, map(str, frame.columns), f"These are the columns of {where}."
            )
