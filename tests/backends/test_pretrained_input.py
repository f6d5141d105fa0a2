"""What users give to a pretrained model by mistake, or because their language or their file is like that."""

from __future__ import annotations

import json

import numpy as np
import pytest
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from psymem.backends.load import load_backend
from psymem.errors import CheckpointError, DataError, MeasureError, ModelError, PsymemWarning
from psymem.measures.attention import AttentionEntropy
from psymem.scoring.score import as_words, score


@pytest.fixture(params=["gpt2", "llama"])
def folder(request, small_pretrained):
    return small_pretrained(request.param)


def write_config(folder, **entries):
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(entries))
    return folder


@pytest.mark.parametrize(
    "entries",
    [
        {"model_type": "bert"},
        {"model_type": "bert", "architectures": ["BertForMaskedLM"]},
    ],
    ids=["type", "class"],
)
def test_a_masked_language_model_is_refused(entries, tmp_path):
    folder = write_config(tmp_path / "model", **entries)
    with pytest.raises(CheckpointError) as caught:
        load_backend(folder)
    assert str(caught.value) == (
        f"{folder} is a masked language model (bert): it predicts a word from both sides, so it has no "
        "surprisal of a word given the words before it. Use a causal (left-to-right) model."
    )


def test_an_encoder_decoder_model_is_refused(tmp_path):
    folder = write_config(tmp_path / "model", model_type="t5", is_encoder_decoder=True)
    with pytest.raises(CheckpointError) as caught:
        load_backend(folder)
    assert str(caught.value) == (
        f"{folder} is an encoder-decoder model (t5): it reads the whole text before it predicts a word. Use a "
        "causal (left-to-right) model."
    )


@pytest.fixture(scope="module")
def mamba(tmp_path_factory, small_pretrained):
    """Directory of a tiny model without attention."""
    folder = tmp_path_factory.mktemp("mamba")
    tokenizer = transformers.AutoTokenizer.from_pretrained(small_pretrained("gpt2"))
    config = transformers.MambaConfig(
        vocab_size=len(tokenizer), hidden_size=8, state_size=4, num_hidden_layers=1, bos_token_id=0
    )
    transformers.MambaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_model_without_attention_gives_surprisal_only(mamba):
    frame = score(["the key was rusty"], str(mamba))
    assert frame["surprisal_bits"].notna().all()
    with pytest.raises(MeasureError) as caught:
        score(["the key was rusty"], str(mamba), "attention-entropy")
    assert str(caught.value).startswith(
        f"attention-entropy needs attention, which the model {mamba} does not have. "
    )


def test_a_model_that_keeps_its_attention_to_itself_is_named(small_pretrained, monkeypatch):
    backend = load_backend(small_pretrained("gpt2"))
    forward = type(backend.model.network.base_model).forward

    def silent(self, *arguments, **options):
        out = forward(self, *arguments, **options)
        out.attentions = None
        return out

    monkeypatch.setattr(type(backend.model.network.base_model), "forward", silent)
    with pytest.raises(ModelError) as caught:
        score(["the key was rusty"], backend, "attention-entropy")
    assert str(caught.value) == "GPT2LMHeadModel returns no attention weights."


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "There is no text to score."),
        ([""], "Text 1 has no words."),
        (["a key", " \t\n\u00a0"], "Text 2 has no words."),
        ([["a", "  "]], "Word 2 of text '1' is empty. Take it out, or join it to its neighbour."),
        (["a k\0y"], "Word 2 of text '1' has a NUL character. Mend the file it comes from."),
    ],
    ids=["none", "empty", "white space", "empty word", "NUL"],
)
def test_texts_without_words_are_refused(folder, texts, message):
    with pytest.raises((DataError, ModelError)) as caught:
        score(texts, str(folder))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "word",
    [
        "a\x07b",
        "\x1b[31mred",
        "\u200b",
        "\ufeffkey",
        "\u202ekey",
        "\x7f",
        "\ue000",
        "\U000e0041",
        "a\u0300\u0301",
    ],
    ids=["bell", "escape", "zero width", "BOM", "right to left", "delete", "private", "tag", "accents"],
)
def test_control_and_format_characters_are_scored_with_their_word(folder, word):
    backend = load_backend(folder)
    frame = score([["the", word, "was"]], backend)
    assert frame["word"].tolist() == ["the", word, "was"]
    trace = backend.read(["the", word, "was"])
    whole = trace.logprob.sum() / -np.log(2)
    raw = score([["the", word, "was"]], backend, "surprisal-uncorrected")["surprisal_uncorrected_bits"]
    assert np.nansum(raw) == pytest.approx(whole, rel=1e-6)


def test_a_word_of_a_hundred_thousand_letters_is_scored(small_pretrained):
    backend = load_backend(small_pretrained("gpt2"))
    word = "cabinets" * 12_500
    frame = score([["the", word, "was"]], backend, ["surprisal", "n-tokens"])
    assert frame["surprisal_bits"].notna().all()
    assert frame["n_tokens"][1] > 10_000
    n = int(frame["n_tokens"].sum())
    with pytest.raises(ModelError) as caught:
        score([["the", word, "was"]], backend, AttentionEntropy())
    assert str(caught.value) == (
        f"Text '1' has {n} tokens; {backend.name} attends to at most 127 at a time. Read sentence by sentence "
        '(context="sentence"), or ask for no attention.'
    )


def write_with_tokenizer(folder, source, **special):
    """Copy the tiny GPT-2 with other special tokens."""
    fast = transformers.AutoTokenizer.from_pretrained(source)
    bare = transformers.PreTrainedTokenizerFast(tokenizer_object=fast.backend_tokenizer, **special)
    transformers.AutoModelForCausalLM.from_pretrained(source).save_pretrained(folder)
    bare.save_pretrained(folder)
    return folder


def test_a_tokenizer_without_pad_and_bos(tmp_path, small_pretrained):
    """Padding needs no token of its own; without BOS the first word has no probability."""
    texts = ["the key was rusty", "the key"]
    bare = load_backend(write_with_tokenizer(tmp_path / "bare", small_pretrained("gpt2")))
    assert bare.tokenizer.bos_id is None
    found = score(texts, bare)["surprisal_bits"]
    expected = score(texts, load_backend(small_pretrained("gpt2"), bos=False))["surprisal_bits"]
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-5, nan_ok=True)
    assert np.isnan(found[0])
    assert bare.provenance()["settings"]["bos"] is False


def test_a_bos_that_the_model_has_no_row_for_is_not_used(tmp_path, small_pretrained):
    folder = write_with_tokenizer(tmp_path / "odd", small_pretrained("gpt2"), bos_token="<begin>")
    backend = load_backend(folder)
    assert backend.tokenizer.bos_id is None
    assert np.isnan(score(["the key"], backend)["surprisal_bits"][0])


def test_a_tokenizer_of_another_model_is_named(tmp_path, small_pretrained):
    fast = transformers.AutoTokenizer.from_pretrained(small_pretrained("gpt2"))
    config = transformers.GPT2Config(vocab_size=60, n_layer=1, n_head=1, n_embd=4, bos_token_id=0)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    fast.save_pretrained(tmp_path)
    backend = load_backend(tmp_path)
    largest = max(backend.model.tokenizer("zebra was")["input_ids"])
    with pytest.raises(ModelError) as caught:
        backend.read(["zebra", "was"])
    assert str(caught.value) == (
        f"The tokenizer of {tmp_path} gives token number {largest}, but the model knows 60: they do not belong "
        "together."
    )


def test_words_in_lower_case_on_request(small_pretrained):
    backend = load_backend(small_pretrained("gpt2"))
    found = score(["The KEY was"], backend, lower_case=True)
    expected = score(["the key was"], backend)
    assert found["word"].tolist() == ["The", "KEY", "was"]
    assert found["surprisal_bits"].tolist() == pytest.approx(expected["surprisal_bits"].tolist())


def test_capitals_that_a_vocabulary_lacks_are_warned_of(uncased_pretrained):
    with pytest.warns(PsymemWarning) as caught:
        score(["the Key was"], str(uncased_pretrained))
    assert [str(w.message) for w in caught] == [
        f"The vocabulary of {uncased_pretrained} has no words with capitals, and the text has; they are taken "
        "to pieces or unknown. Use --lower-case (lower_case=True) (the first word with capitals is 'Key')."
    ]
    score(["the key was"], str(uncased_pretrained))
    score(["the Key was"], str(uncased_pretrained), lower_case=True)


def test_a_tokenizer_that_ignores_case_is_noted(tmp_path, uncased_pretrained):
    fast = transformers.AutoTokenizer.from_pretrained(uncased_pretrained)
    tokenizer: Tokenizer = fast.backend_tokenizer
    tokenizer.normalizer = normalizers.Lowercase()
    transformers.AutoModelForCausalLM.from_pretrained(uncased_pretrained).save_pretrained(tmp_path)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", unk_token="<unk>"
    ).save_pretrained(tmp_path)
    with pytest.warns(PsymemWarning) as caught:
        score(["the Key was"], str(tmp_path))
    assert [str(w.message) for w in caught] == [
        f"The tokenizer of {tmp_path} puts all text into lower case, so capitals make no difference (the first "
        "word with capitals is 'Key')."
    ]


def test_a_wordpiece_tokenizer_gives_every_token_to_its_word(tmp_path):
    vocabulary = {w: i for i, w in enumerate(["[UNK]", "the", "key", "##s", "##board", "was", "."])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    config = transformers.GPT2Config(vocab_size=7, n_layer=1, n_head=1, n_embd=4, bos_token_id=None)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(
        tmp_path
    )
    words = ["the", "keyboards.", "was", "zebra"]
    trace = load_backend(tmp_path).read(words)
    assert trace.tokens == ("the", "key", "##board", "##s", ".", "was", "[UNK]")
    assert trace.word_index.tolist() == [0, 1, 1, 1, 1, 2, 3]
    assert score([words], str(tmp_path))["oov"].tolist() == [False, False, False, True]
    assert as_words([words])["word"].tolist() == words
