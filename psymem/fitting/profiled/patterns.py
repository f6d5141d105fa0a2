"""Levels of a grouping factor that have the same Z'Z: in a balanced design all of them.

What depends on Z'Z and Lambda alone is then the same matrix for many levels and is computed once, and sums over these
levels need only the sums of products of the other columns, taken once as well. One evaluation of the criterion no
longer grows with the number of levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

SAME_DIGITS = 12
"""Matrices that agree to so many digits of the largest value are the same: sums of the same products differ by rounding."""
MOST_SUMS = 4_000_000
"""Most values of sums of products that are kept."""
MOST_LEVELS = 5_000
"""Factors with more levels, words of a corpus for instance, are not balanced, and looking for patterns takes time."""


@dataclass(frozen=True)
class Patterns:
    """The different matrices among Z'Z by level.

    Parameters
    ----------
    different
        These matrices, U x K x K.
    of_level
        Which one each level has, L integers.
    counts
        How many levels have each.
    """

    different: np.ndarray = field(repr=False)
    of_level: np.ndarray = field(repr=False)
    counts: np.ndarray = field(repr=False)

    def by_level(self, matrices: np.ndarray) -> np.ndarray:
        """Return one matrix per level from one per pattern."""
        if len(matrices) == 1:
            return np.broadcast_to(matrices, (len(self.of_level), *matrices.shape[1:]))
        return matrices if len(matrices) == len(self.of_level) else matrices[self.of_level]

    def pair_sums(self, columns: np.ndarray) -> np.ndarray | None:
        """Return sums over the levels of each pattern of c_ai c_bj, (U K K) x (m m), for `columns` c, L x K x m.

        None where there are too many patterns for the sums to save anything.
        """
        levels, k, m = columns.shape
        found = len(self.different)
        if found * k * m > levels * (k + m) or found * (k * m) ** 2 > MOST_SUMS:
            return None
        sums = []
        for pattern in range(found):
            own = columns[self.of_level == pattern].reshape(-1, k * m)
            sums.append((own.T @ own).reshape(k, m, k, m).transpose(0, 2, 1, 3))
        return np.stack(sums).reshape(found * k * k, m * m)


def patterns_of(own: np.ndarray) -> Patterns:
    """Find the different matrices in `own`, L x K x K; each level keeps its own where few are the same."""
    levels = len(own)
    each_its_own = Patterns(own, np.arange(levels), np.ones(levels))
    if levels > MOST_LEVELS:
        return each_its_own
    size = float(np.abs(own).max(initial=0.0)) or 1.0
    keys = np.round(own.reshape(levels, -1) / size, SAME_DIGITS) + 0.0
    _, first, of_level, counts = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if 2 * len(first) > levels:
        return each_its_own
    return Patterns(own[first], of_level.ravel(), counts.astype(float))
