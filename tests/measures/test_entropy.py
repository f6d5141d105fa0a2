"""Entropy and its reduction against plain arithmetic; tokens and context counted."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.backends.load import load_backend
from psymem.measures.base import resolve
from psymem.measures.entropy import Entropy, EntropyReduction
from psymem.measures.surprisal import Surprisal, UncorrectedSurprisal
from psymem.measures.tokens import ContextLength, NTokens
from psymem.scoring.score import as_words, score
from psymem.trace import Trace

NAN = np.nan
# words: 0 key (one token)   1 cabinets (two tokens)   2 was   3 nothing (no token)
INDEX = np.array([0, 1, 1, 2])
NATS = np.array([2.0, 3.0, 0.5, 2.5]) * np.log(2)
TRACE = Trace(tuple("abcd"), INDEX, -NATS, np.zeros(4, bool), entropy=NATS, entropy_after=1.0 * np.log(2))
WORDS = as_words([["key", "cabinets", "was", "nothing"]])
SENTENCE = "The key to the cabinets was rusty .".split()


def test_entropy_is_that_of_the_distribution_the_first_token_was_drawn_from():
    np.testing.assert_allclose(Entropy()(TRACE, WORDS)["entropy_bits"], [2.0, 3.0, 2.5, NAN])


def test_entropy_reduction_runs_from_before_a_word_to_after_its_last_token():
    signed = EntropyReduction(signed=True)(TRACE, WORDS)["entropy_reduction_signed_bits"]
    np.testing.assert_allclose(signed, [-1.0, 0.5, 1.5, NAN])
    found = EntropyReduction()(TRACE, WORDS)["entropy_reduction_bits"]
    np.testing.assert_allclose(found, [0.0, 0.5, 1.5, NAN])


def test_entropy_reduction_is_missing_where_an_entropy_is():
    unknown = Trace(tuple("ab"), np.arange(2), np.zeros(2), np.zeros(2, bool), entropy=np.array([NAN, 1.0]))
    found = EntropyReduction()(unknown, WORDS.iloc[:2])["entropy_reduction_bits"]
    assert np.isnan(found).all()


@pytest.mark.parametrize("kind", ["gpt2", "llama", "cbr-rnn"])
def test_entropies_are_those_of_the_models_distribution(kind, small_pretrained, small_checkpoint):
    backend = load_backend(small_checkpoint if kind == "cbr-rnn" else small_pretrained(kind))
    frame = score([SENTENCE], backend, ["entropy", "entropy-reduction"])
    for n in range(len(SENTENCE)):  # after n words, whatever comes next
        shorter = backend.read([*SENTENCE[:n], "dog"])
        expected = shorter.entropy[shorter.word_index == n][0] / np.log(2)
        assert frame["entropy_bits"][n] == pytest.approx(expected, abs=1e-5)
    change = frame["entropy_bits"].to_numpy()[:-1] - frame["entropy_bits"].to_numpy()[1:]
    if kind != "llama":  # there, a token "." follows its space as one piece of the same word
        np.testing.assert_allclose(
            frame["entropy_reduction_bits"][:-1], np.maximum(change, 0), rtol=0, atol=1e-5
        )
    assert frame["entropy_reduction_bits"].notna().all()


def test_entropy_after_a_text_does_not_depend_on_windows(small_pretrained):
    backend = load_backend(small_pretrained("gpt2"))
    backend.model.max_tokens = 21
    text = SENTENCE * 8
    (trace,) = backend.read_many([text], needs=frozenset({"entropy"}))
    start = len(trace.tokens) - 20
    ids = backend.model.tokenizer.convert_tokens_to_ids(list(trace.tokens[start:]))
    import torch

    with torch.inference_mode():
        logits = backend.model.network(torch.tensor([[backend.tokenizer.bos_id, *ids]])).logits[0, -1]
    p = logits.double().softmax(-1).numpy()
    assert trace.entropy_after == pytest.approx(-(p * np.log(p)).sum(), abs=1e-5)


def test_without_bos_nothing_was_expected_at_first(small_pretrained):
    backend = load_backend(small_pretrained("gpt2"), bos=False)
    frame = score([SENTENCE], backend, ["entropy", "entropy-reduction"])
    assert np.isnan(frame["entropy_bits"][0])
    assert np.isnan(frame["entropy_reduction_bits"][0])
    assert frame["entropy_bits"][1:].notna().all()


def test_tokens_are_counted(small_pretrained):
    assert NTokens()(TRACE, WORDS)["n_tokens"].tolist() == [1, 2, 1, 0]
    frame = score([SENTENCE], small_pretrained("gpt2"), ["n-tokens"])
    trace = load_backend(small_pretrained("gpt2")).read(SENTENCE)
    assert frame["n_tokens"].sum() == len(trace.tokens)


def test_context_counts_tokens_from_the_beginning_or_from_the_window(small_pretrained):
    assert ContextLength()(TRACE, WORDS)["context_tokens"].tolist() == [0, 1, 3, 4]
    backend = load_backend(small_pretrained("gpt2"))
    backend.model.max_tokens = 21
    frame = score([SENTENCE * 8], backend, ["surprisal", "context-length", "n-tokens"])
    seen = frame["context_tokens"].to_numpy()
    tokens_before = frame["n_tokens"].cumsum().to_numpy() - frame["n_tokens"].to_numpy()
    inside = tokens_before < 20
    np.testing.assert_array_equal(seen[inside], tokens_before[inside])
    assert ((seen[~inside] >= 10) & (seen[~inside] < 20)).all()


def test_uncorrected_surprisal_has_a_name_of_its_own(small_pretrained):
    frame = score([SENTENCE], small_pretrained("gpt2"), ["surprisal", "surprisal-uncorrected"])
    plain = score([SENTENCE], small_pretrained("gpt2"), Surprisal(corrected=False))
    np.testing.assert_array_equal(frame["surprisal_uncorrected_bits"], plain["surprisal_uncorrected_bits"])
    assert (frame["surprisal_uncorrected_bits"] != frame["surprisal_bits"]).any()
    assert resolve("surprisal-uncorrected") == [UncorrectedSurprisal()]
