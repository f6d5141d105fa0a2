"""Sentiment of short texts with gates set by fixations: data, splits, learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from psymem.data.corpora.corpus import Corpus
from psymem.errors import DataError, TrainingError
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.gated.settings import GatedSettings
from psymem.models.word_tokenizer import PAD_ID
from psymem.train.tasks.sentiment import (
    ReadText,
    SentimentNetwork,
    SentimentSettings,
    accuracies,
    read_texts,
    split_texts,
)

SMALL = {
    "width": 6,
    "components": 3,
    "embedding_width": 12,
    "learning_rate": 2e-2,
    "epochs": 8,
    "batch_texts": 16,
}


def corpus(polarity=("1", "-1", "1")) -> Corpus:
    """Three texts of two words and a full stop, read by one person; text 10 sorts before text 9."""
    words = pd.DataFrame(
        [
            {"text_id": t, "sentence_id": s, "word_id": w, "word": word, "polarity": p}
            for t, p in zip(("8", "10", "9"), polarity, strict=True)
            for w, (s, word) in enumerate([(1, "Very"), (2, "nice.")], start=1)
        ]
    )
    reading = words[["text_id", "word_id", "word"]].assign(corpus="toy", subject="P1", skipped=False)
    reading["total_reading_time"] = [100.0, 200.0, 300.0, 400.0, 500.0, 600.0]
    return Corpus("toy", words, reading)


def texts(n: int, seed: int = 2) -> list[ReadText]:
    """Texts whose sentiment hangs on one of two words."""
    rng = np.random.default_rng(seed)
    made = []
    for positive in rng.random(n) < 0.5:
        fillers = list(rng.choice(["the", "film", "was", "so"], 3))
        tokens = [*fillers[:2], "good" if positive else "bad", fillers[2]]
        made.append(ReadText(tokens, rng.integers(0, 12, 4).astype(float), bool(positive)))
    return made


def test_texts_are_whole_lower_case_and_carry_their_own_label():
    found = read_texts(corpus(polarity=("1", "-1", "1")))
    assert [t.tokens for t in found] == [["very", "nice", "."]] * 3
    assert [t.positive for t in found] == [False, True, True], "texts 10, 8, 9"
    assert [t.levels.tolist() for t in found] == [[4.0, 7.0, 0.0], [0.0, 2.0, 0.0], [9.0, 11.0, 0.0]]


def test_a_label_that_is_none():
    with pytest.raises(DataError) as error:
        read_texts(corpus(polarity=("1", "0", "1")))
    assert str(error.value) == "Text 10 of the corpus 'toy' has polarity '0'; expected 1 or -1."


def test_a_corpus_without_labels():
    plain = corpus()
    with pytest.raises(DataError) as error:
        read_texts(replace(plain, words=plain.words.drop(columns="polarity")))
    assert str(error.value) == (
        "The corpus 'toy' has no column 'polarity'; a corpus with judged texts is needed."
    )


def test_a_split_has_every_text_once_and_depends_on_the_seed():
    every = texts(100)
    parts = split_texts(every, 1)
    assert {k: len(v) for k, v in parts.items()} == {"test": 20, "validation": 10, "train": 70}
    assert {id(t) for part in parts.values() for t in part} == {id(t) for t in every}
    assert [id(t) for t in split_texts(every, 2)["test"]] != [id(t) for t in parts["test"]]


def test_too_few_texts():
    with pytest.raises(TrainingError) as error:
        split_texts(texts(3), 1)
    assert str(error.value) == "3 text(s) are too few for training, validation and test."


@pytest.mark.parametrize(
    ("family", "fixations"), [("lstm", "adaptive"), ("fgp-lstm", "true"), ("fgp-lstm", "adaptive")]
)
def test_it_learns_the_words_that_decide(family, fixations):
    settings = SentimentSettings(family, fixations, **SMALL)
    found = accuracies(texts(120), settings)
    assert found["epoch"].tolist() == list(range(1, 9))
    assert found["test"].iloc[-1] == 1.0
    again = accuracies(texts(120), replace(settings, epochs=2))
    pd.testing.assert_frame_equal(found.head(2), again)


def test_what_only_fixations_tell_is_learned_from_true_fixations_alone():
    told = [replace(t, tokens=["it"] * 4, levels=np.full(4, 11.0 * t.positive)) for t in texts(80)]
    settings = SentimentSettings("fgp-lstm", "true", **SMALL)
    assert accuracies(told, settings)["test"].iloc[-1] == 1.0
    unseen = accuracies(told, replace(settings, family="lstm", fixations="adaptive", epochs=2))["test"]
    share = np.mean([t.positive for t in split_texts(told, 1)["test"]])
    assert unseen.iloc[-1] == pytest.approx(share) or unseen.iloc[-1] == pytest.approx(1 - share)


def test_settings_that_cannot_work():
    with pytest.raises(TrainingError) as error:
        SentimentSettings("lstm", batch_texts=0)
    assert str(error.value) == "--batch-texts has to be at least 1, not 0."
    with pytest.raises(TrainingError) as error:
        SentimentSettings("fgp-lstm", "true", fixation_weight=0.1)
    assert str(error.value) == (
        "Only a fixation-guided network with adaptive fixations learns them beside sentiment, not fgp-lstm with true "
        "ones; give a fixation weight of 0."
    )


def network() -> SentimentNetwork:
    torch.manual_seed(3)
    return SentimentNetwork(
        GatedLanguageModel(GatedSettings(9, "fgp-lstm", width=4, components=3, embedding_width=5))
    )


BATCH = (
    torch.tensor([[4, 5, 6], [7, 8, PAD_ID]]),
    torch.tensor([[2, 0, 11], [5, 7, 0]]),
    torch.tensor([1, 0]),
)


def test_the_multi_task_loss_is_cross_entropy_and_weighted_squared_error_of_words():
    reader = network().eval()
    with torch.no_grad():
        logits, raw = reader(BATCH[0], None)
        found = float(reader.loss(BATCH, given=False, fixation_weight=0.25))
    logits, raw = logits.double().numpy(), raw.double().numpy()
    right = logits[[0, 1], [1, 0]] - np.log(np.exp(logits).sum(1))
    errors = np.array([raw[0, 0] - 2, raw[0, 1], raw[0, 2] - 11, raw[1, 0] - 5, raw[1, 1] - 7])
    assert found == pytest.approx(-right.mean() + 0.25 * (errors**2).mean(), rel=1e-5)


def test_scoring_normalises_durations_by_the_training_texts_without_dropout():
    reader = network()
    scale = reader.reader.scale
    scale.set_statistics(5.0, 6.0)
    encoded = [(np.array([4, 5, 6]), np.array([2, 0, 11]), True), (np.array([7, 8]), np.array([5, 7]), False)]
    alone = [reader.eval().reader(torch.from_numpy(ids)[None]).duration_raw[0] for ids, _, _ in encoded]
    raw = torch.cat(alone).detach().double().numpy()
    with reader.scored_as(encoded):
        assert not reader.training
        assert scale.mean.item() == pytest.approx(raw.mean(), rel=1e-5)
        assert scale.variance.item() == pytest.approx(raw.var(), rel=1e-5)
    assert (scale.mean.item(), scale.variance.item()) == (5.0, 6.0)
