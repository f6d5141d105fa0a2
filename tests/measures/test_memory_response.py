"""Memory responses against plain loops over products of gates, one cell at a time."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from psymem.errors import MeasureError
from psymem.measures.memory_response import MemoryHalfLife, MemoryResponse, lengths_left, memory_response
from psymem.trace import Trace

NAN = math.nan


def gates(rng, tokens: int, cells: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(0, 1, (tokens, cells)), rng.normal(size=(tokens, cells))


def trace(retain, write, index=None) -> Trace:
    n = len(retain)
    index = np.arange(n) if index is None else np.array(index)
    extras = {"memory_retain": np.asarray(retain, float), "memory_write": np.asarray(write, float)}
    return Trace(tuple("t" * n), index, np.zeros(n), np.zeros(n, bool), extras=extras)


def words(n: int) -> pd.DataFrame:
    return pd.DataFrame({"word": [f"w{i}" for i in range(n)]})


def by_hand(retain, write, index) -> list[list[float]]:
    """Lengths, from products written out for every token, cell and pair of words."""
    tokens, cells = retain.shape
    n = max(index) + 1
    found = [[0.0] * n for _ in range(n)]
    for at in range(n):
        if at not in index:
            found[at] = [NAN] * n
            continue
        t = max(j for j in range(tokens) if index[j] == at)
        for of in range(at + 1):
            square = 0.0
            for cell in range(cells):
                left = 0.0
                for k in range(t + 1):
                    if index[k] == of:
                        left += math.prod(retain[j][cell] for j in range(k + 1, t + 1)) * write[k][cell]
                square += left**2
            found[at][of] = math.sqrt(square)
    return found


@pytest.mark.parametrize(
    "index",
    [range(9), [0, 0, 1, 2, 2, 2, 3, 4, 4], [0, 1, 1, 3, 3, 4, 5, 6, 6]],
    ids=["words", "pieces", "gap"],
)
@pytest.mark.parametrize("cells", [3, 70])
def test_lengths_are_those_of_products_written_out(rng, index, cells):
    retain, write = gates(rng, 9, cells)
    found = lengths_left(retain, write, np.array(index), max(index) + 1)
    np.testing.assert_allclose(found, by_hand(retain, write, list(index)), rtol=1e-12)


def test_the_full_response_is_those_products_and_adds_up_to_the_state(rng):
    retain, write = gates(rng, 12, 5)
    response = memory_response(retain, write)
    state = np.zeros(5)
    for t in range(12):
        state = retain[t] * state + write[t]
        np.testing.assert_allclose(response[t].sum(0), state, rtol=0, atol=1e-14)
        for k in range(12):
            expected = retain[k + 1 : t + 1].prod(0) * write[k] if k <= t else np.zeros(5)
            np.testing.assert_allclose(response[t, k], expected, rtol=1e-12, atol=0)


def test_columns_follow_from_the_lengths(rng):
    retain, write = gates(rng, 7, 4)
    m = np.array(by_hand(retain, write, list(range(7))))
    found = MemoryResponse()(trace(retain, write), words(7))
    for t in range(7):
        share = [m[t][k] / sum(m[t]) for k in range(t + 1)]
        kept = [m[t][k] / m[k][k] for k in range(t)]
        overwritten = [m[t][k] / m[t - 1][k] for k in range(t)]
        expected = {
            "memory_span_words": sum((t - k) * share[k] for k in range(t + 1)),
            "memory_entropy_bits": -sum(p * math.log2(p) for p in share),
            "retention_proportion": sum(kept) / t if t else NAN,
            "overwrite_proportion": 1 - sum(overwritten) / t if t else NAN,
            "encoding_strength": math.sqrt(sum(x**2 for x in write[t])),
        }
        assert {c: v[t] for c, v in found.items()} == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_a_latch_keeps_everything_and_a_sieve_nothing():
    write = np.ones((4, 2))
    latch = MemoryResponse()(trace(np.ones((4, 2)), write), words(4))
    np.testing.assert_allclose(latch["memory_span_words"], [0, 0.5, 1, 1.5])
    np.testing.assert_allclose(latch["memory_entropy_bits"], np.log2([1, 2, 3, 4]), atol=1e-15)
    np.testing.assert_allclose(latch["retention_proportion"], [NAN, 1, 1, 1])
    np.testing.assert_allclose(latch["overwrite_proportion"], [NAN, 0, 0, 0])
    sieve = MemoryResponse()(trace(np.zeros((4, 2)), write), words(4))
    np.testing.assert_allclose(sieve["memory_span_words"], 0)
    np.testing.assert_allclose(sieve["memory_entropy_bits"], 0)
    np.testing.assert_allclose(sieve["retention_proportion"], [NAN, 0, 0, 0])
    np.testing.assert_allclose(sieve["overwrite_proportion"], [NAN, 1, 1, 1])
    assert not np.signbit(sieve["memory_entropy_bits"]).any()


def test_half_of_a_word_is_gone_when_less_than_half_is_left():
    halving = np.full((6, 1), 0.5)
    found = MemoryHalfLife()(trace(halving, np.ones((6, 1))), words(6))["half_life_words"]
    np.testing.assert_array_equal(found, [2, 2, 2, 2, NAN, NAN])  # exactly half is left after one word
    slow = MemoryHalfLife()(trace(np.full((6, 1), 0.8), np.ones((6, 1))), words(6))["half_life_words"]
    np.testing.assert_array_equal(slow, [4, 4, NAN, NAN, NAN, NAN])
    assert MemoryHalfLife.causal is False


def test_words_that_wrote_nothing_are_not_in_the_means():
    write = np.array([[0.0], [2.0], [1.0]])
    shown = trace(np.full((3, 1), 0.25), write)
    found = MemoryResponse()(shown, words(3))
    np.testing.assert_allclose(found["memory_span_words"], [NAN, 0, 1 / 3])
    np.testing.assert_allclose(found["memory_entropy_bits"][0], NAN)
    np.testing.assert_allclose(found["retention_proportion"], [NAN, NAN, 0.25])
    np.testing.assert_allclose(found["overwrite_proportion"], [NAN, NAN, 0.75])
    np.testing.assert_allclose(found["encoding_strength"], [0, 2, 1])
    np.testing.assert_array_equal(MemoryHalfLife()(shown, words(3))["half_life_words"], [NAN, 1, NAN])


def test_what_is_gone_beyond_measure_cannot_be_overwritten():
    retain = np.full((200, 1), 1e-10)
    found = MemoryResponse()(trace(retain, np.ones((200, 1))), words(200))["overwrite_proportion"]
    np.testing.assert_allclose(found[1:], 1 - 1e-10, rtol=1e-12)


def test_a_word_without_tokens_has_no_value_and_leaves_the_others_alone(rng):
    retain, write = gates(rng, 4, 3)
    whole = MemoryResponse()(trace(retain, write, [0, 1, 3, 4]), words(5))
    assert all(math.isnan(v[2]) for v in whole.values())
    assert np.isfinite(whole["memory_span_words"][[0, 1, 3, 4]]).all()
    assert np.isfinite(whole["overwrite_proportion"][[1, 4]]).all()  # the word before has to have a value too
    plain = MemoryResponse()(trace(retain, write), words(4))
    np.testing.assert_allclose(whole["encoding_strength"][[0, 1, 3, 4]], plain["encoding_strength"])


@pytest.mark.parametrize(
    ("retain", "write", "message"),
    [
        (
            np.ones((3, 2)),
            np.ones((3, 1)),
            "What cells keep has shape (3, 2) and what is written (3, 1); expected the same (tokens, cells) for both.",
        ),
        (
            np.ones(3),
            np.ones(3),
            "What cells keep has shape (3,) and what is written (3,); expected the same (tokens, cells) for both.",
        ),
    ],
    ids=["other cells", "no cells"],
)
def test_arrays_that_do_not_fit_are_refused(retain, write, message):
    with pytest.raises(MeasureError) as caught:
        memory_response(retain, write)
    assert str(caught.value) == message


def test_a_trace_without_memory_is_refused():
    empty = Trace(
        ("a",), np.array([0]), np.zeros(1), np.zeros(1, bool), extras={"memory_retain": np.ones((1, 2))}
    )
    with pytest.raises(MeasureError) as caught:
        MemoryResponse()(empty, words(1))
    assert str(caught.value) == "The model gave no memory_write for this text."
