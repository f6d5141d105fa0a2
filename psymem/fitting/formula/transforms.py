"""Functions that may stand in a formula, with R's definitions, and their evaluation on columns.

Transforms that look at the data (``scale``, ``center``, ``poly``, ``ns``) store what they found, so that a prediction for
new rows uses the values of the rows that were fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.formula.contrasts import Contrast, as_contrast
from psymem.fitting.formula.expression import CONSTANTS, Node, deparse
from psymem.fitting.formula.splines import NaturalSpline, natural_spline


@dataclass(frozen=True)
class Factor:
    """A categorical variable: level of each row and the names of the levels in order."""

    codes: np.ndarray = field(repr=False)
    levels: tuple[str, ...]
    contrast: Contrast | None = None


@dataclass(frozen=True)
class Numbers:
    """One or more columns of numbers (n x k) and the suffixes R appends to their name."""

    matrix: np.ndarray = field(repr=False)
    suffixes: tuple[str, ...] = ("",)


Value = Factor | Numbers


@dataclass
class Columns:
    """Columns that expressions refer to, and what stateful transforms remember.

    Parameters
    ----------
    variables
        Column name to Factor or Numbers.
    rows
        Number of each row in the table the user gave, counted from 1, for messages.
    memory
        Deparsed call to what it found in the rows that were fitted; filled on first use.
    """

    variables: Mapping[str, Value]
    rows: np.ndarray
    memory: dict[str, Any] = field(default_factory=dict)

    def remember(self, node: Node, compute: Callable[[], Any]) -> Any:
        """Return what is remembered for `node`, computing it the first time."""
        key = deparse(node)
        if key not in self.memory:
            self.memory[key] = compute()
        return self.memory[key]


def evaluate(node: Node, columns: Columns) -> Value:
    """Evaluate an expression of a formula.

    Raises
    ------
    FitError
        For a category where a number is needed, or a value outside a function's domain; the row is named.
    UnknownNameError
        For a function that is not known.
    """
    if node.kind == "name" and node.value not in CONSTANTS:
        return columns.variables[str(node.value)]
    if node.kind == "call" and node.value in CATEGORIES:
        return _category(node, columns)
    if node.kind == "call" and node.value == "poly":
        return _poly(node, columns)
    if node.kind == "call" and node.value == "ns":
        return _natural_spline(node, columns)
    if node.kind == "call" and node.value == "I":
        return evaluate(_one(node), columns)
    if node.kind == "binary" and node.value in COMPARISONS:
        return _comparison(node, columns)
    return Numbers(number(node, columns)[:, None])


def number(node: Node, columns: Columns) -> np.ndarray:
    """Evaluate an expression that has to be one column of numbers."""
    if node.kind == "number":
        return np.full(len(columns.rows), float(node.value))
    if node.kind == "name" and node.value in CONSTANTS:
        return np.full(len(columns.rows), float(CONSTANTS[str(node.value)]))
    if node.kind == "parenthesis":
        return number(node.arguments[0], columns)
    if node.kind == "unary" and node.value in ("+", "-"):
        return number(node.arguments[0], columns) * (-1.0 if node.value == "-" else 1.0)
    if node.kind == "binary" and node.value in ARITHMETIC:
        left, right = (number(child, columns) for child in node.arguments)
        with np.errstate(all="ignore"):
            return ARITHMETIC[str(node.value)](left, right)
    if node.kind == "call" and node.value not in CATEGORIES and node.value not in ("poly", "ns", "I"):
        return _call(node, columns)
    if node.kind in ("name", "call") or node.value in COMPARISONS:
        return _single(evaluate(node, columns), node)
    raise FitError(f"{deparse(node)!r} cannot be computed in a formula; use numbers, columns and + - * / ^.")


def _single(value: Value, node: Node) -> np.ndarray:
    if isinstance(value, Factor):
        if value.levels == ("FALSE", "TRUE"):
            return value.codes.astype(float)
        shown = ", ".join(value.levels[:4]) + (", ..." if len(value.levels) > 4 else "")
        raise FitError(f"{deparse(node)!r} holds categories ({shown}) where numbers are needed.")
    if value.matrix.shape[1] != 1:
        raise FitError(f"{deparse(node)!r} has {value.matrix.shape[1]} columns where one is needed.")
    return value.matrix[:, 0]


def _call(node: Node, columns: Columns) -> np.ndarray:
    name = str(node.value)
    if name in ("scale", "center"):
        return _scale(node, columns)
    if name == "log" and len(node.arguments) == 2:
        base = node.arguments[1]
        base = base.arguments[1] if base.value == "=" else base
        inner = Node("call", "log", node.arguments[:1], node.position)
        return _call(inner, columns) / np.log(float(base.value))
    if name not in FUNCTIONS:
        known = [*FUNCTIONS, "scale", "center", "poly", "ns", "I", *CATEGORIES]
        raise UnknownNameError("function for formulas", name, known)
    function, allowed, domain = FUNCTIONS[name]
    values = number(_one(node), columns)
    wrong = ~allowed(values) & ~np.isnan(values)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        more = f" and {int(wrong.sum()) - 1} more" if wrong.sum() > 1 else ""
        raise FitError(
            f"{deparse(node)} needs {domain}; {deparse(_one(node))} is {values[first]:g} in row "
            f"{columns.rows[first]}{more}. Leave such rows out with where, or transform the column first."
        )
    return function(values)


def look_ahead(nodes: Iterable[Node], columns: Columns) -> None:
    """Let ``scale``, ``center`` and ``ns`` look at every row with a value, before incomplete rows are dropped, as R does."""
    for node in nodes:
        for call in node.walk():
            if call.kind == "call" and call.value in ("scale", "center") and call.arguments:
                _scale(call, columns)
            if call.kind == "call" and call.value == "ns" and call.arguments:
                _natural_spline(call, columns)


def _one(node: Node) -> Node:
    if len(node.arguments) != 1:
        raise FitError(
            f"{node.value}() takes one column in a formula; {deparse(node)!r} gives {len(node.arguments)}."
        )
    return node.arguments[0]


def _options(node: Node) -> dict[str, Node]:
    """Return keyword arguments by name."""
    return {str(a.arguments[0].value): a.arguments[1] for a in node.arguments if a.value == "="}


def _truth(node: Node | None, default: bool) -> bool:
    return default if node is None else CONSTANTS.get(str(node.value), default)


def _scale(node: Node, columns: Columns) -> np.ndarray:
    """R's scale(): centre, then divide by the standard deviation with n - 1."""
    values = number(node.arguments[0], columns)
    options = _options(node)

    def look() -> tuple[float, float]:
        known = values[~np.isnan(values)]
        mean = float(known.mean()) if _truth(options.get("center"), True) else 0.0
        if node.value == "center" or not _truth(options.get("scale"), True):
            return mean, 1.0
        sd = float(np.sqrt(((known - mean) ** 2).sum() / max(len(known) - 1, 1)))
        if sd == 0:
            raise FitError(
                f"{deparse(node)} cannot be computed: {deparse(node.arguments[0])} has the same value in every row."
            )
        return mean, sd

    mean, sd = columns.remember(node, look)
    return (values - mean) / sd


def _poly(node: Node, columns: Columns) -> Numbers:
    """R's poly(): orthogonal polynomials by the three-term recurrence, or raw powers."""
    plain = [a for a in node.arguments if a.value != "="]
    options = _options(node)
    degree_node = plain[1] if len(plain) > 1 else options.get("degree", Node("number", 1.0))
    values, degree = number(plain[0], columns), int(float(degree_node.value))
    if _truth(options.get("raw"), False):
        return Numbers(values[:, None] ** np.arange(1, degree + 1), tuple(str(k + 1) for k in range(degree)))
    if len(np.unique(values)) <= degree:
        raise FitError(f"{deparse(node)} needs more than {degree} different values of {deparse(plain[0])}.")
    centres, norms = columns.remember(node, lambda: _recurrence(values, degree))
    basis = _orthogonal(values, centres, norms)
    return Numbers(basis / np.sqrt(norms[2:]), tuple(str(k + 1) for k in range(degree)))


def _natural_spline(node: Node, columns: Columns) -> Numbers:
    """R's ns(x, df), ns(x, df = 3) or ns(x, knots = c(2, 5)); its knots are those of the rows that were fitted."""
    plain = [a for a in node.arguments if a.value != "="]
    options = _options(node)
    wrong = sorted(set(options) - {"df", "knots", "intercept"})
    if not plain or wrong or len(plain) > 2:
        what = f"has no option {wrong[0]!r}" if wrong else "takes a column, and df or knots"
        raise FitError(f"{deparse(node)}: ns() {what}, as in ns(x, df = 3) or ns(x, knots = c(2, 5)).")
    values = number(plain[0], columns)
    size = plain[1] if len(plain) > 1 else options.get("df", Node("number", 1.0))
    intercept = _truth(options.get("intercept"), False)
    if size.kind != "number" or float(size.value) < 1 + intercept or float(size.value) % 1:
        raise FitError(
            f"{deparse(node)}: df has to be a whole number from {1 + intercept} on, not {deparse(size)}."
        )
    knots = (
        tuple(number(k, Columns({}, np.zeros(1)))[0] for k in _listed(options["knots"]))
        if "knots" in options
        else None
    )
    spline = columns.remember(
        node,
        lambda: _checked(node, natural_spline(values, int(float(size.value)), knots, intercept=intercept)),
    )
    basis = spline(values)
    return Numbers(basis, tuple(str(k + 1) for k in range(basis.shape[1])))


def _listed(node: Node) -> tuple[Node, ...]:
    return node.arguments if node.kind == "list" else (node,)


def _checked(node: Node, spline: NaturalSpline) -> NaturalSpline:
    """Refuse knots that coincide or lie outside of the data."""
    low, high = spline.outer
    ordered = [low, *sorted(spline.inner), high]
    if any(b <= a for a, b in pairwise(ordered)):
        shown = ", ".join(f"{knot:g}" for knot in spline.inner)
        raise FitError(
            f"{deparse(node)}: its knots ({shown}) have to differ and lie between the smallest and the largest value, "
            f"{low:g} and {high:g}. Use fewer, or name others with knots = c(...)."
        )
    return spline


def _recurrence(values: np.ndarray, degree: int) -> tuple[list[float], np.ndarray]:
    """Return centres and squared norms (the first is 1) of the recurrence."""
    centres: list[float] = []
    norms = [1.0, float(len(values))]
    before, now = np.zeros_like(values), np.ones_like(values)
    for _ in range(degree):
        centres.append(float((values * now**2).sum() / (now**2).sum()))
        before, now = now, (values - centres[-1]) * now - norms[-1] / norms[-2] * before
        norms.append(float((now**2).sum()))
    return centres, np.asarray(norms)


def _orthogonal(values: np.ndarray, centres: list[float], norms: np.ndarray) -> np.ndarray:
    columns, before, now = [], np.zeros_like(values), np.ones_like(values)
    for k, centre in enumerate(centres):
        before, now = now, (values - centre) * now - norms[k + 1] / norms[k] * before
        columns.append(now)
    return np.column_stack(columns)


def number_labels(values: Iterable[Any]) -> list[str]:
    """Write numbers as R writes the levels of a factor: 1, 2.5."""
    return [f"{float(v):.15g}" for v in values]


def _category(node: Node, columns: Columns) -> Factor:
    """C(x), C(x, sum), factor(x): make categories, optionally with a coding."""
    value = evaluate(node.arguments[0], columns)
    if isinstance(value, Numbers):
        values = _single(value, node)
        levels = columns.remember(node, lambda: np.unique(values))
        codes = np.clip(np.searchsorted(levels, values), 0, len(levels) - 1)
        unseen = levels[codes] != values
        if unseen.any():
            first = int(np.flatnonzero(unseen)[0])
            raise FitError(
                f"{deparse(node)} has the value {values[first]:g} in row {columns.rows[first]}, which the fitted rows lack."
            )
        value = Factor(codes.astype(np.int32), tuple(number_labels(levels)))
    if len(node.arguments) > 1 and node.value == "C":
        return Factor(value.codes, value.levels, as_contrast(deparse(node), str(node.arguments[1].value)))
    return value


def _comparison(node: Node, columns: Columns) -> Factor:
    left, right = node.arguments
    if right.kind == "text":
        factor = evaluate(left, columns)
        if isinstance(factor, Factor) and node.value in ("==", "!="):
            same = np.asarray([level == right.value for level in factor.levels])[factor.codes]
            return Factor((same if node.value == "==" else ~same).astype(np.int32), ("FALSE", "TRUE"))
    result = COMPARISONS[str(node.value)](number(left, columns), number(right, columns))
    return Factor(result.astype(np.int32), ("FALSE", "TRUE"))


def _any(values: np.ndarray) -> np.ndarray:
    return np.ones(len(values), dtype=bool)


CATEGORIES = ("C", "factor", "as.factor")
ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power, "**": np.power,
}  # fmt: skip
COMPARISONS: dict[str, Callable[..., np.ndarray]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal,
}  # fmt: skip
FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray], Callable[[np.ndarray], np.ndarray], str]] = {
    "log": (np.log, lambda v: v > 0, "positive values"),
    "log2": (np.log2, lambda v: v > 0, "positive values"),
    "log10": (np.log10, lambda v: v > 0, "positive values"),
    "log1p": (np.log1p, lambda v: v > -1, "values above -1"),
    "sqrt": (np.sqrt, lambda v: v >= 0, "values of at least 0"),
    "exp": (np.exp, _any, ""),
    "abs": (np.abs, _any, ""),
}
"""Name -> function, test of its domain, the domain in words."""
