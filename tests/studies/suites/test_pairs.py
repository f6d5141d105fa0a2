"""Minimal pairs: preferences and accuracy."""

from __future__ import annotations

import json
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from psymem.data.items.minimal_pairs import pair_words
from psymem.errors import DataError
from psymem.scoring.score import score
from psymem.studies.suites.pairs import analyse_pairs, run_pairs

PAIRS = pd.DataFrame(
    [
        ("agreement", "1", "The keys are rusty.", "The keys is rusty."),
        ("agreement", "2", "The dog was old.", "The dog were old."),
        ("negation", "1", "He did not open it.", "He not did open it."),
        ("negation", "2", "They do not.", "They not do it."),
    ],
    columns=["paradigm", "pair", "good", "bad"],
)


def scored(bits: dict[str, list[float]]) -> pd.DataFrame:
    """Return scores in which each sentence's first word has all its bits: good and bad, pair by pair."""
    words = pair_words(PAIRS)
    given = {
        f"{p.paradigm}/{p.pair}/{sentence}": bits[sentence][number]
        for number, p in enumerate(PAIRS.itertuples())
        for sentence in ("good", "bad")
    }
    first = words["word_id"] == 1
    values = np.where(first, words["text_id"].map(given), 0.0)
    return words.assign(model="m", oov=False, surprisal_bits=values)


def test_sentences_are_compared_by_the_sum_over_their_words(small_checkpoint):
    result = run_pairs(PAIRS, str(small_checkpoint), keep_oov=True)
    for row in result.pairs.itertuples():
        expected = [
            -score([s.split()], str(small_checkpoint))["surprisal_bits"].sum() for s in (row.good, row.bad)
        ]
        assert (row.logprob_good_bits, row.logprob_bad_bits) == pytest.approx(expected, abs=1e-4)
        assert row.difference_bits == pytest.approx(expected[0] - expected[1], abs=1e-4)
        assert row.preferred == ("good" if expected[0] > expected[1] else "bad")
        assert (row.n_words_good, row.n_words_bad) == (len(row.good.split()), len(row.bad.split()))


def test_ties_count_as_half():
    scores = scored({"good": [5, 7, 9, 2], "bad": [6, 7 + 5e-5, 1, 3]})
    result = analyse_pairs(scores, PAIRS)
    assert result.pairs["preferred"].tolist() == ["good", "tie", "bad", "good"]
    table = result.accuracy
    assert table["paradigm"].tolist() == ["(all)", "agreement", "negation"]
    assert table["n_correct"].tolist() == [2, 1, 1]
    assert table["n_ties"].tolist() == [1, 1, 0]
    assert table["accuracy"].tolist() == [2.5 / 4, 1.5 / 2, 1 / 2]
    for row, successes in zip(table.itertuples(), (2.5, 1.5, 1), strict=True):
        expected = proportion_confint(successes, row.n_analysed, method="wilson")
        assert (row.ci_low, row.ci_high) == pytest.approx(expected)


def test_pairs_with_unknown_words_are_left_out_for_all_models_alike():
    one = scored({"good": [1, 1, 1, 1], "bad": [2, 2, 2, 0]})
    other = one.assign(model="n", oov=one["word"].isin(["rusty.", "not"]) & (one["sentence"] == "bad"))
    scores = pd.concat([one, other], ignore_index=True)
    result = analyse_pairs(scores, PAIRS)
    table = result.accuracy[result.accuracy["paradigm"] != "negation"]
    assert table["model"].tolist() == ["m", "m", "n", "n"]
    assert table["n_left_out_oov"].tolist() == [3, 1, 3, 1]
    assert table["share_left_out_oov"].tolist() == [0.75, 0.5, 0.75, 0.5]
    assert table["n_analysed"].tolist() == [1, 1, 1, 1]
    assert table["accuracy"].tolist() == [1.0] * 4
    negation = result.accuracy[result.accuracy["paradigm"] == "negation"]
    assert negation["accuracy"].isna().all()
    assert result.left_out.to_numpy().tolist() == [["not", 2, "n"], ["rusty.", 1, "n"]]
    kept = analyse_pairs(scores, PAIRS, keep_oov=True)
    assert kept.accuracy["n_analysed"].tolist() == [4, 2, 2] * 2
    assert kept.accuracy["n_left_out_oov"].tolist() == [0] * 6


def test_a_first_word_without_probability_is_left_out_if_it_is_the_same():
    pairs = PAIRS.assign(bad=[*PAIRS["bad"][:3], "Not they do it."])
    words = pair_words(pairs)
    bits = np.where(words["word_id"] == 1, np.nan, np.where(words["sentence"] == "good", 1.0, 2.0))
    result = analyse_pairs(words.assign(model="m", oov=False, surprisal_bits=bits), pairs)
    assert result.pairs["logprob_bad_bits"].tolist()[:3] == [-6.0, -6.0, -8.0]
    assert result.pairs["preferred"].tolist()[:3] == ["good"] * 3
    assert result.pairs["preferred"].isna().tolist() == [False, False, False, True]
    assert result.accuracy["n_undefined"].tolist() == [1, 0, 1]


def test_nothing_left_to_analyse_is_an_error():
    scores = scored({"good": [1, 1, 1, 1], "bad": [2, 2, 2, 2]})
    with pytest.raises(DataError) as caught:
        analyse_pairs(scores.assign(oov=scores["word"].isin(["The", "not", "not."])), PAIRS)
    assert str(caught.value) == (
        "All pairs have a word outside the vocabulary of the model (The, not, not.), so nothing is left to "
        "analyse. Use other pairs or another model, or keep them with --keep-oov."
    )
    with pytest.raises(DataError) as caught:
        analyse_pairs(scores.assign(surprisal_bits=np.nan), PAIRS)
    assert str(caught.value) == (
        "No pair could be compared: the first word of a sentence has no probability where a model reads "
        "without a beginning-of-sentence token, and the first words of the pairs differ."
    )


def test_results_are_written_with_where_they_come_from(tmp_path):
    path = tmp_path / "pairs.csv"
    PAIRS.to_csv(path, index=False)
    result = run_pairs(path, "toy", tmp_path / "out")
    for name, table in (
        ("accuracy", result.accuracy),
        ("pairs", result.pairs),
        ("words_left_out", result.left_out),
    ):
        assert len(pd.read_csv(tmp_path / "out" / f"{name}.csv")) == len(table)
        sidecar = json.loads((tmp_path / "out" / "provenance.json").read_text(encoding="utf-8"))
        assert sidecar["pairs"][0]["path"] == str(path)
        assert sidecar["measures"] == [{"measure": "surprisal", "corrected": False}]


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_pretrained_models_give_the_log_probability_of_the_whole_sentence(small_pretrained, kind):
    import torch
    import transformers

    folder = small_pretrained(kind)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    result = run_pairs(PAIRS, str(folder))
    for row in result.pairs.itertuples():
        for text, bits in ((row.good, row.logprob_good_bits), (row.bad, row.logprob_bad_bits)):
            pieces = tokenizer(text, add_special_tokens=False).input_ids
            ids = torch.tensor([[tokenizer.bos_token_id, *pieces]])
            with torch.no_grad():
                logprob = model(ids).logits.log_softmax(-1)[0, :-1].gather(1, ids[0, 1:, None]).sum()
            assert bits == pytest.approx(float(logprob) / np.log(2), abs=1e-3)


@pytest.mark.shared
def test_bundled_models_read_a_thousand_published_pairs_in_seconds(shared):
    if not list(Path(str(files("psymem.weights"))).glob("cbr-rnn/1/model.safetensors")):
        pytest.skip("no weights are bundled")
    path = shared / "data" / "stimuli" / "blimp" / "distractor_agreement_relational_noun.jsonl"
    run_pairs(PAIRS, "cbr-rnn/1", keep_oov=True)  # loads packages and weights
    start = time.process_time()
    result = run_pairs(path, "cbr-rnn/1")
    assert time.process_time() - start < 10
    assert result.accuracy["n_pairs"].tolist() == [1000, 1000]
    assert result.accuracy["n_analysed"].min() > 300
