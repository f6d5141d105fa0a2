"""The hand-written training pass against automatic differentiation of the plain model."""

from __future__ import annotations

import pytest
import torch

from psymem.errors import ModelError
from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
from psymem.models.cbr_rnn_training import _dropout, hidden_states


def small_model(**changes) -> CueBasedRNN:
    torch.manual_seed(5)
    model = CueBasedRNN(CueBasedRNNSettings(40, 12, **{"dropout": 0.0, "bos_id": 2, **changes}))
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.4 * torch.randn_like(p))
    return model


def tokens(length: int = 9) -> torch.Tensor:
    ids = torch.randint(3, 40, (5, length), generator=torch.Generator().manual_seed(1))
    ids[:, 0] = 2
    return ids


def gradients(model: CueBasedRNN, states: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    weight = torch.linspace(-1, 1, states.numel()).view(states.shape)
    (states.to(weight.dtype) * weight).sum().backward()
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("length", [1, 2, 3, 9])
def test_values_and_gradients_equal_automatic_differentiation(length):
    model = small_model()
    ids = tokens(length)
    plain = model(ids).hidden.transpose(0, 1)
    fast = hidden_states(model, ids)
    torch.testing.assert_close(fast, plain, rtol=0, atol=2e-6)
    expected, found = gradients(model, plain), gradients(model, fast)
    assert found.keys() == expected.keys()
    for name in expected:
        torch.testing.assert_close(
            found[name], expected[name], rtol=2e-4, atol=2e-5, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_dropout_scales_what_is_kept_and_reaches_the_gradient():
    model = small_model(dropout=0.5).train()
    torch.manual_seed(3)
    first = hidden_states(model, tokens())
    torch.manual_seed(3)
    second = hidden_states(model, tokens())
    torch.testing.assert_close(first, second)
    assert 0.3 < (first == 0).float().mean() < 0.7
    direction = {n: torch.randn_like(p) for n, p in model.named_parameters()}
    slopes = gradients(model, second)
    expected = sum((slopes[n] * direction[n]).sum() for n in slopes)
    values = []
    for step in (1e-3, -1e-3):
        with torch.no_grad():
            for n, p in model.named_parameters():
                p.add_(step * direction[n])
        torch.manual_seed(3)
        states = hidden_states(model, tokens())
        values.append((states * torch.linspace(-1, 1, states.numel()).view(states.shape)).sum().item())
        with torch.no_grad():
            for n, p in model.named_parameters():
                p.sub_(step * direction[n])
    assert (values[0] - values[1]) / 2e-3 == pytest.approx(expected.item(), rel=2e-2)


def test_bfloat16_stays_near_float32():
    model = small_model()
    full, half = hidden_states(model, tokens()), hidden_states(model, tokens(), torch.bfloat16)
    assert half.dtype == torch.bfloat16
    assert (full - half.float()).abs().max() < 0.1
    expected, found = gradients(model, full), gradients(model, half)
    for name in expected:
        cosine = torch.nn.functional.cosine_similarity(expected[name].flatten(), found[name].flatten(), dim=0)
        assert cosine > 0.995, name


@pytest.mark.parametrize("attention", ["uniform", "none"])
def test_ablations_are_refused(attention):
    with pytest.raises(
        ModelError, match=r"^The training recurrence is for softmax attention with sharpness 1\.$"
    ):
        hidden_states(small_model(attention=attention), tokens())


def test_sentences_without_bos_are_refused():
    with pytest.raises(
        ModelError, match=r"^The training recurrence needs BOS as first input of every sentence\.$"
    ):
        hidden_states(small_model(), tokens() + 1 - (tokens() == 39).long())


def test_rows_of_the_embedding_are_added_to_the_gradient_of_the_output_layer():
    model = small_model()
    found = []
    for sparse in (False, True):
        model.zero_grad()
        hidden = hidden_states(model, tokens(), sparse=sparse)
        model.output(hidden).square().mean().backward()
        found.append(model.embedding.weight.grad)
    assert [g.layout for g in found] == [torch.strided, torch.strided]
    torch.testing.assert_close(found[0], found[1], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.5])
def test_dropout_keeps_the_share_it_should_and_the_mean(rate):
    torch.manual_seed(3)
    mask = _dropout(torch.empty(100, 101, 103), rate)
    keep = 1 - rate
    assert set(mask.unique().tolist()) == {0.0, float(torch.tensor(1 / keep))}
    error = (keep * rate / mask.numel()) ** 0.5
    assert abs((mask > 0).double().mean().item() - keep) < 4 * error
    torch.manual_seed(3)
    assert torch.equal(mask, _dropout(torch.empty(100, 101, 103), rate))
    assert not torch.equal(mask, _dropout(torch.empty(100, 101, 103), rate))
