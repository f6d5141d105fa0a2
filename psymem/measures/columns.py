"""What the columns of measures are: label, unit, what a larger value means, what people do, and a head's own column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from psymem.registry import MEASURES


@dataclass(frozen=True)
class Column:
    """What a measure says about a column that it writes; tables, figures and reports take their words from here.

    Parameters
    ----------
    name
        The column's name, the unit at its end where it has one.
    label
        What an axis says, with the unit: "surprisal (bits)".
    larger
        What a larger value means, in a few words.
    unit
        "bits", "words", ...; "" for a pure number.
    in_words
        The measure in a sentence of a methods section; by default the label.
    attraction
        How attraction shows in it, always as a negative effect: "lower surprisal"; "" where people have no counterpart.
    """

    name: str
    label: str
    larger: str
    unit: str = ""
    in_words: str = ""
    attraction: str = ""

    @property
    def quantity(self) -> str:
        """The label without the unit."""
        return self.label.removesuffix(f" ({self.unit})")

    def of_head(self, layer: int, head: int) -> str:
        """Name of the column of one attention head: "attention_entropy_L4H3_bits"."""
        end = f"_{self.unit}" if self.unit and self.name.endswith(f"_{self.unit}") else ""
        return f"{self.name.removesuffix(end)}_L{layer}H{head}{end}"

    def of_heads(self, heads: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """Names of the columns of some heads; the column itself where none is chosen."""
        return tuple(self.of_head(*pair) for pair in heads) or (self.name,)


@cache
def known_columns() -> dict[str, Column]:
    """Name -> what every registered measure says about the columns it may write."""
    return {column.name: column for name in MEASURES.names() for column in MEASURES.load(name).facts}


def describe(column: str) -> Column | None:
    """Return what is known of a column, of one head or not; None for a column of the user's own."""
    return known_columns().get(split_column(column)[0])


def has_counterpart(column: str) -> bool:
    """Whether people's responses have a counterpart to this measure, so that attraction is a negative effect on it."""
    known = describe(column)
    return known is not None and known.attraction != ""


def split_column(column: str) -> tuple[str, str]:
    """Return a column's name without its head, and the head as users type it ("4:3"), "" if it has none."""
    found = re.search(r"_L(\d+)H(\d+)(?=_[a-z]+$|$)", column)
    if found is None:
        return column, ""
    return column[: found.start()] + column[found.end() :], f"{found.group(1)}:{found.group(2)}"


def by_head(columns: Sequence[str]) -> dict[str, list[str]]:
    """Group columns by their head ("4:3"); those without one come first, under ""."""
    groups: dict[str, list[str]] = {}
    for column in sorted(columns, key=lambda c: split_column(c)[1] != ""):
        groups.setdefault(split_column(column)[1], []).append(column)
    return groups
