"""Causal language models of transformers: probabilities, windows, heads, words of every kind."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from psymem.backends.load import load_backend
from psymem.backends.pretrained import PretrainedBackend
from psymem.errors import CheckpointError, MeasureError, ModelError
from psymem.measures.attention import AttentionEntropy
from psymem.measures.surprisal import Surprisal
from psymem.scoring.score import as_words, score

SENTENCE = "The key didn't fit 👩‍🚀 , naïve museum .".split()
RUNNING = "The key didn't fit 👩‍🚀, naïve museum."
LONG = ("the key to the cabinets was rusty and it did not open " * 6).split()


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, small_pretrained):
    return small_pretrained(request.param)


@pytest.fixture(scope="module")
def backend(folder):
    return PretrainedBackend(folder)


@pytest.fixture
def windowed(small_pretrained):
    """A backend that believes its context to be 21 tokens, BOS included."""
    backend = PretrainedBackend(small_pretrained("gpt2"))
    backend.model.max_tokens = 21
    return backend


def by_hand(folder, ids, bos=True):
    """Log-probabilities (n + 1, V) after BOS and each token, straight from transformers."""
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    first = [model.config.bos_token_id] * bos
    with torch.no_grad():
        out = model(torch.tensor([[*first, *ids]]), output_attentions=True)
    return out.logits[0].double().log_softmax(-1).numpy(), torch.stack(out.attentions)[:, 0].numpy()


def test_numbers_are_the_models(folder, backend):
    trace = backend.read(SENTENCE)
    ids = AutoTokenizer.from_pretrained(folder)(RUNNING, add_special_tokens=False)["input_ids"]
    logprob, attention = by_hand(folder, ids)
    np.testing.assert_allclose(trace.logprob, logprob[np.arange(len(ids)), ids], atol=1e-5)
    np.testing.assert_allclose(trace.entropy, -(np.exp(logprob) * logprob).sum(-1)[:-1], atol=1e-5)
    np.testing.assert_allclose(trace.attention, attention[..., 1:, 1:], atol=1e-5)
    np.testing.assert_allclose(trace.attention_bos, attention[..., 1:, 0], atol=1e-5)
    vocabulary = AutoTokenizer.from_pretrained(folder).get_vocab()
    begins = [i for t, i in vocabulary.items() if t.startswith(("Ġ", "▁"))]
    boundary = np.log(np.exp(logprob[:, begins]).sum(-1))
    without = [0, trace.tokens.index(","), trace.tokens.index(".")]
    with_space = np.setdiff1d(np.arange(len(ids) + 1), without)
    np.testing.assert_allclose(trace.boundary[with_space], boundary[with_space], atol=1e-5)
    assert trace.boundary[without].tolist() == [0, 0, 0]


def test_a_full_stop_of_its_own_is_read_as_attached(folder, backend):
    """The rows add up to the word that running text has; by itself the full stop has no boundary to be corrected for."""
    apart, together = "the key 's rusty .".split(), "the key's rusty.".split()
    (rows,), (words,) = backend.read_many([apart]), backend.read_many([together])
    assert rows.tokens == words.tokens
    np.testing.assert_allclose(rows.logprob, words.logprob, atol=1e-6)
    of_rows = Surprisal()(rows, as_words([apart]))["surprisal_bits"]
    of_words = Surprisal()(words, as_words([together]))["surprisal_bits"]
    added = [of_rows[0], of_rows[1] + of_rows[2], of_rows[3] + of_rows[4]]
    np.testing.assert_allclose(added, of_words, atol=1e-5)
    ids = AutoTokenizer.from_pretrained(folder)(" ".join(together), add_special_tokens=False)["input_ids"]
    logprob, _ = by_hand(folder, ids)
    begins = [
        i for t, i in AutoTokenizer.from_pretrained(folder).get_vocab().items() if t.startswith(("Ġ", "▁"))
    ]
    stop = -logprob[-2, ids[-1]] - np.log(np.exp(logprob[-1, begins]).sum())
    assert of_rows[4] == pytest.approx(stop / np.log(2), abs=1e-4)


def test_punctuation_can_be_read_after_a_space(folder):
    words = "the key was rusty .".split()
    backend = PretrainedBackend(folder, punctuation="spaced")
    ids = AutoTokenizer.from_pretrained(folder)("the key was rusty .", add_special_tokens=False)["input_ids"]
    logprob, _ = by_hand(folder, ids)
    trace = backend.read(words)
    np.testing.assert_allclose(trace.logprob, logprob[np.arange(len(ids)), ids], atol=1e-5)
    assert backend.provenance()["settings"]["punctuation"] == "spaced"
    assert PretrainedBackend(folder).provenance()["settings"]["punctuation"] == "attached"
    with pytest.raises(ModelError) as caught:
        PretrainedBackend(folder, punctuation="loose")
    assert str(caught.value) == "punctuation='loose' is not known; expected attached or spaced."


def test_chosen_heads_are_those_of_the_whole(backend):
    whole = backend.read(SENTENCE)
    (some,) = backend.read_many([SENTENCE], needs=frozenset({"attention 1:0", "attention 0:1"}))
    assert some.attention_heads == ((0, 1), (1, 0))
    np.testing.assert_allclose(some.attention[0, 0], whole.attention[0, 1], atol=1e-6)
    words = as_words([SENTENCE])
    for heads in (((1, 0),), ((0, 1), (1, 0))):
        measure = AttentionEntropy(heads=heads)
        for column, value in measure(some, words).items():
            np.testing.assert_allclose(value, measure(whole, words)[column], atol=1e-5)
    with pytest.raises(MeasureError) as caught:
        AttentionEntropy(heads=((1, 1),))(some, words)
    assert str(caught.value) == "The model was not asked for head 1:1."
    with pytest.raises(MeasureError) as caught:
        AttentionEntropy()(some, words)
    assert (
        str(caught.value) == "The mean over all heads needs the attention of all heads; some were asked for."
    )


def test_a_head_that_does_not_exist_is_named(backend):
    with pytest.raises(ModelError) as caught:
        score([SENTENCE], backend, AttentionEntropy(heads=((2, 0),)))
    assert str(caught.value) == (
        "There is no head 2:0; the model has 2 layer(s) 0 to 1 with 2 head(s) 0 to 1 each."
    )


def test_long_texts_are_read_in_windows_that_overlap_by_half(windowed):
    (trace,) = windowed.read_many([LONG], needs=frozenset({"logprob"}))
    ids = [windowed.model.tokenizer.convert_tokens_to_ids(t) for t in trace.tokens]
    context = trace.extras["context_tokens"]
    assert len(ids) > 3 * 20
    assert context[:20].tolist() == list(range(20))
    assert context[20:].min() >= 9
    assert context.max() <= 19
    for position in (0, 7, 19, 20, 25, 41, len(ids) - 1):
        start = position - context[position]
        logprob, _ = by_hand(windowed.path, ids[start : position + 1])
        np.testing.assert_allclose(trace.logprob[position], logprob[-2, ids[position]], atol=1e-5)


def test_windows_do_not_matter_where_they_are_not_needed(windowed, small_pretrained):
    (short,) = windowed.read_many([LONG[:5]], needs=frozenset({"logprob"}))
    np.testing.assert_allclose(
        short.logprob, load_backend(small_pretrained("gpt2")).read(LONG[:5]).logprob, atol=1e-5
    )


def test_attention_across_windows_is_refused(windowed):
    with pytest.raises(ModelError) as caught:
        windowed.read_many([["the"], LONG], names=["1-A", "1-B"])
    n = len(windowed.tokenizer.align([LONG])[0].ids)
    assert str(caught.value) == (
        f"Text '1-B' has {n} tokens; {windowed.name} attends to at most 20 at a time. Read sentence by "
        "sentence "
        '(context="sentence"), or ask for no attention.'
    )


def test_running_out_of_memory_halves_the_batch(backend, monkeypatch):
    texts = [SENTENCE[:n] for n in (3, 4, 5, 6)]
    expected = backend.read_many(texts)
    states = type(backend.model).states

    def scarce(model, ids, attention):
        if len(ids) > 1:
            raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes.")
        return states(model, ids, attention)

    monkeypatch.setattr(type(backend.model), "states", scarce)
    for a, b in zip(backend.read_many(texts), expected, strict=True):
        np.testing.assert_allclose(a.logprob, b.logprob, atol=1e-5)
    monkeypatch.setattr(type(backend.model), "states", lambda *_: scarce(None, [1, 2], False))
    with pytest.raises(
        ModelError, match=r"^There is not enough memory for \S+ to read \d+ tokens at once\.$"
    ):
        backend.read_many(texts[:1])


def test_a_model_whose_logits_are_more_than_its_output_layer(backend, monkeypatch):
    expected = backend.read(SENTENCE)
    other = PretrainedBackend(backend.path)
    other.model._head_apart = False
    found = other.read(SENTENCE)
    np.testing.assert_allclose(found.logprob, expected.logprob, atol=1e-5)
    np.testing.assert_allclose(found.boundary, expected.boundary, atol=1e-5)


@pytest.mark.parametrize(
    "words",
    [["<|endoftext|>", "<s>", "end"], ["日本語", "です"], ["x" * 300], ["👩‍🚀"] * 5, ["a\u00a0b", "c"]],
    ids=["special tokens", "no spaces", "long word", "emoji", "no-break space"],
)
def test_words_of_every_kind_are_scored_whole(backend, words):
    (trace,) = backend.read_many([words], needs=frozenset({"logprob"}))
    bits = Surprisal(corrected=False)(trace, as_words([words]))["surprisal_uncorrected_bits"]
    np.testing.assert_allclose(np.nansum(bits), -trace.logprob.sum() / np.log(2), rtol=1e-9)
    assert backend.tokenizer.bos_id not in backend.tokenizer.align([words])[0].ids


def test_sentences_are_read_one_by_one_on_request(folder):
    text = ["It was rusty. She said it."]
    whole = score(text, load_backend(folder))["surprisal_bits"]
    apart = score(text, load_backend(folder, context="sentence"))["surprisal_bits"]
    assert whole[:3].tolist() == pytest.approx(apart[:3].tolist(), abs=1e-4)
    assert abs(whole[3] - apart[3]) > 1e-3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "int8"}, "dtype='int8' is not known; expected one of float32, bfloat16, float16."),
    ],
    ids=["precision"],
)
def test_settings_that_do_not_exist_are_named(folder, settings, message):
    with pytest.raises(ModelError) as caught:
        load_backend(folder, **settings).read(SENTENCE)
    assert str(caught.value) == message


def test_damage_is_named(folder, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match=r"^\S+ is not a complete safetensors file \("):
        load_backend(copy).read(SENTENCE)
    weights.unlink()
    with pytest.raises(CheckpointError, match=r"^The weights of \S+ cannot be loaded: "):
        load_backend(copy).read(SENTENCE)


def test_weights_of_another_architecture_are_not_made_up(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    weights = load_file(copy / "model.safetensors")
    lost = min(name for name in weights if "norm" in name or "ln_" in name)
    save_file(
        {name: tensor for name, tensor in weights.items() if name != lost},
        copy / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(CheckpointError) as raised:
        load_backend(copy).read(SENTENCE)
    kind = "llama" if "layernorm" in lost or "model." in lost else "gpt2"
    assert str(raised.value) == (
        f"The files of {copy} lack 1 weights of the architecture that its config.json names ({kind}), the first is "
        f"{lost}. The configuration and the weights do not belong together, or the model was saved without its "
        "output layer: copy or download it again."
    )
