"""What every backend has to do, whichever model is behind it. A new backend adds its name to
BACKENDS_TESTED."""

from __future__ import annotations

import numpy as np
import pytest

from psymem.backends.base import Backend
from psymem.backends.load import load_backend
from psymem.errors import ModelError
from psymem.measures.surprisal import Surprisal
from psymem.models.gated.settings import FAMILIES
from psymem.registry import BACKENDS
from psymem.scoring.score import as_words

TEXTS = [
    "The key to the cabinets was rusty .".split(),
    "She said that they didn't".split(),
    ["Dogs"],
    "The well-known museum of arts opened soon , she said ; it wasn't Xylophonic !".split(),
    "who chased the cat ?".split(),
    "The key to the cabinets were rusty .".split(),
]
TOLERANCE = 1e-5
IN_FIELDS = {"logprob", "attention", "entropy", "boundary"}
BACKENDS_TESTED = [
    "toy",
    "recurrent",
    "recurrent without bos",
    "recurrent uniform",
    "recurrent no attention",
    "recurrent srn",
    "recurrent lstm",
    "recurrent gru",
    "recurrent elstm",
    "recurrent elstm text",
    "recurrent fgp-lstm",
    "recurrent fgp-lstm fixed text",
    "recurrent fgl-rnn",
    "recurrent fgl-lstm by-word",
    "recurrent fgp-lstm given text",
    "recurrent fgl-rnn given",
    "pretrained byte-level BPE",
    "pretrained SentencePiece",
    "pretrained short window",
    "pretrained without bos",
]


@pytest.fixture(scope="module")
def make(
    small_checkpoint, tmp_path_factory, small_checkpoint_writer, small_pretrained, gated_checkpoint_writer
):
    """Return a function from a name above, and settings, to a backend."""
    root = tmp_path_factory.mktemp("ablations")
    folders = {
        "recurrent": small_checkpoint,
        "recurrent without bos": small_checkpoint,
        "recurrent uniform": small_checkpoint_writer(root / "uniform", attention="uniform", n_supertags=4),
        "recurrent no attention": small_checkpoint_writer(root / "none", attention="none", tied=False),
        "pretrained byte-level BPE": small_pretrained("gpt2"),
        "pretrained SentencePiece": small_pretrained("llama"),
        "pretrained short window": small_pretrained("gpt2"),
        "pretrained without bos": small_pretrained("gpt2"),
    }

    for name in BACKENDS_TESTED:
        family, *durations = [p for p in name.split()[1:] if p != "text"] or [""]
        if family in FAMILIES:
            changes = {"durations": durations[0]} if durations else {}
            folders[name] = gated_checkpoint_writer(root / name.replace(" ", "-"), family, **changes)

    def build(name, **settings):
        if name == "toy":
            return load_backend("toy")
        if name.endswith("text"):
            settings["context"] = "text"
        if name.endswith("without bos"):
            settings["bos"] = False
        backend = load_backend(folders[name], **settings)
        if name.endswith("short window"):
            backend.model.max_tokens = 100
        return backend

    return build


@pytest.fixture(scope="module", params=BACKENDS_TESTED)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def backend(name, make):
    return make(name)


def assert_same(found, expected, tolerance=TOLERANCE):
    assert found.tokens == expected.tokens
    np.testing.assert_array_equal(found.word_index, expected.word_index)
    np.testing.assert_array_equal(found.oov, expected.oov)
    for field in ("logprob", "attention", "entropy", "boundary"):
        a, b = getattr(found, field), getattr(expected, field)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=0, atol=tolerance, err_msg=field)
    assert found.extras.keys() == expected.extras.keys()
    for field, values in found.extras.items():
        np.testing.assert_allclose(values, expected.extras[field], rtol=0, atol=tolerance, err_msg=field)


def test_every_registered_backend_is_tested():
    assert {n.split()[0] for n in BACKENDS_TESTED} == set(BACKENDS.names())


def test_it_is_a_backend(backend):
    assert isinstance(backend, Backend)
    assert backend.context in ("sentence", "text")
    assert "logprob" in backend.provides
    assert backend.provenance()["model"] == backend.name


def test_log_probabilities_are_at_most_zero(backend):
    for trace in backend.read_many(TEXTS):
        defined = trace.logprob[~np.isnan(trace.logprob)]
        assert (defined <= 0).all()
        assert np.isfinite(defined).all()
        assert np.isnan(trace.logprob[1:]).sum() == 0


def test_every_token_belongs_to_one_word_and_every_word_has_tokens(backend):
    for trace, words in zip(backend.read_many(TEXTS), TEXTS, strict=True):
        assert np.unique(trace.word_index).tolist() == list(range(len(words)))


def test_surprisal_of_a_word_is_the_sum_over_its_tokens(backend):
    for trace, words in zip(backend.read_many(TEXTS), TEXTS, strict=True):
        bits = Surprisal(corrected=False)(trace, as_words([words]))["surprisal_uncorrected_bits"]
        expected = [-trace.logprob[trace.word_index == i].sum() / np.log(2) for i in range(len(words))]
        np.testing.assert_allclose(bits, expected, rtol=1e-12)


def test_what_it_provides_is_in_the_trace(backend):
    for trace in backend.read_many(TEXTS):
        assert (trace.attention is not None) == ("attention" in backend.provides)
        assert (trace.entropy is not None) == ("entropy" in backend.provides)
        apart = {n for n in backend.provides if n.partition(" ")[0] not in IN_FIELDS}
        assert apart <= trace.extras.keys()
        assert all(len(v) == len(trace.tokens) for v in trace.extras.values())


def test_attention_rows_sum_to_one_and_give_nothing_to_later_tokens(backend):
    if "attention" not in backend.provides:
        pytest.skip("this model has no attention")
    for trace in backend.read_many(TEXTS):
        n = len(trace.tokens)
        nothing = np.isnan(trace.attention).all(-1)
        sums = trace.attention.sum(-1) + (0 if trace.attention_bos is None else trace.attention_bos)
        np.testing.assert_allclose(sums[~nothing], 1.0, atol=TOLERANCE)
        assert not np.isnan(trace.attention[~nothing]).any()
        assert (np.nan_to_num(trace.attention)[..., np.triu(np.ones((n, n), bool), 1)] == 0).all()


def test_entropy_lies_between_zero_and_that_of_a_uniform_choice(backend):
    for trace in backend.read_many(TEXTS):
        defined = trace.entropy[~np.isnan(trace.entropy)]
        assert ((defined >= 0) & (defined < np.log(1e6))).all()


def test_two_copies_give_the_same_numbers(backend, name, make):
    for a, b in zip(backend.read_many(TEXTS), make(name).read_many(TEXTS), strict=True):
        assert_same(a, b, 0.0)


def test_a_text_alone_equals_the_same_text_in_a_batch(backend):
    for words, trace in zip(TEXTS, backend.read_many(TEXTS), strict=True):
        assert_same(backend.read(words), trace)


def test_order_does_not_matter(backend):
    for a, b in zip(backend.read_many(TEXTS[::-1])[::-1], backend.read_many(TEXTS), strict=True):
        assert_same(a, b)


def test_longer_neighbours_do_not_matter(backend):
    long = ["The", "old", "dogs", "chased", "the", "cat"] * 12
    for a, b in zip(backend.read_many([*TEXTS, long]), backend.read_many(TEXTS), strict=False):
        assert_same(a, b)


def test_what_is_read_later_changes_nothing_before(backend):
    whole, start = backend.read(TEXTS[0]), backend.read(TEXTS[0][:4])
    n = len(start.tokens)
    assert whole.tokens[:n] == start.tokens
    np.testing.assert_allclose(whole.logprob[:n], start.logprob, atol=TOLERANCE)
    if start.attention is not None:
        np.testing.assert_allclose(whole.attention[..., :n, :n], start.attention, atol=TOLERANCE)


def test_leaving_out_what_is_not_needed_changes_nothing_else(backend):
    for a, b in zip(
        backend.read_many(TEXTS, needs=frozenset({"logprob"})), backend.read_many(TEXTS), strict=True
    ):
        np.testing.assert_allclose(a.logprob, b.logprob, atol=TOLERANCE)


def test_progress_ends_with_all_texts(backend):
    seen = []
    backend.read_many(TEXTS, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(TEXTS), len(TEXTS))
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_no_texts_no_traces(backend):
    assert backend.read_many([]) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("The key", "Text 1 is a string; expected a list of words. Split it first: 'The key'.split()."),
        (["The", " "], "Word 2 of text 1 is empty. Take it out, or join it to its neighbour."),
        (["The", None], "Word 2 of text 1 is None; expected a string."),
        (["k\0ey"], "Word 1 of text 1 has a NUL character. Mend the file it comes from."),
    ],
    ids=["string", "empty word", "not a string", "NUL"],
)
def test_what_cannot_be_read_is_refused(backend, words, message):
    with pytest.raises(ModelError) as caught:
        backend.read_many([words])
    assert str(caught.value) == message


def test_a_text_that_is_too_long_is_named(backend):
    if backend.max_words is None:
        pytest.skip("this model has no limit in words")
    too_long = ["the"] * (backend.max_words + 1)
    with pytest.raises(ModelError) as caught:
        backend.read_many([["a"], too_long], names=["3-A", "3-B"])
    assert str(caught.value) == (
        f"Text '3-B' has {len(too_long)} words; {backend.name} reads at most {backend.max_words} at a time. "
        "Split it into sentences."
    )
