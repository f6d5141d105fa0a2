"""From a name to a backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from psymem.backends.load import load_backend, load_backends
from psymem.backends.recurrent import RecurrentBackend
from psymem.backends.toy import ToyBackend
from psymem.errors import ModelError, UnknownNameError


def test_a_directory_is_one_of_our_models(small_checkpoint):
    backend = load_backend(small_checkpoint, bos=False)
    assert isinstance(backend, RecurrentBackend)
    assert backend.name == str(small_checkpoint)
    assert not backend.bos


def test_a_backend_is_returned_as_it_is():
    toy = ToyBackend(seed=3)
    assert load_backend(toy) is toy
    assert load_backends([toy, "toy"]) == [toy, ToyBackend()]


def test_the_same_model_twice_is_read_once():
    assert len(load_backends(["toy", "toy"])) == 1


def test_a_hub_model_without_network_says_how_to_use_a_folder(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UnknownNameError) as caught:
        load_backend("someone/some-model")
    message = str(caught.value)
    assert message.startswith("There is no model called 'someone/some-model'.")
    assert message.endswith(
        f"There is no folder {Path.cwd() / 'someone/some-model'} either. Give one of these names, or the folder of a "
        "model: psymem train writes it to OUT/model. If it is a model on the Hugging Face hub: the hub is switched off "
        "(HF_HUB_OFFLINE), and there is no copy on this machine. Where there is a network, run 'hf download "
        "someone/some-model --local-dir my-model', copy the folder here and give its path as the model."
    )


def test_a_slip_of_the_pen_is_not_looked_for_on_the_hub(monkeypatch, small_checkpoint):
    from psymem import checkpoints

    known = [checkpoints.Checkpoint("cbr-rnn/1", small_checkpoint)]
    monkeypatch.setattr(checkpoints, "bundled", lambda: known)
    monkeypatch.setattr("psymem.backends.load._fetch", lambda *_: pytest.fail("asked the hub"))
    with pytest.raises(UnknownNameError) as caught:
        load_backend("cbr-rn/1")
    assert str(caught.value) == (
        "There is no model called 'cbr-rn/1'. Did you mean 'cbr-rnn/1' or 'cbr-rnn'? Known: cbr-rnn, "
        f"cbr-rnn/1. There is no folder {Path.cwd() / 'cbr-rn/1'} either. Give one of these names, or the folder of a "
        "model: psymem train writes it to OUT/model."
    )


def test_an_unknown_setting_is_named(small_checkpoint):
    with pytest.raises(ModelError) as caught:
        load_backend(small_checkpoint, boss=True)
    assert str(caught.value) == (
        "This model cannot be loaded with boss: RecurrentBackend.__init__() got an unexpected keyword "
        "argument 'boss'."
    )
