"""Checkpoint directories: round trip, and every kind of damage named in plain words."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from psymem.backends.load import load_backend
from psymem.errors import CheckpointError, ModelError
from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
from psymem.models.storage import load_checkpoint, save_checkpoint
from psymem.models.word_tokenizer import build_tokenizer

READ = "the cat sat".split()


@pytest.fixture
def folder(small_checkpoint, tmp_path):
    """A copy that a test may damage, its card taken away so that the damage itself is met."""
    copy = tmp_path / "model"
    shutil.copytree(small_checkpoint, copy)
    (copy / "card.toml").unlink()
    return copy


def refusal(folder) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_backend(folder).read(READ)
    return str(caught.value)


@pytest.mark.parametrize(
    "settings", [{}, {"attention": "uniform", "n_supertags": 3}, {"attention": "none", "tied": False}]
)
def test_round_trip_keeps_settings_and_sixteen_bits_of_each_weight(tmp_path, settings):
    torch.manual_seed(2)
    tokenizer = build_tokenizer(["the", "cat"])
    network = CueBasedRNN(CueBasedRNNSettings(tokenizer.get_vocab_size(), 8, **settings))
    card = {
        "description": 'says "hello"',
        "text": ["a b", "c"],
        "perplexity": 61.5,
        "training": {"words": 10},
    }
    stored = load_checkpoint(save_checkpoint(network, tokenizer, tmp_path / "model", card))
    assert stored.network.settings == network.settings
    assert not stored.network.training
    assert stored.tokenizer.to_str() == tokenizer.to_str()
    assert {k: stored.card[k] for k in card} == card
    for name, weight in network.state_dict().items():
        assert torch.equal(stored.network.state_dict()[name], weight.half().float()), name


def test_saving_twice_replaces_and_keeps_other_files(tmp_path, small_checkpoint_writer):
    folder = small_checkpoint_writer(tmp_path / "model", seed=1)
    (folder / "log.csv").write_text("kept")
    small_checkpoint_writer(folder, seed=2)
    assert (folder / "log.csv").read_text() == "kept"
    other = small_checkpoint_writer(tmp_path / "other", seed=2)
    assert (folder / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
    load_checkpoint(folder)


def test_a_truncated_weights_file_is_named(folder):
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    assert refusal(folder) == (
        f"{weights} is not a complete safetensors file ({len(whole) - 100} bytes, its header announces "
        f"{len(whole)}). "
        "It was cut short or damaged: copy or download it again."
    )
    weights.write_bytes(whole[:5])
    assert refusal(folder) == (
        f"{weights} is not a complete safetensors file (5 bytes, less than its header). "
        "It was cut short or damaged: copy or download it again."
    )
    weights.write_bytes(whole[:8] + b"\xff" * (len(whole) - 8))
    assert refusal(folder) == (
        f"{weights} is not a complete safetensors file (its header cannot be read). "
        "It was cut short or damaged: copy or download it again."
    )


def test_a_changed_file_does_not_match_its_card(small_checkpoint, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(small_checkpoint, folder)
    weights = folder / "model.safetensors"
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    message = refusal(folder)
    assert message.startswith(f"{weights} is not the file its card describes (sha256 ")
    assert message.endswith("it was changed or damaged. Install psymem again or copy the folder anew.")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert refusal(folder) == f"The model folder {folder} lacks {name}."


def test_pickled_weights_are_not_opened(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    assert refusal(folder) == (
        f"The model folder {folder} lacks model.safetensors. psymem reads safetensors only and does not open "
        "pytorch_model.bin."
    )


def change_config(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in {**config, **changes}.items() if v is not None}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"hidden_size": 8},
            "The weights in {0}/model.safetensors do not fit {0}/config.json: embedding.weight has shape "
            "(59, 16), "
            "not (59, 8), and 12 more.",
        ),
        ({"vocab_size": None}, "The config of this CBR-RNN lacks 'vocab_size'."),
        ({"model_type": None}, "{0}/config.json does not say which kind of model this is (no 'model_type')."),
        (
            {"model_type": "bert", "architectures": ["BertForMaskedLM"]},
            "{0} is a masked language model (bert): it predicts a word from both sides, so it has no "
            "surprisal of a "
            "word given the words before it. Use a causal (left-to-right) model.",
        ),
        (
            {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]},
            "{0} is an encoder-decoder model (t5): it reads the whole text before it predicts a word. "
            "Use a causal (left-to-right) model.",
        ),
        ({"attention": "sparse"}, "attention='sparse' is not known; expected one of softmax, uniform, none."),
    ],
    ids=["other width", "no vocabulary size", "no type", "masked", "other kind", "unknown attention"],
)
def test_a_config_that_does_not_fit_is_explained(folder, changes, message):
    change_config(folder, **changes)
    with pytest.raises(ModelError) as caught:
        load_backend(folder).read(READ)
    assert str(caught.value) == message.format(folder)


def test_json_that_is_none_is_named(folder):
    (folder / "config.json").write_text("{")
    assert refusal(folder).startswith(f"{folder / 'config.json'} cannot be read as JSON: ")
    (folder / "config.json").write_text("[]")
    assert refusal(folder) == f"{folder / 'config.json'} does not hold a JSON object."


def test_weights_that_are_not_finite_are_refused(folder):
    weights = load_file(folder / "model.safetensors")
    weights["model.query.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors")
    assert refusal(folder) == (
        f"The weights in {folder}/model.safetensors do not fit {folder}/config.json: "
        "query.bias has values that are not finite."
    )


def test_weights_of_another_model_are_refused(folder):
    weights = load_file(folder / "model.safetensors")
    weights["model.extra.weight"] = weights.pop("model.query.weight")
    save_file(weights, folder / "model.safetensors")
    assert refusal(folder) == (
        f"The weights in {folder}/model.safetensors do not fit {folder}/config.json: query.weight is "
        "missing, and 1 more."
    )


def test_a_tokenizer_of_another_model_is_refused(folder):
    path = folder / "tokenizer.json"
    path.write_text(build_tokenizer(["one"]).to_str())
    assert refusal(folder) == f"{path} has 6 words, but the model 59: they do not belong together."
    path.write_text("{}")
    assert refusal(folder).startswith(f"{path} is not a tokenizer that can be read: ")


def test_a_module_that_is_no_model_of_ours_is_not_stored(tmp_path):
    with pytest.raises(CheckpointError) as caught:
        save_checkpoint(torch.nn.Linear(2, 2), build_tokenizer([]), tmp_path, {})
    assert str(caught.value) == "Linear is none of the registered models and cannot be stored."
