"""Perplexity: a uniform model gives the size of its vocabulary; both protocols against a plain calculation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from psymem.errors import TrainingError
from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, UNK_ID, build_tokenizer
from psymem.train.loop.evaluation import held_out_surprisal
from psymem.train.text.corpus import encode_sentences

TOKENIZER = build_tokenizer(["the", "key", "was", "old", "."])
SENTENCES = ["The key was old .", "The old house .", "key"]


def model(attention: str = "softmax") -> CueBasedRNN:
    torch.manual_seed(2)
    network = CueBasedRNN(CueBasedRNNSettings(TOKENIZER.get_vocab_size(), 8, attention=attention)).eval()
    with torch.no_grad():
        for p in network.parameters():
            p.add_(0.5 * torch.randn_like(p))
    return network


def plain(network: CueBasedRNN, ids: list[int], bos: bool) -> list[float]:
    """Surprisal of each predicted word, one sentence, straight from the definition."""
    inputs = [BOS_ID, *ids] if bos else ids[:-1]
    wanted = [*ids, EOS_ID] if bos else ids[1:]
    if not inputs:
        return []
    logits = network.output(network(torch.tensor([inputs])).hidden)[0].double()
    logits[:, [0, BOS_ID]] = -torch.inf
    return [-torch.log_softmax(row, -1)[w].item() for row, w in zip(logits, wanted, strict=True)]


@pytest.mark.parametrize("protocol", ["normal", "timkey2023"])
@pytest.mark.parametrize("attention", ["softmax", "none"])
def test_sums_equal_the_plain_calculation(protocol, attention):
    network = model(attention)
    text = encode_sentences(SENTENCES, TOKENIZER, 63)
    found = held_out_surprisal(network, text, protocol)
    with torch.inference_mode():
        expected = [plain(network, text.sentence(i).tolist(), protocol == "normal") for i in range(3)]
    every = np.concatenate(expected)
    assert found.n == len(every) == (13 if protocol == "normal" else 7)
    assert found.nats == pytest.approx(every.sum(), rel=1e-5)
    assert found.n - found.n_known == sum(UNK_ID in s for s in text.ids.reshape(-1, 1))
    unknown = expected[1][2 if protocol == "normal" else 1]
    assert found.nats_known == pytest.approx(every.sum() - unknown, rel=1e-5)
    assert found.perplexity == pytest.approx(np.exp(every.mean()), rel=1e-5)


def test_a_uniform_model_has_its_vocabulary_as_perplexity():
    network = model()
    with torch.no_grad():
        network.embedding.weight.zero_()
        network.output.bias.zero_()
    text = encode_sentences(SENTENCES, TOKENIZER, 63)
    assert held_out_surprisal(network, text).perplexity == pytest.approx(TOKENIZER.get_vocab_size() - 2)


def test_unknown_protocol_and_empty_text_are_refused():
    text = encode_sentences(["key"], TOKENIZER, 63)
    with pytest.raises(TrainingError) as caught:
        held_out_surprisal(model(), text, "table4")
    assert str(caught.value) == "--protocol 'table4' is not known; expected normal or timkey2023."
    with pytest.raises(TrainingError) as caught:
        held_out_surprisal(model(), text, "timkey2023")
    assert str(caught.value) == "There is no word to predict in this text."
