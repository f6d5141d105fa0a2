"""Tree-structured multi-stage principal component analysis (Su, 2019, chapter 4; Su, Lin & Kuo, 2018).

A sequence of N vectors of width D becomes one vector of width D: neighbours are joined in pairs, one PCA shared by all
pairs takes each 2D numbers to D, and so on, until one vector is left. The result is linear in the sequence, y = U x.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from psymem.errors import PsymemWarning

NUMBERS_AT_ONCE = 1 << 16
"""Numbers that are centred and multiplied in one go, so that they stay in the processor's cache."""
AT_ONCE_COLUMNS, GROUP_COLUMNS = 128, 64
"""Columns from which all stages, and from which several, are found in one pass over the data."""
LOST = 1e4
"""Squares of raw data against those of centred data up to which centring after the sum costs no more than 4 digits."""
STARTS_ANEW = (
    "partial_fit after fit starts anew, without what fit has seen: fit does not keep the second moments of whole "
    "sequences. Use partial_fit for all chunks."
)


class TreePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Reduce sequences of vectors to one vector by a tree of principal component analyses.

    Parameters
    ----------
    n_components
        D, the width of the vector at one position, and so of the result. The columns of the data are the positions one
        after the other, D columns each: ``X.reshape(len(X), -1)`` of an (M, N, D) array.

    Attributes
    ----------
    stages_
        List of L arrays (D, 2D), the maps of the stages U^1 to U^L; rows are orthonormal.
    components_
        (D, N D), U of the closed form y = U x: its block at position j is U^L_{f(j,L)} ... U^1_{f(j,1)}, where f(j, s)
        is the half, left or right, of its pair in which position j stands at stage s.
    mean_
        (N D,) mean of every column.
    energy_
        (L,) percent of the sum of squares of the centred data that is left after each stage.
    position_weights_
        (N,) ||U_j||_F^2: how much of each position reaches the result. They sum to D, and each is between 0 and D.
    explained_variance_
        (D,) variance of each number of the result over the data.
    n_samples_seen_
        Number of sequences.

    Notes
    -----
    If N is no power of two, positions of zeros follow the last one, which is what the paper does to short sequences;
    `components_`, `mean_` and `position_weights_` leave them out.

    `fit` finds some stages at a time, from the second moments of groups of neighbours, and reads less each time.
    `partial_fit` cannot, since stage s needs the maps below it; it adds up the second moments of whole sequences instead,
    from which all maps follow. Both give the same result; `partial_fit` needs one pass, (N D)^2 numbers and the time of
    an ordinary PCA.

    Signs are chosen so that the entry of each map's row that is largest in size is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from psymem.reduction import TreePCA
    >>> sequences = np.random.default_rng(1).normal(size=(100, 8, 3))  # 100 sentences, 8 positions, 3 numbers
    >>> TreePCA(n_components=3).fit_transform(sequences.reshape(100, -1)).shape
    (100, 3)
    """

    def __init__(self, n_components: int = 1) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> TreePCA:
        """Find the maps of all stages.

        Parameters
        ----------
        X
            (M, N D).
        y
            Not looked at.
        """
        X = self._checked(X, reset=True)
        self.mean_ = X.mean(0, dtype=np.float64)
        self.n_samples_seen_ = len(X)
        self._moments: np.ndarray | None = None
        rows = self._rows(X)
        stages: list[np.ndarray] = []
        traces: list[float] = []
        while True:
            own, left, last = _maps(_pooled(rows), self.n_components)
            stages += own
            traces += left if not traces else left[1:]
            if rows.group == rows.columns:
                break
            rows = _reduced(rows, closed_form(own, self.n_components))
        self._finish(stages, traces, last)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> TreePCA:
        """Take further sequences into account.

        Parameters
        ----------
        X
            (M, N D), the next chunk.
        y
            Not looked at.
        """
        if hasattr(self, "n_samples_seen_") and self._moments is None:
            warnings.warn(STARTS_ANEW, PsymemWarning, stacklevel=2)
        first = getattr(self, "_moments", None) is None
        X = self._checked(X, reset=first)
        if first:
            self.mean_, self.n_samples_seen_ = np.zeros(X.shape[1]), 0
        self._moments = self._with(X, np.zeros((X.shape[1],) * 2) if first else self._moments)
        self._fit_moments(self._moments)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return (M, D): the vector of each sequence.

        Parameters
        ----------
        X
            (M, N D).
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        reduced: np.ndarray = (X - self.mean_) @ self.components_.T
        return reduced.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return (M, N D): the sequences of which `X` is the reduction and that are nearest to the mean.

        Parameters
        ----------
        X
            (M, D).
        """
        check_is_fitted(self)
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_components:
            raise ValueError(f"X has shape {X.shape}; expected (rows, {self.n_components}).")
        return X @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # input -------------------------------------------------------------------------------------------------
    def _checked(self, X: Any, *, reset: bool) -> np.ndarray:
        if isinstance(X, np.ndarray) and X.ndim == 3:
            raise ValueError(
                f"X has shape {X.shape}; expected 2 dimensions. Put the positions of a sequence after each other: "
                "X.reshape(len(X), -1)."
            )
        least = 2 if reset else 1
        array: np.ndarray = validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=least
        )
        if reset:
            self._check_width(array.shape[1])
        return array

    def _check_width(self, columns: int) -> None:
        width = self.n_components
        if not isinstance(width, (int, np.integer)) or isinstance(width, bool) or width < 1:
            raise ValueError(f"n_components={width!r}; expected a whole number, 1 or more.")
        if columns % width:
            raise ValueError(
                f"X has {columns} columns, which is no multiple of n_components={width}; expected the positions of each "
                f"sequence one after the other, {width} columns each."
            )

    def _rows(self, X: np.ndarray) -> _Rows:
        positions = _power_of_two(X.shape[1] // self.n_components)
        return _Rows(X, self.mean_, positions * self.n_components, self.n_components)

    # second moments of whole sequences -----------------------------------------------------------------------
    def _with(self, X: np.ndarray, moments: Any) -> np.ndarray:
        """Add a chunk to means and centred second moments (Chan, Golub & LeVeque, 1983); return the moments."""
        seen, new = self.n_samples_seen_, len(X)
        own = X.mean(0, dtype=np.float64)
        step = own - self.mean_
        added: np.ndarray = moments + np.outer(step, step) * (seen * new / (seen + new))
        for chunk in _Rows(X, own, X.shape[1], self.n_components):
            added += chunk.T @ chunk
        self.mean_ = self.mean_ + step * (new / (seen + new))
        self.n_samples_seen_ = seen + new
        return added

    def _fit_moments(self, moments: np.ndarray) -> None:
        """Find the maps from the second moments of whole sequences."""
        own = len(self.mean_)
        columns = _power_of_two(own // self.n_components) * self.n_components
        padded = np.zeros((columns, columns))
        padded[:own, :own] = moments
        self._finish(*_maps(padded, self.n_components))

    def _finish(self, stages: list[np.ndarray], traces: list[float], last: np.ndarray) -> None:
        """Set what is the same however the maps were found: `last` are the (D, D) second moments of the result."""
        self.stages_ = stages
        self.components_ = closed_form(stages, self.n_components)[:, : len(self.mean_)]
        kept = np.array(traces[1:])
        self.energy_ = 100 * kept / traces[0] if traces[0] > 0 else np.full(len(kept), np.nan)
        squares = (self.components_**2).reshape(self.n_components, -1, self.n_components)
        self.position_weights_ = squares.sum((0, 2))
        self.explained_variance_ = np.diag(last) / max(self.n_samples_seen_ - 1, 1)


def closed_form(stages: list[np.ndarray], width: int) -> np.ndarray:
    """Return (D, N D) U with y = U x, from the maps of the stages, the lowest first."""
    whole = np.eye(width)
    for stage in stages[::-1]:
        left, right = stage[:, :width], stage[:, width:]
        blocks = whole.reshape(width, -1, width)  # (D, positions of the stage above, D)
        whole = np.stack([blocks @ left, blocks @ right], axis=2).reshape(width, -1)
    return whole


class _Rows:
    """Sequences at one stage: (M, columns) numbers, to be centred by `mean` unless it is None.

    `group` columns are the neighbours whose maps are found together: the second moments of groups of 2^k positions,
    added up over groups, hold all that k stages need.
    """

    def __init__(self, X: np.ndarray, mean: np.ndarray | None, columns: int, width: int) -> None:
        self.X, self.mean, self.columns, self.width = X, mean, columns, width
        self.group = columns if columns <= AT_ONCE_COLUMNS else min(columns, 2 * width)
        while self.group < columns and 2 * self.group <= GROUP_COLUMNS:
            self.group *= 2

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give centred chunks (m, columns), float64, with zeros behind the last position."""
        step = max(1, NUMBERS_AT_ONCE // self.columns)
        own = self.X.shape[1]
        for start in range(0, len(self.X), step):
            part = self.X[start : start + step]
            if self.mean is None:
                yield part
                continue
            chunk = np.zeros((len(part), self.columns)) if own < self.columns else np.empty(part.shape)
            np.subtract(part, self.mean, out=chunk[:, :own])
            yield chunk

    def groups(self, array: np.ndarray) -> np.ndarray:
        """(..., group) view of contiguous columns."""
        return array.reshape(-1, self.group)

    @property
    def as_they_lie(self) -> bool:
        """Whether groups of the data can be multiplied without a copy."""
        contiguous = self.X.flags.c_contiguous and self.X.dtype == np.float64
        return bool(contiguous and self.X.shape[1] == self.columns)


def _pooled(rows: _Rows) -> np.ndarray:
    """(group, group) second moments of centred data, added up over all groups of neighbours."""
    if rows.as_they_lie:
        groups = rows.groups(rows.X)
        raw = groups.T @ groups
        if rows.mean is None:
            return raw
        means = rows.groups(rows.mean)
        centred = raw - len(rows.X) * (means.T @ means)
        if (raw.diagonal() <= LOST * centred.diagonal()).all():
            return centred
        rows.X, rows.mean = rows.X - rows.mean, None
        return _pooled(rows)
    pooled = np.zeros((rows.group, rows.group))
    for chunk in rows:
        groups = rows.groups(chunk)
        pooled += groups.T @ groups
    return pooled


def _maps(moments: np.ndarray, width: int) -> tuple[list[np.ndarray], list[float], np.ndarray]:
    """Find the maps of all stages that second moments S hold: those of a stage's output are U S U', block by block.

    Returns the maps, the traces before the first and after each stage, and the (D, D) second moments of the result.
    """
    stages, traces = [], [float(np.trace(moments))]
    while len(moments) > width:
        pairs = len(moments) // (2 * width)
        blocks = moments.reshape(pairs, 2 * width, pairs, 2 * width)
        stages.append(_leading(blocks.diagonal(axis1=0, axis2=2).sum(2), width))
        half = (stages[-1] @ blocks.transpose(0, 2, 1, 3)) @ stages[-1].T  # (pairs, pairs, D, D)
        moments = half.transpose(0, 2, 1, 3).reshape(pairs * width, pairs * width)
        traces.append(float(np.trace(moments)))
    return stages, traces, moments


def _leading(moments: np.ndarray, width: int) -> np.ndarray:
    """(D, 2D): eigenvectors of the largest eigenvalues as rows, the largest first, with their signs."""
    size = len(moments)
    _, vectors = eigh(moments, subset_by_index=[size - width, size - 1])
    rows = vectors.T[::-1]
    largest = rows[np.arange(width), np.abs(rows).argmax(1)]
    return np.ascontiguousarray(rows * np.where(largest < 0, -1.0, 1.0)[:, None])


def _reduced(rows: _Rows, components: np.ndarray) -> _Rows:
    """Reduce every group to one position by its closed form."""
    columns = rows.columns // rows.group * rows.width
    if rows.as_they_lie:
        out = (rows.groups(rows.X) @ components.T).reshape(-1, columns)
        if rows.mean is not None:
            out -= (rows.groups(rows.mean) @ components.T).ravel()
        return _Rows(out, None, columns, rows.width)
    out = np.empty((len(rows.X), columns))
    start = 0
    for chunk in rows:
        out[start : start + len(chunk)] = (rows.groups(chunk) @ components.T).reshape(-1, columns)
        start += len(chunk)
    return _Rows(out, None, columns, rows.width)


def _power_of_two(positions: int) -> int:
    return 1 << (positions - 1).bit_length()
