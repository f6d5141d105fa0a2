"""The sums of products that decide a mixed model, taken once; nothing after them grows with the number of rows.

The fixed part enters as Q of X = QR and the response as its least-squares residual, which changes nothing in the
model and keeps huge scales and large means from costing digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from psymem.errors import FitError
from psymem.fitting.formula.design import ModelData, RandomTerm
from psymem.fitting.profiled.blocks import Block, make_blocks
from psymem.fitting.profiled.nesting import join_nested

DENSE_CELLS = 3_000_000
"""A table of level pairs with more cells than this is kept sparse if few of its cells are filled."""
DENSE_SHARE = 0.15
MOST_GIBIBYTES = 32
"""Largest dense part that is tried."""


@dataclass(frozen=True)
class CrossProducts:
    """Sums of products of Z (by block), Q and r.

    Parameters
    ----------
    n, p
        Rows and fixed effects.
    blocks
        The first is eliminated level by level.
    own
        Z1'Z1 by level of the first block, L x K x K.
    first_rest
        Z1'[Q, r], (L K) x (p + 1).
    first_others
        Z1'[Z2, Z3, ...], (L K) x q2, dense or sparse.
    others
        [Z2, Z3, ...]'[Z2, Z3, ...], q2 x q2.
    others_rest
        [Z2, Z3, ...]'[Q, r], q2 x (p + 1).
    rest
        [Q, r]'[Q, r], (p + 1) x (p + 1).
    triangle
        R of X = QR.
    ols
        Least-squares coefficients, to which the estimates in Q are added.
    spans
        For each block after the first, the rows it has in `others`.
    """

    n: int
    p: int
    blocks: tuple[Block, ...]
    own: np.ndarray = field(repr=False)
    first_rest: np.ndarray = field(repr=False)
    first_others: np.ndarray | sp.csc_matrix = field(repr=False)
    others: np.ndarray = field(repr=False)
    others_rest: np.ndarray = field(repr=False)
    rest: np.ndarray = field(repr=False)
    triangle: np.ndarray = field(repr=False)
    ols: np.ndarray = field(repr=False)
    spans: tuple[slice, ...] = ()

    @property
    def q2(self) -> int:
        """Random effects that are not eliminated level by level."""
        return self.others.shape[0]


def take(data: ModelData, terms: Sequence[RandomTerm], *, join: bool = True) -> CrossProducts:
    """Go through the rows once and sum; without `join`, nested grouping factors are blocks of their own."""
    blocks = make_blocks(terms)
    blocks = join_nested(blocks) if join else blocks
    q, triangle = np.linalg.qr(data.fixed)
    ols = q.T @ data.response
    residual = data.response - q @ ols
    correction = q.T @ residual
    residual -= q @ correction
    rest = [*np.asfortranarray(q).T, residual]
    n, p = data.fixed.shape
    starts = np.cumsum([0, *(block.size for block in blocks[1:])])
    _check_memory(blocks, int(starts[-1]))
    spans = tuple(slice(int(a), int(b)) for a, b in pairwise(starts))
    others = np.zeros((int(starts[-1]),) * 2)
    others_rest = np.zeros((int(starts[-1]), p + 1))
    for i, (block, span) in enumerate(zip(blocks[1:], spans, strict=True)):
        others_rest[span] = with_columns(block, rest)
        _place_own(others[span, span], within(block))
        for other, other_span in zip(blocks[i + 2 :], spans[i + 1 :], strict=True):
            pair = _dense(between(block, other))
            others[span, other_span], others[other_span, span] = pair, pair.T
    products = np.eye(p + 1)
    products[p, p] = residual @ residual
    return CrossProducts(
        n=n, p=p, blocks=tuple(blocks), own=within(blocks[0]), first_rest=with_columns(blocks[0], rest),
        first_others=_side_by_side([between(blocks[0], other) for other in blocks[1:]], blocks[0].size),
        others=others, others_rest=others_rest, rest=products, triangle=triangle, ols=ols + correction, spans=spans,
    )  # fmt: skip


def _check_memory(blocks: Sequence[Block], size: int) -> None:
    """Refuse a dense part that would not fit into memory."""
    gibibytes = 4 * 8 * size**2 / 2**30
    if gibibytes > MOST_GIBIBYTES:
        others = ", ".join(block.group for block in blocks[1:])
        raise FitError(
            f"Besides {blocks[0].group}, the grouping factors ({others}) have {size:,} random effects; "
            f"holding them together takes "
            f"about {gibibytes:.0f} GiB. Merge rare levels, leave out a term or slope, or choose engine 'lme4'."
        )


def with_columns(block: Block, columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return Z'C, (L K) x c, rows ordered by level, then by column of Z."""
    n_levels, width = len(block.levels), block.width
    found = np.empty((n_levels, width, len(columns)))
    for j, column in enumerate(columns):
        for k in range(width):
            own = block.column(k)
            found[:, k, j] = np.bincount(block.codes, column if own is None else column * own, n_levels)
    return found.reshape(n_levels * width, len(columns))


def within(block: Block) -> np.ndarray:
    """Return Z'Z by level, L x K x K."""
    n_levels, width = len(block.levels), block.width
    found = np.empty((n_levels, width, width))
    for j in range(width):
        for k in range(j + 1):
            product = None if block.columns is None else block.columns[:, j] * block.columns[:, k]
            found[:, j, k] = found[:, k, j] = np.bincount(block.codes, product, n_levels)
    return found


def between(left: Block, right: Block) -> np.ndarray | sp.csc_matrix:
    """Return Z_left'Z_right; sparse if the table of level pairs is large and nearly empty."""
    rows, columns = len(left.levels), len(right.levels)
    pairs = left.codes.astype(np.int64) * columns + right.codes
    if rows * columns <= DENSE_CELLS or rows * columns * DENSE_SHARE <= len(pairs):
        return _between_dense(left, right, pairs)
    unique, inverse = np.unique(pairs, return_inverse=True)
    if len(unique) > DENSE_SHARE * rows * columns:
        return _between_dense(left, right, pairs)
    row, column = np.divmod(unique, columns)
    parts = []
    for j in range(left.width):
        for k in range(right.width):
            sums = np.bincount(inverse, _product(left.column(j), right.column(k)), len(unique))
            parts.append((sums, row * left.width + j, column * right.width + k))
    values, rows_, columns_ = (np.concatenate(x) for x in zip(*parts, strict=True))
    return sp.csc_matrix((values, (rows_, columns_)), shape=(left.size, right.size))


def _between_dense(left: Block, right: Block, pairs: np.ndarray) -> np.ndarray:
    rows, columns = len(left.levels), len(right.levels)
    found = np.empty((rows, left.width, columns, right.width))
    for j in range(left.width):
        for k in range(right.width):
            product = _product(left.column(j), right.column(k))
            found[:, j, :, k] = np.bincount(pairs, product, rows * columns).reshape(rows, columns)
    return found.reshape(left.size, right.size)


def _product(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    if left is None:
        return right
    return left if right is None else left * right


def _dense(matrix: np.ndarray | sp.csc_matrix) -> np.ndarray:
    return np.asarray(matrix.todense()) if isinstance(matrix, sp.csc_matrix) else matrix


def _side_by_side(parts: list[np.ndarray | sp.csc_matrix], rows: int) -> np.ndarray | sp.csc_matrix:
    """Join tables from left to right, sparse if any is."""
    if not parts:
        return np.zeros((rows, 0))
    if any(sp.issparse(part) for part in parts):
        return sp.hstack(parts, format="csc")
    return np.hstack(parts)


def _place_own(target: np.ndarray, own: np.ndarray) -> None:
    """Write Z'Z by level onto the diagonal of `target`."""
    n_levels, width, _ = own.shape
    if width == 1:
        np.fill_diagonal(target, own[:, 0, 0])
        return
    view = target.reshape(n_levels, width, n_levels, width)
    index = np.arange(n_levels)
    view[index, :, index, :] = own
