"""The designs that an item set can declare, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from psymem.data.items import agreement_design, attraction_design
from psymem.data.items.format import Problem, Stimulus

Held = tuple[list[Stimulus], list[Problem]]


@dataclass(frozen=True)
class Design:
    """A design: its factors, the order of its conditions ((): that of the file), and what holds a set to it.

    `fixed` says that the conditions determine the factors, whatever the file's columns hold.
    """

    factors: tuple[str, ...]
    conditions: tuple[str, ...]
    fixed: bool
    hold: Callable[[Sequence[Stimulus], str, list[str]], Held]


DESIGNS = {
    attraction_design.DESIGN: Design(
        attraction_design.FACTORS,
        tuple(attraction_design.CONDITIONS),
        fixed=True,
        hold=attraction_design.hold_to_design,
    ),
    agreement_design.DESIGN: Design(
        agreement_design.FACTORS, (), fixed=False, hold=agreement_design.hold_to_design
    ),
}
NAMED = " or ".join(repr(name) for name in DESIGNS)
"""The names, for messages."""


def order_of(design: str | None) -> tuple[str, ...] | None:
    """Return the order of the conditions, None where it is that of the file."""
    return (DESIGNS[design].conditions or None) if design else None
