"""Finding and checking model directories, without torch."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from psymem import checkpoints
from psymem.errors import CheckpointError, UnknownNameError


@pytest.fixture
def weights(tmp_path, monkeypatch, small_checkpoint_writer):
    """A weights folder with cbr-rnn/1, /2, /10 and gated/1."""
    for name in ("cbr-rnn/1", "cbr-rnn/2", "cbr-rnn/10", "gated/1"):
        small_checkpoint_writer(tmp_path / name)
    monkeypatch.setattr(checkpoints, "files", lambda _: tmp_path)
    return tmp_path


def test_bundled_models_are_listed_in_natural_order(weights):
    assert [c.name for c in checkpoints.bundled()] == ["cbr-rnn/1", "cbr-rnn/2", "cbr-rnn/10", "gated/1"]


def test_a_family_stands_for_all_its_instances(weights):
    assert checkpoints.expand("cbr-rnn") == ["cbr-rnn/1", "cbr-rnn/2", "cbr-rnn/10"]
    assert checkpoints.expand("cbr-rnn/2") == ["cbr-rnn/2"]
    assert checkpoints.expand("something") == ["something"]


def test_finding_by_name_and_by_folder(weights):
    assert checkpoints.find("cbr-rnn/2") == weights / "cbr-rnn" / "2"
    assert checkpoints.find("gated") == weights / "gated" / "1"  # its only instance
    assert checkpoints.find(str(weights / "gated" / "1")) == weights / "gated" / "1"


def test_a_family_is_not_one_model(weights):
    with pytest.raises(CheckpointError) as caught:
        checkpoints.find("cbr-rnn")
    assert str(caught.value) == (
        "'cbr-rnn' stands for 3 models; name one of them: cbr-rnn/1, cbr-rnn/2, cbr-rnn/10."
    )


def test_an_unknown_name_offers_near_ones(weights):
    with pytest.raises(UnknownNameError) as caught:
        checkpoints.find("gatd")
    assert str(caught.value) == (
        "There is no model called 'gatd'. Did you mean 'gated' or 'gated/1'? "
        "Known: cbr-rnn, cbr-rnn/1, cbr-rnn/10, cbr-rnn/2, gated, gated/1. "
        f"There is no folder {Path.cwd() / 'gatd'} either. Give one of these names, or the folder of a model: psymem train "
        "writes it to OUT/model."
    )


WHAT_TO_GIVE = (
    "Give a bundled name, or a folder with config.json, model.safetensors, tokenizer.json: psymem train writes it to "
    "OUT/model."
)


def test_a_path_that_is_not_there(weights, tmp_path):
    with pytest.raises(CheckpointError) as caught:
        checkpoints.find(str(tmp_path / "nothing"))
    assert str(caught.value) == (
        f"The model was given as {tmp_path / 'nothing'}, but the folder {tmp_path / 'nothing'} does not exist, and no "
        f"bundled model is called so (cbr-rnn, cbr-rnn/1, cbr-rnn/10, cbr-rnn/2, gated, gated/1). {WHAT_TO_GIVE}"
    )


@pytest.mark.parametrize(
    ("given", "what"),
    [("runs/1/model", "does not exist"), ("~/nothing", "does not exist"), ("a.txt", "is a file")],
)
def test_what_can_only_be_a_path(weights, tmp_path, monkeypatch, given, what):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    (tmp_path / "a.txt").touch()
    with pytest.raises(CheckpointError) as caught:
        checkpoints.find(given)
    assert str(caught.value) == (
        f"The model was given as {given}, but the folder {given.replace('~', '/home/me')} {what}, and no bundled model is "
        f"called so (cbr-rnn, cbr-rnn/1, cbr-rnn/10, cbr-rnn/2, gated, gated/1). {WHAT_TO_GIVE}"
    )


def test_what_a_model_gives_is_known_without_its_weights(weights, small_checkpoint_writer):
    assert checkpoints.describe("cbr-rnn/1").provides == {"logprob", "entropy", "attention"}
    bare = checkpoints.describe(small_checkpoint_writer(weights / "x" / "1", attention="none"))
    assert bare.provides == {"logprob", "entropy"}
    assert bare.architecture == "psymem-cbr-rnn"


def test_verifying_compares_every_file_with_the_card(weights):
    checkpoint = checkpoints.describe("cbr-rnn/1")
    intact = dict.fromkeys(
        ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"], "intact"
    )
    assert checkpoints.verify(checkpoint) == intact
    (checkpoint.path / "tokenizer_config.json").unlink()
    with pytest.raises(CheckpointError) as caught:
        checkpoints.verify(checkpoint)
    assert str(caught.value) == (
        f"The model folder {checkpoint.path} lacks tokenizer_config.json, which its card lists."
    )


def test_without_a_card_there_is_nothing_to_compare(weights):
    (weights / "cbr-rnn" / "1" / "card.toml").unlink()
    found = checkpoints.verify(checkpoints.describe("cbr-rnn/1"))
    assert found == dict.fromkeys(checkpoints.REQUIRED_FILES, "no checksum in card.toml")


def test_a_card_that_is_not_toml_is_named(weights):
    card = weights / "cbr-rnn" / "1" / "card.toml"
    card.write_text("name = ")
    with pytest.raises(CheckpointError, match=r"^\S+card\.toml is not valid TOML: .*\.$"):
        checkpoints.verify(checkpoints.describe("cbr-rnn/1"))


@pytest.mark.parametrize(
    "card",
    [
        {"name": 'a "quoted" \\ name', "note": "tabs\tand\nlines \x7f é 👩", "n": 3, "x": 61.5, "yes": True},
        {
            "texts": ["a", "b"],
            "training": {"words": 10, "text files": ["x.txt"]},
            "sha256": {"config.json": "00"},
        },
        {"a b": 1, "training": {"text": {"files": ["x"], "words": 3}, "more": [{"n": 1}]}},
        {},
    ],
    ids=["values", "tables", "nested", "empty"],
)
def test_cards_come_back_as_written(card):
    assert tomllib.loads(checkpoints.card_text(card)) == card


def test_what_a_card_does_not_know_is_left_out():
    assert tomllib.loads(checkpoints.card_text({"a": None, "t": {"b": None, "c": 1}})) == {"t": {"c": 1}}


def test_models_are_described_without_importing_torch(small_checkpoint):
    program = (
        "import sys; from psymem import checkpoints as c;"
        f"m = c.describe({str(small_checkpoint)!r}); c.verify(m); c.bundled();"
        "print(sorted({'torch', 'transformers', 'pickle'} & set(sys.modules) - {'pickle'}))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("checkpoint", checkpoints.bundled(), ids=lambda c: c.name)
def test_bundled_models_are_intact_and_say_what_they_are(checkpoint):
    assert set(checkpoints.verify(checkpoint).values()) == {"intact"}
    assert checkpoint.provides
    assert checkpoint.card
