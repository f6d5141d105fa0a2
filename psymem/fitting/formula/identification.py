"""Random effects whose variances the data cannot tell apart, however many rows there are.

The bars of one grouping factor give a row pair of one level the covariance sum over bars of z_b Sigma_b z_b'. With all
their columns written in one basis W, z_b = W A_b, this is W (sum of A_b Sigma_b A_b') W'. Where different Sigma_b give
the same sum, as in ``(1 | g) + (0 + f | g)`` with a factor f, whose columns add up to the intercept, only the sum is
determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from psymem.fitting.formula.design import RandomTerm

COLLINEAR = 1e-7


def unidentified(random: Sequence[RandomTerm]) -> list[str]:
    """Return a sentence for each grouping factor whose bars overlap."""
    return [_sentence(bars) for bars in _same_groups(random) if len(bars) > 1 and _surplus(bars)]


def _same_groups(random: Sequence[RandomTerm]) -> list[list[RandomTerm]]:
    """Gather the bars that divide the rows in the same way, whatever their factor is called."""
    found: list[list[RandomTerm]] = []
    for term in random:
        for bars in found:
            if _same_division(bars[0], term):
                bars.append(term)
                break
        else:
            found.append([term])
    return found


def _same_division(a: RandomTerm, b: RandomTerm) -> bool:
    if len(a.levels) != len(b.levels):
        return False
    if a.group == b.group:
        return True
    pairs = a.codes.astype(np.int64) * len(b.levels) + b.codes
    return len(np.unique(pairs)) == len(a.levels)


def _surplus(bars: Sequence[RandomTerm]) -> int:
    """Return how many variances and covariances of `bars` are determined by the others."""
    columns = np.hstack([term.columns for term in bars])
    columns = columns / np.maximum(np.sqrt((columns**2).mean(axis=0)), 1e-300)
    values, vectors = np.linalg.eigh(columns.T @ columns / len(columns))
    use = values > COLLINEAR * values.max()
    in_basis = np.sqrt(values[use])[:, None] * vectors[:, use].T  # r x all columns
    products, start = [], 0
    for term in bars:
        own = in_basis[:, start : start + len(term.names)]
        start += len(term.names)
        for j, k in [(i, i) for i in range(own.shape[1])] + list(combinations(range(own.shape[1]), 2)):
            both = np.outer(own[:, j], own[:, k])
            products.append((both + both.T).ravel() / np.linalg.norm(both))
    matrix = np.asarray(products)
    return len(matrix) - int(np.linalg.matrix_rank(matrix, tol=1e-6))


def _sentence(bars: Sequence[RandomTerm]) -> str:
    written = [f"({' + '.join(term.names)} | {term.group})".replace("(Intercept)", "1") for term in bars]
    return (
        f"The variances of {' and '.join(written)} are not identified: part of one can be moved to the other without any "
        "change of the model, so the standard deviations and correlations shown are one choice among many, and other "
        "programs show others. The fixed effects and the log-likelihood hold; likelihood-ratio tests count parameters "
        "that do nothing. Keep one of these terms: a factor needs no intercept beside it, as in (0 + f | g) or "
        "(1 + f | g), and || takes numbers apart, not factors."
    )
