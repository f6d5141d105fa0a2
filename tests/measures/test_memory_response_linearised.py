"""Linear and linearised responses against matrix powers, finite differences and states of networks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import MeasureError
from psymem.measures.memory_response_linearised import (
    LinearisedMemoryResponse,
    linear_memory_response,
    linearised_lengths,
    recurrence_size,
)
from psymem.trace import Trace


def trace(slope, drive, recurrence, carry=None, index=None) -> Trace:
    n = len(slope)
    extras = {
        "memory_slope": slope,
        "memory_drive": drive,
        "memory_recurrence": np.broadcast_to(recurrence, (n, *recurrence.shape)),
    }
    if carry is not None:
        extras["memory_carry"] = carry
    index = np.arange(n) if index is None else np.array(index)
    return Trace(tuple("t" * n), index, np.zeros(n), np.zeros(n, bool), extras=extras)


def test_a_linear_network_is_taken_apart_exactly(rng):
    weight, drive = 0.5 * rng.normal(size=(3, 3)), rng.normal(size=(8, 3))
    response = linear_memory_response(weight, drive)
    state = np.zeros(3)
    for t in range(8):
        state = weight @ state + drive[t]
        np.testing.assert_allclose(response[t].sum(0), state, atol=1e-13)
        for k in range(t + 1):
            power = np.linalg.matrix_power(weight, t - k)
            np.testing.assert_allclose(response[t, k], power @ drive[k], atol=1e-13)
            bound = recurrence_size(weight)["largest_singular_value"] ** (t - k) * np.linalg.norm(drive[k])
            assert np.linalg.norm(response[t, k]) <= bound * (1 + 1e-12)
        assert (response[t, t + 1 :] == 0).all()


def test_the_linearised_response_is_the_derivative_of_the_state(rng):
    """With a drive scaled by 1 + e at one step, the state changes by e times the response (frozen units too)."""
    n, tokens = 4, 6
    blocks = 0.6 * rng.normal(size=(2, 2, 2))
    weight = np.zeros((4, 4))
    weight[:2, :2], weight[2:, 2:] = blocks
    drive, bias = rng.normal(size=(tokens, n)), 0.3 * rng.normal(size=n)
    a = np.repeat(rng.uniform(0, 1, (tokens, 2)), 2, axis=1)

    def states(scale):
        h, seen, updates = np.zeros(n), [], []
        for t in range(tokens):
            update = np.tanh(weight @ h + scale[t] * drive[t] + bias)
            h = (1 - a[t]) * update + a[t] * h
            seen.append(h)
            updates.append(update)
        return np.array(seen), np.array(updates)

    _, updates = states(np.ones(tokens))
    found = linearised_lengths(trace((1 - a) * (1 - updates**2), drive, blocks, a), tokens)
    step = 1e-6
    for k in range(tokens):
        up, down = np.ones(tokens), np.ones(tokens)
        up[k], down[k] = 1 + step, 1 - step
        change = (states(up)[0] - states(down)[0]) / (2 * step)
        np.testing.assert_allclose(found[k:, k], np.linalg.norm(change[k:], axis=-1), rtol=1e-6)
        assert (found[:k, k] == 0).all()


def test_columns_are_named_linearised_and_pieces_add_up(rng):
    weight, drive = 0.4 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    shown = trace(np.ones((3, 3)), drive, weight[None], index=[0, 0, 1])
    found = LinearisedMemoryResponse()(shown, pd.DataFrame({"word": ["ab", "c"]}))
    assert all("linearised" in c for c in found)
    first = np.linalg.norm(weight @ drive[0] + drive[1])
    left = np.linalg.norm(weight @ (weight @ drive[0] + drive[1]))
    own = np.linalg.norm(drive[2])
    np.testing.assert_allclose(found["encoding_strength_linearised"], [first, own])
    np.testing.assert_allclose(found["retention_linearised_ratio"], [np.nan, left / first])
    np.testing.assert_allclose(found["memory_span_linearised_words"], [0, left / (left + own)])


def test_the_size_of_a_recurrence():
    rotation = np.array([[0.0, -0.5], [0.5, 0.0]])
    assert recurrence_size(rotation) == pytest.approx({"largest_singular_value": 0.5, "spectral_radius": 0.5})
    shear = np.array([[0.5, 3.0], [0.0, 0.25]])
    found = recurrence_size(np.stack([rotation, shear]))
    assert found["spectral_radius"] == pytest.approx(0.5)
    assert found["largest_singular_value"] == pytest.approx(
        np.sqrt(np.linalg.eigvalsh(shear.T @ shear).max())
    )


def test_a_trace_without_a_recurrence_is_refused():
    empty = Trace(("a",), np.array([0]), np.zeros(1), np.zeros(1, bool))
    with pytest.raises(MeasureError) as caught:
        LinearisedMemoryResponse()(empty, pd.DataFrame({"word": ["a"]}))
    assert str(caught.value) == (
        "The model gave no memory_slope and no memory_drive and no memory_recurrence for this text."
    )
