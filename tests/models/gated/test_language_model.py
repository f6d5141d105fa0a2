"""The language model around the gated cells: composition, durations, settings that cannot be."""

from __future__ import annotations

import pytest
import torch

from psymem.errors import ModelError, PsymemWarning
from psymem.models.gated.fixation_predictor import hard_gate
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.gated.settings import FAMILIES, GatedSettings

IDS = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 6, 3, 0, 0]])


def small(family: str = "fgp-lstm", **settings) -> GatedLanguageModel:
    torch.manual_seed(7)
    sizes = {"width": 6, "embedding_width": 5, **settings}
    return GatedLanguageModel(GatedSettings(12, family, **sizes)).eval()


@pytest.mark.parametrize("family", FAMILIES)
def test_hidden_is_embedding_cells_linear_tanh(family):
    model = small(family, durations="full")
    with torch.no_grad():
        out = model(IDS)
        freeze = None if out.freeze is None else torch.zeros_like(out.freeze)
        block = model.block(model.embedding.weight[IDS], freeze=freeze).output
        expected = torch.tanh(block @ model.head.weight.T + model.head.bias)
    torch.testing.assert_close(out.hidden, expected)
    assert model.output.weight is model.embedding.weight
    assert out.block.shape[-1] == {"fgp": 12 * 6, "fgl": 3 * 6}.get(family[:3], 6)


def test_given_durations_go_before_the_models_own():
    model, durations = small(), torch.tensor([[3, 0, 11, 5, 2, 3], [3, 8, 1, 3, 0, 0]])
    with torch.no_grad():
        out = model(IDS, durations=durations)
    assert torch.equal(out.freeze, hard_gate(durations.float(), 12))
    assert torch.equal(out.duration_level, durations.float())
    assert out.duration_raw is None


def test_a_predictor_learns_through_the_gate_and_alone():
    model = small().train()
    model(IDS).hidden.sum().backward()
    assert model.predictor.output.weight.grad.abs().max() > 0
    raw, state = model.eval().predict_durations(IDS[:, :3])
    rest, _ = model.predict_durations(IDS[:, 3:], state)
    torch.testing.assert_close(torch.cat([raw, rest], 1), model(IDS).duration_raw)


def test_a_fixed_predictor_is_not_trained_along():
    model = small(durations="fixed").train()
    assert not any(p.requires_grad for p in model.fixed_predictor.parameters())
    model(IDS).hidden.sum().backward()
    assert model.block.layers[0].input_weight.grad is not None


def test_state_of_the_predictor_is_carried():
    model = small("fgl-lstm")
    with torch.no_grad():
        whole, first = model(IDS), model(IDS[:, :2])
        rest = model(IDS[:, 2:], first.state.detach())
    torch.testing.assert_close(torch.cat([first.hidden, rest.hidden], 1), whole.hidden)
    assert rest.state.t == 6


def test_values_depend_on_the_past_only_unless_scaled_by_the_chunk():
    other = IDS.clone()
    other[:, 3:] = 10
    for normalisation, causal in (("running", True), ("none", True), ("chunk", False)):
        model = small(normalisation=normalisation)
        with torch.no_grad():
            same = torch.equal(model(IDS).hidden[:, :3], model(other).hidden[:, :3])
        assert same is causal is model.settings.causal


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"family": "lstn"},
            "family='lstn' is not known; expected one of srn, lstm, gru, elstm, fgp-rnn, fgp-lstm, fgl-rnn, fgl-lstm.",
        ),
        (
            {"durations": "none"},
            "durations='none' is not known; expected one of adaptive, fixed, by-word, full, given.",
        ),
        ({"spec": "code"}, "spec='code' is not known; expected one of paper, released."),
        ({"width": 0}, "width=0 is not possible; expected a whole number of at least 1."),
        ({"width": "6"}, "width='6' is not possible; expected a whole number of at least 1."),
        (
            {"components": 13},
            "components=13 is not possible for fgp-lstm: fixation durations have 12 levels, and each unit needs one of "
            "its own. Use at most 12; 12, 6, 4, 3 or 2 share them out evenly.",
        ),
        (
            {"family": "gru", "components": 2},
            "components=2 is not possible for gru; only fgp-rnn and fgp-lstm have more than one.",
        ),
    ],
)
def test_settings_that_cannot_be(change, message):
    with pytest.raises(ModelError) as caught:
        GatedSettings(**{"vocabulary_size": 12, **change})
    assert str(caught.value) == message


def test_units_that_do_not_share_levels_evenly_are_warned_about():
    with pytest.warns(PsymemWarning) as caught:
        GatedSettings(12, "fgp-rnn", components=5)
    assert [str(w.message) for w in caught] == [
        "components=5 does not divide the 12 levels of fixation durations: every level from 8 to 11 activates all "
        "units. 12, 6, 4, 3 or 2 share them out evenly."
    ]


@pytest.mark.parametrize(
    ("family", "durations", "message"),
    [
        ("lstm", torch.zeros(2, 6), "A model of kind lstm takes no durations."),
        (
            "fgp-lstm",
            torch.zeros(2, 5),
            "Durations have shape (2, 5), the words (2, 6); expected one level per word.",
        ),
        (
            "fgp-lstm",
            torch.full((2, 6), 12.0),
            "The duration of word 1 in row 1 is 12; expected a level from 0 to 11.",
        ),
        (
            "fgp-lstm",
            torch.tensor([[0.0] * 6, [0, 0, float("nan"), 0, 0, 0]]),
            "The duration of word 3 in row 2 is nan; expected a level from 0 to 11.",
        ),
    ],
)
def test_durations_that_cannot_be(family, durations, message):
    with pytest.raises(ModelError) as caught:
        small(family)(IDS, durations=durations)
    assert str(caught.value) == message


def test_only_an_adaptive_model_predicts():
    with pytest.raises(ModelError) as caught:
        small("fgp-rnn", durations="full").predict_durations(IDS)
    assert str(caught.value) == (
        "This fgp-rnn has no predictor of fixation durations that is trained along; use durations='adaptive'."
    )
