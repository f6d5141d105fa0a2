"""Heads that track a dependency, on attention written by hand and on models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.backends.load import load_backend
from psymem.backends.toy import ToyBackend
from psymem.data.words.parses import ParsedSentence, sample
from psymem.errors import DataError, MeasureError
from psymem.studies.common.proportions import wilson_interval
from psymem.studies.heads import track_relation
from psymem.trace import Trace

SENTENCE = ParsedSentence(
    "one",
    ("The", "key", "often", "turned", "locks"),
    (("det", 0, 1), ("nsubj", 1, 3), ("advmod", 2, 3), ("obj", 4, 3)),
)
PASSIVE = ParsedSentence("two", ("The", "key", "was", "found"), (("nsubj:pass", 1, 3), ("aux:pass", 2, 3)))


class ByHand:
    """Two heads: one attends to the second word, the other to the last one before; "turned" has two pieces."""

    name = "by hand"
    provides = frozenset({"logprob", "attention"})
    max_words = None
    context = "sentence"

    def read_many(self, texts, progress=None, *, names=None, needs=None):
        return [self.read(words) for words in texts]

    def read(self, words):
        index = np.repeat(np.arange(len(words)), [2 if w == "turned" else 1 for w in words])
        n = len(index)
        attention = np.zeros((1, 2, n, n))
        attention[0, :, 0] = np.nan
        for i in range(1, n):
            attention[0, 0, i, min(1, i - 1)] = 0.6
            attention[0, 0, i, i] = 0.4
            attention[0, 1, i, i - 1] = 1.0
        return Trace(tuple(index.astype(str)), index, np.zeros(n), np.zeros(n, bool), attention)

    def provenance(self):
        return {"model": self.name}


def test_accuracy_and_weight_by_hand():
    found = track_relation(ByHand(), [SENTENCE, PASSIVE])
    low, high = wilson_interval(2, 2)
    expected = pd.DataFrame(
        {
            "layer": [0, 0],
            "head": [0, 1],
            "accuracy": [1.0, 0.0],
            "ci_low": [low, wilson_interval(0, 2)[0]],
            "ci_high": [high, wilson_interval(0, 2)[1]],
            "n_correct": [2, 0],
            "n": [2, 2],
            "mean_weight": [1.0, 0.0],
        }
    )
    pd.testing.assert_frame_equal(found.table, expected)
    assert found.cases.to_numpy().tolist() == [
        ["one", "nsubj", 4, "turned", 2, "key"],
        ["two", "nsubj", 4, "found", 2, "key"],
    ]
    assert found.best["head"] == 0
    assert found.baseline["rule"] == "2 back"
    assert found.baseline["accuracy"] == 1.0
    assert found.baselines.iloc[-1]["accuracy"] == pytest.approx(1 / 3)


def test_the_row_of_a_word_in_pieces_is_a_choice():
    """The last piece of "turned" attends to its first piece alone: no weight on any word before."""
    last = track_relation(ByHand(), [SENTENCE], query="last").table
    assert last["n_correct"].tolist() == [1, 0]
    assert last["mean_weight"].tolist()[0] == 1.0
    assert np.isnan(last["mean_weight"].tolist()[1])
    mean = track_relation(ByHand(), [SENTENCE], query="mean").table
    assert mean["mean_weight"].tolist() == [1.0, 0.0]


def test_subtypes_and_order():
    assert len(track_relation(ByHand(), [SENTENCE, PASSIVE], "nsubj:pass").cases) == 1
    after = track_relation(ByHand(), [SENTENCE], "obj", order="head-first")
    assert after.cases.to_numpy().tolist() == [["one", "obj", 5, "locks", 4, "turned"]]
    assert after.table["accuracy"].tolist() == [0.0, 1.0]
    assert len(track_relation(ByHand(), [SENTENCE], "obj", order="both").cases) == 1


@pytest.mark.parametrize("kind", ["gpt2", "cbr-rnn", "toy"])
def test_models_are_read_as_their_attention_says(kind, small_pretrained, small_checkpoint):
    model = {"toy": "toy", "cbr-rnn": small_checkpoint}.get(kind) or small_pretrained(kind)
    found = track_relation(model, sample()[:6])
    backend = load_backend(model)
    expected = []
    for sentence in sample()[:6]:
        trace = backend.read(sentence.words)
        for name, dependent, head in sentence.relations:
            if name.startswith("nsubj"):
                query = trace.first_pieces()[head]
                weights = [trace.attention[-1, -1, query, trace.word_index == w].sum() for w in range(head)]
                expected.append((np.argmax(weights) == dependent, weights[dependent] / sum(weights)))
    last = found.table.iloc[-1]
    assert last["n_correct"] == sum(hit for hit, _ in expected)
    assert last["mean_weight"] == pytest.approx(np.mean([w for _, w in expected]), abs=1e-5)


def test_files_hold_what_is_drawn(tmp_path):
    found = track_relation(ToyBackend(), sample())
    found.save(tmp_path / "o")
    names = {"heads", "baselines", "cases"}
    assert {p.name for p in (tmp_path / "o").iterdir()} == {
        "provenance.json",
        *(f"{n}.csv" for n in names),
        "heads.pdf",
        "heads.png",
    }
    written = pd.read_csv(tmp_path / "o" / "heads.csv")
    for ax, column in zip(found.figure.axes[:2], ("accuracy", "mean_weight"), strict=True):
        drawn = np.asarray(ax.images[0].get_array())
        np.testing.assert_allclose(drawn, written.pivot(index="layer", columns="head", values=column))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"relation": "nsubjj"},
            "None of the 2 sentences has a dependency 'nsubjj' with two words or more to choose from. "
            "Relations found: advmod, aux:pass, det, nsubj, nsubj:pass, obj.",
        ),
        (
            {"relation": "obj"},
            "None of the 1 dependencies 'obj' is dependent first, with two words or more to choose from; "
            "try --order both.",
        ),
        ({"order": "up"}, "order='up' is not known; expected one of dependent-first, head-first, both."),
        ({"query": "all"}, "query='all' is not known; expected one of first, last, mean."),
    ],
    ids=["relation", "order of words", "order", "query"],
)
def test_what_cannot_be_looked_for_is_named(settings, message):
    with pytest.raises((DataError, MeasureError)) as caught:
        track_relation(ByHand(), [SENTENCE, PASSIVE], **settings)
    assert str(caught.value) == message


def test_a_model_without_attention_is_refused(tmp_path, small_checkpoint_writer):
    folder = small_checkpoint_writer(tmp_path / "none", attention="none", tied=False)
    with pytest.raises(MeasureError) as caught:
        track_relation(folder, [SENTENCE])
    assert str(caught.value) == f"The model {folder} has no attention, so there are no heads to look at."
