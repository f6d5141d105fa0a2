"""One row per word and model; nothing is computed before the request has been checked."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import psymem
from psymem import checkpoints
from psymem.backends.recurrent import RecurrentBackend
from psymem.errors import DataError, MeasureError, ModelError, UnknownNameError
from psymem.measures.attention import RelativeAttention
from psymem.measures.surprisal import Surprisal
from psymem.registry import MEASURES
from psymem.scoring.score import Run, as_words, score
from psymem.tables import SCORES, check

TEXTS = ["The key to the cabinets was rusty. It didn't fit.", ["Dogs", "chased", "Mr.", "NA"]]


@pytest.fixture
def items() -> pd.DataFrame:
    words = as_words([["The", "key", "to", "the", "cabinets", "was", "rusty"]])
    return words.assign(role=["", "target", "", "", "attractor", "critical", "spillover"], condition="A")


def test_words_are_as_given_with_sentences_numbered():
    words = as_words(TEXTS)
    assert words["text_id"].tolist() == ["1"] * 10 + ["2"] * 4
    assert words["sentence_id"].tolist() == [1] * 7 + [2] * 3 + [1] * 4
    assert words["word_id"].tolist() == [*range(1, 11), *range(1, 5)]
    assert words["word"].tolist()[-4:] == ["Dogs", "chased", "Mr.", "NA"]


def test_scores_keep_the_words_and_have_a_row_per_model(small_checkpoint):
    frame = check(score(TEXTS, ["toy", small_checkpoint], ["surprisal", "attention-entropy"]), SCORES)
    columns = [
        "text_id",
        "sentence_id",
        "word_id",
        "word",
        "model",
        "oov",
        "surprisal_bits",
        "attention_entropy_bits",
    ]
    assert list(frame.columns) == columns
    assert frame["model"].tolist() == ["toy"] * 14 + [str(small_checkpoint)] * 14
    assert frame["oov"].dtype == bool


def test_values_equal_reading_each_sentence_alone(small_checkpoint):
    backend = RecurrentBackend(str(small_checkpoint))
    frame = score(TEXTS, backend, ["surprisal"])
    sentences = ["The key to the cabinets was rusty.", "It didn't fit.", "Dogs chased Mr. NA"]
    expected = [
        Surprisal()(backend.read(s.split()), as_words([s.split()]))["surprisal_bits"] for s in sentences
    ]
    np.testing.assert_allclose(frame["surprisal_bits"], np.concatenate(expected), atol=1e-5)
    assert frame["oov"].tolist() == [False] * 9 + [True] + [False, False, True, True]


def test_pieces_of_any_size_give_the_same_rows():
    whole = score(TEXTS, "toy", "surprisal")
    pieces = list(Run(TEXTS, "toy", "surprisal").chunks(words_at_once=1))
    assert len(pieces) == 3
    pd.testing.assert_frame_equal(pd.concat(pieces, ignore_index=True), whole)


def test_settings_of_a_measure_apply(items):
    frame = score(items, "toy", [RelativeAttention(heads=((1, 0),))])
    assert frame.loc[5:, "relative_attention_L1H0"].between(0, 1).all()
    assert frame.loc[:4, "relative_attention_L1H0"].isna().all()
    assert frame["condition"].eq("A").all()


def test_provenance_names_models_measures_and_settings(small_checkpoint):
    run = Run(TEXTS, str(small_checkpoint), [Surprisal(corrected=False)], bos=False)
    found = run.provenance()
    assert found["measures"] == [{"measure": "surprisal", "corrected": False}]
    (model,) = found["models"]
    assert model["sha256"] == checkpoints.file_sha256(small_checkpoint / "model.safetensors")
    assert model["settings"]["bos"] is False
    json.dumps(found)


def test_progress_counts_sentences():
    seen = []
    score(TEXTS, "toy", progress=lambda *args: seen.append(args))
    assert seen == [("toy", 1, 3), ("toy", 2, 3), ("toy", 3, 3)]


def test_without_bos_the_first_word_is_missing(small_checkpoint):
    frame = pd.concat(Run(["The key was rusty ."], str(small_checkpoint), "surprisal", bos=False).chunks())
    assert frame["surprisal_bits"].isna().tolist() == [True, False, False, False, False]


def test_a_measure_the_model_lacks_is_refused_before_weights_are_read(
    tmp_path, small_checkpoint_writer, items, monkeypatch
):
    folder = small_checkpoint_writer(tmp_path / "bare", attention="none")
    monkeypatch.setattr(
        "psymem.backends.recurrent.load_checkpoint", lambda _: pytest.fail("weights were read")
    )
    able = checkpoints.Checkpoint("cbr-rnn/1", folder)
    able.__dict__["config"] = {"provides": ["attention", "logprob"]}
    monkeypatch.setattr(checkpoints, "bundled", lambda: [able])
    with pytest.raises(MeasureError) as caught:
        score(items, str(folder), ["surprisal", "relative-attention"])
    assert str(caught.value) == (
        f"relative-attention needs attention, which the model {folder} does not have. Models that have "
        "it: cbr-rnn/1."
    )


def test_a_table_without_roles_is_refused(items):
    with pytest.raises(MeasureError) as caught:
        score(items.drop(columns="role"), "toy", "relative-attention")
    assert str(caught.value) == (
        "relative-attention needs words marked as target and attractor, but the table of words has no "
        "column 'role'. "
        "Use an item set, or add the column."
    )
    with pytest.raises(MeasureError) as caught:
        score(items.replace({"role": {"attractor": ""}}), "toy", "relative-attention")
    assert str(caught.value) == (
        "relative-attention needs words marked as target and attractor, but no word has the role attractor "
        "(roles found: critical, spillover, target)."
    )


def test_unknown_names_offer_near_ones():
    with pytest.raises(UnknownNameError) as caught:
        score(TEXTS, "toy", "suprisal")
    assert str(caught.value) == (
        "There is no measure called 'suprisal'. Did you mean 'surprisal' or 'surprisal-uncorrected'? "
        f"Known: {', '.join(sorted(MEASURES.names()))}."
    )


def test_two_measures_for_one_column_are_refused():
    with pytest.raises(MeasureError) as caught:
        score(TEXTS, "toy", [Surprisal(), "surprisal"])
    assert (
        str(caught.value)
        == "Two of the measures asked for write the column surprisal_bits; ask for one of them."
    )


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "There is no text to score."),
        (["a", "  "], "Text 2 has no words."),
        ([["a", 3]], "Text 1 has 3 where a word was expected; give a string or a list of strings."),
        (as_words(["a"]).iloc[:0], "The table of words has no rows."),
        (
            as_words(["b a"]).iloc[::-1],
            "The words of text '1' are not in order of word_id. Sort the table by text_id and word_id.",
        ),
    ],
    ids=["nothing", "white space", "not words", "no rows", "order"],
)
def test_improper_texts_are_refused(texts, message):
    with pytest.raises(DataError) as caught:
        score(texts, "toy")
    assert str(caught.value) == message


def test_a_sentence_that_is_too_long_is_named():
    long = as_words(["short one .", " ".join(["word"] * 201)])
    with pytest.raises(ModelError) as caught:
        score(long, "toy")
    assert str(caught.value) == (
        "Sentence 1 of text '2' has 201 words; toy reads at most 200 at a time. Split it into sentences."
    )


def test_score_is_a_public_name():
    assert psymem.score is score
