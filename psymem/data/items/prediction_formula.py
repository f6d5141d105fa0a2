"""Prediction formulas of SyntaxGym suites: ``(7;%match%) < (7;%mismatch%) & [...]``, parsed and computed.

A region of a condition is ``(NUMBER;%CONDITION%)``; ``(*;%CONDITION%)`` is the whole sentence. Groups stand in
square brackets, as in the published suites, or in parentheses. Operators, the tightest first: a sign; ``*`` and
``/``; ``+`` and ``-``; ``<``, ``>``, ``<=``, ``>=`` and ``=``; ``&``; ``|``. Operators of one kind are computed from left to
right; comparisons cannot be chained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from psymem.errors import SuiteError

EQUALITY_RELATIVE, EQUALITY_BITS = 1e-5, 1e-3
"""``a = b`` (and so ``a <= b`` and ``a >= b``) holds if ``|a - b| <= EQUALITY_BITS + EQUALITY_RELATIVE * |b|``, the
tolerance of SyntaxGym."""

TIGHTNESS = {"|": 1, "&": 2, "<": 3, ">": 3, "=": 3, "<=": 3, ">=": 3, "+": 4, "-": 4, "*": 5, "/": 5}
COMPARISONS, CONNECTIVES = ("<", ">", "=", "<=", ">="), ("&", "|")
CLOSING = {"(": ")", "[": "]"}
TOKEN = re.compile(
    r"""\s*(?:
      (?P<region>\(\s*(?P<region_number>\d+|\*)\s*;\s*%(?P<condition>[^%]+)%\s*\))
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<symbol>[<>]=|[-+*/&|<>=()\[\]])
    )""",
    re.VERBOSE | re.ASCII,
)

Values = Mapping[tuple[str, int | None], np.ndarray]
"""(condition, region number) to one value in bits per item; the number None is the whole sentence."""


@dataclass(frozen=True)
class Region:
    """A region of a condition; `number` None is the whole sentence, `position` counts characters from 0."""

    number: int | None
    condition: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Number:
    """A number, not negative."""

    value: float


@dataclass(frozen=True)
class Negative:
    """The opposite of a quantity."""

    operand: Expression


@dataclass(frozen=True)
class Operation:
    """Two expressions and the operator between them."""

    operator: str
    left: Expression
    right: Expression


Expression = Region | Number | Negative | Operation


def parse_formula(source: str) -> Expression:
    """Parse a prediction formula.

    Raises
    ------
    SuiteError
        If it does not parse, or states nothing that is true or false; the message marks the position.
    """
    try:
        return _Parser(source).parse()
    except RecursionError:
        raise _mark(source[:60], 0, "it is nested too deeply.") from None


def render(expression: Expression) -> str:
    """Write an expression as a formula, groups in square brackets; `parse_formula` gives it back."""
    if isinstance(expression, Region):
        return f"({'*' if expression.number is None else expression.number};%{expression.condition}%)"
    if isinstance(expression, Number):
        return repr(expression.value).removesuffix(".0")
    if isinstance(expression, Negative):
        return f"-{_grouped(expression.operand)}"
    return f"{_grouped(expression.left)} {expression.operator} {_grouped(expression.right)}"


def regions(expression: Expression) -> Iterator[Region]:
    """Yield every region that the expression mentions, from left to right."""
    if isinstance(expression, Region):
        yield expression
    elif isinstance(expression, Negative):
        yield from regions(expression.operand)
    elif isinstance(expression, Operation):
        yield from regions(expression.left)
        yield from regions(expression.right)


def evaluate(expression: Expression, values: Values) -> np.ndarray:
    """Compute an expression for many items at once.

    Parameters
    ----------
    expression
        From `parse_formula`.
    values
        Surprisal of each region that the expression mentions, (n_items,) bits.

    Returns
    -------
    numpy.ndarray
        (n_items,) float: a quantity; for what is true or false 1 or 0. NaN where a part of it is not defined.
    """
    if isinstance(expression, Region):
        return np.asarray(values[expression.condition, expression.number], dtype=np.float64)
    if isinstance(expression, Number):
        return np.asarray(expression.value, dtype=np.float64)
    if isinstance(expression, Negative):
        return -evaluate(expression.operand, values)
    left, right = evaluate(expression.left, values), evaluate(expression.right, values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _compute(expression.operator, left, right)


def _compute(operator: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Apply one operator; NaN stays NaN."""
    arithmetic = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
    connective = {"&": np.minimum, "|": np.maximum}  # of 0 and 1
    if operator in arithmetic or operator in connective:
        return (arithmetic | connective)[operator](left, right)
    holds = np.zeros(np.broadcast(left, right).shape, dtype=bool)
    if "=" in operator:
        holds = np.abs(left - right) <= EQUALITY_BITS + EQUALITY_RELATIVE * np.abs(right)
    if operator[0] in "<>":
        holds = holds | (left < right if operator[0] == "<" else left > right)
    return np.where(np.isnan(left) | np.isnan(right), np.nan, holds.astype(np.float64))


def _grouped(expression: Expression) -> str:
    text = render(expression)
    return f"[{text}]" if isinstance(expression, (Operation, Negative)) else text


def _is_statement(expression: Expression) -> bool:
    """Whether the expression is true or false rather than a quantity."""
    return isinstance(expression, Operation) and expression.operator in (*COMPARISONS, *CONNECTIVES)


def _mark(source: str, position: int, problem: str) -> SuiteError:
    return SuiteError(
        f"The formula does not parse at character {position + 1}: {problem}\n    {source}\n    {' ' * position}^"
    )


class _Parser:
    """Precedence climbing over a list of (kind, text or region, position)."""

    def __init__(self, source: str) -> None:
        self.source = re.sub(r"\s", " ", source)  # one line, so that the mark stands under its place
        self.tokens = list(self._tokenize())
        self.at = 0

    def parse(self) -> Expression:
        """Parse the whole formula."""
        expression = self._expression(1)
        kind, text, position = self.tokens[self.at]
        if kind != "end":
            raise self._error(position, f"{text!r} is not expected here; is an operator missing?")
        if not _is_statement(expression):
            raise self._error(
                0, "it is a quantity; a prediction compares two of them with <, >, <=, >= or =."
            )
        return expression

    def _tokenize(self) -> Iterator[tuple[str, str, int]]:
        position, end = 0, len(self.source.rstrip())
        while position < end:
            match = TOKEN.match(self.source, position)
            if match is None:
                at = position + len(self.source[position:]) - len(self.source[position:].lstrip())
                raise self._error(
                    at, f"{self.source[at]!r} has no meaning here.{_region_hint(self.source[at])}"
                )
            kind = str(match.lastgroup if match["region"] is None else "region")
            yield kind, match[kind], match.start(kind)
            position = match.end()
        yield "end", "", end

    def _expression(self, loosest: int) -> Expression:
        left = self._operand()
        while True:
            _, operator, position = self.tokens[self.at]
            tightness = TIGHTNESS.get(operator, 0)
            if tightness < loosest:
                return left
            self.at += 1
            self._check_side(operator, left, position)
            right = self._expression(tightness + 1)
            self._check_side(operator, right, position)
            left = Operation(operator, left, right)

    def _operand(self) -> Expression:
        kind, text, position = self.tokens[self.at]
        self.at += 1
        if kind == "region":
            return self._region(position)
        if kind == "number":
            return Number(float(text))
        if text in CLOSING:
            return self._group(text, position)
        if text == "-":
            operand = self._operand()
            if _is_statement(operand):
                raise self._error(position, "'-' needs a quantity, but a comparison follows it.")
            return Negative(operand)
        what = "the formula ends" if kind == "end" else f"{text!r} stands"
        raise self._error(position, f"{what} where a region, a number or a group was expected.")

    def _region(self, position: int) -> Region:
        match = TOKEN.match(self.source, position)
        assert match is not None
        number = None if match["region_number"] == "*" else int(match["region_number"])
        return Region(number, match["condition"].strip(), position)

    def _group(self, opening: str, position: int) -> Expression:
        inside = self._expression(1)
        kind, text, end = self.tokens[self.at]
        if text != CLOSING[opening]:
            what = "the formula ends" if kind == "end" else f"{text!r} stands"
            place = f"the {opening!r} at character {position + 1}"
            raise self._error(end, f"{what} where {CLOSING[opening]!r} was expected to close {place}.")
        self.at += 1
        return inside

    def _check_side(self, operator: str, side: Expression, position: int) -> None:
        """Refuse a comparison where a quantity is needed, and the other way round."""
        if (operator in CONNECTIVES) == _is_statement(side):
            return
        if operator in CONNECTIVES:
            raise self._error(position, f"{operator!r} joins comparisons, but beside it is a quantity.")
        advice = " Write '[a < b] & [b < c]'." if operator in COMPARISONS else ""
        raise self._error(position, f"{operator!r} needs quantities, but beside it is a comparison.{advice}")

    def _error(self, position: int, problem: str) -> SuiteError:
        return _mark(self.source, position, problem)


def _region_hint(character: str) -> str:
    return " A region is written (NUMBER;%CONDITION%)." if character in ";%" else ""
