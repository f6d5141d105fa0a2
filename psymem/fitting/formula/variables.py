"""From the columns of a table to the variables of a formula, and the rows in which none of them is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import FitError
from psymem.fitting.formula.columns import (
    as_counts,
    as_factor,
    as_predictor,
    as_response,
    drop_unused,
    refuse_extreme,
    refuse_infinite,
)
from psymem.fitting.formula.expression import Node, deparse, names
from psymem.fitting.formula.terms import ParsedFormula
from psymem.fitting.formula.transforms import CATEGORIES, Columns, Factor, Numbers, Value, look_ahead, number
from psymem.fitting.spec import FitSpec


def read_variables(
    frame: pd.DataFrame, parsed: ParsedFormula, spec: FitSpec, notes: list[str]
) -> tuple[dict[str, Value], dict[str, Factor], dict[str, np.ndarray]]:
    """Return predictors, grouping factors and response columns of the whole table."""
    values: dict[str, Value] = {}
    in_factor = _only_in_factor(parsed)
    for name in parsed.predictors:
        order = spec.levels.get(name)
        categorical = order is not None or name in spec.contrasts
        values[name] = as_predictor(frame[name], order, categorical, in_factor=name in in_factor)
    groups = {
        name: v
        if isinstance(v := values.get(name), Factor)
        else as_factor(frame[name], spec.levels.get(name))
        for name in dict.fromkeys(part for bar in parsed.bars for part in bar.group)
    }
    response: dict[str, np.ndarray] = {}
    if parsed.counts is not None and spec.family != "binomial":
        raise FitError(
            f"The response {deparse(parsed.response)} counts successes and failures, which is for the family binomial; the "
            f"family is {spec.family}. Add family binomial, or name one column as response."
        )
    for name in names(parsed.response):
        if parsed.counts is not None:
            response[name] = as_counts(frame[name])
            continue
        response[name], note = as_response(frame[name], spec.family)
        if note:
            notes.append(note)
    if not response:
        raise FitError(
            f"The left-hand side of {spec.formula!r} names no column; write 'response ~ predictors'."
        )
    return values, groups, response


def _only_in_factor(parsed: ParsedFormula) -> set[str]:
    """Return the columns that the right-hand side has in factor() and its like only."""
    inside: set[str] = set()
    outside: set[str] = set()

    def visit(node: Node, found: set[str]) -> None:
        if node.kind == "call" and node.value in CATEGORIES:
            found = inside
        if node.kind == "name":
            found.add(str(node.value))
        for child in node.arguments:
            visit(child, found)

    for factor in (
        *parsed.fixed.factors,
        *parsed.offsets,
        *(f for bar in parsed.bars for f in bar.terms.factors),
    ):
        visit(factor, outside)
    return inside - outside


def stateful_memory(
    parsed: ParsedFormula, values: Mapping[str, Value], response: Mapping[str, np.ndarray], rows: np.ndarray
) -> dict[str, Any]:
    """Return what scale() and center() find in the rows selected, incomplete ones included."""
    found = Columns({**{name: Numbers(raw[:, None]) for name, raw in response.items()}, **values}, rows)
    factors = [*parsed.fixed.factors, *parsed.offsets, *(f for bar in parsed.bars for f in bar.terms.factors)]
    look_ahead([parsed.response, *factors], found)
    return found.memory


def complete_rows(
    values: Mapping[str, Value],
    groups: Mapping[str, Factor],
    response: Mapping[str, np.ndarray],
    spec: FitSpec,
) -> tuple[np.ndarray, int]:
    """Return which rows lack nothing, over all variables at once, and how many were dropped."""
    missing = {name: _missing(value) for name, value in {**response, **values, **groups}.items()}
    for name, where in missing.items():
        if where.all():
            kind = "response" if name in response else "column"
            raise FitError(
                f"The {kind} {name!r} is missing in all {len(where)} rows; there is nothing to fit."
            )
    complete = ~np.logical_or.reduce(list(missing.values()))
    if not complete.any():
        raise FitError(
            f"Each of the {len(complete)} rows has a missing value in some variable of {spec.formula!r}; none is left."
        )
    return complete, int((~complete).sum())


def _missing(value: Value | np.ndarray) -> np.ndarray:
    if isinstance(value, Factor):
        return value.codes < 0
    return np.isnan(value.matrix[:, 0] if isinstance(value, Numbers) else value)


def select_rows(name: str, value: Value, complete: np.ndarray, rows: np.ndarray) -> Value:
    """Return the complete rows of one predictor, without unused levels, refusing infinite values."""
    if isinstance(value, Factor):
        return drop_unused(Factor(value.codes[complete], value.levels))
    chosen = value.matrix if len(rows) == len(value.matrix) else value.matrix[complete]
    refuse_infinite(name, chosen[:, 0], rows)
    return Numbers(chosen)


def response_of(
    parsed: ParsedFormula, selected: Mapping[str, np.ndarray], columns: Columns
) -> tuple[np.ndarray, np.ndarray | None]:
    """Evaluate the left-hand side; for ``cbind(a, b)`` return the share of a, and how often there was a or b."""
    for name, raw in selected.items():
        refuse_infinite(name, raw, columns.rows)
    own = Columns(
        {name: Numbers(raw[:, None]) for name, raw in selected.items()}, columns.rows, columns.memory
    )
    if parsed.counts is not None:
        return _share(parsed, own)
    response = number(parsed.response, own)
    refuse_infinite(deparse(parsed.response), response, columns.rows)
    refuse_extreme(deparse(parsed.response), response, columns.rows)
    return response, None


def _share(parsed: ParsedFormula, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of successes and the number of trials of each row."""
    assert parsed.counts is not None
    successes, failures = (number(node, columns) for node in parsed.counts)
    trials = successes + failures
    for what, wrong in (
        ("a count below 0", (successes < 0) | (failures < 0)),
        ("a count that is not whole", (successes % 1 != 0) | (failures % 1 != 0)),
        ("no trial at all", trials == 0),
    ):
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise FitError(
                f"{deparse(parsed.response)} has {what} in row {columns.rows[first]} ({int(wrong.sum())} such "
                f"row{'s' if wrong.sum() > 1 else ''} in all). It takes the numbers of successes and of failures, 0, 1, "
                "2, ...; leave out rows without trials with where."
            )
    return successes / trials, trials


def offset_of(parsed: ParsedFormula, columns: Columns) -> np.ndarray | None:
    """Return the sum of what ``offset()`` holds, or None."""
    if not parsed.offsets:
        return None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        parts = [number(node, columns) for node in parsed.offsets]
    for node, values in zip(parsed.offsets, parts, strict=True):
        refuse_infinite(f"offset({deparse(node)})", values, columns.rows)
    return np.sum(parts, axis=0)
