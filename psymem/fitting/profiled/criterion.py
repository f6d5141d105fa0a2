"""The profiled REML or ML criterion of lme4 (Bates, Maechler, Bolker & Walker 2015), from cross-products only.

With b = Lambda u and V = I + Z Lambda Lambda' Z' (in units of the residual variance), the criterion is

    log|V| [+ log|X'V^-1 X|] + N (1 + log(2 pi w / N)),    w = r'V^-1 r at the best beta,  N = n - p [REML] or n [ML].

The first block is eliminated level by level (its part of V is block diagonal); what remains is one dense matrix in the
random effects of the other blocks, Q and r, whose Cholesky factor holds everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs

from psymem.fitting.profiled.crossproducts import CrossProducts
from psymem.fitting.profiled.gram import WeightedGram
from psymem.fitting.profiled.patterns import patterns_of

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Evaluation:
    """The criterion at one point and its parts.

    Parameters
    ----------
    deviance
        -2 log-likelihood (restricted with REML); infinite where the factorisation fails.
    logdet
        log|V|, with REML plus log|X'V^-1 X|.
    weighted
        Penalised weighted residual sum of squares w.
    factor
        Lower Cholesky factor in (other random effects, Q, r).
    pulled
        Of the first block, (Lambda' Z'Z Lambda + I)^-1 Lambda', one for each different Z'Z, U x K x K.
    eliminated
        Lambda times that.
    """

    deviance: float
    logdet: float = np.nan
    weighted: float = np.nan
    factor: np.ndarray = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    pulled: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0)), repr=False)
    eliminated: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0)), repr=False)


class Criterion:
    """Evaluates the profiled criterion for given Lambda matrices, one K x K matrix per block."""

    def __init__(self, products: CrossProducts, reml: bool) -> None:
        self.products, self.reml = products, reml
        self.n_effective = products.n - products.p if reml else products.n
        self.log_triangle = 2 * float(np.log(np.abs(np.diag(products.triangle))).sum())
        self.sparse = sp.issparse(products.first_others)
        self.joined = bool(products.blocks[0].children)
        self.evaluations = 0
        self.patterns = patterns_of(products.own)
        self.pair_sums: np.ndarray | None = None
        self._scalar_first = products.blocks[0].width == 1
        self._scalar_others = all(block.width == 1 for block in products.blocks[1:])
        self._repeats = [len(block.levels) for block in products.blocks[1:]]
        self._whole = np.block(
            [[products.others, products.others_rest], [products.others_rest.T, products.rest]]
        )
        if self.sparse:
            self._gram = WeightedGram(products.first_others, products.blocks[0].width)
        else:
            self._side = np.hstack([products.first_others, products.first_rest])
            self._side_by_level = self._side.reshape(*products.own.shape[:2], -1)
            self.pair_sums = self.patterns.pair_sums(self._side_by_level)

    def __call__(self, lambdas: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate the criterion."""
        self.evaluations += 1
        logdet, pulled = self._eliminate(lambdas[0])
        if not np.isfinite(logdet):
            return Evaluation(np.inf)
        eliminated = lambdas[0][0, 0] * pulled if self._scalar_first else lambdas[0] @ pulled
        matrix = self.unexplained(eliminated)
        self._scale(matrix, lambdas[1:])
        q2, p = self.products.q2, self.products.p
        factor, failed = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if failed:
            return Evaluation(np.inf)
        diagonal = np.diagonal(factor)
        logdet += 2 * float(np.log(diagonal[: q2 + p if self.reml else q2]).sum())
        if self.reml:
            logdet += self.log_triangle
        weighted = float(diagonal[-1]) ** 2
        n = self.n_effective
        deviance = logdet + n * (1 + LOG_2PI + np.log(weighted / n))
        return Evaluation(deviance, logdet, weighted, factor, pulled, eliminated)

    def _eliminate(self, first: np.ndarray) -> tuple[float, np.ndarray]:
        """Return log|Lambda'Z'Z Lambda + I| summed over levels, and `pulled` of Evaluation."""
        own, counts = self.patterns.different, self.patterns.counts
        if self._scalar_first:
            inner = first[0, 0] ** 2 * own[:, 0, 0] + 1.0
            return float(np.log(inner) @ counts), (first[0, 0] / inner)[:, None, None]
        inner = first.T @ own @ first
        inner[:, range(len(first)), range(len(first))] += 1.0
        if len(inner) == 1:
            lower, failed = dpotrf(inner[0], lower=1)
            diagonals = np.diagonal(lower)[None]
            pulled = dpotrs(lower, first.T, lower=1)[0][None]
        else:
            try:
                diagonals, failed = np.diagonal(np.linalg.cholesky(inner), axis1=1, axis2=2), 0
            except np.linalg.LinAlgError:
                return np.inf, own
            pulled = np.linalg.solve(inner, np.broadcast_to(first.T, inner.shape))
        return np.inf if failed else 2 * float(counts @ np.log(diagonals).sum(axis=1)), pulled

    def unexplained(self, eliminated: np.ndarray) -> np.ndarray:
        """Return M' V1^-1 M for M = [Z2, Q, r], V1 being V with the first block alone."""
        return self._whole - self._explained(eliminated)

    def _explained(self, eliminated: np.ndarray) -> np.ndarray:
        """Return M' P M for M = Z1'[Z2, Q, r] and P the eliminated matrices."""
        if self.pair_sums is not None:
            return (eliminated.ravel() @ self.pair_sums).reshape(self._whole.shape)
        eliminated = self.patterns.by_level(eliminated)
        if not self.sparse:
            if self._scalar_first:
                return self._side.T @ (self._side * eliminated[:, 0])
            return self._side.T @ (eliminated @ self._side_by_level).reshape(self._side.shape)
        rest = self.products.first_rest
        by_level = rest.reshape(*self.products.own.shape[:2], -1)
        weighted = (eliminated @ by_level).reshape(rest.shape)
        return self._gram(eliminated, self.products.first_others.T @ weighted, rest.T @ weighted)

    def _scale(self, matrix: np.ndarray, lambdas: Sequence[np.ndarray]) -> None:
        """Multiply the random-effect rows and columns of `matrix` by Lambda and add the identity, in place."""
        q2 = self.products.q2
        if not q2:
            return
        if self._scalar_others:
            scale = np.repeat([one[0, 0] for one in lambdas], self._repeats)
            matrix[:q2] *= scale[:, None]
            matrix[:, :q2] *= scale
        else:
            for one, span in zip(lambdas, self.products.spans, strict=True):
                rows = matrix[span].reshape(-1, len(one), matrix.shape[1])
                matrix[span] = (one.T @ rows).reshape(-1, matrix.shape[1])
            for one, span in zip(lambdas, self.products.spans, strict=True):
                columns = matrix[:, span].reshape(len(matrix), -1, len(one))
                matrix[:, span] = (columns @ one).reshape(len(matrix), -1)
        matrix[np.arange(q2), np.arange(q2)] += 1.0
