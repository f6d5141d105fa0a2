"""Gated models stored and read again: by psymem, and through transformers' Auto classes."""

from __future__ import annotations

import logging

import pytest
import torch

from psymem.errors import CheckpointError, PsymemWarning
from psymem.models.gated.architecture import settings_of
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.gated.settings import FAMILIES, GatedSettings
from psymem.models.storage import load_checkpoint, save_checkpoint
from psymem.models.word_tokenizer import build_tokenizer

transformers = pytest.importorskip("transformers")
hf = pytest.importorskip("psymem.models.hf")

AutoModel, AutoTokenizer = transformers.AutoModelForCausalLM, transformers.AutoTokenizer
SENTENCES = ["The key to the cabinets was rusty .", "She didn't", "Dogs chased the old , well-known cat !"]
VARIANTS = {
    **{family: (family, {}) for family in FAMILIES},
    "fixed": ("fgp-lstm", {"durations": "fixed", "components": 3, "layers": 2}),
    "by-word": ("fgl-rnn", {"durations": "by-word", "layers": 2}),
    "untied": ("gru", {"tied": False, "reset_after": False, "layers": 2}),
    "released": ("fgl-lstm", {"spec": "released", "normalisation": "none", "sharpness": 2.0}),
}


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("transformers").setLevel(logging.ERROR)


@pytest.fixture(scope="module", params=VARIANTS)
def folder(request, tmp_path_factory, gated_checkpoint_writer):
    family, settings = VARIANTS[request.param]
    return gated_checkpoint_writer(tmp_path_factory.mktemp("variant") / "model", family, **settings)


def batch(folder, side="right"):
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side=side)
    encoded = tokenizer(["<s> " + s for s in SENTENCES], return_tensors="pt", padding=True)
    return encoded["input_ids"], encoded["attention_mask"]


@pytest.mark.parametrize("name", VARIANTS)
def test_round_trip_keeps_settings_and_sixteen_bits_of_each_weight(name, tmp_path):
    family, settings = VARIANTS[name]
    torch.manual_seed(2)
    tokenizer = build_tokenizer(["the", "cat"])
    network = GatedLanguageModel(
        GatedSettings(tokenizer.get_vocab_size(), family, 8, embedding_width=6, **settings)
    )
    if network.scale is not None and network.settings.normalisation == "running":
        network.scale.set_statistics(0.123456789, 7.0e4)  # not in 16 bits
        network.scale.batches.fill_(70_001)
    stored = load_checkpoint(save_checkpoint(network, tokenizer, tmp_path / "model", {"description": "x"}))
    assert stored.network.settings == network.settings
    assert not stored.network.training
    weights = dict(network.named_parameters())
    for key, weight in network.state_dict().items():
        expected = weight.half().float() if key in weights or key == "output.weight" else weight
        assert torch.equal(stored.network.state_dict()[key], expected), key


def test_transformers_reads_what_psymem_reads_and_back(folder, tmp_path):
    model, stored = AutoModel.from_pretrained(folder), load_checkpoint(folder)
    assert isinstance(model, hf.GatedForCausalLM)
    assert model.model.settings == stored.network.settings
    ids, _ = batch(folder)
    with torch.no_grad():
        found = model(ids)
        logits = stored.network.output(stored.network(ids).hidden)
    never = model.config.unpredictable_ids
    assert (found.logits.softmax(-1)[..., never] == 0).all()
    keep = [i for i in range(logits.shape[-1]) if i not in never]
    torch.testing.assert_close(found.logits[..., keep], logits[..., keep])
    model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    again, back = AutoModel.from_pretrained(tmp_path), load_checkpoint(tmp_path)
    assert again.config.to_diff_dict() == model.config.to_diff_dict()
    for name, weight in model.model.state_dict().items():
        assert torch.equal(weight, again.model.state_dict()[name]), name
        assert torch.equal(weight, back.network.state_dict()[name]), name
    tied = again.get_output_embeddings().weight is again.get_input_embeddings().weight
    assert tied == model.config.tie_word_embeddings


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_changes_nothing(folder, side):
    model = AutoModel.from_pretrained(folder)
    ids, mask = batch(folder, side)
    with torch.no_grad():
        together = model(ids, attention_mask=mask)
        for row in range(len(ids)):
            own = mask[row].bool()
            alone = model(ids[row : row + 1, own])
            torch.testing.assert_close(together.logits[row, own], alone.logits[0], atol=1e-5, rtol=0)


def test_a_model_that_looks_ahead_warns(tmp_path, gated_checkpoint_writer):
    model = AutoModel.from_pretrained(
        gated_checkpoint_writer(tmp_path / "model", "fgp-lstm", normalisation="chunk")
    )
    assert model.config.causal is False
    with pytest.warns(PsymemWarning, match=r"^This model is not causal: it scales fixation durations by all"):
        model(torch.tensor([[2, 5, 6]]))


def test_fresh_weights_are_drawn_as_the_network_draws_them():
    torch.manual_seed(0)
    model = hf.GatedForCausalLM(
        hf.GatedConfig(vocab_size=400, hidden_size=64, family="elstm", embedding_size=20)
    )
    assert model.model.output.weight is model.model.embedding.weight
    assert 0.9 < model.model.embedding.weight.std() < 1.1
    layer = model.model.block.layers[0]
    assert (layer.time_scale == 1).all()
    assert 0.12 < layer.input_weight.abs().max() <= 0.125


def test_a_trained_network_can_be_wrapped():
    network = GatedLanguageModel(GatedSettings(30, "fgl-rnn", 8, embedding_width=6)).eval()
    model = hf.GatedForCausalLM.of(network).eval()
    assert model.model is network
    assert model(torch.tensor([[2, 5, 6]])).logits.shape == (1, 3, 30)


def test_a_config_without_its_family_is_refused():
    with pytest.raises(CheckpointError) as caught:
        settings_of({"vocab_size": 30, "hidden_size": 8})
    assert str(caught.value) == "The config of this gated recurrent model lacks 'family'."
