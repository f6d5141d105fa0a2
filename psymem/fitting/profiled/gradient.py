"""The exact slope of the criterion in Lambda.

With P = V^-1 - V^-1 X (X'V^-1 X)^-1 X'V^-1 the slope of the REML criterion in the Lambda of one grouping factor is

    2 sum over levels l of ([Z'P Z]_ll - (N / w) [Z'P r]_l [Z'P r]_l') Lambda,

and that of ML has V^-1 in place of the first P. Both come from the Cholesky factor of the criterion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg.lapack import dpotri, dtrtrs

from psymem.errors import FitError
from psymem.fitting.profiled.criterion import Criterion, Evaluation


def slopes(
    criterion: Criterion, lambdas: Sequence[np.ndarray], found: Evaluation, sigma: float | None = None
) -> list[np.ndarray]:
    """Return the slope in each block's Lambda, K x K.

    Parameters
    ----------
    criterion
        With dense cross-products.
    lambdas
        The point.
    found
        Its evaluation.
    sigma
        Residual standard deviation held fixed; by default it is profiled out.
    """
    if not np.isfinite(found.deviance):
        raise FitError(
            "The variances of the random effects cannot be estimated: rounding leaves nothing of these data. Do weights or "
            "columns differ by many powers of ten? Rescale them."
        )
    products = criterion.products
    q2, size = products.q2, products.q2 + products.p
    root = found.factor[:size, :size]  # nothing above its diagonal is read
    solution, _ = dtrtrs(root, found.factor[size, :size], lower=1, trans=1)
    inverse = _inverse(root, size if criterion.reml else q2, size)
    weight = criterion.n_effective / found.weighted if sigma is None else 1 / sigma**2
    plain = criterion.unexplained(found.eliminated)
    half = _scale_columns(plain, criterion, lambdas[1:])
    own = [_first(criterion, lambdas, found, inverse, solution, weight=weight)]
    left = half[:q2, :size]
    score = plain[:q2, size] - left @ solution
    for block, span in zip(products.blocks[1:], products.spans, strict=True):
        levels, k = len(block.levels), block.width
        rows = left[span].reshape(levels, k, size)
        columns = inverse[:, span].reshape(size, levels, k)
        trace = np.einsum("lam,mlb->ab", rows, columns)
        outer = score[span].reshape(levels, k).T @ solution[span].reshape(levels, k)
        own.append(2 * (trace - weight * outer))
    return own


def _inverse(root: np.ndarray, used: int, size: int) -> np.ndarray:
    """Return the inverse of the first `used` rows and columns, padded with zeros."""
    whole = np.zeros((size, size))
    if used:
        below = np.tril(dpotri(root[:used, :used], lower=1)[0])
        whole[:used, :used] = below + below.T
        whole[range(used), range(used)] /= 2
    return whole


def _scale_columns(plain: np.ndarray, criterion: Criterion, lambdas: Sequence[np.ndarray]) -> np.ndarray:
    """Return the matrix with Lambda on the columns of the other blocks only."""
    half = plain.copy()
    for one, span in zip(lambdas, criterion.products.spans, strict=True):
        half[:, span] = (plain[:, span].reshape(len(plain), -1, len(one)) @ one).reshape(len(plain), -1)
    return half


def _first(
    criterion: Criterion,
    lambdas: Sequence[np.ndarray],
    found: Evaluation,
    inverse: np.ndarray,
    solution: np.ndarray,
    *,
    weight: float,
) -> np.ndarray:
    """Return the slope in the Lambda of the block that is eliminated level by level."""
    patterns, pulled = criterion.patterns, found.pulled
    own, width = patterns.different, pulled.shape[1]
    remaining = -own @ found.eliminated
    remaining[:, range(width), range(width)] += 1.0
    trace = np.tensordot(patterns.counts, own @ np.swapaxes(pulled, 1, 2), 1)
    if criterion.pair_sums is not None:
        both = _spread(criterion, lambdas[1:], inverse, solution, weight)
        sums = (criterion.pair_sums @ both.ravel()).reshape(own.shape)
        return 2 * (trace - (remaining @ sums @ np.swapaxes(pulled, 1, 2)).sum(axis=0))
    table, rest = _by_level(criterion, lambdas[1:], solution)
    levels, k = rest.shape[:2]
    pulled, remaining = patterns.by_level(pulled), patterns.by_level(remaining)
    left = (remaining @ table).reshape(levels * k, -1) @ inverse
    trace = trace - np.tensordot(left.reshape(levels, k, -1), pulled @ table, ([0, 2], [0, 2]))
    score, modes = (remaining @ rest)[:, :, 0], (pulled @ rest)[:, :, 0]
    return 2 * (trace - weight * score.T @ modes)


def _spread(
    criterion: Criterion,
    lambdas: Sequence[np.ndarray],
    inverse: np.ndarray,
    solution: np.ndarray,
    weight: float,
) -> np.ndarray:
    """Return S for which the slope has the sum over levels of M S M', M = Z1'[Z2, Q, r]."""
    size = len(solution)
    both = np.zeros((size + 1, size + 1))
    vector = np.append(-solution, 1.0)
    both[:size, :size] = inverse
    for one, span in zip(lambdas, criterion.products.spans, strict=True):
        rows = both[span].reshape(-1, len(one), size + 1)
        both[span] = (one @ rows).reshape(-1, size + 1)
        vector[span] = (vector[span].reshape(-1, len(one)) @ one.T).ravel()
    for one, span in zip(lambdas, criterion.products.spans, strict=True):
        columns = both[:, span].reshape(size + 1, -1, len(one))
        both[:, span] = (columns @ one.T).reshape(size + 1, -1)
    return both + weight * np.outer(vector, vector)


def _by_level(
    criterion: Criterion, lambdas: Sequence[np.ndarray], solution: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Z1'[Z2 Lambda, Q] by level, L x K x m, and Z1' times what is left of r, L x K x 1."""
    products = criterion.products
    others = np.asarray(products.first_others)
    for one, span in zip(lambdas, products.spans, strict=True):
        if others is products.first_others:
            others = others.copy()
        others[:, span] = (others[:, span].reshape(len(others), -1, len(one)) @ one).reshape(len(others), -1)
    table = np.hstack([others, products.first_rest[:, :-1]]).reshape(*products.own.shape[:2], -1)
    return table, (products.first_rest[:, -1].reshape(table.shape[:2]) - table @ solution)[:, :, None]
