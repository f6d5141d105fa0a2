"""The mean of the vectors of a sequence, as a transformer: the baseline that knows no order."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class MeanOfPositions(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Reduce sequences of vectors to the mean of their positions, y = (1/N) [I ... I] (x - mean).

    Parameters
    ----------
    n_components
        D, the width of the vector at one position; columns as in :class:`psymem.reduction.TreePCA`.

    Attributes
    ----------
    components_
        (D, N D), U of y = U (x - mean).
    mean_
        (N D,) mean of every column.
    """

    def __init__(self, n_components: int = 1) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> MeanOfPositions:
        """Take the mean of every column from (M, N D) sequences; `y` is not looked at."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        positions, rest = divmod(X.shape[1], self.n_components)
        if rest:
            raise ValueError(
                f"X has {X.shape[1]} columns, which is no multiple of n_components={self.n_components}."
            )
        self.mean_ = X.mean(0, dtype=np.float64)
        self.components_ = np.tile(np.eye(self.n_components), positions) / positions
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return (M, D): the mean vector of each of (M, N D) sequences, less that of the data fitted."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        means: np.ndarray = (X - self.mean_).reshape(len(X), -1, self.n_components).mean(1)
        return means.astype(X.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
