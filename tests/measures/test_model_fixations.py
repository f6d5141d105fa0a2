"""Model fixations against plain arithmetic."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import MeasureError
from psymem.measures.model_fixations import LayersActive, ModelFixations
from psymem.trace import Trace

NAN = np.nan
TOKENS = ("well", "-", "known", ",", "<unk>", "<unk>")
INDEX = np.array([0, 0, 0, 1, 2, 3])
WORDS = pd.DataFrame({"word": ["well-known", ",", "Xylo", "§"]})
GATES = np.array([[0, 0.5, 1], [0, 0, 0], [0, 0.25, 0.75], [1, 1, 1], [0.1, 0.2, 0.4], [0, 0, 0]])


def trace(**changes) -> Trace:
    extras = {
        "fixations": GATES,
        "layer_fixations": GATES,
        "duration_level": np.array([14.0, 3.0, 6.0, 2.0, -4.0, 5.0]),
        "update_norm": np.array([1.0, 9.0, 2.0, 9.0, 0.0, 9.0]),
        "update_frac": np.array([0.5, 9.0, 0.25, 9.0, NAN, 9.0]),
    }
    unknown = np.array([False] * 4 + [True] * 2)
    kept = {k: v for k, v in {**extras, **changes}.items() if v is not None}
    return Trace(TOKENS, INDEX, np.zeros(6), unknown, extras=kept)


def test_values_are_means_over_tokens_with_a_word_character():
    found = ModelFixations()(trace(), WORDS)
    np.testing.assert_allclose(found["n_active"], [(1.5 + 2.0) / 2, NAN, 2.3, NAN])
    np.testing.assert_allclose(found["n_active_hard"], [(1 + 2) / 2, NAN, 3, NAN])  # 0.5 is not below 0.5
    np.testing.assert_allclose(found["fix_level"], [(12 + 6) / 2, NAN, 0, NAN])
    np.testing.assert_allclose(found["update_norm"], [1.5, NAN, 0, NAN])
    np.testing.assert_allclose(found["update_frac"], [0.375, NAN, NAN, NAN])


def test_a_network_of_one_component_has_no_others():
    found = ModelFixations()(trace(update_frac=None), WORDS)
    assert np.isnan(found["update_frac"]).all()
    np.testing.assert_allclose(found["update_norm"], [1.5, NAN, 0, NAN])


def test_layers_are_counted_alike():
    found = LayersActive()(trace(), WORDS)
    np.testing.assert_allclose(found["layers_active"], [1.75, NAN, 2.3, NAN])


@pytest.mark.parametrize(
    ("measure", "lacking"),
    [
        (ModelFixations(), "fixations"),
        (ModelFixations(), "duration_level"),
        (LayersActive(), "layer_fixations"),
    ],
)
def test_a_model_without_fixations_is_refused(measure, lacking):
    with pytest.raises(MeasureError) as caught:
        measure(trace(**{lacking: None}), WORDS)
    assert str(caught.value) == f"The model gave no {lacking} for this text."
