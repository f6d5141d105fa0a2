"""The criterion and its slope, against a computation with whole n x n matrices."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.fitting.formula.design import build
from psymem.fitting.profiled import crossproducts
from psymem.fitting.profiled.blocks import order_terms
from psymem.fitting.profiled.criterion import Criterion
from psymem.fitting.profiled.crossproducts import take
from psymem.fitting.profiled.gradient import slopes
from psymem.fitting.profiled.parameters import orthonormalise
from psymem.fitting.spec import make_spec

FORMULAS = [
    "y ~ x + (1|subject)",
    "y ~ x + condition + (1|subject) + (1|item)",
    "y ~ x + (1+x|subject) + (1+condition|item)",
    "y ~ x + (1+x+z||subject) + (1|item) + (1|block)",
    "y ~ x + (1+condition|item) + (1|subject) + (1|block)",
    "y ~ plural + (1+plural|half) + (1+plural|half:subject) + (1|item)",
    "y ~ plural + (1|half/subject) + (1+x|item)",
]


def whole(data, coordinates, theta, reml):
    """-2 log-likelihood from V itself."""
    n, p = data.fixed.shape
    v = np.eye(n)
    for term, root in zip(coordinates.terms, coordinates.split(theta), strict=True):
        z = np.zeros((n, len(term.levels), len(term.names)))
        z[np.arange(n), term.codes] = term.columns
        spread = z.reshape(n, -1) @ np.kron(np.eye(len(term.levels)), root)
        v += spread @ spread.T
    x, y = data.fixed, data.response
    information = x.T @ np.linalg.solve(v, x)
    residual = y - x @ np.linalg.solve(information, x.T @ np.linalg.solve(v, y))
    w = residual @ np.linalg.solve(v, residual)
    used = n - p if reml else n
    extra = np.linalg.slogdet(information)[1] if reml else 0.0
    return np.linalg.slogdet(v)[1] + extra + used * (1 + np.log(2 * np.pi * w / used))


def prepare(frame, formula, reml):
    data = build(frame, make_spec(formula))
    changed, coordinates = orthonormalise(order_terms(data.random))
    return data, coordinates, Criterion(take(data, changed), reml)


def point(coordinates, seed=2):
    rng = np.random.default_rng(seed)
    return np.where(
        coordinates.diagonal,
        rng.uniform(0.2, 1.2, len(coordinates.diagonal)),
        rng.normal(0, 0.3, len(coordinates.diagonal)),
    )


@pytest.mark.parametrize("reml", [True, False], ids=["REML", "ML"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_criterion_equals_that_of_the_whole_covariance_matrix(crossed, formula, reml):
    data, coordinates, criterion = prepare(crossed, formula, reml)
    theta = point(coordinates)
    found = criterion(coordinates.by_block(coordinates.orthonormal(theta), criterion.products.blocks))
    assert found.deviance == pytest.approx(whole(data, coordinates, theta, reml), abs=1e-7)


@pytest.mark.parametrize("reml", [True, False], ids=["REML", "ML"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_slope_equals_differences(crossed, formula, reml):
    _, coordinates, criterion = prepare(crossed, formula, reml)
    blocks, theta = criterion.products.blocks, point(coordinates)

    def deviance(at):
        return criterion(coordinates.by_block(coordinates.split(at), blocks)).deviance

    lambdas = coordinates.by_block(coordinates.split(theta), blocks)
    exact = coordinates.from_blocks(slopes(criterion, lambdas, criterion(lambdas)), blocks)
    for k, step in enumerate(1e-5 * np.eye(len(theta))):
        assert exact[k] == pytest.approx(
            (deviance(theta + step) - deviance(theta - step)) / 2e-5, rel=1e-5, abs=1e-4
        )


@pytest.mark.parametrize("formula", FORMULAS[1:3])
def test_sparse_cross_products_give_the_same(crossed, formula, monkeypatch):
    data, coordinates, criterion = prepare(crossed, formula, True)
    monkeypatch.setattr(crossproducts, "DENSE_CELLS", 0)
    monkeypatch.setattr(crossproducts, "DENSE_SHARE", 1e6)
    _, _, sparse = prepare(crossed, formula, True)
    assert (criterion.sparse, sparse.sparse) == (False, True)
    lambdas = coordinates.by_block(coordinates.orthonormal(point(coordinates)), criterion.products.blocks)
    assert sparse(lambdas).deviance == pytest.approx(criterion(lambdas).deviance, abs=1e-8)
    assert len(data.random) == 2
