"""A small GPT-2 trained on a few sentences scores through the same path as every other model."""

from __future__ import annotations

import csv
import tomllib

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

from psymem.backends.load import load_backend
from psymem.cli.app import build
from psymem.errors import TrainingError
from psymem.measures.surprisal import Surprisal
from psymem.scoring.score import score
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings, prepare
from psymem.train.tasks.gpt2 import GPT2Settings, held_out, train_gpt2
from psymem.train.text.byte_pairs import learn_byte_pairs
from psymem.train.text.vocabulary import VocabularyRule

VERBS = {"key": "opens", "keys": "open", "door": "creaks", "doors": "creak", "dog": "barks", "dogs": "bark"}
LOOP = LoopSettings(max_tokens=60_000, validate_every=15_000, learning_rate=1e-2, warmup_steps=10)
SIZE = {"layers": 2, "heads": 2, "width": 16, "dropout": 0.0, "batch_tokens": 500}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Sentences in which the noun decides the verb."""
    rng = np.random.default_rng(4)
    nouns = rng.choice(list(VERBS), 1000)
    places = rng.choice(["house", "castle"], 1000)
    path = tmp_path_factory.mktemp("text") / "text.txt"
    lines = [f"the {noun} of the {place} {VERBS[noun]} ." for noun, place in zip(nouns, places, strict=True)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=["words", "bpe"])
def trained(request, text, tmp_path_factory):
    out = tmp_path_factory.mktemp(request.param)
    data = DataSettings((text,), vocabulary=VocabularyRule(340), longest=32)
    settings = GPT2Settings(**SIZE, vocabulary=request.param)
    return train_gpt2(data, settings, LOOP, out, quiet=True), data


def test_it_learns(trained):
    folder, _ = trained
    rows = list(csv.DictReader((folder.parent / "training_log.csv").open()))
    held = [float(r["validation_perplexity"]) for r in rows if r["validation_perplexity"]]
    assert held[-1] < held[0] < 50
    card = tomllib.loads((folder / "card.toml").read_text(encoding="utf-8"))
    assert 12 ** (1 / 8) < card["held_out_perplexity"] < 3, "six nouns and two houses are to be guessed"
    assert card["architecture"] == "gpt2"
    assert set(card["sha256"]) >= {"config.json", "model.safetensors", "tokenizer.json"}


def test_it_scores_through_the_common_path(trained):
    folder, _ = trained
    backend = load_backend(folder)
    assert backend.context == "sentence"
    right, wrong = "the dogs of the house bark .", "the dogs of the house house ."
    frame = score([right.split(), wrong.split()], backend)
    verb = frame[frame["word_id"] == 6]["surprisal_bits"].tolist()
    assert verb[0] < 4 < verb[1], "one of six verbs, and no noun"
    heads = score([right.split()], backend, "normalised-attention-entropy")
    assert heads["normalised_attention_entropy"].notna().all()


def test_surprisals_are_those_of_training(trained):
    """Perplexity of the held-out text in the card is what the scoring path gives, sentence ends aside."""
    folder, data = trained
    kind = "bpe" if "bpe" in str(folder.parent.name) else "words"
    choose = {"choose": learn_byte_pairs} if kind == "bpe" else {}
    _, texts, _ = prepare(data, folder.parent, LOOP.seed, kind=f"gpt2 {kind}", **choose)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    validation = texts["validation"].take(np.arange(5))
    total = held_out(model, validation).nats
    backend = load_backend(folder, punctuation="spaced")  # as in the training text
    ends = 0.0
    bits = 0.0
    for i in range(5):
        ids = validation.sentence(i)
        sentence = backend.model.tokenizer.decode(ids).split()
        frame = score([sentence], backend, Surprisal(corrected=False))
        bits += frame["surprisal_uncorrected_bits"].sum()
        with torch.inference_mode():
            logits = model(torch.tensor([[2, *ids.tolist()]])).logits[0, -1]
        ends -= logits.log_softmax(-1)[3].item()
    assert bits * np.log(2) + ends == pytest.approx(total, rel=1e-4)


def test_the_end_of_a_sentence_ends_a_word(trained):
    """With byte pairs, a word's corrected surprisal does not grow where the sentence is over."""
    backend = load_backend(trained[0], punctuation="spaced")
    if backend.tokenizer.beginnings is None:
        assert load_backend(trained[0]).read(["the"]).boundary is None
        return
    assert backend.tokenizer.beginnings[3]
    trace = backend.read("the dogs of the house bark .".split())
    assert trace.boundary[-1] > np.log(0.9)


def test_the_command_trains_and_resumes_nothing_twice(text, tmp_path):
    arguments = ["train", "gpt2", "--text", str(text), "--out", str(tmp_path / "run"), "--layers", "1"]
    arguments += ["--heads", "2", "--width", "8", "--max-tokens", "3000", "--batch-tokens", "300", "--quiet"]
    first = CliRunner().invoke(build(), arguments)
    assert first.exit_code == 0, first.output
    assert first.stdout.strip() == str(tmp_path / "run" / "model")
    config = load_backend(tmp_path / "run" / "model").config
    assert (config.n_layer, config.n_head, config.n_embd) == (1, 2, 8)
    weights = (tmp_path / "run" / "model" / "model.safetensors").read_bytes()
    assert CliRunner().invoke(build(), arguments).exit_code == 0
    assert (tmp_path / "run" / "model" / "model.safetensors").read_bytes() == weights


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 10, "heads": 3}, "--width 10 cannot be divided among 3 heads; give a multiple of 3."),
        ({"layers": 0}, "--layers has to be at least 1, not 0."),
        ({"vocabulary": "letters"}, "--vocabulary 'letters' is not known; expected words or bpe."),
    ],
    ids=["width", "layers", "vocabulary"],
)
def test_settings_that_cannot_work_are_refused(change, message):
    with pytest.raises(TrainingError) as caught:
        GPT2Settings(**change)
    assert str(caught.value) == message


def test_a_vocabulary_without_room_for_bytes_is_refused(text):
    with pytest.raises(TrainingError) as caught:
        learn_byte_pairs([text], VocabularyRule(200))
    assert str(caught.value) == (
        "--vocabulary-size 200 is too small for byte pairs; expected at least 261 (256 bytes and 5 special "
        "tokens)."
    )
