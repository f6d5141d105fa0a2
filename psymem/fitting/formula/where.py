"""Conditions that select rows, such as ``violation == 'double' and rt > 150``.

A small whitelist of comparisons; nothing in a condition is ever executed as code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import FormulaError
from psymem.fitting.formula.columns import _is_boolean
from psymem.fitting.formula.expression import CONSTANTS, Node, deparse, mark, names, parse
from psymem.fitting.formula.missing import with_missing
from psymem.tables import require_columns

CONDITION = "condition"
JOINING = {"and": np.logical_and, "&": np.logical_and, "&&": np.logical_and}
EITHER = {"or": np.logical_or, "|": np.logical_or, "||": np.logical_or}
COMPARING = {"==": "eq", "!=": "ne", "<": "lt", ">": "gt", "<=": "le", ">=": "ge"}
BELONGING = ("in", "not in", "%in%")
COMPUTING = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}


def rows_where(frame: pd.DataFrame, condition: str) -> np.ndarray:
    """Return the positions of the rows of `frame` that satisfy `condition`; missing values satisfy nothing.

    Parameters
    ----------
    frame
        The table.
    condition
        Comparisons (``== != < > <= >=``), ``in``, ``not in``, ``and``, ``or``, ``not``, + - * / and parentheses over
        columns, numbers and quoted text.

    Raises
    ------
    FormulaError
        If the condition does not parse or compares what cannot be compared; the position is marked.
    UnknownNameError
        For a column that is not there.
    """
    tree = parse(condition, CONDITION)
    require_columns(frame, names(tree))
    return np.flatnonzero(_truth(tree, with_missing(frame, names(tree)), condition))


def _truth(node: Node, frame: pd.DataFrame, source: str) -> np.ndarray:
    """Evaluate a node that has to be true or false."""
    if node.kind == "parenthesis":
        return _truth(node.arguments[0], frame, source)
    if node.kind == "unary" and node.value == "!":
        return ~_truth(node.arguments[0], frame, source)
    if node.kind == "binary" and (join := JOINING.get(str(node.value)) or EITHER.get(str(node.value))):
        left, right = (_truth(child, frame, source) for child in node.arguments)
        return join(left, right)
    if node.kind == "binary" and node.value in COMPARING:
        return _compare(node, frame, source)
    if node.kind == "binary" and node.value in BELONGING:
        return _belongs(node, frame, source)
    if node.kind == "name" and node.value not in CONSTANTS and _is_boolean(frame[str(node.value)]):
        return frame[str(node.value)].fillna(False).to_numpy(dtype=bool)
    raise mark(
        source,
        node.position,
        f"{deparse(node)!r} is neither true nor false; compare it with something.",
        CONDITION,
    )


def _compare(node: Node, frame: pd.DataFrame, source: str) -> np.ndarray:
    left: Any
    right: Any
    left, right = (_value(child, frame, source) for child in node.arguments)
    if not isinstance(left, pd.Series):
        if not isinstance(right, pd.Series):
            raise mark(source, node.position, "at least one side has to be a column.", CONDITION)
        flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
        operator = flipped.get(str(node.value), str(node.value))
        left, right = right, left
    else:
        operator = str(node.value)
    left, right = _comparable(left), _comparable(right)
    if operator in "<=>=" and operator != "==" and _is_text(left) != _is_text(right):
        raise mark(
            source,
            node.position,
            "text and numbers cannot be ordered; put text in quotes, numbers without.",
            CONDITION,
        )
    if _is_text(left) != _is_text(right):
        left, right = _as_text(left), _as_text(right)
    known = left.notna() & (right.notna() if isinstance(right, pd.Series) else True)
    return (getattr(left, COMPARING[operator])(right).astype(bool) & known).to_numpy(dtype=bool)


def _belongs(node: Node, frame: pd.DataFrame, source: str) -> np.ndarray:
    column, listed = node.arguments
    values = _value(column, frame, source)
    inside = listed.arguments if listed.kind in ("list", "parenthesis") else ()
    if (
        not isinstance(values, pd.Series)
        or not inside
        or any(n.kind not in ("text", "number") for n in inside)
    ):
        raise mark(source, node.position, "write a column, then a list, as in item in ('1', '2').", CONDITION)
    values = _comparable(values)
    found = _as_text(values).isin([_as_text(n.value) for n in inside])
    return ((~found if node.value == "not in" else found) & values.notna()).to_numpy(dtype=bool)


def _value(node: Node, frame: pd.DataFrame, source: str) -> Any:
    """Evaluate a node that has to be a column, a number or text."""
    if node.kind in ("number", "text"):
        return node.value
    if node.kind == "name":
        return CONSTANTS[str(node.value)] if node.value in CONSTANTS else frame[str(node.value)]
    if node.kind == "parenthesis":
        return _value(node.arguments[0], frame, source)
    if node.kind == "unary" and node.value in ("+", "-"):
        value = _numeric(node.arguments[0], frame, source)
        return -value if node.value == "-" else value
    if node.kind == "binary" and node.value in COMPUTING:
        left, right = (_numeric(child, frame, source) for child in node.arguments)
        if not isinstance(left, pd.Series) and not isinstance(right, pd.Series):
            left = pd.Series(left, index=frame.index)
        operation = COMPUTING[str(node.value)]
        if isinstance(left, pd.Series):
            return getattr(left, operation)(right)
        return getattr(right, f"r{operation}")(left)
    raise mark(source, node.position, f"{deparse(node)!r} is not allowed in a condition.", CONDITION)


def _numeric(node: Node, frame: pd.DataFrame, source: str) -> pd.Series | float:
    value = _value(node, frame, source)
    if _is_text(value) or isinstance(value, bool):
        raise mark(source, node.position, f"{deparse(node)!r} is not a number.", CONDITION)
    return value


def _comparable(value: Any) -> Any:
    """Return categories as plain values, so that order means number or alphabet."""
    if isinstance(value, pd.Series) and isinstance(value.dtype, pd.CategoricalDtype):
        return value.astype(value.cat.categories.dtype)
    return value


def _is_text(value: Any) -> bool:
    if isinstance(value, pd.Series):
        return not pd.api.types.is_numeric_dtype(value) and not _is_boolean(value)
    return isinstance(value, str)


def _as_text(value: Any) -> Any:
    """Write numbers and booleans as R would, so that item == '1' finds 1."""
    if isinstance(value, pd.Series):
        if _is_text(value):
            return value.astype(object)
        return value.map(_as_text, na_action="ignore").astype(object)
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    return value if isinstance(value, str) else f"{float(value):.15g}"


__all__ = ["FormulaError", "rows_where"]
