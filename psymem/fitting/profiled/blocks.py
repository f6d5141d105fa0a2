"""Random-effect columns gathered by grouping factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from psymem.fitting.formula.design import RandomTerm


@dataclass(frozen=True)
class Block:
    """All random-effect columns that share a grouping factor.

    Parameters
    ----------
    group
        Name of the grouping factor.
    codes
        Level of each row.
    levels
        Names of the levels.
    columns
        n x K values; None for an intercept alone.
    terms
        For each bar of this factor, its index in the model and the columns it owns. The bars of a factor nested in
        this one own columns once for each of its levels within a level (`psymem.fitting.profiled.nesting`).
    children
        For each such bar, which level of its own factor the columns belong to, L x repetitions; -1 is none.
    """

    group: str
    codes: np.ndarray = field(repr=False)
    levels: tuple[str, ...] = field(repr=False)
    columns: np.ndarray | None = field(repr=False)
    terms: tuple[tuple[int, slice], ...]
    children: Mapping[int, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def width(self) -> int:
        """Number of columns K."""
        return 1 if self.columns is None else self.columns.shape[1]

    @property
    def size(self) -> int:
        """Number of random effects."""
        return len(self.levels) * self.width

    def column(self, k: int) -> np.ndarray | None:
        """Return column k, or None for ones."""
        return None if self.columns is None else self.columns[:, k]

    @property
    def bars(self) -> list[int]:
        """Indices of the bars, each once."""
        return list(dict.fromkeys(bar for bar, _ in self.terms))

    def of_bar(self, bar: int, values: np.ndarray) -> np.ndarray:
        """Return what `values` (L x K, or L x K x K) hold for the levels of one bar's own grouping factor."""
        repeats = values.ndim - 1
        parts = [values[:, *[own] * repeats] for index, own in self.terms if index == bar]
        if bar not in self.children:
            return parts[0]
        table = self.children[bar]
        used = table >= 0
        found = np.empty((int(used.sum()), *parts[0].shape[1:]))
        found[table[used]] = np.stack(parts, axis=1)[used]
        return found


def order_terms(random: Sequence[RandomTerm]) -> list[RandomTerm]:
    """Return the bars in lme4's order: most levels first, else as written."""
    return sorted(random, key=lambda term: -len(term.levels))


def make_blocks(terms: Sequence[RandomTerm]) -> list[Block]:
    """Gather the bars by grouping factor; the factor with most random effects comes first."""
    blocks = []
    for group in dict.fromkeys(term.group for term in terms):
        members = [(k, term) for k, term in enumerate(terms) if term.group == group]
        slices, start = [], 0
        for k, term in members:
            slices.append((k, slice(start, start + len(term.names))))
            start += len(term.names)
        first = members[0][1]
        alone = len(members) == 1 and first.names == ("(Intercept)",) and bool((first.columns == 1.0).all())
        columns = None if alone else np.hstack([term.columns for _, term in members])
        blocks.append(Block(group, first.codes, first.levels, columns, tuple(slices)))
    return sorted(blocks, key=lambda block: -block.size)
