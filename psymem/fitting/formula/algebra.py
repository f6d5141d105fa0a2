"""The algebra of formulas as R defines it: ``+ - : * / ^`` over terms, each a set of factors."""

from __future__ import annotations

from dataclasses import dataclass

from psymem.fitting.formula.expression import Node

Term = frozenset[str]
INTERCEPT: Term = frozenset()


@dataclass(frozen=True)
class Sum:
    """Terms in order of appearance; `dropped` says that the intercept was taken away (``0 +``, ``- 1``)."""

    terms: tuple[Term, ...]
    dropped: bool = False

    def plus(self, other: Sum) -> Sum:
        """Terms of both; what is said later about the intercept holds."""
        terms = dict.fromkeys(self.terms + other.terms)
        if other.dropped:
            terms.pop(INTERCEPT, None)
        return Sum(tuple(terms), other.dropped or (self.dropped and INTERCEPT not in other.terms))

    def minus(self, other: Sum) -> Sum:
        """Terms of self that other lacks; ``- 1`` takes the intercept away and ``- 0`` gives it back."""
        if other.dropped:
            return self.plus(Sum((INTERCEPT,)))
        left = tuple(t for t in self.terms if t not in other.terms)
        return Sum(left, self.dropped or INTERCEPT in other.terms)

    def times(self, other: Sum) -> Sum:
        """Every term of self joined with every one of other: ``a:b``."""
        return Sum(tuple(dict.fromkeys(a | b for a in self.terms for b in other.terms)))


def terms_of(node: Node) -> tuple[Term, ...]:
    """Return the terms of a formula's right side, the intercept first unless it was dropped, then by degree."""
    found = Sum((INTERCEPT,)).plus(_sum(node))
    return tuple(sorted(found.terms, key=len))


def _sum(node: Node) -> Sum:
    """Evaluate names, the numbers 0 and 1, and the operators between them."""
    if node.kind == "parenthesis":
        return _sum(node.arguments[0])
    if node.kind == "number":
        return Sum((INTERCEPT,)) if node.value == 1 else Sum((), dropped=True)
    if node.kind == "name":
        return Sum((frozenset((str(node.value),)),))
    if node.value == "^":
        base = power = _sum(node.arguments[0])
        for _ in range(int(node.arguments[1].value) - 1):
            power = power.times(base)
        return power
    left, right = (_sum(one) for one in node.arguments)
    if node.value == "+":
        return left.plus(right)
    if node.value == "-":
        return left.minus(right)
    if node.value == "/":
        return left.plus(Sum((frozenset().union(*left.terms),)).times(right))
    joined = left.times(right)
    return joined if node.value == ":" else left.plus(right).plus(joined)
