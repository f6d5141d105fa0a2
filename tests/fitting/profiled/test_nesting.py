"""Nested grouping factors joined to one block, against the same model with all blocks apart, and against lme4."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError
from psymem.fitting.fit import fit
from psymem.fitting.formula.design import build
from psymem.fitting.profiled import nesting
from psymem.fitting.profiled.blocks import make_blocks, order_terms
from psymem.fitting.profiled.crossproducts import take
from psymem.fitting.profiled.parameters import orthonormalise
from psymem.fitting.profiled.patterns import patterns_of
from psymem.fitting.spec import make_spec

FORMULA = "y ~ condition + (1 + condition|item) + (1|model) + (1|item:model)"


def read_by_instances(n_items=16, n_models=4, seed=8, cell=0.8, slope=0.5, factors=("condition",)):
    """Items read by model instances in both conditions; each instance finds other items hard."""
    rng = np.random.default_rng(seed)
    levels = [("a", "b")] * len(factors)
    index = pd.MultiIndex.from_product(
        [range(n_items), range(n_models), *levels], names=["item", "model", *factors]
    )
    frame = index.to_frame(index=False)
    own = np.prod([frame[f] == "b" for f in factors], axis=0)
    item, model = frame["item"].to_numpy(), frame["model"].to_numpy()
    y = 5 + rng.normal(0, 1, n_items)[item] + rng.normal(0, 0.3, n_models)[model] - 0.2 * own
    y += rng.normal(0, slope, n_items)[item] * own + rng.normal(0, cell, (n_items, n_models))[item, model]
    return frame.assign(
        y=y + rng.normal(0, 0.4, len(frame)), item=[f"i{k}" for k in item], model=[f"m{k}" for k in model]
    )


@pytest.fixture(scope="module")
def readings():
    return read_by_instances()


@pytest.fixture
def apart(monkeypatch):
    """Fit with every grouping factor in a block of its own."""

    def fitted(*arguments):
        with monkeypatch.context() as patched:
            patched.setattr(nesting, "WIDEST", 0)
            return fit(*arguments)

    return fitted


def blocks_of(frame, formula):
    changed, _ = orthonormalise(order_terms(build(frame, make_spec(formula)).random))
    return make_blocks(changed), take(build(frame, make_spec(formula)), changed).blocks


def test_items_by_instances_are_one_block_with_the_items(readings):
    apart, joined = blocks_of(readings, FORMULA)
    assert [block.group for block in apart] == ["item:model", "item", "model"]
    assert [(block.group, block.size) for block in joined] == [("item", 16 * (2 + 4)), ("model", 4)]
    assert joined[0].bars == [1, 0]


def test_every_column_of_the_joined_block_belongs_to_one_level_of_its_bar(readings):
    block = blocks_of(readings, FORMULA)[1][0]
    codes = readings.groupby(["item", "model"], sort=False).ngroup().to_numpy()
    names = (readings["item"] + ":" + readings["model"]).to_numpy()
    levels = build(readings, make_spec(FORMULA)).random[2].levels
    values = np.arange(block.size, dtype=float).reshape(-1, block.width)
    of_levels = block.of_bar(0, values)[:, 0]
    for name in dict.fromkeys(names[codes >= 0]):
        rows = np.flatnonzero(names == name)
        column = np.unique(np.argwhere(block.columns[rows][:, 2:] == 1)[:, 1]) + 2
        assert of_levels[levels.index(name)] == values[block.codes[rows[0]], column[0]]
        assert len(column) == 1


@pytest.mark.parametrize("lost", [0, 17], ids=["balanced", "rows-missing"])
def test_gives_the_fit_with_blocks_apart(readings, apart, lost):
    frame = readings.drop(index=np.random.default_rng(1).permutation(len(readings))[:lost])
    joined, other = fit(frame, FORMULA), apart(frame, FORMULA)
    blocks = [[block.group for block in f.state.criterion.products.blocks] for f in (joined, other)]
    assert blocks == [["item", "model"], ["item:model", "item", "model"]]
    assert joined.loglik == pytest.approx(other.loglik, abs=1e-7)
    numbers = ["estimate", "se", "df", "t", "p"]
    np.testing.assert_allclose(joined.coefficients[numbers], other.coefficients[numbers], rtol=1e-4)
    ours, theirs = joined.random_effects, other.random_effects
    assert ours[["group", "level", "term"]].equals(theirs[["group", "level", "term"]])
    np.testing.assert_allclose(ours[["estimate", "sd"]], theirs[["estimate", "sd"]], atol=2e-5)
    np.testing.assert_allclose(joined.fitted, other.fitted, atol=2e-5)
    new = frame.iloc[::-1].head(9).assign(model=["m0"] * 8 + ["unseen"])
    np.testing.assert_allclose(joined.predict(new), other.predict(new), atol=2e-5)


@pytest.mark.r
def test_equals_lme4(rscript, readings):
    ours, theirs = fit(readings, FORMULA), fit(readings, FORMULA, engine="lme4")
    assert ours.loglik == pytest.approx(theirs.loglik, abs=1e-5)
    for column, rtol in {"estimate": 1e-6, "se": 1e-4, "df": 2e-3, "t": 1e-4, "p": 2e-3}.items():
        np.testing.assert_allclose(ours.coefficients[column], theirs.coefficients[column], rtol=rtol)


def test_factors_that_are_not_nested_stay_apart(crossed):
    assert [block.group for block in blocks_of(crossed, "y ~ x + (1|subject) + (1|item)")[1]] == [
        "item",
        "subject",
    ]


def test_balanced_levels_share_one_matrix(readings):
    joined = blocks_of(readings, FORMULA)[1][0]
    own = np.stack(
        [joined.columns[joined.codes == k].T @ joined.columns[joined.codes == k] for k in range(16)]
    )
    patterns = patterns_of(own)
    assert patterns.different.shape == (1, 6, 6)
    assert patterns.counts.tolist() == [16.0]
    np.testing.assert_allclose(patterns.by_level(patterns.different), own, atol=1e-12)
    sides = np.random.default_rng(3).normal(size=(16, 6, 3))
    sums = patterns.pair_sums(sides).reshape(6, 6, 3, 3)
    np.testing.assert_allclose(sums, np.einsum("lai,lbj->abij", sides, sides))


def test_levels_with_rows_of_their_own_keep_their_matrices():
    own = np.random.default_rng(3).normal(size=(10, 2, 2))
    patterns = patterns_of(own)
    assert patterns.by_level(patterns.different) is own
    assert patterns.pair_sums(np.ones((10, 2, 4))) is None


@pytest.mark.parametrize(("sd", "seed"), [(0.02, 0), (0.002, 0), (0.0015, 0), (0.002, 1), (0.005, 1)])
def test_a_tiny_residual_is_as_precise_as_with_blocks_apart(sd, seed, apart):
    """Digits that the joined block loses: it once gave a log-likelihood above the maximum, and called it converged."""
    frame = read_by_instances(30, 5)
    rng = np.random.default_rng(seed)
    item, model = (pd.factorize(frame[c])[0] for c in ("item", "model"))
    frame["y"] = rng.normal(size=30)[item] + rng.normal(size=5)[model] + rng.normal(size=(30, 5))[item, model]
    frame["y"] += sd * rng.normal(size=len(frame))
    if seed:
        frame = frame[rng.random(len(frame)) < 0.75]
    formula = "y ~ condition + (1|item) + (1|item:model) + (1|model)"
    found, expected = fit(frame, formula), apart(frame, formula)
    assert found.loglik == pytest.approx(expected.loglik, abs=1e-4)
    columns = ["estimate", "se"]
    np.testing.assert_allclose(found.coefficients[columns], expected.coefficients[columns], rtol=1e-4)
    np.testing.assert_allclose(found.coefficients["df"], expected.coefficients["df"], rtol=0.01)


@pytest.mark.r
def test_a_tiny_residual_gives_lme4s_log_likelihood(rscript):
    frame = read_by_instances(30, 5, seed=2, cell=1.0, slope=0.0)
    rng = np.random.default_rng(2)
    frame["y"] = frame.groupby(["item", "model"])["y"].transform("mean") + 0.002 * rng.normal(size=len(frame))
    formula = "y ~ condition + (1|item) + (1|item:model) + (1|model)"
    theirs = fit(frame, formula, engine="lme4")
    assert fit(frame, formula).loglik == pytest.approx(theirs.loglik, abs=1e-3)


def test_weights_that_differ_by_many_powers_of_ten_are_no_bare_error(readings):
    heavy = readings.assign(n=np.where(readings["item"] == "i0", 1e14, 1.0))
    for formula in ("y ~ condition + (1|item)", "y ~ condition + (1|item) + (1|item:model)"):
        with contextlib.suppress(FitError):  # where rounding leaves nothing of the light rows
            assert np.isfinite(fit(heavy, formula, weights="n").loglik)
