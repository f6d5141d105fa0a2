"""Gates, scales of durations and predictors, against their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from psymem.errors import ModelError
from psymem.models.gated.fixation_predictor import (
    DurationScale,
    FixationPredictor,
    FixedFixationPredictor,
    hard_gate,
    soft_gate,
)

LEVELS = torch.tensor([[-3.0, 0.0, 1.0, 3.0, 4.0, 7.9, 8.0, 11.0, 14.0]])


@pytest.mark.parametrize("units", [1, 2, 3, 4, 5, 6, 12])
def test_a_level_activates_the_units_up_to_it(units):
    active = (hard_gate(LEVELS, units) == 0).sum(-1)[0].tolist()
    share = 12 // units
    expected = [min(units, math.floor(min(max(v, 0), 11) / share) + 1) for v in LEVELS[0].tolist()]
    assert active == expected


@pytest.mark.parametrize("units", [3, 5, 12])
def test_the_published_soft_gate(units):
    gate = soft_gate(LEVELS, units, spec="paper", sharpness=4.0, offset=0.5)[0].numpy()
    for t, level in enumerate(LEVELS[0].tolist()):
        dbar = level * units / 12
        for k in range(1, units + 1):
            assert gate[t, k - 1] == pytest.approx(1 / (1 + math.exp(-(k - 1 - dbar) * 4)), abs=1e-6)


@pytest.mark.parametrize(("units", "offset"), [(4, 0.5), (3, 0.0), (5, 0.5)])
def test_the_released_soft_gate_never_freezes_the_first_unit(units, offset):
    gate = soft_gate(LEVELS, units, spec="released", sharpness=4.0, offset=offset)[0].numpy()
    assert (gate[:, 0] == 0).all()
    position = LEVELS[0].numpy()[:, None] / (12 // units)
    expected = 1 / (1 + np.exp(-4 * (np.arange(1, units) - offset - position)))
    np.testing.assert_allclose(gate[:, 1:], expected, atol=1e-6)


def scaled(raw: np.ndarray, mean, variance) -> np.ndarray:
    return ((raw - mean) / np.sqrt(variance + 1e-5) + 1.96) / 3.92 * 12


def test_running_scale_averages_over_batches_and_never_uses_one_batchs_own_statistics(rng):
    scale, seen = DurationScale("running", momentum=0.25).double().train(), []
    mean = squares = 0.0
    for number in range(1, 8):
        raw, words = rng.normal(number, 3, (4, 6)), rng.random((4, 6)) < 0.7
        seen.append(raw[words])
        raw[~words] = 99.0
        weight = max(0.25, 1 / number)  # until the fourth batch: all that were read, alike
        mean += weight * (seen[-1].mean() - mean)
        squares += weight * ((seen[-1] ** 2).mean() - squares)
        found = scale(torch.from_numpy(raw), torch.from_numpy(words)).numpy()
        np.testing.assert_allclose(found[words], scaled(raw, mean, squares - mean**2)[words])
        assert scale.mean.item() == pytest.approx(mean)
        assert scale.variance.item() == pytest.approx(squares - mean**2)
    scale.eval().set_statistics(1.5, 4.0)
    np.testing.assert_allclose(scale(torch.from_numpy(raw)).numpy(), scaled(raw, 1.5, 4.0))


def test_batches_of_unequal_sentences_are_read_in_training_as_in_scoring():
    """Raw durations that fall along a sentence: short sentences have a higher mean than long ones."""
    short, long = (torch.linspace(0, -n / 10, n).expand(4, n).contiguous() for n in (5, 60))
    scale = DurationScale("running").train()
    for _ in range(50):
        scale(short), scale(long)
    of_short, of_long = scale(short), scale(long)
    scale.eval()
    torch.testing.assert_close(of_short, scale(short), atol=0.1, rtol=0)
    torch.testing.assert_close(of_long, scale(long), atol=0.1, rtol=0)
    assert of_short.mean() > of_long.mean() + 4


def test_chunk_scale_uses_each_rows_own_words(rng):
    raw, words = rng.normal(2, 3, (3, 8)), np.arange(8) < np.array([[8], [5], [2]])
    found = DurationScale("chunk").double().eval()(torch.from_numpy(raw), torch.from_numpy(words)).numpy()
    for row, own in zip(range(3), words, strict=True):
        part = raw[row, own]
        np.testing.assert_allclose(found[row, own], scaled(part, part.mean(), part.var()))


@pytest.mark.parametrize("stop", [False, True])
def test_gradients_pass_through_statistics_unless_stopped(stop):
    raw = torch.randn(2, 5, dtype=torch.float64, requires_grad=True)
    DurationScale("running", stop_gradient=stop).double().train()(raw).sum().backward()
    flat = bool(raw.grad.abs().max() < 1e-9)  # a sum of standardised values is constant
    assert flat is not stop


def test_an_unknown_scale_is_named():
    with pytest.raises(ModelError) as caught:
        DurationScale("batch")
    assert str(caught.value) == "normalisation='batch' is not known; expected one of running, chunk, none."


def test_a_predictor_is_an_lstm_and_two_linear_layers():
    torch.manual_seed(1)
    predictor, x = FixationPredictor("lstm", 6, 5, 2).eval(), torch.randn(3, 4, 6)
    lstm = nn.LSTM(6, 5, 2, batch_first=True)
    for number, layer in enumerate(predictor.recurrent.layers):
        for name, weight in (("ih", layer.input_weight), ("hh", layer.recurrent_weight)):
            getattr(lstm, f"weight_{name}_l{number}").data = weight.data[0].T
        for name, bias in (("ih", layer.input_bias), ("hh", layer.recurrent_bias)):
            getattr(lstm, f"bias_{name}_l{number}").data = bias.data[0]
    with torch.no_grad():
        raw, state = predictor(x)
        expected = predictor.output(torch.tanh(predictor.hidden(lstm(x)[0])))[..., 0]
        again, _ = predictor(x[:, 2:], predictor(x[:, :2])[1])
    torch.testing.assert_close(raw, expected)
    torch.testing.assert_close(again, raw[:, 2:])
    assert state.hidden.shape == (2, 3, 1, 5)


def test_a_fixed_predictor_gives_whole_levels_and_a_set_one_at_boundaries():
    predictor = FixedFixationPredictor(10, width=4, embedding_width=3, boundary_ids=(2, 3)).eval()
    with torch.no_grad():
        predictor.network.output.weight.mul_(20)
        predictor.network.output.bias.fill_(6.0)
        ids = torch.tensor([[2, 5, 6, 7, 8, 3]])
        levels, raw, _ = predictor.levels(ids)
    expected = raw.round().clamp(0, 11)
    expected[0, [0, 5]] = 3
    assert levels.tolist() == expected.tolist()
