"""M'PM for a large, nearly empty M and a block-diagonal P that changes with every evaluation.

Rows of M with many entries (frequent words) go through dense matrix products, the many rows with few entries (rare
words) through sparse ones: a sparse product alone is slow for the former, a dense one for the latter.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

DENSE_ROW_SHARE = 0.04
"""Rows with a larger share of filled cells than this are treated as dense."""


class WeightedGram:
    """Computes the matrix that Criterion subtracts.

    Parameters
    ----------
    table
        M, (L K) x q2, sparse.
    width
        K, the number of rows of M per level.
    """

    def __init__(self, table: sp.csc_matrix, width: int) -> None:
        by_row = table.tocsr()
        self.width = width
        filled = np.diff(by_row.indptr).reshape(-1, width).max(axis=1)
        dense = filled > DENSE_ROW_SHARE * table.shape[1]
        rows = np.repeat(dense, width)
        self.dense_levels, self.sparse_levels = np.flatnonzero(dense), np.flatnonzero(~dense)
        self.dense = by_row[rows].toarray()
        self.sparse = by_row[~rows]
        self.transposed = self.sparse.T.tocsr()

    def __call__(self, weights: np.ndarray, side: np.ndarray, corner: np.ndarray) -> np.ndarray:
        """Return [[M'PM, side], [side', corner]] for P given by level (L x K x K)."""
        q2 = self.dense.shape[1]
        whole = np.empty((q2 + len(corner),) * 2)
        dense = weights[self.dense_levels] @ self.dense.reshape(-1, self.width, q2)
        whole[:q2, :q2] = self.dense.T @ dense.reshape(self.dense.shape)
        product = self.transposed @ (self._sparse_weights(weights[self.sparse_levels]) @ self.sparse)
        product = product.tocoo()
        whole[product.row, product.col] += product.data
        whole[:q2, q2:], whole[q2:, :q2], whole[q2:, q2:] = side, side.T, corner
        return whole

    def _sparse_weights(self, weights: np.ndarray) -> sp.spmatrix:
        if self.width == 1:
            return sp.diags_array(weights[:, 0, 0])
        n = len(weights)
        return sp.bsr_array((weights, np.arange(n), np.arange(n + 1)), shape=(n * self.width, n * self.width))
