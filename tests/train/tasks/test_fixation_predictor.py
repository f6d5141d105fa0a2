"""A predictor learns how long words are read, and a fixation-guided model reads with it."""

from __future__ import annotations

import csv
import json
import tomllib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

import psymem
from psymem.cli.app import build
from psymem.data.corpora.corpus import Corpus
from psymem.errors import CheckpointError, DataError, ModelError, PsymemWarning, TrainingError
from psymem.models.gated.fixation_checkpoint import fitted_to, load_predictor
from psymem.models.word_tokenizer import UNK_ID, build_tokenizer
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.fixation_labels import fixation_loss, fixation_text, sentence_batch, stream_batch
from psymem.train.tasks.fixation_predictor import (
    errors_on_test,
    known_words,
    split_sentences,
    train_fixation_predictor,
)
from psymem.train.tasks.fixation_task import PredictorSettings
from psymem.train.tasks.gated import GatedTask
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.tasks.gated_run import Length, train_gated
from psymem.train.text.corpus import encode_sentences

NOUNS = ["elephants", "cats", "dogs", "hippopotamuses"]
SETTINGS = PredictorSettings(
    width=8, embedding_width=8, dropout=0.0, epochs=8, batch_sentences=8, learning_rate=2e-2
)


def corpus(n: int = 120, readers: int = 4) -> Corpus:
    """Sentences whose words are read the longer, the longer they are."""
    rng = np.random.default_rng(2)
    words, rows = [], []
    for sentence in range(n):
        for word in ["the", str(rng.choice(NOUNS)), "run", "away."]:
            words.append(("t", sentence, len(words), word))
            for reader in range(readers):
                time = 40 * len(word) + rng.integers(0, 20)
                rows.append(("c", f"r{reader}", "t", len(words) - 1, word, False, float(time)))
    columns = ["corpus", "subject", "text_id", "word_id", "word", "skipped", "total_reading_time"]
    return Corpus(
        "lengths",
        pd.DataFrame(words, columns=["text_id", "sentence_id", "word_id", "word"]),
        pd.DataFrame(rows, columns=columns),
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return train_fixation_predictor(corpus(), SETTINGS, tmp_path_factory.mktemp("fp"), quiet=True)


def test_it_learns_more_than_the_mean_level(trained):
    card = tomllib.loads((trained / "card.toml").read_text(encoding="utf-8"))
    assert card["test_mse"] < 0.5 * card["test_mse_of_mean_level"]
    assert card["sentences"] == {"test": 30, "validation": 9, "train": 81}
    assert card["trained_on"] == "lengths"
    rows = list(csv.DictReader((trained.parent / "training_log.csv").open()))
    held = [float(r["validation_squared_error"]) for r in rows if r["validation_squared_error"]]
    assert len(held) == SETTINGS.epochs
    assert min(held) < held[0]


def test_stored_levels_follow_the_length_of_words(trained):
    stored = load_predictor(trained)
    ids = [stored.tokenizer.token_to_id(w) for w in ("the", "elephants", "run")]
    levels, raw, _ = stored.network.levels(torch.tensor([[2, *ids]]))
    the, elephants, run = levels[0, 1:].tolist()
    assert elephants > max(the, run)
    assert levels.equal(raw.round().clamp(0, 11))


def test_the_errors_are_means_over_tokens(trained):
    class Task:
        def errors(self, encoded):
            return torch.cat([torch.arange(len(ids)) - 1.0 for ids, _ in encoded])

    from psymem.data.corpora.fixation_levels import LevelledSentence

    def sentence(*levels):
        n = len(levels)
        return LevelledSentence(["a"] * n, np.array(levels, float), np.zeros(n), np.zeros(n))

    parts = {"train": [sentence(2, 4)], "test": [sentence(3), sentence(3, 5, 3)]}
    found = errors_on_test(Task(), build_tokenizer([]), parts)
    assert found["test_l1"] == pytest.approx((1 + 1 + 0 + 1) / 4)
    assert found["test_mse_of_mean_level"] == pytest.approx(1.0 * 1)
    assert found["test_unseen_share"] == 1


def test_half_of_the_words_that_occur_once_are_unknown():
    from psymem.data.corpora.fixation_levels import LevelledSentence

    tokens = ["twice", "twice", *(f"once{i}" for i in range(400))]
    sentence = LevelledSentence(tokens, *(np.zeros(len(tokens)) for _ in range(3)))
    words = known_words([sentence], seed=1)
    assert words[0] == "twice"
    assert 150 < len(words) - 1 < 250
    assert words == known_words([sentence], seed=1)


def test_a_language_model_reads_with_it(trained):
    tokenizer = build_tokenizer(["the", *NOUNS, "run", "away", "."])
    text = encode_sentences(["the elephants run away.", "the cats run."] * 4, tokenizer, 20)
    for batching in ("sentences", "stream"):
        objective = GatedObjective(
            "fgp-lstm", width=4, embedding_width=4, components=12, fixations="fixed", predictor=trained,
            batching=batching, rows=2, piece_length=5, sampled_words=0, precision="fp32",
        )  # fmt: skip
        task = GatedTask(objective, tokenizer, {"plain": text, "validation": text}, 1)
        before = [p.clone() for p in task.model.fixed_predictor.parameters()]
        loss, _ = task(task.batch(task.plan(0)[0]), 0)
        loss.backward()
        assert all(p.grad is None for p in task.model.fixed_predictor.parameters())
        assert all(
            torch.equal(a, b) for a, b in zip(before, task.model.fixed_predictor.parameters(), strict=True)
        )
    batch = task.batch(task.plan(0)[0])
    ids = torch.tensor([[2, *text.sentence(0).tolist()]])
    alone = task.model.fixed_predictor.levels(ids)[0][0, 1:]
    np.testing.assert_array_equal(batch.durations[0, : len(alone)], alone[: batch.durations.shape[1]])


def test_words_it_has_never_seen(trained):
    stored = load_predictor(trained)
    with pytest.warns(PsymemWarning) as caught:
        fitted = fitted_to(stored, build_tokenizer(["the", "tree", "grows"]))
    assert str(caught[0].message) == (
        "2 of the 3 words of the vocabulary were never seen by the fixation predictor; they get its estimate for "
        "unknown words."
    )
    torch.testing.assert_close(fitted.embedding.weight[6], stored.network.embedding.weight[UNK_ID])
    with pytest.raises(ModelError) as error:
        fitted_to(replace(stored, tokenizer=build_tokenizer([])), build_tokenizer(["der", "Baum"]))
    assert str(error.value).startswith("The fixation predictor was trained on none of the ")


def test_a_model_of_another_kind(small_checkpoint):
    with pytest.raises(CheckpointError) as caught:
        load_predictor(small_checkpoint)
    assert str(caught.value) == (
        f"{small_checkpoint} holds a model of type 'psymem-cbr-rnn', but a fixation predictor "
        "('psymem-fixation-predictor', from `psymem train fixation-predictor`) was expected."
    )


def test_too_few_sentences():
    with pytest.raises(TrainingError) as caught:
        split_sentences([], 0.25, 1)
    assert str(caught.value) == (
        "The corpus has 0 sentence(s) with total reading times, too few for training, validation and test."
    )


def test_the_multi_task_loss_is_weighted_by_the_variance_over_readers():
    read = corpus(6)
    tokenizer = build_tokenizer(["the", *NOUNS, "run", "away"])
    text = fixation_text(read, tokenizer)
    frame = read.reading.assign(
        d=read.reading["total_reading_time"] / read.reading["total_reading_time"].mean()
    )
    word = frame.groupby("word_id")["d"].agg(["mean", "var"])
    mean, variance = [], []
    for start in range(0, len(word), 4):  # the, noun, run, away, full stop, end of sentence
        mean += [*word["mean"][start : start + 4], 0, 0]
        variance += [*word["var"][start : start + 4], np.inf, np.inf]
    mean, variance = np.array(mean), np.array(variance)
    target = (mean - mean.mean()) / mean.std()
    estimate = torch.linspace(-1, 1, len(mean)).reshape(1, -1)
    expected = np.mean((target - estimate[0].numpy()) ** 2 / (variance / mean.var() + 0.1))
    found = fixation_loss(estimate, stream_batch(text, 1, 0, len(mean)))
    assert found.item() == pytest.approx(expected, rel=1e-4)
    laid = sentence_batch(text, np.array([0, 1]))
    assert laid.weight[:, 0].tolist() == [0, 0], "BOS is no word"
    np.testing.assert_allclose(laid.target[1, 1:6], target[6:11], rtol=1e-4)


@pytest.mark.parametrize("batching", ["sentences", "stream"])
def test_multi_task_training_reaches_the_predictor(batching):
    tokenizer = build_tokenizer(["the", *NOUNS, "run", "away", "."])
    text = encode_sentences(["the elephants run away.", "the cats run."] * 8, tokenizer, 20)
    objective = GatedObjective(
        "fgp-lstm", width=4, embedding_width=8, components=2, fixation_weight=5.0, batching=batching, rows=2,
        piece_length=8, batch_tokens=60, sampled_words=0, precision="fp32",
    )  # fmt: skip
    task = GatedTask(
        objective,
        tokenizer,
        {"plain": text, "validation": text},
        1,
        fixations=fixation_text(corpus(8), tokenizer),
    )
    optimizer = torch.optim.Adam(task.parameters(), 2e-2)
    extra = []
    for epoch in range(12):
        for step, handle in enumerate(task.plan(epoch)):
            loss, nats = task(task.batch(handle), step)
            extra.append(loss.item() - nats)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert np.mean(extra[-4:]) < 0.7 * np.mean(extra[:4])


def test_a_corpus_read_by_too_few():
    with pytest.raises(DataError) as caught:
        fixation_text(corpus(3, readers=3), build_tokenizer(["the"]))
    assert str(caught.value) == (
        "No word of the corpus 'lengths' has total reading times of 4 reader(s) or more."
    )


def test_a_corpus_of_other_words():
    with pytest.raises(TrainingError) as caught:
        fixation_text(corpus(3), build_tokenizer(["der", "Baum"]))
    assert str(caught.value) == "The model's vocabulary has none of the words of the corpus 'lengths'."


def test_the_command(tmp_path, monkeypatch):
    from psymem import registry

    monkeypatch.setitem(registry.CORPORA._rows, "lengths", f"{__name__}:read_lengths")
    arguments = [
        "train",
        "fixation-predictor",
        "--corpus",
        "lengths",
        "--data",
        str(tmp_path),
        "--json",
        "--quiet",
    ]
    arguments += ["--out", str(tmp_path / "run"), "--epochs", "1", "--width", "4", "--embedding-width", "4"]
    result = CliRunner().invoke(build(), arguments)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["folder"] == str(tmp_path / "run" / "model")
    assert set(said) == {
        "folder", "test_tokens", "test_l1", "test_mse", "test_l1_of_mean_level", "test_mse_of_mean_level",
        "test_unseen_share",
    }  # fmt: skip


def read_lengths(folder) -> Corpus:
    """Stand in for a reader of corpus files."""
    return corpus(40)


def test_a_model_with_a_predictor_of_other_widths_is_read_again(tmp_path):
    """What the predictor's word vectors measure has to be in the checkpoint, or the finished model is lost."""
    settings = replace(SETTINGS, width=5, embedding_width=3, epochs=1)
    predictor = train_fixation_predictor(corpus(30), settings, tmp_path / "p", quiet=True)
    text = tmp_path / "text.txt"
    text.write_text("the elephants run away.\nthe cats run.\n" * 4, encoding="utf-8")
    objective = GatedObjective(
        "fgp-lstm", width=2, embedding_width=4, components=3, fixations="fixed", predictor=predictor,
        sampled_words=0, precision="fp32",
    )  # fmt: skip
    model = train_gated(
        DataSettings((text,)), objective, LoopSettings(), tmp_path / "run", length=Length(40), quiet=True
    )
    scores = psymem.score("the cats run.", str(model), ["model-fixations"])
    assert scores["n_active"].notna().all()


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (np.nan, "No word of the corpus 'lengths' has a total reading time: nobody fixated any."),
        (250.0, "All words of the corpus 'lengths' have the same mean total reading time, so none can be told from another by it."),
    ],
)  # fmt: skip
def test_times_that_teach_nothing(tmp_path, times, message):
    read = corpus(20)
    read = replace(read, reading=read.reading.assign(total_reading_time=times))
    with pytest.raises(DataError) as caught:
        train_fixation_predictor(read, SETTINGS, tmp_path, quiet=True)
    assert str(caught.value) == message


def test_the_bundled_sample_is_known_by_name(tmp_path):
    given = [
        "--corpus",
        "csv",
        "--data",
        "reading-sample",
        "--epochs",
        "1",
        "--width",
        "2",
        "--embedding-width",
        "2",
    ]
    result = CliRunner().invoke(
        build(), ["train", "fixation-predictor", *given, "--out", str(tmp_path / "p"), "--quiet"]
    )
    assert result.exit_code == 0, result.output
