"""The plain forward pass: what it keeps between steps does not change what it computes."""

from __future__ import annotations

import pytest
import torch

from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings


@pytest.mark.parametrize("kind", ["softmax", "uniform", "none"])
def test_reading_without_gradients_gives_the_same_numbers(kind):
    torch.manual_seed(3)
    network = CueBasedRNN(CueBasedRNNSettings(20, 8, attention=kind)).eval()
    tokens = torch.randint(4, 20, (3, 7))
    tokens[:2, 0] = 2
    recorded = network(tokens)
    with torch.inference_mode():
        read = network(tokens)
    for name, expected in vars(recorded).items():
        found = getattr(read, name)
        if expected is None:
            assert found is None, name
        else:
            torch.testing.assert_close(found, expected.detach(), rtol=0, atol=0, msg=name)
