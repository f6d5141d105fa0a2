"""Word surprisal in bits, with and without the boundary correction."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.measures.surprisal import Surprisal
from psymem.trace import Trace
from psymem.units import perplexity


def trace(logprob, word_index, **more) -> Trace:
    n = len(logprob)
    return Trace(
        tuple("abcdefgh"[:n]), np.array(word_index), np.array(logprob, float), np.zeros(n, bool), **more
    )


def words(n: int) -> pd.DataFrame:
    return pd.DataFrame({"word": ["w"] * n})


def test_pieces_of_a_word_add_up_in_bits():
    found = Surprisal()(trace(np.log([0.5, 0.25, 0.125]), [0, 1, 1]), words(2))
    np.testing.assert_allclose(found["surprisal_bits"], [1.0, 5.0])


def test_an_undefined_first_word_is_missing_not_zero():
    found = Surprisal()(trace([np.nan, -1.0], [0, 1]), words(2))["surprisal_bits"]
    np.testing.assert_allclose(found, [np.nan, 1 / np.log(2)])


def test_a_certain_word_has_no_surprisal_and_no_minus_sign():
    assert str(Surprisal()(trace([0.0], [0]), words(1))["surprisal_bits"][0]) == "0.0"


def test_a_uniform_model_has_the_perplexity_of_its_vocabulary():
    bits = Surprisal()(trace(np.log([1 / 50] * 4), range(4)), words(4))["surprisal_bits"]
    assert perplexity(bits.mean() * np.log(2)) == pytest.approx(50)


def test_boundary_correction_is_the_probability_of_the_word_ending_there():
    # p(word) = p(pieces) p(boundary after) / p(boundary before), Pimentel & Meister (2024)
    pieces, boundary = [0.5, 0.25, 0.125], [1.0, 0.8, 0.1, 0.9]
    whole = trace(np.log(pieces), [0, 1, 1], boundary=np.log(boundary))
    expected = [0.5 * 0.8 / 1.0, 0.25 * 0.125 * 0.9 / 0.8]
    np.testing.assert_allclose(Surprisal()(whole, words(2))["surprisal_bits"], -np.log2(expected))
    raw = Surprisal(corrected=False)(whole, words(2))
    np.testing.assert_allclose(raw["surprisal_uncorrected_bits"], -np.log2([0.5, 0.25 * 0.125]))


def test_a_word_without_tokens_is_missing():
    found = Surprisal()(trace([-1.0, -1.0], [0, 2]), words(3))["surprisal_bits"]
    assert np.isnan(found).tolist() == [False, True, False]
