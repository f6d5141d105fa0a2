"""The bundled LSTM, GRU, ELSTM and FGP-LSTM, computed once more in numpy from their files."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

import psymem
from psymem import checkpoints

FAMILIES = ("lstm", "gru", "elstm", "fgp-lstm")
SENTENCE = "The keys to the cabinet that she had lost were on the table .".split()
BOS = 2


def weights(family):
    """Float64 arrays by name, and the settings."""
    folder = checkpoints.describe(f"{family}/1").path
    arrays = {
        k.removeprefix("model."): v.astype(float) for k, v in load_file(folder / "model.safetensors").items()
    }
    return arrays, json.loads((folder / "config.json").read_text(encoding="utf-8"))


def word_ids(family):
    folder = checkpoints.describe(f"{family}/1").path
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return [BOS] + [
        vocabulary[w.lower() if w.lower() in vocabulary and w not in vocabulary else w] for w in SENTENCE
    ]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell_states(kind, arrays, prefix, x, freeze=None):
    """(T, K, d) h of one layer that reads (T, n) inputs, with freeze gates (T, K)."""
    w, u = arrays[f"{prefix}.input_weight"], arrays[f"{prefix}.recurrent_weight"]
    b, c = arrays[f"{prefix}.input_bias"], arrays[f"{prefix}.recurrent_bias"]
    components, d = len(u), u.shape[1]
    out = np.zeros((len(x), components, d))
    for k in range(components):
        h, memory = np.zeros(d), np.zeros(d)
        for t, now in enumerate(x):
            a = 0.0 if freeze is None else freeze[t, k]
            own, back = now @ w[k] + b[k], h @ u[k] + c[k]
            if kind == "gru":
                r, z = sigmoid((own + back)[:d]), sigmoid((own + back)[d : 2 * d])
                h = z * h + (1 - z) * np.tanh(own[2 * d :] + r * back[2 * d :])
            else:
                i, f, g, o = np.split(own + back, 4)
                s = arrays[f"{prefix}.time_scale"][k, t % 3] if kind == "elstm" else 1.0
                memory = (1 - a) * (sigmoid(f) * memory + s * sigmoid(i) * np.tanh(g)) + a * memory
                h = sigmoid(o) * np.tanh(memory)
            out[t, k] = h
    return out


def freeze_gates(arrays, x, components):
    """(T, K) gates of Eqs. 19 and 22, from the predictor inside the model, and the levels."""
    h = cell_states("lstm", arrays, "predictor.recurrent.layers.0", x)[:, 0]
    hidden = np.tanh(h @ arrays["predictor.hidden.weight"].T + arrays["predictor.hidden.bias"])
    raw = hidden @ arrays["predictor.output.weight"][0] + arrays["predictor.output.bias"]
    level = ((raw - arrays["scale.mean"]) / np.sqrt(arrays["scale.variance"] + 1e-5) + 1.96) / 3.92 * 12
    return sigmoid(4 * (np.arange(components) - level[:, None] * components / 12)), level


def surprisal_bits(family):
    """Of the words of SENTENCE; and (T,) components at work."""
    arrays, config = weights(family)
    ids = word_ids(family)
    x = arrays["embedding.weight"][ids]
    freeze, _ = freeze_gates(arrays, x, config["components"]) if family == "fgp-lstm" else (None, None)
    h = cell_states(family.split("-")[-1], arrays, "block.layers.0", x, freeze)
    hidden = np.tanh(h.reshape(len(x), -1) @ arrays["head.weight"].T + arrays["head.bias"])
    logits = hidden @ arrays["embedding.weight"].T + arrays["output.bias"]
    logits[:, [0, BOS]] = -np.inf
    largest = logits.max(1, keepdims=True)
    log_p = logits - largest - np.log(np.exp(logits - largest).sum(1, keepdims=True))
    bits = -log_p[np.arange(len(SENTENCE)), ids[1:]] / math.log(2)
    return bits, None if freeze is None else (1 - freeze).sum(1)


@pytest.mark.parametrize("family", FAMILIES)
def test_surprisal_is_that_of_the_papers_equations(family):
    words = pd.DataFrame(
        {"text_id": "a", "sentence_id": 1, "word_id": range(1, len(SENTENCE) + 1), "word": SENTENCE}
    )
    measures = ["surprisal", "model-fixations"] if family == "fgp-lstm" else ["surprisal"]
    found = psymem.score(words, family, measures)
    bits, active = surprisal_bits(family)
    np.testing.assert_allclose(found["surprisal_bits"], bits, atol=2e-5)
    assert set(found["model"]) == {f"{family}/1"}
    if active is not None:
        np.testing.assert_allclose(found["n_active"][:-1], active[1:-1], atol=1e-5)
        assert math.isnan(found["n_active"].iloc[-1])  # of punctuation


def test_they_are_of_one_size_and_share_text_and_vocabulary_with_the_memory_models():
    cards = {family: checkpoints.describe(f"{family}/1").card for family in FAMILIES}
    ours = checkpoints.describe("cbr-rnn/4")
    sizes = [card["parameters_without_embedding"] for card in cards.values()]
    assert max(sizes) / min(sizes) < 1.02
    assert {card["tokens_seen"] // 10_000 for card in cards.values()} == {1000}
    for family, card in cards.items():
        assert card["text"] == ours.card["first_stage"]["text"]
        assert card["training_text_tokens"] == ours.card["first_stage"]["training_text_tokens"]
        folder = checkpoints.describe(f"{family}/1").path
        assert (folder / "tokenizer.json").read_bytes() == (ours.path / "tokenizer.json").read_bytes()
    stored = sum(
        p.stat().st_size for f in FAMILIES for p in checkpoints.describe(f"{f}/1").path.glob("*.safetensors")
    )
    assert stored < 30e6
