"""The study on attention written by hand, on real models against plain numpy, and after a stop."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from psymem.backends.load import load_backend
from psymem.errors import DataError, FitError, MeasureError, ModelError
from psymem.measures.memory_response import memory_response
from psymem.scoring.reading import Reading
from psymem.studies.dependency.retrieval import response_parts
from psymem.studies.dependency.study import SuccessModel, track_dependency

NONE = SuccessModel("none")


def test_hits_and_weights_by_hand(sentences, by_hand):
    """a: opened -> "the" (2 back), key has .01 of .10 + .60 + 3 * .01; among key and cabinets both have .01."""
    found = track_dependency(by_hand(), sentences, reading=Reading(heads="0:0"), success=NONE)
    rows = found.responses.set_index("case")
    assert rows["hit_words"].tolist() == [0, 1, 0, 0]
    assert rows["hit_candidates"].tolist() == [0.5, 1, 0.5, 0]
    assert rows.loc[1, "weight_words"] == pytest.approx(0.01 / 0.73)
    assert rows.loc[1, "weight_candidates"] == pytest.approx(0.5)
    assert rows["known"].tolist() == [True, True, False, True]
    # left: a and e (b has one word before, c an unknown one)
    whole = found.shares[found.shares["by"] == "all"].set_index("among")
    assert whole["share"].to_dict() == {"words": 0.0, "candidates": 0.25}
    assert whole["chance"].to_dict() == pytest.approx({"words": (1 / 5 + 1 / 3) / 2, "candidates": 1 / 2})
    assert whole.loc["candidates", "excess"] == pytest.approx(-0.25)
    left = found.left_out.dropna(subset="model").set_index("reason")["n"].to_dict()
    assert left == {
        "sentence too long for the model": 0,
        "a word unknown to the model": 1,
        "one word before, no choice": 1,
        "no weight on any word before": 0,
        "kept": 2,
    }
    assert found.left_out["n"].iloc[0] == 1


def test_every_head_and_their_mean(sentences, by_hand):
    every = track_dependency(by_hand(), sentences, reading=Reading(heads="all"), success=NONE)
    assert every.responses["head"].unique().tolist() == ["0:0", "0:1"]
    even = every.responses.query("head == '0:1' and case == 1").iloc[0]
    assert even[["hit_words", "hit_candidates", "weight_words"]].tolist() == pytest.approx(
        [1 / 5, 1 / 2, 1 / 5]
    )
    mean = track_dependency(by_hand(), sentences, success=NONE).responses.set_index("case")
    row = (np.array([0.1, 0.01, 0.01, 0.6, 0.01]) / 1.63 + 1 / 5) / 2
    assert mean.loc[1, "weight_words"] == pytest.approx(row[1] / row.sum())


def test_instances_are_pooled(sentences, by_hand):
    found = track_dependency([by_hand("x/1"), by_hand("x/2")], sentences, success=NONE)
    whole = found.shares.query("by == 'all' and among == 'words'")
    assert whole["model"].tolist() == ["x", "x/1", "x/2"]
    assert whole["n_models"].tolist() == [2, 1, 1]
    assert whole["n_cases"].tolist() == [2, 2, 2]
    assert whole[["ci_low", "ci_high"]].drop_duplicates().shape == (1, 2)


def test_a_sentence_too_long_stops_no_other(sentences, by_hand):
    found = track_dependency(by_hand(most=6), sentences, success=NONE)
    reasons = found.left_out.set_index("reason")["n"]
    assert reasons["sentence too long for the model"] == 2  # a and c
    assert reasons["kept"] == 1


@pytest.mark.parametrize("kind", ["gpt2", "cbr-rnn"])
def test_models_are_read_as_their_attention_says(kind, known_sentences, small_pretrained, small_checkpoint):
    model = small_checkpoint if kind == "cbr-rnn" else small_pretrained(kind)
    found = track_dependency(model, known_sentences, success=NONE)
    backend = load_backend(model)
    for case in found.cases.merge(found.responses, on="case").itertuples():
        sentence = known_sentences[case.sentence_number]
        trace = backend.read(sentence.words)
        query, target = case.query_id - 1, case.target_id - 1
        row = trace.attention.mean((0, 1))[trace.first_pieces()[query]]
        weights = np.array([row[trace.word_index == w].sum() for w in range(query)])
        assert case.weight_words == pytest.approx(weights[target] / weights.sum(), rel=1e-5)
        assert case.hit_words == (weights.argmax() == target)
        nouns = [w for w in range(query) if w == target or sentence.tags[w] & {"NOUN", "PROPN"}]
        assert case.hit_candidates == (max(nouns, key=lambda w: weights[w]) == target)


def test_gated_models_are_read_by_their_cells(known_sentences, gated_checkpoint_writer, tmp_path):
    folder = gated_checkpoint_writer(tmp_path / "lstm", "lstm")
    found = track_dependency(folder, known_sentences, success=NONE)
    assert set(found.responses["retrieval"]) == {"memory response (exact)"}
    case = found.cases.merge(found.responses, on="case").iloc[0]
    trace = load_backend(folder).read(known_sentences[case["sentence_number"]].words)
    left = memory_response(trace.extras["memory_retain"], trace.extras["memory_write"])
    last = trace.last_pieces()[case["query_id"] - 1]
    lengths = [np.linalg.norm(left[last, trace.word_index == w].sum(0)) for w in range(case["query_id"] - 1)]
    assert case["weight_words"] == pytest.approx(lengths[case["target_id"] - 1] / sum(lengths), rel=1e-5)


def test_a_run_that_was_stopped_goes_on(sentences, by_hand, tmp_path, monkeypatch):
    monkeypatch.setattr("psymem.studies.dependency.retrieval.SENTENCES_AT_ONCE", 2)
    whole = track_dependency(by_hand(), sentences, out=tmp_path / "whole", success=NONE)

    def stop(model, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        track_dependency(by_hand(), sentences, out=tmp_path / "o", success=NONE, progress=_after(1, stop))
    told: list[int] = []
    model = by_hand()
    again = track_dependency(model, sentences, out=tmp_path / "o", success=NONE, resumed=told.append)
    assert told == [1]
    assert model.read_sentences == 1 + 2  # the probe, and the two sentences that were left
    pd.testing.assert_frame_equal(again.shares, whole.shares)
    same = (tmp_path / "o/responses.csv").read_bytes()
    assert same == (tmp_path / "whole/responses.csv").read_bytes()


def _after(calls: int, act):
    """Call `act` once `calls` calls have passed."""
    count = [0]

    def progress(*told):
        count[0] += 1
        if count[0] > calls:
            act(*told)

    return progress


def test_what_is_written_gives_the_same_as_what_is_not(sentences, by_hand, tmp_path):
    kept = track_dependency(by_hand(), sentences, out=tmp_path, success=NONE)
    free = track_dependency(by_hand(), sentences, success=NONE)
    pd.testing.assert_frame_equal(kept.shares, free.shares)
    pd.testing.assert_frame_equal(kept.left_out, free.left_out)


def test_files_hold_what_is_drawn(sentences, by_hand, tmp_path):
    found = track_dependency(by_hand(), sentences, success=NONE)
    found.save(tmp_path / "o")
    names = {"shares", "cases", "counts", "left_out"}
    expected = {"provenance.json", *(f"{n}.csv" for n in names)}
    assert {p.name for p in (tmp_path / "o").iterdir()} == {*expected, "dependency.pdf", "dependency.png"}
    drawn = np.asarray(found.figure.axes[0].containers[0].lines[0].get_ydata(), float)
    shown = found.shares.query("among == 'words' and by == 'length'")["share"]
    np.testing.assert_allclose(drawn, shown)


@pytest.mark.parametrize(
    ("heads", "error", "message"),
    [
        ("3", MeasureError, "heads='3' is not understood; expected LAYER:HEAD,..., or all."),
        ("0:7", MeasureError, "0:7 is no head of a model of 1 x 2."),
    ],
)
def test_heads_that_do_not_exist(sentences, by_hand, heads, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        track_dependency(by_hand(), sentences, reading=Reading(heads=heads))


def test_a_head_that_a_real_model_lacks_is_an_error_and_no_empty_table(sentences, small_pretrained):
    with pytest.raises(ModelError, match=r"^There is no head 5:0; the model has 2 layer"):
        track_dependency(small_pretrained("gpt2"), sentences, reading=Reading(heads="5:0"))


def test_models_without_retrieval(sentences, gated_checkpoint_writer, tmp_path):
    folder = gated_checkpoint_writer(tmp_path / "lstm", "lstm")
    with pytest.raises(MeasureError, match=r"has no attention, so there are no heads to choose\.$"):
        track_dependency(folder, sentences, reading=Reading(heads="all"))
    with pytest.raises(
        FitError, match=r"^engine='r' is not known; expected one of auto, lme4, mixedlm, none\.$"
    ):
        SuccessModel("r")


def test_the_mixed_model_finds_what_was_put_in(rng):
    """Success falls by 1 log odds with each doubling, .8 with each noun, and .6 more with one of the target's number."""
    pytest.importorskip("mixedlm")
    from psymem.studies.dependency.success_model import success_models

    n = 3000
    between = rng.poisson(0.7, n)
    matching = rng.binomial(between, 0.5)
    length = between + rng.integers(1, 5, n)
    sentence = rng.integers(0, n // 2, n)
    effect = rng.normal(0, 0.7, n // 2)[sentence]
    logit = 2 - np.log2(length) - 0.8 * between - 0.6 * matching + effect
    hits = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(float)
    cases = pd.DataFrame(
        {
            "case": range(n),
            "sentence_number": sentence,
            "length_words": length,
            "between": between,
            "matching_between": pd.array(matching, "Int64"),
            "n_words_before": length + 2,
            "n_candidates": between + 2,
        }
    )
    responses = pd.DataFrame(
        {
            "case": range(n),
            "model": "m",
            "head": "mean",
            "known": True,
            "hit_words": hits,
            "hit_candidates": hits,
        }
    )
    table, notes = success_models(cases, responses, SuccessModel("mixedlm"))
    assert notes == []
    own = table[table["among"] == "words"].set_index("term")
    truth = {"(Intercept)": 2, "log2_length": -1, "between": -0.8, "matching_between": -0.6}
    for term, value in truth.items():
        assert abs(own.loc[term, "estimate"] - value) < 3 * own.loc[term, "se"]
    assert own["formula"].iloc[0] == "success ~ log2_length + between + matching_between + (1|sentence)"
    assert own.loc["between", "odds_ratio"] == pytest.approx(np.exp(own.loc["between", "estimate"]))
    few, _ = success_models(cases, responses, SuccessModel("mixedlm", most_rows=1000))
    assert 900 < few["n_obs"].iloc[0] <= 1000


def test_words_that_no_model_knows(sentences, by_hand):
    unknown = [s for s in sentences if "cat" in s.words]
    with pytest.raises(
        DataError, match=r"^None of the 1 cases is left to take shares of: in each the model does not"
    ):
        track_dependency(by_hand(), unknown, success=NONE)


def test_parts_do_not_repeat_cases(sentences, by_hand):
    from psymem.studies.dependency.cases import find_cases, relation_named
    from psymem.studies.dependency.retrieval import retrieval_of

    cases, _ = find_cases(sentences, relation_named("nsubj"))
    backends = [(b, retrieval_of(b, "", "first")) for b in (by_hand("p"), by_hand("q"))]
    parts = response_parts(backends, sentences, cases, relation_named("nsubj"))
    frame = pd.concat([part() for part in parts])
    assert not frame.duplicated(["model", "case"]).any()
    assert len(frame) == 2 * len(cases)
