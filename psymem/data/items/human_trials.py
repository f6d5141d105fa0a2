"""A researcher's own trials: who responded how to which item in which condition, one row per trial.

Columns ``subject``, ``item``, ``condition`` and one column of responses, whose name says what it holds:

- ``rt_ms``: reading or response times in ms (above 0);
- ``judgement``: 1 (or TRUE, yes) where the sentence was rejected (judged implausible or unacceptable, as in the
  percentages of Laurinavichyute & von der Malsburg, 2022), 0 (or FALSE, no) where it was accepted;
- ``response``: either; 0 and 1 alone are judgements, anything else is ms, unless the kind is given.

"NA", "NaN" and empty cells are missing responses: those trials are left out and counted. A missing subject is an
error. Other columns are ignored, apart from ``trial``: a subject who meets the same item in the same condition more
than once needs a number there that tells the trials apart; without it a repeated row is taken for an error.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from psymem.errors import DataError, UnknownNameError
from psymem.io.delimited import MISSING_NUMBERS, Delimited, read_delimited

KEYS = ("subject", "item", "condition")
KIND_OF_COLUMN = {"rt_ms": "rt", "judgement": "judgement", "response": None}
KINDS = ("rt", "judgement")
JUDGED = {"true": "1", "false": "0", "yes": "1", "no": "0", "rejected": "1", "accepted": "0"}
"""Judgements in words, as numbers."""

SLOWEST_IF_SECONDS = 60.0
"""Times that are all below this are taken for seconds; nobody reads within 60 ms on every trial."""


@dataclass(frozen=True)
class HumanTrials:
    """Trials that have a response.

    Attributes
    ----------
    frame
        ``subject, item, condition`` (text) and ``response`` (ms, or 0 and 1).
    kind
        "rt" or "judgement".
    path, sha256
        The file and its checksum.
    notes
        What was normalised or left out, one sentence each.
    cut_off
        Response times left out by limits.
    """

    frame: pd.DataFrame
    kind: str
    path: Path
    sha256: str
    notes: tuple[str, ...] = ()
    cut_off: int = 0


def check_cut_offs(shortest: float | None, longest: float | None) -> None:
    """Raise DataError if the limits of response times are no limits."""
    for limit in (shortest, longest):
        if limit is not None and not 0 <= limit < math.inf:
            raise DataError(
                f"A limit of response times is {limit:g} ms; it has to be a number of at least 0."
            )
    if shortest is not None and longest is not None and shortest >= longest:
        raise DataError(
            f"The shortest response time, {shortest:g} ms, is not below the longest, {longest:g} ms."
        )


def cut_off(trials: HumanTrials, shortest: float | None, longest: float | None) -> HumanTrials:
    """Leave out response times below `shortest` and above `longest` (ms), and count them.

    Raises
    ------
    DataError
        If the responses are judgements, or none is left.
    """
    if shortest is None and longest is None:
        return trials
    if trials.kind != "rt":
        raise DataError(f"The responses of {trials.path} are judgements; limits are for response times.")
    times = trials.frame["response"]
    kept = times.between(
        -math.inf if shortest is None else shortest, math.inf if longest is None else longest
    )
    if not kept.any():
        raise DataError(
            f"No response time of {trials.path} is within the limits; they are {times.min():g} to {times.max():g} ms."
        )
    left = int((~kept).sum())
    note = f"{left} of {len(kept)} response times of {trials.path.name} were left out by the limits given."
    return replace(
        trials, frame=trials.frame[kept].reset_index(drop=True), notes=(*trials.notes, note), cut_off=left
    )


def read_human_trials(
    path: str | Path, conditions: Mapping[str, Iterable[str]], kind: str | None = None
) -> HumanTrials:
    """Read a file of trials.

    Parameters
    ----------
    path
        A delimited file (see the module).
    conditions
        Item to its conditions: what trials can be about.
    kind
        "rt" or "judgement", where the column's name does not say it.

    Raises
    ------
    DataError
        If the file is not a table, lacks a column, has an item, condition or response that cannot be, a repeated
        trial, or no response at all; row and column are named.
    UnknownNameError
        If there is no such kind of response.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownNameError("kind of response", kind, KINDS)
    read = read_delimited(path)
    column = _response_column(read)
    frame = read.frame[[c for c in (*KEYS, "trial") if c in read.frame.columns]]
    _check_keys(read, {str(i): [str(c) for c in own] for i, own in conditions.items()})
    missing = read.frame[column].isin(MISSING_NUMBERS)
    if missing.all():
        raise DataError(f"{read.path}: column {column!r} has no response, only missing values.")
    cells, said = _judgements_as_numbers(read.frame.loc[~missing, column], column)
    numbers = pd.Series([_number(read, row, column, cell) for row, cell in cells.items()], index=cells.index)
    kind = _kind(read, column, numbers, kind)
    _refuse_repeated(read, frame)
    notes = [*read.notes, *said]
    if missing.any():
        notes.append(f"{int(missing.sum())} of {len(missing)} trials of {read.path.name} have no response.")
    kept = frame.loc[~missing, list(KEYS)].assign(response=numbers).reset_index(drop=True)
    checksum = hashlib.sha256(read.path.read_bytes()).hexdigest()
    return HumanTrials(kept, kind, read.path, checksum, tuple(notes))


def _judgements_as_numbers(cells: pd.Series, column: str) -> tuple[pd.Series, list[str]]:
    """Return judgements in words as 1 and 0, and say what they were taken for; other responses as they are."""
    words = cells.str.lower()
    if column == "rt_ms" or not words.isin(JUDGED).all():
        return cells, []
    kinds = " and ".join(
        f"{w!r} as {'rejected' if JUDGED[w.lower()] == '1' else 'accepted'}" for w in sorted(set(cells))
    )
    return words.map(JUDGED), [
        f"Judgements in words were read: {kinds}. If they mean the opposite, write 0 and 1."
    ]


def _response_column(read: Delimited) -> str:
    """Return the one column of responses; raises DataError if a needed column is missing."""
    has = list(read.frame.columns)
    for name in KEYS:
        if name not in has:
            raise DataError(
                f"{read.path}, row 1: there is no column {name!r}{_near(name, has)}. {_expected(has)}"
            )
    found = [c for c in KIND_OF_COLUMN if c in has]
    if len(found) != 1:
        what = f"{' and '.join(found)} are both there" if found else "there is no column of responses"
        raise DataError(
            f"{read.path}, row 1: {what}; keep one of {', '.join(KIND_OF_COLUMN)}. {_expected(has)}"
        )
    return found[0]


def _expected(has: Iterable[str]) -> str:
    return (
        f"Expected subject, item, condition and rt_ms, judgement or response; the file has {', '.join(has)}."
    )


def _check_keys(read: Delimited, conditions: Mapping[str, list[str]]) -> None:
    """Raise DataError for the first missing subject, and for items and conditions that do not exist."""
    for row, subject, item, condition in read.frame[list(KEYS)].itertuples():
        if subject in MISSING_NUMBERS:
            what = "it is empty" if not subject else f"{subject!r} means missing"
            raise DataError(f"{read.at(row, 'subject')}: {what}; say whose trial this is.")
        if item not in conditions:
            known = _listed(conditions)
            raise DataError(
                f"{read.at(row, 'item')}: there is no item {item!r}{_near(item, conditions)}. {known}"
            )
        if condition not in conditions[item]:
            known = _listed(conditions[item])
            near = _near(condition, conditions[item])
            raise DataError(
                f"{read.at(row, 'condition')}: item {item!r} has no condition {condition!r}{near}. {known}"
            )


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = ", ..." if len(listed) > 12 else ""
    return f"The item set has {', '.join(listed[:12])}{more}."


def _near(name: str, known: Iterable[str]) -> str:
    """Offer names that differ in case alone, or a little."""
    listed = list(known)
    near = [k for k in listed if k.casefold() == name.casefold()] or get_close_matches(name, listed, 3, 0.5)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def _number(read: Delimited, row: object, column: str, cell: str) -> float:
    """Return a response as a number; a decimal comma counts where commas do not separate cells."""
    point = cell.replace(",", ".") if read.separator != "," and cell.count(",") == 1 else cell
    with suppress(ValueError):
        number = float(point)
        if math.isfinite(number) and "_" not in point:
            return number
    raise DataError(
        f"{read.at(row, column)}: {cell!r} is not a number. Write a missing response as NA or leave it empty."  # type: ignore[arg-type]
    )


def _kind(read: Delimited, column: str, numbers: pd.Series, kind: str | None) -> str:
    """Say what the responses are, and refuse those that cannot be."""
    named = KIND_OF_COLUMN[column]
    if kind is not None and named is not None and kind != named:
        raise DataError(
            f"{read.path}: the column {column!r} holds responses of the kind {named}, not {kind}. "
            "Rename it to 'response', or leave the kind out."
        )
    binary = numbers.isin([0, 1])
    kind = kind or named or ("judgement" if binary.all() else "rt")
    wrong = ~binary if kind == "judgement" else numbers <= 0
    if wrong.any():
        row = wrong.index[wrong][0]
        rule = "a judgement is 0 or 1" if kind == "judgement" else "times are in ms and above 0"
        raise DataError(f"{read.at(row, column)}: {numbers[row]:g} cannot be; {rule}.")
    if kind == "rt" and numbers.max() < SLOWEST_IF_SECONDS:
        raise DataError(
            f"{read.path}: the longest time in column {column!r} is {numbers.max():g}. Times are expected in ms; "
            "multiply by 1000 if these are seconds."
        )
    return kind


def _refuse_repeated(read: Delimited, frame: pd.DataFrame) -> None:
    repeated = frame.duplicated()
    if repeated.any():
        row = repeated.index[repeated][0]
        same = (frame == frame.loc[row]).all(axis=1)
        subject, item, condition = (frame.loc[row, c] for c in KEYS)
        raise DataError(
            f"{read.path}, row {row}: subject {subject!r}, item {item!r} and condition {condition!r} are already in "
            f"row {same.index[same][0]}. If people met the same sentence more than once, number their trials in a "
            "column 'trial'."
        )
