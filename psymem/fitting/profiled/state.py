"""What the profiled engine keeps after a fit: conditional modes, fitted values and predictions, computed when asked."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from scipy.linalg.lapack import dpotri, dtrtrs

from psymem.errors import FitError
from psymem.fitting.formula.design import ModelData
from psymem.fitting.formula.prediction import fixed_part, random_columns
from psymem.fitting.profiled.criterion import Criterion, Evaluation
from psymem.fitting.profiled.parameters import Coordinates
from psymem.fitting.profiled.satterthwaite import Curvature
from psymem.fitting.spec import FitSpec


class ProfiledState:
    """A fitted mixed model in the terms of its computation."""

    def __init__(
        self,
        spec: FitSpec,
        data: ModelData,
        coordinates: Coordinates,
        criterion: Criterion,
        theta: np.ndarray,
        *,
        evaluation: Evaluation,
        sigma: float,
        curvature: Curvature,
    ) -> None:
        self.spec, self.data, self.coordinates, self.criterion = spec, data, coordinates, criterion
        self.theta, self.evaluation, self.sigma, self.curvature = theta, evaluation, sigma, curvature
        self.lambdas = coordinates.by_block(coordinates.orthonormal(theta), criterion.products.blocks)
        size = criterion.products.q2 + criterion.products.p
        factor = evaluation.factor
        solution, _ = dtrtrs(np.tril(factor[:size, :size]), factor[size, :size], lower=1, trans=1)
        self._others, self._beta_q = solution[: criterion.products.q2], solution[criterion.products.q2 :]

    @cached_property
    def beta(self) -> np.ndarray:
        """Fixed effects in the columns of X."""
        products = self.criterion.products
        found, _ = dtrtrs(products.triangle, products.ols + self._beta_q)
        return found

    @cached_property
    def _eliminated(self) -> np.ndarray:
        """Conditional covariances of the first block's modes without the others' uncertainty, L x K x K."""
        return self.criterion.patterns.by_level(self.evaluation.eliminated)

    def df(self, weights: np.ndarray, vcov: np.ndarray) -> np.ndarray:
        """Satterthwaite degrees of freedom of ``weights @ beta`` (m x p)."""
        return self.curvature.df(weights, vcov)

    @cached_property
    def modes(self) -> list[np.ndarray]:
        """Conditional modes by block, levels x K, for orthonormal columns."""
        products = self.criterion.products
        others, start = [], 0
        for block, root in zip(products.blocks[1:], self.lambdas[1:], strict=True):
            u = self._others[start : start + block.size].reshape(-1, block.width)
            others.append(u @ root.T)
            start += block.size
        flat = np.concatenate([o.ravel() for o in others]) if others else np.empty(0)
        left = products.first_rest @ np.concatenate([-self._beta_q, [1.0]]) - products.first_others @ flat
        by_level = left.reshape(products.own.shape[0], -1, 1)
        return [(self._eliminated @ by_level)[:, :, 0], *others]

    @cached_property
    def mode_covariances(self) -> list[np.ndarray]:
        """Conditional covariances of the modes by block, levels x K x K, given theta and the fixed effects, as in lme4."""
        products = self.criterion.products
        q2 = products.q2
        first = self._eliminated.copy()
        found: list[np.ndarray] = []
        if q2:
            inverse, _ = dpotri(self.evaluation.factor[:q2, :q2], lower=1)
            inverse = np.tril(inverse) + np.tril(inverse, -1).T
            for block, root, span in zip(products.blocks[1:], self.lambdas[1:], products.spans, strict=True):
                rows = inverse[span].reshape(-1, block.width, q2)
                inverse[span] = (root @ rows).reshape(-1, q2)
                columns = inverse[:, span].reshape(q2, -1, block.width)
                inverse[:, span] = (columns @ root.T).reshape(q2, -1)
            for block, span in zip(products.blocks[1:], products.spans, strict=True):
                index = np.arange(len(block.levels))
                own = inverse[span, span].reshape(len(index), block.width, len(index), block.width)
                found.append(own[index, :, index, :])
            first += self._from_others(inverse)
        return [self.sigma**2 * one for one in [first, *found]]

    def _from_others(self, spread: np.ndarray) -> np.ndarray:
        """Return what the uncertainty of the other blocks, `spread`, adds to the first block's covariances."""
        products = self.criterion.products
        width = products.blocks[0].width
        shape = (products.own.shape[0], width, width)
        found = np.empty(shape)
        for start in range(0, shape[0], 512):
            rows = slice(start * width, min((start + 512), shape[0]) * width)
            side = products.first_others[rows]
            side = (side.toarray() if hasattr(side, "toarray") else side).reshape(-1, width, products.q2)
            side = self._eliminated[start : start + 512] @ side
            found[start : start + 512] = np.einsum("ljq,lkq->ljk", side @ spread, side)
        return found

    def random_effects(self) -> pd.DataFrame:
        """Return group, level, term, estimate, sd, in the columns as written."""
        pieces = []
        for block, modes, covariances in zip(
            self.criterion.products.blocks, self.modes, self.mode_covariances, strict=True
        ):
            for index in block.bars:
                back = np.linalg.inv(self.coordinates.triangles[index])
                estimate = block.of_bar(index, modes) @ back.T
                spread = np.einsum("ij,ljk,ik->li", back, block.of_bar(index, covariances), back)
                term = self.coordinates.terms[index]
                pieces.append((index, self._piece(term.group, term.levels, term.names, estimate, spread)))
        return pd.concat([piece for _, piece in sorted(pieces, key=lambda x: x[0])], ignore_index=True)

    def _piece(
        self,
        group: str,
        levels: tuple[str, ...],
        names: tuple[str, ...],
        estimate: np.ndarray,
        spread: np.ndarray,
    ) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "group": group,
                "level": np.repeat(np.asarray(levels, dtype=object), len(names)),
                "term": np.tile(np.asarray(names, dtype=object), len(levels)),
                "estimate": estimate.ravel(),
                "sd": np.sqrt(np.maximum(spread, 0)).ravel(),
            }
        )

    def fitted(self) -> np.ndarray:
        """Return fitted values with random effects."""
        found = np.zeros(len(self.data.response))
        for block, modes in zip(self.criterion.products.blocks, self.modes, strict=True):
            for k in range(block.width):
                own = modes[block.codes, k]
                found += own if block.columns is None else own * block.columns[:, k]
        if self.data.weights is not None:  # the blocks hold columns times the root of the weights
            found /= np.sqrt(self.data.weights)
        found += self.data.fixed @ self.beta
        return found if self.data.offset is None else found + self.data.offset

    def residuals(self) -> np.ndarray:
        """Return response minus fitted values."""
        return self.data.response - self.fitted()

    def predict(self, frame: pd.DataFrame, *, random: bool = True, new_levels: str = "zero") -> np.ndarray:
        """Predict new rows; see Fit.predict."""
        if new_levels not in ("zero", "error"):
            raise FitError(f"new_levels is {new_levels!r}; it can be 'zero' or 'error'.")
        found, complete = fixed_part(self.data, frame, self.beta)
        if random:
            self._add_random(found, frame, complete, new_levels)
        return found

    def _add_random(
        self, found: np.ndarray, frame: pd.DataFrame, complete: np.ndarray, new_levels: str
    ) -> None:
        products = self.criterion.products
        for block, modes in zip(products.blocks, self.modes, strict=True):
            for index in block.bars:
                back = np.linalg.inv(self.coordinates.triangles[index])
                effects = np.vstack([block.of_bar(index, modes) @ back.T, np.zeros(len(back))])
                term = self.coordinates.terms[index]
                values, codes = random_columns(self.data, term, frame, complete, new_levels)
                found[complete] += np.einsum("ij,ij->i", values, effects[codes])
