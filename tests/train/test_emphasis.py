"""Words that count more than others in training."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from psymem.errors import DataError, TrainingError
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID, build_tokenizer
from psymem.train.run import DataSettings
from psymem.train.tasks.cbr_rnn import CueBasedRNNTask, ObjectiveSettings
from psymem.train.text.batching import emphasised_batch
from psymem.train.text.corpus import encode_emphasised

LINES = "the\t\nkeys\t\nare\tagreement\nold\t\n\nthe\t\nkey\t\nis\tagreement\n"


@pytest.fixture
def tokenizer():
    return build_tokenizer(["the", "key", "keys", "is", "are", "old"])


@pytest.fixture
def text(tmp_path, tokenizer):
    path = tmp_path / "marked.tsv"
    path.write_text(LINES, encoding="utf-8")
    return encode_emphasised([path], tokenizer, 20)


def test_the_words_to_predict_are_marked_not_those_that_were_read(text, tokenizer):
    batch = emphasised_batch(text, np.array([0, 1]))
    targets = [
        [tokenizer.id_to_token(int(i)) for i in row[mark]]
        for row, mark in zip(batch.targets, batch.emphasised, strict=True)
    ]
    assert targets == [["are"], ["is"]]
    assert batch.tags is None


def test_a_marked_word_counts_as_often_as_the_emphasis_says(text, tokenizer):
    settings = ObjectiveSettings(width=8, dropout=0.0, sampled_words=0, precision="fp32", emphasis=4.0)
    task = CueBasedRNNTask(settings, tokenizer.get_vocab_size(), 0, {"plain": text, "emphasised": text}, 3)
    batch = task.batch(("emphasised", np.array([0, 1])))
    loss, shown = task(batch, 0)
    with torch.no_grad():
        hidden = task.model(batch.inputs).hidden
        surprisal = (
            -torch.log_softmax(task.model.output(hidden), -1)
            .gather(-1, batch.targets.unsqueeze(-1))
            .squeeze(-1)
        )
    predicts = (batch.targets != PAD_ID).numpy()
    weights = np.where(batch.emphasised.numpy(), 4.0, 1.0) * predicts
    by_hand = (surprisal.numpy() * weights).sum() / predicts.sum()
    assert loss.item() == pytest.approx(by_hand, rel=1e-5)
    assert shown == pytest.approx((surprisal.numpy() * predicts).sum() / predicts.sum(), rel=1e-5)
    assert predicts.sum() == 9  # seven words and two sentence ends
    assert {BOS_ID, EOS_ID} & set(batch.targets[batch.emphasised].tolist()) == set()


def test_a_step_with_two_processes_adds_up_to_the_step_of_one(text, tokenizer):
    settings = ObjectiveSettings(width=8, dropout=0.0, sampled_words=0, precision="fp32", emphasis=4.0)
    task = CueBasedRNNTask(settings, tokenizer.get_vocab_size(), 0, {"plain": text, "emphasised": text}, 3)
    whole = task.batch(("emphasised", np.array([0, 1])))
    parts = [whole.part(i, 2) for i in range(2)]
    assert task(whole, 0)[0].item() == pytest.approx(
        sum(task(p, 0)[0].item() * p.share for p in parts), rel=1e-5
    )


def test_emphasised_sentences_come_as_often_as_asked(text, tokenizer):
    settings = ObjectiveSettings(width=8, sampled_words=0, emphasis=2.0, emphasised_passes=3)
    task = CueBasedRNNTask(settings, tokenizer.get_vocab_size(), 0, {"plain": text, "emphasised": text}, 3)
    read = [(name, int(i)) for name, which in task.plan(0) for i in which]
    assert sorted(read) == sorted([("plain", 0), ("plain", 1)] + 3 * [("emphasised", 0), ("emphasised", 1)])


def test_a_file_without_marks_is_refused(tmp_path, tokenizer):
    path = tmp_path / "plain.tsv"
    path.write_text("the\t\nkeys\t\n", encoding="utf-8")
    with pytest.raises(DataError) as refused:
        encode_emphasised([path], tokenizer, 20)
    assert str(refused.value) == (
        f"{path} marks no word: expected `word TAB mark` lines with a mark at some words."
    )


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"emphasis": 0.5}, "--emphasis has to be at least 1 (no emphasis), not 0.5."),
        ({"emphasis": float("nan")}, "--emphasis has to be at least 1 (no emphasis), not nan."),
        ({"emphasised_passes": 0}, "--emphasised-passes has to be at least 1, not 0."),
    ],
)
def test_impossible_settings_are_refused(setting, message):
    with pytest.raises(TrainingError) as refused:
        ObjectiveSettings(**setting)
    assert str(refused.value) == message


def test_held_out_text_has_to_be_named(tmp_path):
    with pytest.raises(TrainingError) as refused:
        DataSettings(text=(tmp_path,), emphasised=(tmp_path / "marked.tsv",))
    assert str(refused.value) == (
        "--emphasised needs --held-out: without it validation draws sentences from --text, and they would be trained on "
        "through --emphasised."
    )


def test_a_file_that_is_not_there_is_named(tmp_path, tokenizer):
    with pytest.raises(DataError) as refused:
        encode_emphasised([tmp_path / "no.tsv"], tokenizer, 20)
    assert (
        str(refused.value) == f"There is no file {tmp_path / 'no.tsv'}. Give a file of `word TAB tag` lines."
    )


def test_a_damaged_archive_is_named(tmp_path, tokenizer):
    path = tmp_path / "marked.tsv.gz"
    path.write_bytes(b"no archive")
    with pytest.raises(DataError) as refused:
        encode_emphasised([path], tokenizer, 20)
    assert str(refused.value) == f"{path} cannot be read: Not a gzipped file (b'no')."
