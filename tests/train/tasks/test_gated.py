"""Gated language models: they learn, resume to the same weights, read streams as a plain loop does, and look back only."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from torch import nn

from psymem.backends.load import load_backend
from psymem.errors import TrainingError
from psymem.models.word_tokenizer import build_tokenizer
from psymem.scoring.score import score
from psymem.train.loop import loop as training_loop
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.gated import GatedTask
from psymem.train.tasks.gated_evaluation import held_out
from psymem.train.tasks.gated_network import levels_by_frequency
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.tasks.gated_run import Length, train_gated
from psymem.train.text.corpus import encode_sentences
from psymem.train.text.streams import plan_pieces, rows_of, stream_of

VERBS = {"key": "opens", "keys": "open", "door": "creaks", "doors": "creak", "dog": "barks", "dogs": "bark"}
LOOP = LoopSettings(learning_rate=2e-2, warmup_steps=5)
SMALL = {"width": 8, "embedding_width": 8, "batch_tokens": 600, "sampled_words": 0, "precision": "fp32"}
STREAM = {**SMALL, "batching": "stream", "rows": 4, "piece_length": 12}


def sentences(n: int) -> list[str]:
    """Sentences in which the noun decides the verb."""
    rng = np.random.default_rng(4)
    nouns, places = rng.choice(list(VERBS), n), rng.choice(["house", "castle"], n)
    return [f"the {noun} of the {place} {VERBS[noun]} ." for noun, place in zip(nouns, places, strict=True)]


VOCABULARY = sorted({word for sentence in sentences(100) for word in sentence.split()})


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(sentences(600)), encoding="utf-8")
    return path


def run(text, out, objective: GatedObjective, length: Length, loop: LoopSettings = LOOP, **more):
    return train_gated(DataSettings((text,)), objective, loop, out, length=length, quiet=True, **more)


def task(seed: int = 1, **changes) -> GatedTask:
    """A task on a little text."""
    tokenizer = build_tokenizer(VOCABULARY)
    texts = {"plain": encode_sentences(sentences(60), tokenizer, 63)}
    texts["validation"] = texts["plain"]
    objective = GatedObjective(**{"family": "fgp-lstm", "components": 3, **SMALL, **changes})
    return GatedTask(objective, tokenizer, texts, seed)


@pytest.mark.parametrize("family", ["lstm", "fgp-lstm"])
def test_it_learns_and_scores_through_the_common_path(text, tmp_path, family):
    size = {**SMALL, "width": 16, "embedding_width": 16, "batch_tokens": 200}
    objective = GatedObjective(family, components=3, **size)
    folder = run(text, tmp_path / "run", objective, Length(16_000, validate_every=8_000))
    rows = list(csv.DictReader((tmp_path / "run" / "training_log.csv").open()))
    held_out = [float(r["validation_perplexity"]) for r in rows if r["validation_perplexity"]]
    assert 12 ** (1 / 8) < held_out[-1] < 2.5, "six nouns and two houses: about 1.37 at best"
    card = tomllib.loads((folder / "card.toml").read_text(encoding="utf-8"))
    assert card["architecture"] == "psymem-gated-rnn"
    assert card["held_out_perplexity"] == pytest.approx(min(held_out), rel=0.02)
    right, wrong = "the dogs of the house bark .", "the dogs of the house house ."
    frame = score([right.split(), wrong.split()], load_backend(folder))
    verb = frame[frame["word_id"] == 6]["surprisal_bits"].tolist()
    assert verb[0] < 4 < verb[1]


@pytest.mark.parametrize("batching", ["sentences", "stream"])
def test_an_interrupted_run_resumes_to_the_same_weights(text, tmp_path, batching, monkeypatch):
    objective = GatedObjective(
        "fgp-lstm",
        **{**STREAM, "batching": batching, "batch_tokens": 60, "piece_length": 12},
        components=2,
        embedding_dropout=0.2,
        layer_dropout=0.2,
    )
    loop, length = replace(LOOP, checkpoint_every=5), Length(1200, validate_every=900)
    whole = run(text, tmp_path / "whole", objective, length, loop)
    step = training_loop._Run._step

    def stops(self, batch):
        if self.position.step == 13 and not (tmp_path / "stopped").exists():
            (tmp_path / "stopped").touch()
            raise KeyboardInterrupt
        step(self, batch)

    monkeypatch.setattr(training_loop._Run, "_step", stops)
    with pytest.raises(KeyboardInterrupt):
        run(text, tmp_path / "cut", objective, length, loop)
    resumed = run(text, tmp_path / "cut", objective, length, loop)
    expected, found = (load_file(f / "model.safetensors") for f in (whole, resumed))
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_a_stream_is_trained_as_by_a_plain_loop():
    ours, plain = task(**STREAM), task(**STREAM)
    model, text = plain.model, encode_sentences(sentences(60), build_tokenizer(VOCABULARY), 63)
    rows = torch.from_numpy(rows_of(stream_of(text), 4).astype(np.int64))
    optimizers = [torch.optim.SGD(m.parameters(), 0.5) for m in (ours.model, model)]
    state, losses = None, []
    for step, (start, end) in enumerate(plan_pieces(rows.shape[1], 12, 1, 0)):
        loss, nats = ours(ours.batch(ours.plan(0)[step]), step)
        out = model.train()(rows[:, start:end], state)
        state = out.state.detach()
        logits = model.output(out.hidden)
        expected = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, start + 1 : end + 1].flatten())
        assert nats == pytest.approx(expected.item(), rel=1e-5)
        for optimizer, value in zip(optimizers, (loss, expected), strict=True):
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        losses.append(nats)
    for a, b in zip(ours.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    assert len(losses) > 10
    assert np.mean(losses[-3:]) < losses[0]


def test_a_new_epoch_starts_from_zero_state():
    one = task(**STREAM, family="lstm")
    first = one.plan(0)
    with torch.no_grad():
        fresh = one(one.batch(first[0]), 0)[1]
        one(one.batch(first[1]), 1)
        assert one(one.batch(first[0]), 2)[1] == pytest.approx(fresh)


def test_held_out_surprisal_of_a_stream_does_not_depend_on_the_pieces():
    one = task(**STREAM, family="lstm")
    other = task(**{**STREAM, "piece_length": 1000}, family="lstm")
    text = encode_sentences(sentences(60), build_tokenizer(VOCABULARY), 63)
    found = [held_out(t.model, t.reading_of_held_out(text, rows=2)) for t in (one, other)]
    assert found[0].mean_nats == pytest.approx(found[1].mean_nats, rel=1e-5)
    assert found[0].n == len(stream_of(text)) // 2 * 2 - 2


def test_refreshed_statistics_are_those_of_all_words_without_dropout():
    one = task(embedding_dropout=0.5)
    one.refresh_statistics()
    text = encode_sentences(sentences(60), build_tokenizer(VOCABULARY), 63)
    raw = []
    for i in range(len(text)):
        ids = torch.tensor([[2, *text.sentence(i).tolist()]])
        raw += one.model.eval()(ids).duration_raw[0].tolist()
    assert one.model.scale.mean.item() == pytest.approx(np.mean(raw), rel=1e-5)
    assert one.model.scale.variance.item() == pytest.approx(np.var(raw), rel=1e-4)
    level = one.model(torch.tensor([[2, 5, 6, 7]])).duration_level[0, 1]
    later = one.model(torch.tensor([[2, 5, 9, 8]])).duration_level[0, 1]
    assert level == later, "words to come change nothing"


def test_a_chunk_that_looks_ahead_is_labelled(text, tmp_path):
    objective = GatedObjective("fgp-lstm", components=2, duration_normalisation="chunk", **SMALL)
    folder = run(text, tmp_path / "run", objective, Length(600))
    card = tomllib.loads((folder / "card.toml").read_text(encoding="utf-8"))
    assert card["causal"] is False
    assert card["not_causal"] == (
        "durations are normalised over each chunk, later words included: its surprisals look ahead"
    )


@pytest.mark.parametrize("fixations", ["full", "random", "random-by-type", "frequency"])
@pytest.mark.parametrize("batching", ["sentences", "stream"])
def test_the_controls_train(fixations, batching):
    one = task(**{**STREAM, "batching": batching, "fixations": fixations})
    loss, nats = one(one.batch(one.plan(0)[0]), 0)
    loss.backward()
    assert nats == pytest.approx(np.log(len(VOCABULARY) + 5), abs=0.6)
    assert one.validate() == one.validate()


def test_random_levels_are_drawn_once_for_each_token():
    one = task(fixations="random")
    levels = {}
    for epoch in (0, 1):
        for handle in one.plan(epoch):
            durations = one.batch(handle).durations.numpy()
            for row, i in enumerate(handle[0]):
                found = durations[row, 1 : one.reading.text.lengths[i] + 1]
                np.testing.assert_array_equal(levels.setdefault(i, found), found)
    drawn = np.concatenate(list(levels.values()))
    assert np.bincount(drawn, minlength=12).min() > 0.4 * len(drawn) / 12


def test_levels_by_frequency_have_equal_token_mass():
    counts = np.concatenate([np.zeros(5), np.arange(1200, 0, -1)])
    levels = levels_by_frequency(counts)
    mass = np.array([counts[5:][levels[5:] == k].sum() for k in range(12)]) / counts.sum()
    np.testing.assert_allclose(mass, 1 / 12, atol=2e-3)
    assert (np.diff(levels[5:]) >= 0).all(), "rarer is longer"
    assert levels[:4].tolist() == [1, 11, 1, 1]


def test_a_loss_that_is_not_finite_names_its_batch_and_keeps_the_last_checkpoint(text, tmp_path):
    loop = replace(LOOP, learning_rate=1e30, clip=1e30, warmup_steps=1, optimizer="sgd", checkpoint_every=1)
    with pytest.raises(
        TrainingError, match=r"^The (loss is|weights are) not finite (at|after) step \d+.* The last good"
    ):
        run(text, tmp_path / "run", GatedObjective("srn", **SMALL), Length(20_000), loop)
    last = sorted((tmp_path / "run" / "checkpoints").glob("step-*"))[-1]
    assert all(np.isfinite(a).all() for a in load_file(last / "weights.safetensors").values())


def test_the_width_follows_from_the_number_of_weights():
    small = {**SMALL, "width": 0, "parameters": 5000, "count": "core"}
    model = task(**small, family="lstm").model
    n = model.n_parameters() - model.embedding.weight.numel() - len(model.output.bias)
    assert abs(n - 5000) < 250


def test_a_stream_is_for_one_process(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(TrainingError) as caught:
        task(**STREAM)
    assert str(caught.value) == (
        "--batching stream trains in one process, since each row's state is carried on; use --batching sentences with "
        "torchrun."
    )
