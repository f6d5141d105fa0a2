"""Decay of memory with distance: tables against the measures and plain loops."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from psymem.backends.toy import ToyBackend
from psymem.errors import DataError, MeasureError
from psymem.measures.memory_response import MemoryHalfLife, MemoryResponse, response_lengths
from psymem.scoring.score import as_words
from psymem.studies.memory.reading import by_distance
from psymem.studies.memory.study import memory_decay

TEXTS = ["The key to the cabinets was rusty . She opened it .", "Nobody knew the old museum in the village ."]


class LinearisedToy(ToyBackend):
    """The toy model without gates."""

    provides = frozenset({"logprob", "memory_slope", "memory_drive", "memory_recurrence"})

    def __init__(self) -> None:
        object.__setattr__(self, "seed", 1)
        object.__setattr__(self, "name", "srn")
        object.__setattr__(self, "max_words", None)


@pytest.fixture(scope="module")
def result():
    return memory_decay(["toy", LinearisedToy()], as_words(TEXTS), longest=6, heatmap="2")


def test_retention_is_read_along_diagonals():
    lengths = np.array([[4.0, 0, 0], [2.0, 5.0, 0], [1.0, 4.0, 2.0]])
    found = by_distance(lengths, 5)
    nan = np.nan
    np.testing.assert_allclose(
        found[..., 0][:, :4], [[1, 0.5, 0.25, nan], [1, 0.8, nan, nan], [1, nan, nan, nan]]
    )
    np.testing.assert_allclose(
        found[..., 1][:, :3], [[1, 2 / 7, 1 / 7], [5 / 7, 4 / 7, nan], [2 / 7, nan, nan]]
    )
    assert np.isnan(found[:, 3:]).all()


def test_the_curve_is_the_median_over_words_of_all_texts(result):
    rows = result.decay[result.decay["model"] == "toy"].set_index("distance_words")
    assert rows.index.tolist() == list(range(7))
    for distance in range(7):
        kept = []
        for text in TEXTS:
            words = text.split()
            m = response_lengths(ToyBackend().read(words), len(words))
            kept += [m[k + distance, k] / m[k, k] for k in range(len(words) - distance)]
        np.testing.assert_allclose(rows.loc[distance, "retention_median"], np.median(kept), rtol=1e-12)
        assert rows.loc[distance, "n_words"] == len(kept)
    assert (rows["response"] == "exact").all()
    assert (result.decay[result.decay["model"] == "srn"]["response"] == "linearised").all()


def test_words_have_the_columns_of_the_measures(result):
    frame = as_words(TEXTS)
    table = result.words[result.words["model"] == "toy"].reset_index(drop=True)
    assert table["word"].tolist() == frame["word"].tolist()
    for number in ("1", "2"):
        part = frame[frame["text_id"] == number]
        trace = ToyBackend().read(part["word"].tolist())
        for measure in (MemoryResponse(), MemoryHalfLife()):
            for column, values in measure(trace, part).items():
                np.testing.assert_allclose(table.loc[table["text_id"] == number, column], values)
    linearised = result.words[result.words["model"] == "srn"]
    assert linearised["memory_span_words"].isna().all()
    assert linearised["memory_span_linearised_words"].notna().all()


def test_unknown_words_are_marked_and_counted(gated_checkpoint_writer, tmp_path):
    folder = gated_checkpoint_writer(tmp_path / "model", "lstm")
    found = memory_decay(folder, as_words(["the qwertz key"]), longest=2)
    assert found.words.loc[found.words["oov"], "word"].tolist() == ["qwertz"]
    assert found.models["n_unknown_words"].tolist() == [1]


def test_sentences_begin_with_an_empty_memory():
    found = memory_decay("toy", as_words(TEXTS), unit="sentence", longest=50)
    alone = memory_decay("toy", as_words(["She opened it ."]), longest=50)
    second = found.words[found.words["sentence_id"] == 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(second.iloc[:, 4:], alone.words.iloc[:, 4:])
    assert found.models["n_texts"].tolist() == [3]


def test_the_table_of_models_says_what_is_censored(result):
    row = result.models.set_index("model").loc["toy"]
    lives = result.words.loc[result.words["model"] == "toy", "half_life_words"]
    assert row["half_life_unknown_percent"] == pytest.approx(100 * lives.isna().mean())
    assert row["n_cells"] == 4
    assert row["n_words"] == len(lives) == 21
    assert np.isnan(row["retention_after_10"])  # beyond the greatest distance
    assert row["retention_after_1"] == pytest.approx(result.decay["retention_median"].iloc[1])
    assert np.isfinite(result.models.set_index("model").loc["srn", "largest_singular_value"])


def test_pairs_are_those_of_the_text_asked_for(result):
    n = len(TEXTS[1].split())
    pairs = result.pairs[result.pairs["model"] == "toy"]
    assert len(pairs) == n * (n + 1) / 2
    assert set(pairs["text_id"]) == {"2"}
    np.testing.assert_allclose(pairs.groupby("at_word_id")["share"].sum(), 1)
    assert (pairs.loc[pairs["at_word_id"] == pairs["of_word_id"], "retention"] == 1).all()


def test_all_files_are_written_with_their_origin(result, tmp_path):
    written = result.save(tmp_path / "o")
    assert sorted(p.name for p in written) == sorted(
        f"{stem}.{end}"
        for stem, ends in {
            "decay": ("csv", "json", "pdf", "png"),
            "models": ("csv", "json"),
            "words": ("csv", "json"),
            "pairs": ("csv", "json", "pdf", "png"),
        }.items()
        for end in ends
    )
    plotted = pd.read_csv(tmp_path / "o" / "decay.csv")
    pd.testing.assert_frame_equal(plotted, result.decay, check_dtype=False)
    sidecar = json.loads((tmp_path / "o" / "decay.json").read_text(encoding="utf-8"))
    assert sidecar["unit"] == "text"
    assert [m["model"] for m in sidecar["models"]] == ["toy", "srn"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"unit": "page"}, MeasureError, "unit='page' is not known; expected one of text, sentence."),
        ({"heatmap": "9"}, DataError, "There is no text '9'; the first are 1, 2."),
    ],
    ids=["unit", "heatmap"],
)
def test_what_makes_no_sense_is_refused(given, error, message):
    with pytest.raises(error) as caught:
        memory_decay("toy", as_words(TEXTS), **given)
    assert str(caught.value) == message


def test_a_model_without_cells_is_refused(small_checkpoint):
    with pytest.raises(MeasureError) as caught:
        memory_decay(small_checkpoint, as_words(TEXTS))
    assert str(caught.value) == (
        f"The model {small_checkpoint} does not show what its cells keep and write, so it has no memory response. Models "
        "of the families lstm, elstm, gru, fgp-lstm and fgl-lstm have an exact one, srn, fgp-rnn and fgl-rnn a "
        "linearised one."
    )


def test_a_table_without_words_is_refused():
    with pytest.raises(DataError) as caught:
        memory_decay("toy", as_words(TEXTS).iloc[:0])
    assert str(caught.value) == "The table of words has no rows."


def test_a_model_named_twice_is_read_once():
    found = memory_decay(["lstm", "lstm/1"], as_words(TEXTS[:1]))
    assert found.models["model"].tolist() == ["lstm/1"]
