"""Gated models as backends: what they show of themselves, whole texts, and models that look ahead."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from psymem.backends import recurrent
from psymem.backends.load import load_backend
from psymem.errors import ModelError, PsymemWarning
from psymem.models.gated.drawn_levels import drawn_levels
from psymem.models.storage import load_checkpoint
from psymem.scoring.score import score

SENTENCE = "The key to the cabinets was rusty and she said so .".split()
LONG = SENTENCE * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory, gated_checkpoint_writer):
    """Return a function from a family and settings to a directory."""
    root = tmp_path_factory.mktemp("gated")
    known: dict = {}

    def write(family, **settings):
        key = (family, *sorted(settings.items()))
        if key not in known:
            known[key] = gated_checkpoint_writer(root / str(len(known)), family, **settings)
        return known[key]

    return write


def cells_by_hand(path, tokens) -> dict[str, np.ndarray]:
    """What happens in the first layer of an FGP-LSTM with three components, in plain numpy."""
    stored = load_checkpoint(path)
    network = stored.network
    ids = [2, *(stored.tokenizer.token_to_id(t) for t in tokens)]
    layer = network.block.layers[0]
    w, u, b, v = (
        p.detach().double().numpy()
        for p in (layer.input_weight, layer.recurrent_weight, layer.input_bias, layer.recurrent_bias)
    )
    with torch.no_grad():
        freeze = network(torch.tensor([ids])).freeze[0].double().numpy()
    x = network.embedding.weight.detach().double().numpy()[ids]
    d = u.shape[1]
    h, c = np.zeros((len(w), d)), np.zeros((len(w), d))
    rows: dict[str, list] = {"update_norm": [], "update_frac": [], "memory_retain": [], "memory_write": []}
    for t in range(len(ids)):
        pre = np.einsum("i,kig->kg", x[t], w) + b + np.einsum("kd,kdg->kg", h, u) + v
        i, f, g, o = np.split(pre, 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-z)) for z in (i, f, o))
        a = freeze[t][:, None]
        new = (1 - a) * (f * c + i * np.tanh(g)) + a * c
        change = ((new - c) ** 2).sum(1)
        rows["update_norm"].append(np.sqrt(change.sum() / change.size / d))
        rows["update_frac"].append(change[1:].sum() / change.sum())
        rows["memory_retain"].append(((1 - a) * f + a).ravel())
        rows["memory_write"].append(((1 - a) * i * np.tanh(g)).ravel())
        c, h = new, o * np.tanh(new)
    return {"fixations": freeze[1:], **{k: np.array(r)[1:] for k, r in rows.items()}}


@pytest.mark.parametrize("durations", ["adaptive", "fixed", "by-word", "full"])
def test_what_is_observed_in_parallel_components(folder, durations):
    path = folder("fgp-lstm", components=3, durations=durations)
    trace = load_backend(path).read(SENTENCE)
    for name, values in cells_by_hand(path, trace.tokens).items():
        np.testing.assert_allclose(trace.extras[name], values, rtol=0, atol=2e-5, err_msg=name)
    level = trace.extras["duration_level"]
    if durations == "by-word":
        ids = np.array([load_checkpoint(path).tokenizer.token_to_id(t) for t in trace.tokens])
        np.testing.assert_array_equal(level, ids % 12)
    if durations == "full":
        assert (trace.extras["fixations"] == 0).all()


def test_change_in_a_layered_model_is_that_of_all_layers(folder):
    path = folder("fgl-rnn", layers=2)
    trace = load_backend(path).read(SENTENCE)
    stored = load_checkpoint(path)
    ids = torch.tensor([[2, *(stored.tokenizer.token_to_id(t) for t in trace.tokens)]])
    with torch.no_grad():
        states = stored.network(ids).block[0].numpy().reshape(-1, 2, 8)
    change = (np.diff(states, axis=0) ** 2).sum(-1)
    np.testing.assert_allclose(trace.extras["update_norm"], np.sqrt(change.sum(1) / 16), atol=1e-5)
    np.testing.assert_allclose(trace.extras["update_frac"], change[:, 1] / change.sum(1), atol=1e-5)
    assert "memory_retain" not in trace.extras


LINEARISED = {"memory_slope", "memory_drive", "memory_recurrence"}


@pytest.mark.parametrize(
    ("family", "extra"),
    [
        ("srn", LINEARISED),
        ("lstm", {"memory_retain", "memory_write"}),
        ("gru", {"memory_retain", "memory_write"}),
        ("fgp-rnn", {"fixations", "duration_level", "update_frac", "memory_carry"} | LINEARISED),
        (
            "fgl-lstm",
            {
                "fixations",
                "layer_fixations",
                "duration_level",
                "update_frac",
                "memory_retain",
                "memory_write",
            },
        ),
    ],
)
def test_what_each_family_shows(folder, family, extra):
    backend = load_backend(folder(family))
    assert backend.provides == {"logprob", "entropy", "update_norm"} | extra


def test_nothing_is_observed_that_is_not_asked_for(folder, monkeypatch):
    backend = load_backend(folder("fgp-lstm"))
    layer = backend.stored.network.block.layers[0]
    monkeypatch.setattr(type(layer), "steps", lambda *_: pytest.fail("read step by step"))
    (trace,) = backend.read_many([SENTENCE], needs=frozenset({"logprob", "fixations"}))
    assert trace.extras.keys() == {"fixations"}


@pytest.mark.parametrize("family", ["lstm", "elstm", "fgp-lstm", "fgl-rnn"])
def test_a_whole_text_is_read_in_pieces_that_make_no_difference(folder, family, monkeypatch):
    backend = load_backend(folder(family), context="text")
    assert (backend.context, backend.max_words) == ("text", None)
    whole = backend.read_many([LONG, SENTENCE])
    monkeypatch.setattr(recurrent, "PIECE", 5)
    for pieces, at_once in zip(backend.read_many([LONG, SENTENCE]), whole, strict=True):
        np.testing.assert_allclose(pieces.logprob, at_once.logprob, rtol=0, atol=1e-5)
        assert pieces.extras.keys() == at_once.extras.keys()
        for name, values in pieces.extras.items():
            np.testing.assert_allclose(values, at_once.extras[name], rtol=0, atol=1e-5, err_msg=name)


def test_sentences_of_a_text_go_on_where_the_last_one_stopped(folder):
    text = ["The key was rusty . She said so ."]
    apart, together = (load_backend(folder("lstm"), context=c) for c in ("sentence", "text"))
    first, second = score(text, apart), score(text, together)
    assert first["surprisal_bits"][:5].to_numpy() == pytest.approx(second["surprisal_bits"][:5].to_numpy())
    assert (first["surprisal_bits"][5:] - second["surprisal_bits"][5:]).abs().max() > 1e-3


def test_a_text_longer_than_any_sentence(folder):
    words = SENTENCE * 100
    backend = load_backend(folder("gru"), context="text")
    assert len(backend.read(words).tokens) == len(words) > recurrent.PIECE


def test_contexts_that_are_refused(folder, small_checkpoint):
    with pytest.raises(ModelError) as caught:
        load_backend(small_checkpoint, context="text")
    assert str(caught.value) == (
        f"{small_checkpoint} starts every sentence with an empty memory and cannot read with context='text'; use "
        "context='sentence', the default."
    )
    with pytest.raises(ModelError) as caught:
        load_backend(folder("lstm"), context="page")
    assert str(caught.value) == "context='page' is not known; expected text or sentence."


@pytest.fixture
def looks_ahead(folder):
    return folder("fgp-lstm", components=4, normalisation="chunk", spec="released")


def test_a_model_that_looks_ahead_says_so_everywhere(looks_ahead, folder):
    backend = load_backend(looks_ahead)
    assert backend.provenance()["settings"]["causal"] is False
    with pytest.warns(PsymemWarning) as caught:
        frame = score([SENTENCE], [backend, load_backend(folder("lstm"))])
    assert [str(w.message) for w in caught] == [
        f"{looks_ahead} is not causal: it scales fixation durations by all words of what it reads, later ones "
        "included. What it gives is not the surprisal of a word given the words before it; the column 'causal' says so."
    ]
    assert frame.groupby("model")["causal"].unique().str[0].to_dict() == {
        str(looks_ahead): False,
        str(folder("lstm")): True,
    }


def test_a_causal_model_needs_no_such_column(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "causal" not in score([SENTENCE], str(folder("fgp-lstm")))


def test_sentences_that_begin_alike_do_not_share_what_depends_on_their_ends(looks_ahead):
    backend = load_backend(looks_ahead)
    texts = [SENTENCE, [*SENTENCE[:-2], "dogs", "chased", "cats"], SENTENCE[:6]]
    for words, trace in zip(texts, backend.read_many(texts), strict=True):
        np.testing.assert_allclose(trace.logprob, backend.read(words).logprob, rtol=0, atol=1e-5)


def test_a_network_without_durations_of_its_own_says_so(folder):
    network = load_checkpoint(folder("fgp-rnn", durations="given")).network
    with pytest.raises(ModelError) as caught:
        network(torch.tensor([[2, 5]]))
    assert str(caught.value) == (
        "This fgp-rnn has no durations of its own (it was trained with --fixations random): give durations=, (B, T) "
        "levels from 0 to 11; psymem score draws them."
    )


# fixations drawn at random ---------------------------------------------------------------------------------
def levels_by_hand(ids, seed: int) -> list[int]:
    """SplitMix64 over a seed and the words, in Python's own integers."""

    def mixed(state: int) -> int:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ (state >> 27)) * 0x94D049BB133111EB % 2**64
        return state ^ (state >> 31)

    state, levels = mixed(seed), []
    for word in ids:
        state = mixed(state ^ word)
        levels.append(0 if word == 2 else state % 12)
    return levels


@pytest.mark.parametrize("seed", [1, 7])
def test_random_fixations_are_drawn_from_the_words_so_far(folder, seed):
    path = folder("fgp-lstm", components=3, durations="given")
    trace = load_backend(path, fixation_seed=seed).read(SENTENCE)
    stored = load_checkpoint(path)
    ids = [2, *(stored.tokenizer.token_to_id(t) for t in trace.tokens)]
    levels = levels_by_hand(ids, seed)
    assert trace.extras["duration_level"].tolist() == levels[1:]
    with torch.no_grad():
        out = stored.network(torch.tensor([ids]), durations=torch.tensor([levels]))
    np.testing.assert_allclose(trace.extras["fixations"], out.freeze[0, 1:], atol=1e-6)


def test_drawn_levels_are_equally_likely():
    words = torch.from_numpy(np.random.default_rng(3).integers(4, 900, (60, 400)))
    levels = drawn_levels(words, 2).numpy()
    assert np.bincount(levels.ravel(), minlength=12) == pytest.approx(np.full(12, 2000.0), rel=0.1)
    again = drawn_levels(words.roll(1, 0), 2).numpy()
    assert (again == np.roll(levels, 1, 0)).all()


def test_random_fixations_are_stated(folder):
    path = folder("fgp-lstm", components=3, durations="given")
    backend = load_backend(path)
    assert backend.provenance()["settings"]["fixations"] == "drawn at random, seed 1"
    assert backend.notes == [
        f"{path} was trained with fixation durations drawn at random. So they are here: that of a word from seed 1, the "
        "word and those before it in what is read at once. Another seed (fixation_seed= in Python) gives other numbers."
    ]
    assert "fixations" not in load_backend(folder("fgp-lstm")).provenance()["settings"]
