"""Theta, the parameters of a mixed model's covariance matrices, and the coordinates in which they are searched.

As in lme4, the random effects of one bar have the covariance sigma^2 Lambda Lambda', Lambda lower triangular, and theta
holds the lower triangles column by column. The search runs on columns made orthonormal within a bar, where slopes have
no scale and no origin: Z = W R with R lower triangular, so that Lambda_W = R Lambda is lower triangular as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from psymem.fitting.formula.design import RandomTerm
from psymem.fitting.profiled.blocks import Block

COLLINEAR = 1e-7


@dataclass(frozen=True)
class Coordinates:
    """How theta fills the Lambda matrices.

    Parameters
    ----------
    terms
        The bars in lme4's order, with their original columns.
    triangles
        R of each bar (Z = W R), K x K lower triangular.
    collinear
        For each bar, whether its columns determine one another (R is then diagonal).
    """

    terms: tuple[RandomTerm, ...]
    triangles: tuple[np.ndarray, ...] = field(repr=False)
    collinear: tuple[bool, ...] = ()

    @property
    def sizes(self) -> list[int]:
        """Number of theta of each bar."""
        return [len(term.names) * (len(term.names) + 1) // 2 for term in self.terms]

    @property
    def diagonal(self) -> np.ndarray:
        """Which theta lie on a diagonal, as booleans."""
        found: list[bool] = []
        for term in self.terms:
            for column in range(len(term.names)):
                found += [True] + [False] * (len(term.names) - column - 1)
        return np.asarray(found)

    def split(self, theta: np.ndarray) -> list[np.ndarray]:
        """Return each bar's lower triangular matrix."""
        found, start = [], 0
        for term, size in zip(self.terms, self.sizes, strict=True):
            found.append(lower_triangle(theta[start : start + size], len(term.names)))
            start += size
        return found

    def join(self, matrices: Sequence[np.ndarray]) -> np.ndarray:
        """Return theta of lower triangular matrices."""
        return np.concatenate([m[0] if len(m) == 1 else m[_below(len(m))] for m in matrices])

    def by_block(self, matrices: Sequence[np.ndarray], blocks: Sequence[Block]) -> list[np.ndarray]:
        """Gather the matrices of the bars into one block-diagonal matrix per grouping factor."""
        found = []
        for block in blocks:
            if len(block.terms) == 1:
                found.append(matrices[block.terms[0][0]])
                continue
            whole = np.zeros((block.width, block.width))
            for term, columns in block.terms:
                whole[columns, columns] = matrices[term]
            found.append(whole)
        return found

    def from_blocks(self, matrices: Sequence[np.ndarray], blocks: Sequence[Block]) -> np.ndarray:
        """Return the slope in theta (of orthonormal columns) from the slopes in each block's Lambda."""
        parts = [np.zeros((len(term.names),) * 2) for term in self.terms]
        for block, matrix in zip(blocks, matrices, strict=True):
            for term, columns in block.terms:
                parts[term] += matrix[columns, columns]
        return self.join(parts)

    def original(self, searched: np.ndarray) -> np.ndarray:
        """Turn theta of the orthonormal columns into lme4's theta, with diagonals of at least 0."""
        found = []
        for matrix, triangle in zip(self.split(searched), self.triangles, strict=True):
            root = np.linalg.solve(triangle, matrix)
            found.append(np.tril(root) * np.where(np.diag(root) < 0, -1.0, 1.0))
        return self.join(found)

    def orthonormal(self, theta: np.ndarray) -> list[np.ndarray]:
        """Turn lme4's theta into the matrices that the criterion takes, R Lambda."""
        return [triangle @ matrix for triangle, matrix in zip(self.triangles, self.split(theta), strict=True)]


@cache
def _below(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the lower triangle of a k x k matrix, column by column."""
    return np.triu_indices(k)[::-1]


def lower_triangle(values: np.ndarray, k: int) -> np.ndarray:
    """Fill a k x k lower triangle column by column."""
    if k == 1:
        return values.reshape(1, 1)
    matrix = np.zeros((k, k))
    matrix[_below(k)] = values
    return matrix


def orthonormalise(terms: Sequence[RandomTerm]) -> tuple[list[RandomTerm], Coordinates]:
    """Return the bars with orthonormal columns (mean square 1) and the coordinates that lead back."""
    changed, triangles, collinear = [], [], []
    for term in terms:
        if term.names == ("(Intercept)",):
            changed.append(term)
            triangles.append(np.eye(1))
            collinear.append(False)
            continue
        triangle, bad = _triangle(term.columns)
        changed.append(replace(term, columns=np.linalg.solve(triangle.T, term.columns.T).T))
        triangles.append(triangle)
        collinear.append(bad)
    return changed, Coordinates(tuple(terms), tuple(triangles), tuple(collinear))


def _triangle(columns: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return R of the columns divided by sqrt(n), or their sizes on a diagonal if they are collinear."""
    n, k = columns.shape
    size = np.sqrt(np.einsum("ij,ij->j", columns, columns) / n)
    size = np.where(size > 0, size, 1.0)
    flipped = np.asarray(np.linalg.qr((columns / size)[:, ::-1], mode="r")) / np.sqrt(n)
    triangle = flipped[::-1, ::-1]
    if len(triangle) < k or np.abs(np.diag(triangle)).min() < COLLINEAR:
        return np.diag(size), k > 1
    return triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None] * size, False
