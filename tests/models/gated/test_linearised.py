"""Memory responses of real gated networks: the exact identity, and the linearisation against finite differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from psymem.backends.load import load_backend
from psymem.measures.memory_response import memory_response
from psymem.measures.memory_response_linearised import LinearisedMemoryResponse, linearised_lengths
from psymem.measures.model_fixations import LayersActive, ModelFixations
from psymem.models.gated.architecture import observe, provides, read
from psymem.models.gated.cells import GatedLayer
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.gated.linearised import linearisation
from psymem.models.gated.settings import FAMILIES, GatedSettings
from psymem.models.storage import save_checkpoint
from psymem.models.word_tokenizer import build_tokenizer
from psymem.scoring.score import as_words
from psymem.trace import Trace

GATED = [f for f in FAMILIES if FAMILIES[f][0] != "srn"]
TANH = [f for f in FAMILIES if FAMILIES[f][0] == "srn"]
WORDS = "the key to the cabinets was rusty . she opened it".split()


def network(family: str, vocabulary: int = 30) -> GatedLanguageModel:
    torch.manual_seed(7)
    found = GatedLanguageModel(GatedSettings(vocabulary, family, width=6, embedding_width=5)).eval().double()
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.add_(0.4 * torch.randn_like(parameter))
    return found


@pytest.mark.parametrize("family", GATED)
def test_what_words_left_adds_up_to_the_state(family):
    """sum_k mr_k(t) = c_t (h_t of a GRU), and what an earlier state left comes to it."""
    model, ids = network(family), torch.randint(4, 30, (2, 9))
    with torch.inference_mode():
        first = read(model, ids[:, :4], frozenset({"memory_retain", "memory_write"}))
        second = read(model, ids[:, 4:], frozenset({"memory_retain", "memory_write"}), first.state)
    for row in range(2):
        before = np.zeros(model.block.layers[-1].width * model.block.layers[-1].components)
        for output in (first, second):
            seen = observe(output)
            retain, write = (seen[n][row].numpy() for n in ("memory_retain", "memory_write"))
            state = output.records[-1].memory[row].flatten(1).numpy()
            left = np.cumprod(retain, 0) * before
            np.testing.assert_allclose(
                memory_response(retain, write).sum(1) + left, state, rtol=0, atol=1e-13
            )
            before = state[-1]


@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_tanh_layer_is_linearised_around_its_states(components, frozen):
    torch.manual_seed(3)
    layer = GatedLayer("srn", 4, 3, components).double()
    inputs = torch.randn(1, 7, 4, dtype=torch.float64)
    freeze = torch.rand(1, 7, components, dtype=torch.float64) if frozen else None
    start = (torch.randn(1, components, 3, dtype=torch.float64), None)
    step = 1e-6
    with torch.no_grad():
        record, _ = layer.steps(inputs, start, freeze)
        extras = {k: v[0].numpy() for k, v in linearisation(layer, inputs, record, freeze).items()}
        found = linearised_lengths(
            Trace(("t",) * 7, np.arange(7), np.zeros(7), np.zeros(7, bool), extras=extras), 7
        )
        for k in range(7):
            ends = []
            for sign in (1, -1):
                scaled = inputs.clone()
                scaled[:, k] *= 1 + sign * step
                ends.append(layer.steps(scaled, start, freeze)[0].hidden[0].flatten(1).numpy())
            change = np.linalg.norm((ends[0] - ends[1]) / (2 * step), axis=-1)
            np.testing.assert_allclose(found[k:, k], change[k:], rtol=1e-6, atol=1e-9)


@pytest.fixture
def backend(tmp_path):
    def make(family, **settings):
        tokenizer = build_tokenizer([*dict.fromkeys(WORDS), ","])
        model = network(family, tokenizer.get_vocab_size()).float()
        return load_backend(
            save_checkpoint(model, tokenizer, tmp_path / family, {"description": "for tests"}), **settings
        )

    return make


@pytest.mark.parametrize("family", TANH)
def test_tanh_models_have_a_linearised_response(family, backend, monkeypatch):
    measure = LinearisedMemoryResponse()
    reader = backend(family, context="text")
    assert measure.requires <= reader.provides
    assert "memory_retain" not in reader.provides
    frame = as_words([WORDS])
    whole = measure(reader.read_many([WORDS], needs=measure.needs)[0], frame)
    assert all(np.isfinite(v[1:]).all() for v in whole.values())
    monkeypatch.setattr("psymem.backends.recurrent.PIECE", 4)
    trace = reader.read_many([WORDS], needs=measure.needs)[0]
    assert trace.extras["memory_recurrence"].strides[0] == 0  # weights are held once
    for column, values in measure(trace, frame).items():
        np.testing.assert_allclose(values, whole[column], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("family", ["fgp-rnn", "fgp-lstm", "fgl-rnn", "fgl-lstm"])
def test_guided_models_have_fixations(family, backend):
    reader = backend(family)
    frame = pd.DataFrame({"word": [*WORDS, ","]})
    trace = reader.read(frame["word"].tolist())
    found = ModelFixations()(trace, frame)
    units = 12 if family.startswith("fgp") else 3
    stops = frame["word"].isin([".", ","]).to_numpy()
    for column, values in found.items():
        np.testing.assert_array_equal(np.isnan(values), stops, err_msg=column)
    gates = trace.extras["fixations"].astype(float)
    np.testing.assert_allclose(found["n_active"][~stops], (units - gates.sum(-1))[~stops], rtol=1e-6)
    assert ("layer_fixations" in reader.provides) == family.startswith("fgl")
    if family.startswith("fgl"):
        np.testing.assert_allclose(LayersActive()(trace, frame)["layers_active"], found["n_active"])


def test_plain_models_have_no_fixations():
    for family in ("srn", "lstm", "gru", "elstm"):
        assert not {"fixations", "layer_fixations"} & provides(
            {"vocab_size": 9, "family": family, "hidden_size": 4}
        )
