"""Devices that torch can compute on."""

from __future__ import annotations

import pytest
import torch

from psymem.backends import devices
from psymem.backends.load import load_backend
from psymem.errors import ModelError


def test_cpu_comes_first_and_computes_exactly():
    assert devices.available_devices()[0] == "cpu"
    assert devices.largest_error("cpu") == 0.0


def test_cards_are_numbered_and_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", "Card {}".format)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert devices.available_devices() == ["cpu", "cuda:0 (Card 0)", "cuda:1 (Card 1)", "mps"]


def test_a_device_that_miscalculates_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, device: tensor + 1)
    assert devices.largest_error("cpu") > 0


def test_threads_are_those_of_torch():
    assert devices.compute_threads() == torch.get_num_threads()


def test_a_device_that_is_not_there():
    with pytest.raises(ModelError) as caught:
        devices.move(torch.nn.Linear(1, 1), "cuda:99", "lstm/1")
    assert str(caught.value).startswith("lstm/1 cannot be moved to device 'cuda:99': ")
    assert ". Here there are: cpu" in str(caught.value)


def test_a_bundled_model_on_a_device_that_is_not_there():
    with pytest.raises(ModelError, match=r"^lstm/1 cannot be moved to device 'tpu7': .*Here there are: cpu"):
        _ = load_backend("lstm/1", device="tpu7").stored
