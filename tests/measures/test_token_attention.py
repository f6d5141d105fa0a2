"""Measures of Oh & Schuler (2022) against a token-by-token calculation as their paper words it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from psymem.backends.load import load_backend
from psymem.errors import MeasureError
from psymem.measures.token_attention import (
    AttentionEntropyChange,
    AttentionShift,
    AttentionTransport,
    NormalisedAttentionEntropy,
)
from psymem.scoring.score import as_words, score
from psymem.trace import Trace

SENTENCE = "The key to the well-known cabinets was rusty .".split()
SHORT = "the key was".split()
MEASURES = (NormalisedAttentionEntropy, AttentionEntropyChange, AttentionShift, AttentionTransport)


def whole_rows(trace, layer, head):
    """Attention of BOS and of every token, as a list of lists."""
    tokens = trace.attention[layer, head]
    if trace.attention_bos is None:
        return [list(row[: i + 1]) for i, row in enumerate(tokens)]
    bos = trace.attention_bos[layer, head]
    return [[1.0], *([bos[i], *row[: i + 1]] for i, row in enumerate(tokens))]


def entropy_share(row):
    before = np.array(row[:-1], dtype=float)
    if not before.sum() > 0:
        return np.nan
    p = before / before.sum()
    h = -sum(x * np.log2(x) for x in p if x > 0)
    return h / np.log2(len(before)) if len(before) > 1 else 0.0


def by_hand(rows):
    """Measure class -> value of each row."""
    found = {m: [np.nan] for m in MEASURES}
    found[NormalisedAttentionEntropy] = [entropy_share(rows[0])]
    for earlier, now in itertools.pairwise(rows):
        longer = [*earlier, 0.0]
        found[NormalisedAttentionEntropy].append(entropy_share(now))
        found[AttentionEntropyChange].append(abs(entropy_share(now) - entropy_share(earlier)))
        found[AttentionShift].append(sum(abs(a - b) for a, b in zip(now, longer, strict=True)))
        places = np.linspace(0, 1, len(now))
        defined = np.isfinite([*now, *longer]).all() and sum(now) > 0 and sum(longer) > 0
        found[AttentionTransport].append(
            wasserstein_distance(places, places, now, longer) if defined else np.nan
        )
    return {m: np.array(v) for m, v in found.items()}


def over_words(values, trace):
    own = values[len(values) - len(trace.tokens) :]
    return [own[trace.word_index == w].sum() for w in range(trace.n_words)]


@pytest.fixture(scope="module", params=["gpt2", "llama", "gpt2 without bos", "cbr-rnn", "toy"])
def trace(request, small_pretrained, small_checkpoint):
    if request.param in ("toy", "cbr-rnn"):
        return load_backend("toy" if request.param == "toy" else small_checkpoint).read(SENTENCE)
    kind, _, without = request.param.partition(" ")
    return load_backend(small_pretrained(kind), bos=not without).read(SENTENCE)


@pytest.mark.parametrize("measure", MEASURES)
def test_one_head(trace, measure):
    (found,) = measure(heads=((0, 0),))(trace, as_words([SENTENCE])).values()
    expected = over_words(by_hand(whole_rows(trace, 0, 0))[measure], trace)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_without_heads_the_last_layer_is_summed(trace, measure):
    layers, heads = trace.attention.shape[:2]
    (found,) = measure()(trace, as_words([SENTENCE])).values()
    each = [over_words(by_hand(whole_rows(trace, layers - 1, head))[measure], trace) for head in range(heads)]
    np.testing.assert_allclose(found, np.sum(each, axis=0), rtol=0, atol=1e-6)


def test_what_is_not_defined_is_missing(small_pretrained):
    words = as_words([SHORT])
    with_bos = load_backend(small_pretrained("gpt2")).read(SHORT)
    without = load_backend(small_pretrained("gpt2"), bos=False).read(SHORT)
    assert len(with_bos.tokens) == 3, "every word is one token"
    missing = {
        m: [np.isnan(next(iter(m()(t, words).values()))).tolist() for t in (with_bos, without)]
        for m in MEASURES
    }
    assert missing == {
        NormalisedAttentionEntropy: [[False] * 3, [True, False, False]],
        AttentionEntropyChange: [[True, False, False], [True, True, False]],
        AttentionShift: [[False] * 3, [True, False, False]],
        AttentionTransport: [[False] * 3, [True, False, False]],
    }


def test_columns_name_their_heads(small_pretrained):
    found = score([SENTENCE], small_pretrained("gpt2"), [m(heads=((0, 1), (1, 0))) for m in MEASURES])
    names = "normalised_attention_entropy attention_entropy_change attention_shift attention_transport"
    assert list(found.columns[-8:]) == [f"{n}_{h}" for n in names.split() for h in ("L0H1", "L1H0")]


def test_only_the_last_layer_is_asked_for(small_pretrained):
    backend = load_backend(small_pretrained("gpt2"))
    needs = NormalisedAttentionEntropy().needs | AttentionShift(heads=((0, 1),)).needs
    (some,) = backend.read_many([SENTENCE], needs=needs)
    assert some.attention_heads == ((0, 1), (1, 0), (1, 1))
    whole, words = backend.read(SENTENCE), as_words([SENTENCE])
    for measure in (NormalisedAttentionEntropy(), AttentionShift(heads=((0, 1),))):
        for column, values in measure(whole, words).items():
            np.testing.assert_allclose(measure(some, words)[column], values, atol=1e-5)


def test_all_heads_beside_chosen_ones(small_pretrained):
    frame = score(
        [SENTENCE], small_pretrained("gpt2"), ["attention-entropy", AttentionShift(heads=((0, 0),))]
    )
    assert frame["attention_entropy_bits"][2:].notna().all()
    assert frame["attention_shift_L0H0"].notna().all()


def test_a_trace_without_attention_is_refused():
    bare = Trace(("a",), np.array([0]), np.zeros(1), np.zeros(1, bool))
    with pytest.raises(MeasureError) as caught:
        AttentionShift()(bare, as_words([["a"]]))
    assert str(caught.value) == "The model gave no attention for this text."
