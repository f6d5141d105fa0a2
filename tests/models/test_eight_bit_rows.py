"""Embeddings in 8 bits: what is read is within half a step of what was written, by psymem and by transformers."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file

from psymem import checkpoints
from psymem.backends.load import load_backend
from psymem.errors import CheckpointError
from psymem.models.eight_bit_rows import packed, unpacked
from psymem.models.storage import load_checkpoint, read_back, save_checkpoint, store_in_eight_bits
from psymem.train.loop.evaluation import cost_of_storing

READ = "the cat sat".split()


@pytest.fixture(params=["tied", "untied", "gated"])
def stored(request, tmp_path, small_checkpoint_writer, gated_checkpoint_writer):
    """A model in 16 bits and the same with 8-bit rows."""
    if request.param == "gated":
        folder = gated_checkpoint_writer(tmp_path / "16", "lstm")
    else:
        folder = small_checkpoint_writer(tmp_path / "16", tied=request.param == "tied")
    return folder, store_in_eight_bits(folder, tmp_path / "8")


def test_each_weight_is_within_half_a_step_of_its_row():
    weight = torch.randn(50, 7) * torch.logspace(-6, 2, 50)[:, None]
    weight[3] = 0
    small = packed({"a": weight, "b": weight}, ("a",))
    assert {k: (v.dtype, tuple(v.shape)) for k, v in small.items()} == {
        "a.eight_bit_rows": (torch.int8, (50, 7)),
        "a.row_scale": (torch.float32, (50,)),
        "b": (torch.float32, (50, 7)),
    }
    read = unpacked(small, None)
    step = weight.abs().amax(1, keepdim=True) / 127
    assert ((read["a"] - weight).abs() <= 0.5001 * step).all()
    assert torch.equal(read["a"][3], torch.zeros(7))
    assert torch.equal(read["b"], weight)


def test_only_the_rows_of_words_differ(stored):
    before, after = (load_checkpoint(folder) for folder in stored)
    for name, weight in before.network.state_dict().items():
        found = after.network.state_dict()[name]
        if name in ("embedding.weight", "output.weight"):
            step = weight.abs().amax(1, keepdim=True) / 127
            assert (found - weight).abs().max() > 0
            assert ((found - weight).abs() <= 0.5001 * step).all()
        else:
            assert torch.equal(found, weight), name
    assert after.card["embedding_bits"] == 8
    assert {k: v for k, v in after.card.items() if k not in ("embedding_bits", "sha256")} == {
        k: v for k, v in before.card.items() if k != "sha256"
    }


def test_other_tools_read_the_same_weights(stored):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("psymem.models.hf")
    model, info = transformers.AutoModelForCausalLM.from_pretrained(stored[1], output_loading_info=True)
    assert not any(info[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    weights = load_checkpoint(stored[1]).network.state_dict()
    for name, weight in model.model.state_dict().items():
        assert torch.equal(weight, weights[name]), name
    shared = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert shared == model.config.tie_word_embeddings
    assert not model.training


def test_a_model_that_other_tools_write_again_is_read(stored, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("psymem.models.hf")
    transformers.AutoModelForCausalLM.from_pretrained(stored[1]).save_pretrained(tmp_path / "again")
    (tmp_path / "again" / "tokenizer.json").write_bytes((stored[1] / "tokenizer.json").read_bytes())
    expected, found = load_backend(stored[1]).read(READ), load_backend(tmp_path / "again").read(READ)
    assert expected.logprob.tolist() == found.logprob.tolist()


def test_in_sixteen_bits_again_the_card_says_nothing_of_eight(stored, tmp_path):
    small = load_checkpoint(stored[1])
    folder = save_checkpoint(small.network, small.tokenizer, tmp_path / "again", small.card)
    assert "embedding_bits" not in load_checkpoint(folder).card


def test_counts_stay(tmp_path, small_checkpoint):
    model = load_checkpoint(small_checkpoint)
    folder = save_checkpoint(model.network, model.tokenizer, tmp_path / "m", {}, word_counts={"cat": 3})
    assert checkpoints.word_counts(store_in_eight_bits(folder, folder)) == {"cat": 3}


@pytest.mark.parametrize("damage", ["no scale", "other length", "floats"])
def test_rows_without_their_scales_are_refused(stored, damage):
    path = stored[1] / "model.safetensors"
    (stored[1] / "card.toml").unlink()
    weights = load_file(path)
    rows, scale = "model.embedding.weight.eight_bit_rows", "model.embedding.weight.row_scale"
    if damage == "no scale":
        del weights[scale]
    else:
        name = scale if damage == "other length" else rows
        weights[name] = weights[name][1:] if damage == "other length" else weights[name].half()
    save_file(weights, path)
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(stored[1])
    assert str(caught.value) == (
        f"{path}: the 8-bit rows of model.embedding.weight and their scales do not belong together. Copy or download it "
        "again."
    )


def test_what_storing_costs_is_measured_on_what_would_be_read(stored):
    network = load_checkpoint(stored[0]).network
    seen = cost_of_storing(network, lambda n: float(n.embedding.weight.detach().double().sum()))
    small = load_checkpoint(stored[1]).network
    assert seen["16"] == seen["32"] == float(network.embedding.weight.detach().double().sum())
    assert seen["8"] == float(small.embedding.weight.detach().double().sum())
    assert read_back(network).output.weight.data_ptr() != network.output.weight.data_ptr()
