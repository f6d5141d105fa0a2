"""Mutual information of reductions against the formula written out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from psymem.errors import DataError
from psymem.reduction import MeanOfPositions, TreePCA, determinant_ratio
from psymem.reduction.information import mutual_information


def test_ratios_by_hand(rng):
    X = rng.normal(size=(400, 12)) @ rng.normal(size=(12, 12))
    tree, mean, pca = (m.fit(X) for m in (TreePCA(3), MeanOfPositions(3), PCA(3)))
    pairs = {
        name: (m.transform(X), m.components_)
        for name, m in zip(("tree", "mean", "pca"), (tree, mean, pca), strict=True)
    }
    det = {name: np.linalg.det(np.cov(y.T)) for name, (y, _) in pairs.items()}
    ratio, nats = determinant_ratio(pairs["tree"], pairs["mean"])
    assert ratio == pytest.approx(det["tree"] / (det["mean"] * 4**3))  # N^D of the mean's short rows
    assert nats == pytest.approx(0.5 * np.log(ratio))
    assert determinant_ratio(pairs["pca"], pairs["tree"])[0] == pytest.approx(det["pca"] / det["tree"])


def test_pca_keeps_most_of_all_orthonormal_maps(rng):
    X = rng.normal(size=(400, 12)) @ rng.normal(size=(12, 12))
    pca = PCA(3).fit(X)
    best = mutual_information(pca.transform(X), pca.components_)
    for _ in range(50):
        rows = np.linalg.qr(rng.normal(size=(12, 3)))[0].T
        assert mutual_information(X @ rows.T, rows) <= best


def test_dependent_numbers(rng):
    y = rng.normal(size=(50, 1)) @ np.ones((1, 2))
    with pytest.raises(DataError, match=r"^The 2 numbers of the reduced sequences are linearly dependent, "):
        mutual_information(y, np.eye(2))
