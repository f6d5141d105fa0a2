"""What every registered architecture has to do; a new one is tested by its row in the registry."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from psymem.backends.load import load_backend
from psymem.models.storage import full_config, load_checkpoint, save_checkpoint
from psymem.models.word_tokenizer import BOS_ID, build_tokenizer
from psymem.registry import ARCHITECTURES

WORDS = "the key to cabinets was rusty dog cat saw old a an".split()
TESTS = Path(__file__).resolve().parents[1]
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


@pytest.fixture(scope="module", params=ARCHITECTURES.names())
def architecture(request):
    return ARCHITECTURES.load(request.param)


@pytest.fixture(scope="module")
def network(architecture):
    torch.manual_seed(1)
    made = architecture.example(build_tokenizer(WORDS).get_vocab_size())
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made.eval()


@pytest.fixture(scope="module")
def folder(network, tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("architecture") / "model"
    about = {"description": "random weights for tests"}
    return save_checkpoint(network, build_tokenizer(WORDS), where, about, dtype=torch.float32)


@pytest.fixture
def tokens(network) -> torch.Tensor:
    size = network.output.weight.shape[0]
    drawn = torch.randint(4, size, (3, 7), generator=torch.Generator().manual_seed(2))
    return torch.cat([torch.full((3, 1), BOS_ID), drawn], 1)


def hidden(architecture, network, tokens: torch.Tensor, state=None):
    with torch.no_grad():
        return architecture.read(network, tokens, frozenset(), state).hidden


def test_it_is_stored_and_loaded_unchanged(architecture, network, folder):
    assert type(network) is architecture.network_class
    loaded = load_checkpoint(folder)
    assert loaded.config["model_type"] == architecture.model_type
    assert full_config(architecture, loaded.network) == full_config(architecture, network)
    for name, weight in network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], weight), name


def test_transformers_loads_it_and_predicts_the_same(architecture, network, folder, tokens):
    transformers = pytest.importorskip("transformers")
    import psymem.models.hf  # noqa: F401

    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    assert type(model).__name__ == architecture.transformers_class
    with torch.no_grad():
        expected = network.output(hidden(architecture, network, tokens))
        found = model(tokens).logits
    able = [i for i in range(expected.shape[-1]) if i not in model.config.unpredictable_ids]
    torch.testing.assert_close(found[..., able], expected[..., able], **TOLERANCE)


def test_one_text_alone_is_the_same_text_in_a_batch(architecture, network, tokens):
    together = hidden(architecture, network, tokens)
    for row, text in enumerate(tokens):
        alone = hidden(architecture, network, text[None, :5])[0]
        torch.testing.assert_close(together[row, :5], alone, **TOLERANCE)


def test_later_words_change_nothing_before(architecture, network, tokens):
    changed = tokens.clone()
    changed[:, 5:] = tokens[:, 5:].flip(1)
    changed[:, 6] = 4
    before, after = (hidden(architecture, network, t)[:, :5] for t in (tokens, changed))
    torch.testing.assert_close(before, after, **TOLERANCE)


def test_reading_goes_on_from_a_state(architecture, network, tokens):
    if not architecture.carries_state:
        pytest.skip("it has no state to go on from")
    whole = hidden(architecture, network, tokens)
    with torch.no_grad():
        first = architecture.read(network, tokens[:, :3], frozenset(), None)
    rest = hidden(architecture, network, tokens[:, 3:], first.state)
    torch.testing.assert_close(torch.cat([first.hidden, rest], 1), whole, **TOLERANCE)


def test_a_trace_has_what_it_says_it_provides(architecture, folder):
    backend = load_backend(folder)
    trace = backend.read_many([WORDS[:6]], needs=backend.provides)[0]
    for name in architecture.provides(load_checkpoint(folder).config):
        held = getattr(trace, name, None)
        assert held is not None or name in trace.extras, name
    assert (trace.logprob[np.isfinite(trace.logprob)] <= 0).all()


def test_its_mathematics_are_compared_with_a_reference(architecture):
    texts = [p.read_text(encoding="utf-8") for p in (TESTS / "golden").glob("test_*.py")]
    name = architecture.network_class.__name__
    assert any(name in text for text in texts), (
        f"no test in tests/golden compares {name} with stored or numpy values"
    )
