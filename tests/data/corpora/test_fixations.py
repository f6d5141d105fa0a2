"""Reading measures from fixation sequences: by hand, by pymovements, and by their invariants."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from psymem.data.corpora.fixations import MEASURES, reading_measures
from psymem.errors import DataError, UnknownNameError

AWAY = np.nan
NA = np.nan


def words_of(**lengths):
    """WORDS of texts with these numbers of words."""
    rows = [(text, 1, n, f"w{n}") for text, length in lengths.items() for n in range(1, length + 1)]
    return pd.DataFrame(rows, columns=["text_id", "sentence_id", "word_id", "word"])


def fixations_of(*sequences):
    """Fixations from ``(subject, text, [(word, ms), ...])``."""
    rows = [(subject, text, word, ms) for subject, text, fixated in sequences for word, ms in fixated]
    return pd.DataFrame(rows, columns=["subject", "text_id", "word_id", "duration_ms"])


SEQUENCE = [
    (1, 200),
    (2, 180),
    (2, 120),
    (4, 250),
    (3, 150),
    (4, 100),
    (2, 90),
    (AWAY, 300),
    (5, 210),
    (5, 70),
    (6, 220),
    (1, 60),
]
BY_HAND = {
    "first_fixation_duration": [200, 180, NA, 250, 210, 220, NA],
    "gaze_duration": [200, 300, NA, 250, 280, 220, NA],
    "single_fixation_duration": [200, NA, NA, 250, NA, 220, NA],
    "go_past_time": [200, 300, NA, 590, 280, 280, NA],
    "right_bounded_time": [200, 300, NA, 350, 280, 220, NA],
    "first_run_dwell_time": [200, 300, 150, 250, 280, 220, NA],
    "total_reading_time": [260, 390, 150, 350, 280, 220, NA],
    "fixation_count": [2, 3, 1, 2, 2, 1, 0],
    "regressions_in": [1, 1, 1, 0, 0, 0, 0],
    "regressions_out": [0, 0, 0, 2, 0, 1, 0],
    "first_pass_regressions_out": [0, 0, 0, 2, 0, 1, 0],
    "skipped": [False, False, True, False, False, False, True],
}


@pytest.mark.parametrize("measure", MEASURES)
def test_a_sequence_worked_out_by_hand(measure):
    reading = reading_measures(fixations_of(("r1", "a", SEQUENCE)), words_of(a=7), corpus="toy")
    assert reading["word_id"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    np.testing.assert_array_equal(reading[measure].to_numpy(), np.array(BY_HAND[measure]))


def test_the_columns_are_those_of_reading_and_the_measures():
    reading = reading_measures(fixations_of(("r1", "a", SEQUENCE)), words_of(a=7), corpus="toy")
    assert reading.columns.tolist() == ["corpus", "subject", "text_id", "word_id", "word", *MEASURES]
    assert reading["corpus"].eq("toy").all()
    assert reading["word"].tolist() == [f"w{n}" for n in range(1, 8)]


def test_a_look_away_ends_the_run_but_not_the_time_until_a_later_word():
    sequence = [(1, 100), (AWAY, 999), (1, 50), (2, 80)]
    first = reading_measures(fixations_of(("r1", "a", sequence)), words_of(a=2), corpus="toy").iloc[0]
    expected = {"gaze_duration": 100, "single_fixation_duration": 100, "right_bounded_time": 150}
    expected |= {"go_past_time": 150, "total_reading_time": 150, "fixation_count": 2}
    assert first[list(expected)].to_dict() == expected


def test_the_eyes_that_come_from_a_later_word_by_way_of_no_word_made_no_regression():
    sequence = [(2, 100), (AWAY, 50), (1, 80)]
    reading = reading_measures(fixations_of(("r1", "a", sequence)), words_of(a=2), corpus="toy")
    assert reading[["regressions_in", "regressions_out"]].to_numpy().sum() == 0
    assert reading["skipped"].tolist() == [True, False]


def test_regressions_after_a_later_word_was_fixated_are_none_of_first_pass():
    sequence = [(word, 100) for word in (1, 2, 3, 4, 3, 2, 4, 5)]
    reading = reading_measures(fixations_of(("r1", "a", sequence)), words_of(a=5), corpus="toy")
    assert reading["regressions_out"].tolist() == [0, 0, 1, 1, 0]
    assert reading["first_pass_regressions_out"].tolist() == [0, 0, 0, 1, 0]


def test_readers_and_texts_are_kept_apart_also_when_their_rows_are_interleaved():
    sequences = {
        ("r1", "a"): [(3, 100), (1, 50)],
        ("r2", "a"): [(1, 70), (2, 80), (2, 10)],
        ("r1", "b"): [(2, 60), (1, 40), (3, 30)],
    }
    parts = [fixations_of((*who, fixated)) for who, fixated in sequences.items()]
    alone = pd.concat([reading_measures(p, words_of(a=3, b=3), corpus="toy") for p in parts])
    mixed = pd.concat(parts).sort_index(kind="stable")
    together = reading_measures(mixed, words_of(a=3, b=3), corpus="toy")
    key = ["subject", "text_id", "word_id"]
    pd.testing.assert_frame_equal(
        together.sort_values(key, ignore_index=True), alone.sort_values(key, ignore_index=True)
    )


def test_a_text_without_fixations_of_a_reader_has_no_rows():
    reading = reading_measures(fixations_of(("r1", "a", [(1, 100)])), words_of(a=2, b=2), corpus="toy")
    assert reading["text_id"].unique().tolist() == ["a"]


def test_measures_are_ordered_as_their_definitions_demand(rng):
    fixations = random_fixations(rng, readers=4, texts=3, words=30, fixated=80)
    reading = reading_measures(fixations, words_of(t0=30, t1=30, t2=30), corpus="toy")
    read = reading[~reading["skipped"]]
    ordered = ["first_fixation_duration", "gaze_duration", "right_bounded_time", "go_past_time"]
    for shorter, longer in pairwise(ordered):
        assert (read[shorter] <= read[longer]).all()
    assert (read["gaze_duration"] == read["first_run_dwell_time"]).all()
    on_words = fixations.dropna()
    assert reading["total_reading_time"].sum() == on_words["duration_ms"].sum()
    assert reading["fixation_count"].sum() == len(on_words)
    assert reading["regressions_in"].sum() == reading["regressions_out"].sum()
    assert reading.loc[reading["skipped"], "gaze_duration"].isna().all()


def random_fixations(rng, *, readers, texts, words, fixated, away=0.03):
    """Eyes that mostly go on, sometimes stay, go back or look away."""
    parts = []
    for reader in range(readers):
        for text in range(texts):
            steps = rng.choice([-4, -1, 0, 1, 2], fixated, p=[0.07, 0.13, 0.2, 0.4, 0.2])
            word = np.clip(np.cumsum(steps), 1, words).astype(float)
            word[rng.random(fixated) < away] = AWAY
            ms = rng.integers(60, 600, fixated)
            parts.append(fixations_of((f"r{reader}", f"t{text}", list(zip(word, ms, strict=True)))))
    return pd.concat(parts, ignore_index=True)


PYMOVEMENTS = {
    "first_fixation_duration": "FFD",
    "gaze_duration": "FPRT",
    "single_fixation_duration": "SFD",
    "go_past_time": "RPD_inc",
    "right_bounded_time": "RBRT",
    "first_run_dwell_time": "FRT",
    "total_reading_time": "TFT",
    "fixation_count": "TFC",
    "regressions_in": "TRC_in",
    "regressions_out": "TRC_out",
}
"""Ours and theirs; their words without a value have 0. Their `skipped` is another measure (never fixated)."""


def check_against_pymovements(fixations, words):
    polars = pytest.importorskip("polars")
    reading = pytest.importorskip("pymovements.measure.reading")
    texts = {text: polars.from_dict(part.to_dict("list")) for text, part in words.groupby("text_id")}
    ours = reading_measures(fixations, words, corpus="toy")
    for (subject, text), part in fixations.groupby(["subject", "text_id"]):
        sequence = polars.from_dict(
            {"word_id": part["word_id"].astype(int).tolist(), "duration": part["duration_ms"].tolist()}
        )
        theirs = reading.compute_reading_measures(sequence, texts[text], word_index_column="word_id").to_dict(
            as_series=False
        )
        mine = ours[(ours["subject"] == subject) & (ours["text_id"] == text)]
        assert mine["word_id"].tolist() == theirs["word_index"]
        assert mine["skipped"].tolist() == [value == 0 for value in theirs["FPF"]]
        for column, name in PYMOVEMENTS.items():
            np.testing.assert_array_equal(mine[column].fillna(0), theirs[name], err_msg=f"{column} {name}")


@pytest.mark.extra
def test_random_sequences_have_the_measures_of_pymovements(rng):
    fixations = random_fixations(rng, readers=5, texts=3, words=40, fixated=90, away=0)
    check_against_pymovements(fixations, words_of(t0=40, t1=40, t2=40))


@pytest.mark.extra
def test_sequences_of_people_have_the_measures_of_pymovements(shared):
    path = shared / "data" / "reading" / "iitb_sa2" / "Fixation_sequence.csv"
    rows = pd.read_csv(path, nrows=6000, dtype={"Word": "str", "Text_ID": "str"}, keep_default_na=False)
    fixations = rows.set_axis(["subject", "text_id", "word_id", "word", "duration_ms"], axis="columns")
    # word 0 is none of the text; pymovements takes the length 0 for no fixation
    fixations = fixations[(fixations["duration_ms"] > 0) & (fixations["word_id"] > 0)]
    longest = fixations.groupby("text_id")["word_id"].max()
    check_against_pymovements(fixations, words_of(**longest.to_dict()))


# what is refused -------------------------------------------------------------------------------------------
def test_fixations_on_words_that_the_text_lacks_are_shown():
    fixations = fixations_of(("r1", "a", [(n, 100) for n in range(1, 9)]), ("r1", "c", [(1, 100)]))
    with pytest.raises(DataError) as error:
        reading_measures(fixations, words_of(a=2), corpus="toy")
    assert str(error.value) == (
        "There are fixations on 7 word(s) that the texts do not have: text a, word 3; text a, word 4; text a, word 5; "
        "text a, word 6; text a, word 7. Check that texts and fixations belong to the same release."
    )


@pytest.mark.parametrize(("wrong", "shown"), [(-5, "-5"), (np.nan, "nan")])
def test_a_negative_or_missing_duration_is_refused(wrong, shown):
    with pytest.raises(DataError) as error:
        reading_measures(fixations_of(("r1", "a", [(1, 100), (2, wrong)])), words_of(a=2), corpus="toy")
    assert str(error.value).startswith(
        f"1 fixation(s) have a negative or missing duration, the first of reader r1 in text a, on word 2: {shown}"
    )


def test_a_missing_column_is_named():
    with pytest.raises(UnknownNameError, match="There is no column called 'duration_ms'"):
        reading_measures(
            fixations_of(("r1", "a", [(1, 1)])).drop(columns="duration_ms"), words_of(a=1), corpus="toy"
        )
