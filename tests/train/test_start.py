"""Runs that begin with the weights and the vocabulary of another."""

from __future__ import annotations

import numpy as np
import pytest

from psymem import checkpoints
from psymem.errors import TrainingError
from psymem.models.storage import load_checkpoint
from psymem.train.loop.loop import LoopSettings
from psymem.train.run import DataSettings, train_cbr_rnn
from psymem.train.tasks.cbr_rnn import ObjectiveSettings
from psymem.train.text.vocabulary import VocabularyRule

NOUNS = ("key", "door", "dog")


def write(path, words):
    rng = np.random.default_rng(3)
    path.write_text(
        "\n".join(f"the {rng.choice(words)} opens the {rng.choice(words)} ." for _ in range(400)),
        encoding="utf-8",
    )
    return path


def run(text, out, *, tokens=3000, rate=5e-3, start_from="", **objective):
    settings = ObjectiveSettings(
        **{"width": 16, "dropout": 0.0, "sampled_words": 0, "batch_tokens": 200, "precision": "fp32"}
        | objective
    )
    loop = LoopSettings(
        max_tokens=tokens, learning_rate=rate, warmup_steps=2, validate_every=1000, checkpoint_every=10
    )
    data = DataSettings(text=(text,), vocabulary=VocabularyRule(100))
    return train_cbr_rnn(data, settings, loop, out, start_from=start_from, threads=1, quiet=True)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    return run(write(folder / "text.txt", NOUNS), folder / "run")


def test_a_run_begins_with_the_weights_and_the_vocabulary_of_the_model(first, tmp_path):
    other = write(tmp_path / "other.txt", ("key", "window"))
    model = run(other, tmp_path / "run", tokens=1, rate=1e-12, start_from=str(first))
    before, after = load_checkpoint(first), load_checkpoint(model)
    assert after.tokenizer.get_vocab() == before.tokenizer.get_vocab()
    assert "window" not in after.tokenizer.get_vocab()
    for name, value in before.network.state_dict().items():
        np.testing.assert_allclose(after.network.state_dict()[name].numpy(), value.numpy(), atol=1e-7)
    assert after.card["started_from"] == {
        "model": str(first),
        "sha256": checkpoints.file_sha256(first / "model.safetensors"),
        "tokens_seen": before.card["tokens_seen"],
    }


def test_going_on_does_better_than_starting_anew(first, tmp_path):
    text = first.parent.parent / "text.txt"
    on = load_checkpoint(run(text, tmp_path / "on", tokens=600, start_from=str(first))).card
    anew = load_checkpoint(run(text, tmp_path / "anew", tokens=600)).card
    assert on["held_out_perplexity"] < anew["held_out_perplexity"]


def test_a_network_of_another_size_is_refused(first, tmp_path):
    text = first.parent.parent / "text.txt"
    with pytest.raises(TrainingError) as refused:
        run(text, tmp_path / "run", width=8, start_from=str(first))
    assert str(refused.value) == (
        f"--start-from {first} has --width 16 and --attention softmax, this run 8 and softmax: give those of the model."
    )
    assert not (tmp_path / "run").exists()


def test_a_network_of_another_kind_is_refused(tmp_path):
    text = write(tmp_path / "text.txt", NOUNS)
    with pytest.raises(TrainingError) as refused:
        run(text, tmp_path / "run", start_from="lstm/1")
    assert str(refused.value) == (
        "--start-from lstm/1 is a GatedLanguageModel, expected a CBR-RNN: a network can only go on from one of its own kind."
    )


def test_a_folder_begun_from_another_model_is_refused(first, tmp_path):
    text = first.parent.parent / "text.txt"
    out = tmp_path / "run"
    run(text, out, tokens=600)
    with pytest.raises(TrainingError, match="holds a run with other settings"):
        run(text, out, tokens=600, start_from=str(first))
