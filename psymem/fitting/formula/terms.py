"""lme4 formulas: response, fixed terms and random-effect bars.

The algebra (``*``, ``/``, ``^``, ``-``) is in `psymem.fitting.formula.algebra`; the bars are split and expanded here:
``(1 | a/b)`` into ``(1 | a)`` and ``(1 | b:a)``, ``(1 + x || g)`` into ``(1 | g)`` and ``(0 + x | g)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from psymem.errors import FitError, FormulaError
from psymem.fitting.formula.algebra import terms_of
from psymem.fitting.formula.expression import Node, deparse, mark, names, parse

ALGEBRA = frozenset({"+", "-", "*", "/", ":", "^", "**"})
BARS = frozenset({"|", "||"})


@dataclass(frozen=True)
class Terms:
    """The right-hand side of a formula without bars, or the left side of a bar.

    Parameters
    ----------
    factors
        Every expression that occurs, in order of appearance.
    terms
        Each term as indices into `factors`; ``()`` is the intercept, always first if present.
    """

    factors: tuple[Node, ...]
    terms: tuple[tuple[int, ...], ...]

    @property
    def intercept(self) -> bool:
        """Whether the intercept is among the terms."""
        return () in self.terms


@dataclass(frozen=True)
class Bar:
    """One random-effect term after expansion: columns inside the bar and grouping columns."""

    terms: Terms
    group: tuple[str, ...]

    @property
    def name(self) -> str:
        """The grouping factor as lme4 prints it: ``"b:a"`` for a/b."""
        return ":".join(self.group)


@dataclass(frozen=True)
class ParsedFormula:
    """A formula taken apart."""

    source: str
    response: Node
    fixed: Terms
    bars: tuple[Bar, ...]
    offsets: tuple[Node, ...] = ()

    @property
    def counts(self) -> tuple[Node, Node] | None:
        """Successes and failures of a response ``cbind(successes, failures)``; None for other responses."""
        if self.response.kind != "call" or self.response.value != "cbind":
            return None
        first, second = self.response.arguments
        return first, second

    @property
    def columns(self) -> list[str]:
        """Every column the formula needs, in order of appearance."""
        found = names(self.response) + self.predictors
        for bar in self.bars:
            found += bar.group
        return list(dict.fromkeys(found))

    @property
    def predictors(self) -> list[str]:
        """Columns of the fixed part, of offsets and of the left sides of bars."""
        bars = [factor for bar in self.bars for factor in bar.terms.factors]
        nodes = [*self.fixed.factors, *self.offsets, *bars]
        return list(dict.fromkeys(name for node in nodes for name in names(node)))


@lru_cache(maxsize=512)
def parse_formula(source: str) -> ParsedFormula:
    """Take `source` apart.

    Raises
    ------
    FormulaError
        If it does not parse, has no response, or holds something that is not understood; the position is marked.
    """
    tree = parse(source)
    if tree.kind != "binary" or tree.value != "~":
        advice = "write 'response ~ predictors', as in 'y ~ x + (1 | item)'."
        problem = (
            f"there is no response before '~'; {advice}" if tree.value == "~" else f"'~' is missing; {advice}"
        )
        raise mark(source, tree.position if tree.value == "~" else 0, problem)
    response, right = tree.arguments
    if (
        second := next(
            (n for n in tree.walk() if n is not tree and n.value == "~" and n.kind != "text"), None
        )
    ) is not None:
        raise mark(source, second.position, "a formula has one '~' only.")
    _check_counts(response, source)
    fixed, bars = _split(right, source)
    fixed, offsets = _take_offsets(fixed, source)
    expanded = tuple(one for bar in bars for one in _expand_bar(bar, source))
    return ParsedFormula(source, response, _fixed_terms(fixed, bool(bars), source), expanded, tuple(offsets))


def _check_counts(response: Node, source: str) -> None:
    """Raise FormulaError for a cbind() that is not the whole left-hand side with two arguments."""
    for node in response.walk():
        if (
            node.kind == "call"
            and node.value == "cbind"
            and (node is not response or len(node.arguments) != 2)
        ):
            raise mark(
                source,
                node.position,
                "cbind() is the whole left-hand side and has two counts, as in 'cbind(correct, wrong) ~ x'.",
            )


def _take_offsets(node: Node | None, source: str) -> tuple[Node | None, list[Node]]:
    """Separate what ``offset()`` holds, which may only be added, from the fixed part."""
    if node is None:
        return None, []
    if node.kind == "call" and node.value == "offset":
        if len(node.arguments) != 1:
            raise mark(source, node.position, "offset() holds one expression, as in offset(log(seconds)).")
        return None, [node.arguments[0]]
    if node.kind == "binary" and node.value == "+":
        left, found = _take_offsets(node.arguments[0], source)
        right, more = _take_offsets(node.arguments[1], source)
        both = [one for one in (left, right) if one is not None]
        joined = Node("binary", "+", tuple(both), node.position) if len(both) == 2 else None
        return joined or (both[0] if both else None), found + more
    if node.kind == "binary" and node.value == "-":
        left, found = _take_offsets(node.arguments[0], source)
        right = node.arguments[1]
        rest = (
            Node("unary", "-", (right,), node.position)
            if left is None
            else Node("binary", "-", (left, right), node.position)
        )
        return rest, found
    if node.kind == "parenthesis":
        inside, found = _take_offsets(node.arguments[0], source)
        return (Node("parenthesis", "", (inside,), node.position) if inside is not None else None), found
    return node, []


def _fixed_terms(fixed: Node | None, has_bars: bool, source: str) -> Terms:
    terms = expand(fixed, source) if fixed is not None else Terms((), ((),))
    if terms.terms:
        return terms
    if has_bars:
        raise FitError(
            f"The formula {source!r} has random effects but no fixed part. Keep the intercept: replace '0 +' or '- 1' "
            "by '1 +', so that the random effects vary around an estimated mean."
        )
    raise FitError(f"The formula {source!r} has nothing to estimate; write at least 'y ~ 1'.")


def _split(node: Node, source: str) -> tuple[Node | None, list[Node]]:
    """Separate the bars, which may only be added, from the fixed part."""
    if node.kind == "binary" and node.value in BARS:
        raise mark(source, node.position, "put random effects in parentheses, as in '(1 | item)'.")
    if node.kind == "parenthesis":
        inside = node.arguments[0]
        if inside.kind == "binary" and inside.value in BARS:
            return None, [inside]
        fixed, bars = _split(inside, source)
        return (Node("parenthesis", "", (fixed,), node.position) if fixed is not None else None), bars
    if node.kind == "binary" and node.value in ("+", "-"):
        left, left_bars = _split(node.arguments[0], source)
        right, right_bars = _split(node.arguments[1], source)
        if node.value == "-" and right_bars:
            raise mark(source, node.position, "random effects can be added, not subtracted.")
        if left is None and node.value == "-" and right is not None:
            return Node("unary", "-", (right,), node.position), left_bars
        both = [one for one in (left, right) if one is not None]
        joined = Node("binary", node.value, tuple(both), node.position) if len(both) == 2 else None
        return joined or (both[0] if both else None), left_bars + right_bars
    for inner in node.walk():
        if inner.kind == "binary" and inner.value in BARS:
            raise mark(source, inner.position, "random effects can be added with '+' only.")
    return node, []


def _expand_bar(bar: Node, source: str) -> list[Bar]:
    """Expand nesting and ``||``."""
    left, right = bar.arguments
    if any(n.kind == "binary" and n.value in BARS for n in left.walk()):
        raise mark(source, bar.position, "a random-effect term has one bar only.")
    terms = expand(left, source)
    if not terms.terms:
        raise mark(source, left.position, "there is nothing to vary: the left side of this bar is empty.")
    parts = [terms] if bar.value == "|" else [Terms(terms.factors, (term,)) for term in terms.terms]
    return [Bar(part, group) for group in _groups(right, source) for part in parts]


def _groups(node: Node, source: str) -> list[tuple[str, ...]]:
    """Return the grouping factors right of a bar: a/b is b:a and a, as in lme4."""
    if node.kind == "name":
        return [(str(node.value),)]
    if node.kind == "parenthesis":
        return _groups(node.arguments[0], source)
    if node.kind == "binary" and node.value == ":":
        left, right = (_groups(child, source) for child in node.arguments)
        return [left[0] + right[0]]
    if node.kind == "binary" and node.value == "/":
        left, right = (_groups(child, source) for child in node.arguments)
        return [right[0] + left[0], *left]
    if node.kind == "binary" and node.value == "+":
        return [group for child in node.arguments for group in _groups(child, source)]
    raise mark(
        source,
        node.position,
        "a grouping factor is a column, 'a:b' or 'a/b'; make other groups a column first.",
    )


def expand(node: Node, source: str) -> Terms:
    """Expand formula algebra into terms, main effects before interactions as R orders them."""
    factors: list[Node] = []
    plain = _placeholders(node, source, factors)
    return Terms(tuple(factors), _expand_algebra(plain))


def _placeholders(node: Node, source: str, factors: list[Node]) -> str:  # noqa: C901 - one case after the other
    """Write `node` with every expression that is not algebra replaced by ``v<k>``."""
    _refuse_numbers(node, source)
    if node.kind == "binary" and node.value in ALGEBRA:
        if node.value in ("^", "**"):
            base, exponent = node.arguments
            return f"({_placeholders(base, source, factors)} ^ {exponent.value:g})"
        left, right = (_placeholders(child, source, factors) for child in node.arguments)
        if node.value in ("+", "-"):
            return f"{left} {node.value} {right}"
        return f"({left} {node.value} {right})"
    if node.kind == "parenthesis":
        return f"({_placeholders(node.arguments[0], source, factors)})"
    if node.kind == "unary" and node.value in ("+", "-"):
        return f"1 {node.value} {_placeholders(node.arguments[0], source, factors)}"
    if node.kind == "number":
        return f"{node.value:g}"
    if node.kind == "name" and node.value == ".":
        raise mark(source, node.position, "'.' (all other columns) is not supported; name the columns.")
    if node.kind == "call" and node.value == "offset":
        raise mark(source, node.position, "offset() can be added to the fixed part only.")
    if node.value == "%in%":
        raise mark(source, node.position, "'%in%' is not supported; write 'a:b' or 'a/b'.")
    if node.kind not in ("name", "call"):
        raise mark(
            source, node.position, f"{deparse(node)!r} is not a term; wrap arithmetic in I(), as in I(x > 5)."
        )
    if node not in factors:
        factors.append(node)
    return f"v{factors.index(node)}"


def _refuse_numbers(node: Node, source: str) -> None:
    """Raise FormulaError for a number that is neither a term (0, 1) nor the exponent of a power."""
    if node.kind == "number" and node.value not in (0, 1):
        raise mark(
            source, node.position, "a number other than 0 and 1 is not a term; wrap arithmetic in I()."
        )
    if node.kind != "binary" or node.value not in (*ALGEBRA, "^", "**") or node.value in ("+", "-"):
        return
    left, right = node.arguments
    if node.value in ("^", "**"):
        if right.kind != "number" or float(right.value) < 1 or float(right.value) % 1:
            raise mark(
                source,
                node.position,
                f"the exponent {deparse(right)!r} is not a whole number from 1 on; wrap arithmetic in I(), as in "
                "I(x^0.5).",
            )
    elif "number" in (left.kind, right.kind):
        raise mark(
            source,
            node.position,
            f"'{node.value}' joins columns, and one side of it is a number; wrap arithmetic in I(), as in I(x / 2).",
        )


@lru_cache(maxsize=512)
def _expand_algebra(plain: str) -> tuple[tuple[int, ...], ...]:
    """Return terms as sorted factor indices, the intercept first."""
    return tuple(tuple(sorted(int(name[1:]) for name in term)) for term in terms_of(parse(plain)))


__all__ = ["Bar", "FormulaError", "ParsedFormula", "Terms", "expand", "parse_formula"]
