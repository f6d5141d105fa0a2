"""Grouping factors nested in another one, eliminated together with it.

With items read by model instances, the levels of ``item:model`` belong to one item each. Given the other random
effects, what an item and its own ``item:model`` levels add is then independent of all other items: taken together they
are one block with a column for each child level (a slot), and V stays block diagonal in it. One evaluation of the
criterion so costs next to nothing, where a dense factor over all items would take most of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from psymem.fitting.profiled.blocks import Block

WIDEST = 128
"""Most columns of a joined block."""
MOST_PRODUCTS = 50_000_000
"""Most products of columns (rows x columns squared) that are summed for a joined block."""
CHEAPER = 0.5
"""A block is joined where an evaluation then takes less than this share of the operations."""


def join_nested(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks, with one that is nested in another joined to it where that is cheaper; largest block first."""
    for child, parent in permutations(blocks, 2):
        slots = _slots(child, parent)
        if slots is None:
            continue
        others = [block for block in blocks if block is not child and block is not parent]
        width = parent.width + (int(slots.max()) + 1) * child.width
        n, levels = len(parent.codes), len(parent.levels)
        if width > WIDEST or n * width**2 > MOST_PRODUCTS:
            continue
        if _operations(levels, width, others) < CHEAPER * _operations(
            len(blocks[0].levels), blocks[0].width, blocks[1:]
        ):
            return sorted([_joined(child, parent, slots), *others], key=lambda block: -block.size)
    return list(blocks)


def _slots(child: Block, parent: Block) -> np.ndarray | None:
    """Return each child level's place among those of its parent; None if the factor is not nested."""
    above = np.full(len(child.levels), -1)
    above[child.codes] = parent.codes
    if (above < 0).any() or (above[child.codes] != parent.codes).any():
        return None
    order = np.argsort(above, kind="stable")
    firsts = np.searchsorted(above[order], above[order])
    slots = np.empty(len(above), dtype=int)
    slots[order] = np.arange(len(above)) - firsts
    return slots


def _operations(levels: int, width: int, others: Sequence[Block]) -> float:
    """Count the multiplications of one evaluation, roughly."""
    rest = sum(block.size for block in others) + 1
    return levels * width**3 + levels * width * rest**2 + rest**3


def _joined(child: Block, parent: Block, slots: np.ndarray) -> Block:
    """Return the block of the parent's levels with the child's columns repeated once for each slot."""
    n, most = len(parent.codes), int(slots.max()) + 1
    columns = np.zeros((n, parent.width + most * child.width))
    columns[:, : parent.width] = 1.0 if parent.columns is None else parent.columns
    starts = parent.width + slots[child.codes] * child.width
    for k in range(child.width):
        own = child.column(k)
        columns[np.arange(n), starts + k] = 1.0 if own is None else own
    table = np.full((len(parent.levels), most), -1)
    table[parent.codes, slots[child.codes]] = child.codes
    repeated = tuple(
        (bar, slice(start + own.start, start + own.stop))
        for start in range(parent.width, columns.shape[1], child.width)
        for bar, own in child.terms
    )
    children = {bar: table for bar, _ in child.terms}
    return Block(parent.group, parent.codes, parent.levels, columns, parent.terms + repeated, children)
