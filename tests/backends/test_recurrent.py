"""What is particular to our own models: exact probabilities, BOS, unknown words, batches."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from psymem.backends import expectation
from psymem.backends.batching import batches_by_length, shared_states
from psymem.backends.recurrent import RecurrentBackend
from psymem.errors import CheckpointError, ModelError
from psymem.models.storage import load_checkpoint

SENTENCE = "The key to the cabinets didn't open , Zanzibar !".split()
MANY = [SENTENCE[:n] for n in range(1, 11)] + [SENTENCE[1:n] for n in range(2, 11)]


@pytest.fixture(scope="module")
def backend(small_checkpoint):
    return RecurrentBackend(str(small_checkpoint))


def by_hand(folder, ids: list[int], bos: bool):
    """Log-probabilities, entropies and attention of one sentence, straight from the network in double
    precision."""
    stored = load_checkpoint(folder)
    network = stored.network.double()
    inputs = torch.tensor([[2] * bos + ids])
    with torch.no_grad():
        out = network(inputs)
        logits = network.output(out.hidden)[0]
    logits[:, [0, 2]] = -torch.inf
    logprob = logits.log_softmax(-1)
    told = [logprob[i + bos - 1, t].item() if i + bos else np.nan for i, t in enumerate(ids)]
    p = logprob.exp()
    entropy = -torch.where(p > 0, p * logprob, 0.0).sum(-1)
    expected = [entropy[i + bos - 1].item() if i + bos else np.nan for i in range(len(ids))]
    attention = out.attention[0, bos:, bos:].numpy().copy()
    attention[0] = np.nan
    return np.array(told), np.array(expected), attention


@pytest.mark.parametrize("bos", [True, False], ids=["with bos", "without bos"])
def test_numbers_are_the_networks(small_checkpoint, bos):
    trace = RecurrentBackend(str(small_checkpoint), bos=bos).read(SENTENCE)
    assert trace.tokens == ("the", "key", "to", "the", "cabinets", "did", "n't", "open", ",", "<unk>", "!")
    assert trace.word_index.tolist() == [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9]
    assert trace.oov.tolist() == [False] * 9 + [True, False]
    ids = [load_checkpoint(small_checkpoint).tokenizer.token_to_id(t) for t in trace.tokens]
    logprob, entropy, attention = by_hand(small_checkpoint, ids, bos)
    np.testing.assert_allclose(trace.logprob, logprob, atol=1e-5)
    np.testing.assert_allclose(trace.entropy, entropy, atol=1e-5)
    np.testing.assert_allclose(trace.attention[0, 0], attention, atol=1e-5)


@pytest.mark.parametrize("batch_tokens", [1, 20, 64, 10_000])
def test_batch_size_does_not_matter(small_checkpoint, backend, batch_tokens):
    other = RecurrentBackend(str(small_checkpoint), batch_tokens=batch_tokens)
    for a, b in zip(other.read_many(MANY), backend.read_many(MANY), strict=True):
        np.testing.assert_allclose(a.logprob, b.logprob, atol=1e-5)
        np.testing.assert_allclose(a.attention, b.attention, atol=1e-5)


def test_no_score_of_a_bundled_model_moves_by_as_much_as_is_promised():
    texts = [SENTENCE[i : i + n] for n in (1, 2, 3, 4, 5, 8) for i in range(2)] + [SENTENCE * 3]
    orders = np.random.default_rng(1).permutation(len(texts)), np.arange(len(texts))
    model = RecurrentBackend("cbr-rnn/1")
    small = RecurrentBackend("cbr-rnn/1", batch_tokens=30)
    alone = [model.read(words).logprob for words in texts]
    for backend, order in ((model, orders[0]), (model, orders[1]), (small, orders[0])):
        for number, trace in zip(order, backend.read_many([texts[i] for i in order]), strict=True):
            moved = np.abs(trace.logprob - alone[number]) / np.log(2)  # bits
            assert moved.max() <= 1e-5


@pytest.mark.parametrize("n", [1, 3, 4, 5, 50])
def test_matrix_products_have_a_whole_number_of_rows(n):
    seen = []

    def logits_of(states):
        seen.append(len(states))
        return states.clone()

    states = torch.randn(n, 7, generator=torch.Generator().manual_seed(n))
    found = expectation.expect(states, logits_of, 7, np.arange(n), np.arange(n) % 7)
    expected = states.double().log_softmax(-1)[torch.arange(n), torch.arange(n) % 7]
    np.testing.assert_allclose(found.logprob, expected, atol=1e-6)
    assert sum(seen) == n + -n % 4
    assert all(rows % 4 == 0 for rows in seen)


def test_size_of_a_block_of_logits_does_not_matter(backend, monkeypatch):
    whole = backend.read_many(MANY)
    monkeypatch.setattr(expectation, "LOGITS_AT_ONCE", 200)
    for a, b in zip(backend.read_many(MANY), whole, strict=True):
        np.testing.assert_allclose(a.logprob, b.logprob, atol=1e-6)
        np.testing.assert_allclose(a.entropy, b.entropy, atol=1e-5)


def test_number_of_threads_does_not_matter(backend):
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(backend.read_many(MANY))
    finally:
        torch.set_num_threads(before)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a.logprob, b.logprob, atol=1e-5)


def test_special_tokens_spelled_out_are_unknown_words(backend):
    trace = backend.read(["the", "<s>", "</s>", "<pad>", "<unk>", "key"])
    assert trace.oov.tolist() == [False, True, True, True, True, False]
    assert len(set(trace.logprob[1:2])) == 1
    assert np.isfinite(trace.logprob).all()


def test_a_word_of_which_nothing_is_left_is_unknown(backend):
    trace = backend.read(["the", "\u0301", "key"])
    assert trace.word_index.tolist() == [0, 1, 2]
    assert trace.oov.tolist() == [False, True, False]


def test_a_sentence_with_too_many_tokens_is_named(small_checkpoint):
    backend = RecurrentBackend(str(small_checkpoint))
    with pytest.raises(ModelError) as caught:
        backend.read_many([["key-" * 40 + "key"] * 10], names=["7-C"])
    assert str(caught.value) == (
        f"Text '7-C' has 810 tokens in 10 words; {small_checkpoint} reads at most 511 at a time. "
        "Split it into sentences."
    )


def test_batches_hold_every_text_once_and_stay_within_the_limit():
    lengths = [5, 1, 9, 3, 3, 40, 7, 0]
    batches = list(batches_by_length(lengths, 20))
    assert sorted(i for b in batches for i in b) == list(range(len(lengths)))
    assert [len(b) * (max(lengths[i] for i in b) + 1) for b in batches if len(b) > 1] == [16, 16]
    assert batches[-1] == [5]


def test_sentences_that_begin_alike_share_their_states():
    texts = [np.array([5, 6, 7]), np.array([5, 6, 8]), np.array([6, 6])]
    where, states = shared_states(texts, bos=True)
    assert where.tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [1, 3], [2, 1], [2, 2]]
    assert [s.tolist() for s in states] == [[0, 1, 2, 3], [0, 1, 2, 4], [0, 5, 6]]
    where, states = shared_states(texts[:2], bos=False)
    assert where.tolist() == [[0, 0], [0, 1], [0, 2], [1, 2]]
    assert [s.tolist() for s in states] == [[-1, 0, 1, 2], [-1, 0, 1, 3]]


@pytest.mark.parametrize("given", ["x", -1, None, 2.5])
def test_a_longest_input_that_is_no_number_is_named(small_checkpoint, tmp_path, given):
    copy = tmp_path / "model"
    shutil.copytree(small_checkpoint, copy)
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(
        json.dumps({**config, "max_position_embeddings": given}), encoding="utf-8"
    )
    with pytest.raises(CheckpointError) as raised:
        RecurrentBackend(str(copy))
    assert str(raised.value) == (
        f"{copy / 'config.json'}: 'max_position_embeddings' is {given!r}; a whole number of at least 2 was expected. "
        "Copy or download the model again."
    )
