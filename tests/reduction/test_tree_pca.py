"""TreePCA against the recursion written out, PCA, and scikit-learn's own checks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from psymem.errors import PsymemWarning
from psymem.reduction import MeanOfPositions, TreePCA


def sequences(rng: np.random.Generator, rows: int = 200, positions: int = 8, width: int = 3) -> np.ndarray:
    """(M, N D) with neighbours that resemble each other, so that eigenvalues differ."""
    mixing = rng.normal(size=(positions * width,) * 2) / np.arange(1, positions * width + 1)
    return rng.normal(size=(rows, positions * width)) @ mixing + 5 * rng.normal(size=positions * width)


def recursion(X: np.ndarray, width: int) -> tuple[np.ndarray, list[np.ndarray], list[float]]:
    """The paper's recursion in plain numpy: result, maps, and energy in percent."""
    z = X - X.mean(0)
    total, stages, energy = (z**2).sum(), [], []
    while z.shape[1] > width:
        pairs = z.reshape(-1, 2 * width)
        values, vectors = np.linalg.eigh(pairs.T @ pairs / len(pairs))
        stage = vectors[:, np.argsort(values)[::-1][:width]].T
        for row in stage:
            if row[np.abs(row).argmax()] < 0:
                row *= -1
        stages.append(stage)
        z = (pairs @ stage.T).reshape(len(z), -1)
        energy.append(100 * (z**2).sum() / total)
    return z, stages, energy


@parametrize_with_checks([TreePCA(), MeanOfPositions()])
@pytest.mark.filterwarnings("ignore::psymem.errors.PsymemWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("positions", "width"), [(1, 4), (2, 4), (8, 3), (16, 2), (32, 1), (32, 10), (128, 3)]
)
def test_equals_the_recursion(rng, positions, width):
    X = sequences(rng, 300, positions, width)
    _same_as_the_recursion(X, width)


def test_equals_the_recursion_where_means_are_large(rng):
    _same_as_the_recursion(sequences(rng, 300, 64, 4) + 1e5 * np.arange(256), 4)


def test_a_column_that_does_not_vary(rng):
    X = sequences(rng)
    X[:, 5] = 7.1
    _same_as_the_recursion(X, 3)


def _same_as_the_recursion(X, width):
    expected, stages, energy = recursion(X, width)
    found = TreePCA(n_components=width).fit(X)
    np.testing.assert_allclose(found.transform(X), expected, atol=1e-8)
    np.testing.assert_allclose(found.energy_, energy)
    for own, other in zip(found.stages_, stages, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-8)
    np.testing.assert_allclose(found.explained_variance_, expected.var(0, ddof=1))


def test_closed_form_is_the_product_along_the_tree(rng):
    """U_j = U^L_f(j,L) ... U^1_f(j,1), f(j,s) - 1 being bit s of j - 1, the least significant first."""
    width, positions = 3, 8
    found = TreePCA(n_components=width).fit(sequences(rng, 200, positions, width))
    for j in range(positions):
        block = np.eye(width)
        for s in range(3):
            half = (j >> s) & 1
            block = found.stages_[s][:, half * width : (half + 1) * width] @ block
        np.testing.assert_allclose(found.components_[:, j * width : (j + 1) * width], block, atol=1e-12)
        assert found.position_weights_[j] == pytest.approx(np.linalg.norm(block) ** 2)


def test_rows_are_orthonormal_and_energy_falls(rng):
    found = TreePCA(n_components=3).fit(sequences(rng))
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(3), atol=1e-12)
    assert (np.diff([100, *found.energy_]) <= 0).all()
    assert found.position_weights_.sum() == pytest.approx(3)
    assert sum(stage.size for stage in TreePCA(10).fit(rng.normal(size=(99, 80))).stages_) == 600


def test_two_positions_are_a_pca_of_the_pair(rng):
    X = sequences(rng, 100, 2, 3)
    found, pca = TreePCA(n_components=3).fit_transform(X), PCA(3).fit_transform(X)
    np.testing.assert_allclose(np.abs(found), np.abs(pca), atol=1e-10)


@pytest.mark.parametrize("cuts", [[50, 51, 120], [1], []])
def test_chunks_give_what_the_whole_gives(rng, cuts):
    X = sequences(rng) + 1000
    whole, chunked = TreePCA(n_components=3).fit(X), TreePCA(n_components=3)
    parts = [p for p in np.split(X, cuts) if len(p)]
    if len(parts[0]) < 2:
        parts = parts[::-1]
    for part in parts:
        chunked.partial_fit(part)
    for name in ("components_", "mean_", "energy_", "position_weights_", "explained_variance_"):
        np.testing.assert_allclose(getattr(chunked, name), getattr(whole, name), rtol=1e-8, atol=1e-9)
    assert chunked.n_samples_seen_ == len(X)


def test_more_rows_than_go_at_once(rng, monkeypatch):
    X = sequences(rng)
    expected = TreePCA(n_components=3).fit(X).components_
    monkeypatch.setattr("psymem.reduction.tree_pca.NUMBERS_AT_ONCE", 24 * 7)
    np.testing.assert_allclose(TreePCA(n_components=3).fit(X).components_, expected, atol=1e-11)


@pytest.mark.parametrize("positions", [3, 5, 7])
def test_positions_that_are_no_power_of_two_are_filled_up_with_zeros(rng, positions):
    X = sequences(rng, 150, positions, 2)
    filled = np.hstack([X - X.mean(0), np.zeros((150, 2 * (4 if positions == 3 else 8) - 2 * positions))])
    expected, _, _ = recursion(filled, 2)
    for found in (TreePCA(n_components=2).fit(X), TreePCA(n_components=2).partial_fit(X)):
        np.testing.assert_allclose(found.transform(X), expected, atol=1e-10)
        assert len(found.position_weights_) == positions


def test_inverse_is_the_nearest_and_keeps_the_reduction(rng):
    X = sequences(rng)
    found = TreePCA(n_components=3).fit(X)
    reduced = found.transform(X)
    back = found.inverse_transform(reduced)
    np.testing.assert_allclose(found.transform(back), reduced, atol=1e-10)
    assert ((X - back) ** 2).sum() == pytest.approx(((X - X.mean(0)) ** 2).sum() - (reduced**2).sum())


def test_names_of_the_numbers(rng):
    found = TreePCA(n_components=2).fit(sequences(rng, 50, 4, 2))
    assert found.get_feature_names_out().tolist() == ["treepca0", "treepca1"]


def test_single_precision_stays_and_is_right(rng):
    X = sequences(rng)
    found = TreePCA(n_components=3).fit(X.astype(np.float32))
    assert found.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        found.transform(X), TreePCA(n_components=3).fit_transform(X), rtol=1e-3, atol=2e-3
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: TreePCA(n_components=3).fit(np.eye(8)),
            "X has 8 columns, which is no multiple of n_components=3; expected the positions of each sequence one "
            "after the other, 3 columns each.",
        ),
        (
            lambda: TreePCA(n_components=0).fit(np.eye(8)),
            "n_components=0; expected a whole number, 1 or more.",
        ),
        (
            lambda: TreePCA().fit(np.zeros((5, 4, 2))),
            "X has shape (5, 4, 2); expected 2 dimensions. Put the positions of a sequence after each other: "
            "X.reshape(len(X), -1).",
        ),
        (
            lambda: TreePCA().fit(np.eye(8)).inverse_transform(np.eye(3)),
            "X has shape (3, 3); expected (rows, 1).",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()


def test_chunks_after_fit_start_anew_and_say_so(rng):
    X = sequences(rng)
    found = TreePCA(n_components=3).fit(X)
    with pytest.warns(
        PsymemWarning, match=r"^partial_fit after fit starts anew, without what fit has seen: "
    ):
        found.partial_fit(X[:100])
    assert found.n_samples_seen_ == 100


def test_the_mean_knows_no_order(rng):
    X = sequences(rng, 50, 4, 3)
    expected = X.reshape(50, 4, 3).mean(1)
    found = MeanOfPositions(n_components=3).fit(X)
    np.testing.assert_allclose(found.transform(X), expected - expected.mean(0))
    np.testing.assert_allclose((X - X.mean(0)) @ found.components_.T, found.transform(X))
