"""Reading what users write in formulas and row conditions: a small parser for R expressions.

It knows R's operators and their precedence, so ``1 + x | g`` and names such as ``reading.time`` mean what they mean
in R. Nothing that is read is ever executed as code. Errors mark the position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from psymem.errors import FormulaError

TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?L?)
    | (?P<name>[^\W\d][\w.]*|\.[^\W\d][\w.]*|\.)
    | (?P<quoted>`[^`]+`)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<operator>%in%|\|\||&&|\*\*|<=|>=|==|!=|[-+*/:^~|&!<>=(),\[\]])
    )""",
    re.VERBOSE,
)

# operator -> (binding power on the left, on the right); larger binds tighter, as in R's ?Syntax
BINARY = {
    "~": (10, 11), "||": (20, 21), "|": (20, 21), "or": (20, 21), "&&": (30, 31), "&": (30, 31), "and": (30, 31),
    "==": (50, 51), "!=": (50, 51), "<": (50, 51), ">": (50, 51), "<=": (50, 51), ">=": (50, 51),
    "in": (50, 51), "not in": (50, 51),
    "+": (60, 61), "-": (60, 61), "*": (70, 71), "/": (70, 71), "%in%": (80, 81), ":": (90, 91),
    "^": (111, 110), "**": (111, 110),
}  # fmt: skip
PREFIX = {"~": 10, "!": 40, "not": 40, "-": 100, "+": 100}
WORDS = frozenset({"and", "or", "not", "in"})
CONSTANTS = {"TRUE": True, "FALSE": False, "True": True, "False": False}


@dataclass(frozen=True)
class Node:
    """One node of the syntax tree.

    Parameters
    ----------
    kind
        ``number``, ``name``, ``text``, ``call``, ``unary``, ``binary``, ``parenthesis`` or ``list``.
    value
        The number, name, text, function or operator.
    arguments
        Child nodes; keyword arguments of a call are ``binary`` nodes with ``=``.
    position
        Where it starts in the source.
    """

    kind: str
    value: str | float = ""
    arguments: tuple[Node, ...] = ()
    position: int = field(default=0, compare=False)

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, from left to right."""
        yield self
        for child in self.arguments:
            yield from child.walk()


def names(node: Node) -> list[str]:
    """Return the column names in `node`, each once, in the order they appear."""
    return list(dict.fromkeys(_names(node)))


def _names(node: Node) -> Iterator[str]:
    if node.kind == "name" and node.value not in CONSTANTS:
        yield str(node.value)
    arguments = node.arguments[:1] if node.kind == "call" and node.value == "C" else node.arguments
    for child in arguments[1:] if node.value == "=" else arguments:
        yield from _names(child)


def deparse(node: Node) -> str:
    """Write `node` as R's deparse does: ``poly(x, 2)``, ``I(x^2)``, ``log(x + 1)``."""
    children = [deparse(child) for child in node.arguments]
    if node.kind == "number":
        return f"{node.value:.15g}"
    if node.kind == "name":
        name = str(node.value)
        return name if re.fullmatch(r"(?:[^\W\d]|\.(?!\d))[\w.]*", name) else f"`{name}`"
    if node.kind == "text":
        return f'"{node.value}"'
    if node.kind == "call":
        return f"{node.value}({', '.join(children)})"
    if node.kind == "list":
        return f"c({', '.join(children)})"
    if node.kind == "parenthesis":
        return f"({children[0]})"
    if node.kind == "unary":
        return f"{node.value}{children[0]}"
    operator = "^" if node.value == "**" else str(node.value)
    return (
        f"{children[0]}{operator}{children[1]}"
        if operator in "^:/"
        else f"{children[0]} {operator} {children[1]}"
    )


def mark(source: str, position: int, problem: str, what: str = "formula") -> FormulaError:
    """Return the error that shows `source` with a mark under `position`."""
    return FormulaError(
        f"The {what} does not parse at position {position + 1}: {problem}\n    {source}\n    {' ' * position}^"
    )


@lru_cache(maxsize=512)
def parse(source: str, what: str = "formula") -> Node:
    """Parse `source`.

    Parameters
    ----------
    source
        A formula or a condition.
    what
        ``"formula"`` or ``"condition"``, as the message calls it. In a condition ``and``, ``or``, ``not`` and ``in``
        are operators.

    Raises
    ------
    FormulaError
        With the position marked.
    """
    try:
        return _Parser(source, what).parse()
    except RecursionError:
        raise mark(source[:60], 0, "it is nested too deeply.", what) from None


class _Parser:
    """Precedence climbing over a list of (kind, text, position)."""

    def __init__(self, source: str, what: str) -> None:
        self.source, self.what, self.next = source, what, 0
        self.tokens = list(self._tokens())

    def parse(self) -> Node:
        """Parse the whole source."""
        if not self.source.strip():
            raise mark(self.source, 0, f"the {self.what} is empty.", self.what)
        node = self.expression(0)
        kind, text, position = self.tokens[self.next]
        if kind != "end":
            expected = "an operator" if text != ")" else "the end, since no parenthesis is open"
            hint = " Equality is written '=='." if text == "=" else ""
            hint = self._quoting_hint(kind, position) or hint
            raise mark(self.source, position, f"expected {expected}, found {text!r}.{hint}", self.what)
        return node

    def _quoting_hint(self, kind: str, position: int) -> str:
        """Say how to write a name such as ``1st`` or ``my factor``, if that may be what stands around `position`."""
        if kind != "name" or (self.what == "formula" and "~" not in self.source[:position]):
            return ""
        before = re.search(r"[\w.]+ *$", self.source[:position])
        after = re.match(r"[\w.]+", self.source[position:])
        if before is None or after is None:
            return ""
        name = before[0] + after[0]
        quotes = f"; if it is text, in quotes: '{name}'" if self.what == "condition" else ""
        return f" If this is a column name, put it in backquotes: `{name}`{quotes}."

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        position = 0
        end = len(self.source.rstrip())
        while position < end:
            match = TOKEN.match(self.source, position)
            if match is None:
                blank = len(self.source[position:]) - len(self.source[position:].lstrip())
                character = self.source[position + blank]
                problem = (
                    "this quote is not closed."
                    if character in "\"'`"
                    else f"{character!r} has no meaning here."
                )
                raise mark(self.source, position + blank, problem, self.what)
            kind = str(match.lastgroup)
            text = match.group(kind)
            word = self.what == "condition" and text in WORDS
            yield "operator" if word else kind, text, match.start(kind)
            position = match.end()
        yield "end", "the end", end

    def take(self) -> tuple[str, str, int]:
        """Return the next token and step past it."""
        token = self.tokens[self.next]
        self.next = min(self.next + 1, len(self.tokens) - 1)
        return token

    def expect(self, text: str, opened: int) -> None:
        """Step past `text`, or say what it should have closed."""
        kind, found, position = self.take()
        if kind != "operator" or found != text:
            if kind == "end":
                raise mark(self.source, opened, "this parenthesis is not closed.", self.what)
            hint = self._quoting_hint(kind, position)
            raise mark(
                self.source, position, f"expected an operator or {text!r}, found {found!r}.{hint}", self.what
            )

    def operator(self) -> str | None:
        """Return the binary operator that comes next, if one does."""
        kind, text, _ = self.tokens[self.next]
        if kind != "operator":
            return None
        if text == "not" and self.tokens[self.next + 1][1] == "in":
            return "not in"
        return text if text in BINARY else None

    def expression(self, power: int) -> Node:
        """Parse an expression whose operators bind at least as tightly as `power`."""
        left = self.operand()
        while (operator := self.operator()) is not None and BINARY[operator][0] >= power:
            position = self.take()[2]
            if operator == "not in":
                self.take()
            right = self.expression(BINARY[operator][1])
            left = Node("binary", operator, (left, right), position)
        return left

    def operand(self) -> Node:
        """Parse a number, name, text, call, parenthesis or prefix operator."""
        kind, text, position = self.take()
        if kind == "number":
            return Node("number", float(text.rstrip("L")), (), position)
        if kind == "text":
            return Node("text", text[1:-1], (), position)
        if kind == "quoted":
            return Node("name", text[1:-1], (), position)
        if kind == "name":
            return self.name(text, position)
        if text in ("(", "["):
            return self.parenthesis(text, position)
        if kind == "operator" and text in PREFIX:
            return Node("unary", "!" if text == "not" else text, (self.expression(PREFIX[text]),), position)
        raise mark(
            self.source,
            position,
            f"expected a name, a number or '(', found {text if kind == 'end' else repr(text)}.",
            self.what,
        )

    def name(self, text: str, position: int) -> Node:
        """Parse a name, or a call if a parenthesis follows."""
        if self.tokens[self.next][1] != "(" or self.tokens[self.next][0] != "operator":
            return Node("name", text, (), position)
        opened = self.take()[2]
        arguments = self.arguments(")", opened)
        return (
            Node("list", "", arguments, position) if text == "c" else Node("call", text, arguments, position)
        )

    def parenthesis(self, text: str, position: int) -> Node:
        """Parse what stands in parentheses; more than one value makes a list."""
        if text == "[":
            return Node("list", "", self.arguments("]", position), position)
        arguments = self.arguments(")", position)
        if len(arguments) == 1:
            return Node("parenthesis", "", arguments, position)
        if not arguments or self.what != "condition":
            raise mark(self.source, position, "these parentheses have to hold one expression.", self.what)
        return Node("list", "", arguments, position)

    def arguments(self, closing: str, opened: int) -> tuple[Node, ...]:
        """Parse comma-separated arguments up to `closing`."""
        found: list[Node] = []
        while self.tokens[self.next][1] != closing or self.tokens[self.next][0] != "operator":
            argument = self.expression(0)
            if self.tokens[self.next][1] == "=" and argument.kind == "name":
                position = self.take()[2]
                argument = Node("binary", "=", (argument, self.expression(0)), position)
            found.append(argument)
            if self.tokens[self.next][1] != ",":
                break
            self.take()
        self.expect(closing, opened)
        return tuple(found)
