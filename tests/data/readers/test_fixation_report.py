"""Fixation reports: the invented sample by hand, other layouts, and reports that are wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import psymem
from psymem.errors import DataError, UnknownNameError

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "fixation-report" / "sample"
NA = np.nan


@pytest.fixture(scope="module")
def corpus():
    return psymem.load_corpus("fixation-report", SAMPLE)


def refused(path, error=DataError, **settings):
    with pytest.raises(error) as caught:
        psymem.load_corpus("fixation-report", path, **settings)
    return str(caught.value)


def test_the_sample_worked_out_by_hand(corpus):
    one = corpus.reading.query("subject == 'r1' and text_id == '7'")
    expected = {
        "word": ["No", "dog", "didn\u2019t", "bark", "today."],
        "first_fixation_duration": [200, 180, NA, 250, NA],
        "gaze_duration": [200, 300, NA, 250, NA],
        "go_past_time": [200, 300, NA, 630, NA],
        "first_run_dwell_time": [200, 300, 150, 250, NA],  # a look between words ends the run
        "total_reading_time": [200, 370, 210, 350, NA],
        "fixation_count": [1, 3, 2, 2, 0],
        "regressions_out": [0, 0, 1, 1, 0],
        "first_pass_regressions_out": [0, 0, 0, 1, 0],
        "skipped": [False, False, True, False, True],
    }
    for measure, values in expected.items():
        if measure == "word":
            assert one["word"].tolist() == values
        else:
            np.testing.assert_array_equal(one[measure], values, err_msg=measure)
    love = corpus.reading.query("subject == 'r1' and text_id == '9'")
    np.testing.assert_array_equal(love["gaze_duration"], [NA, 300])
    np.testing.assert_array_equal(love["total_reading_time"], [210, 300])


def test_what_was_done_is_said(corpus):
    assert corpus.notes == (
        "The column item says which text was read; another one can be named: --columns text_id=COLUMN.",
        "fixations_r1.txt was read as text of an old Mac (MacRoman).",
        "1 fixation(s) of fixations_r1.txt of 0 ms or without a duration were left out.",
    )


def test_without_the_texts_words_are_the_labels_and_the_unread_are_missing(tmp_path, corpus):
    shutil.copy(SAMPLE / "fixations_r2.txt", tmp_path)
    alone = psymem.load_corpus("fixation-report", tmp_path)
    assert alone.words["word"].tolist() == ["TRUE", "love", "No", "didn\u2019t"]
    assert alone.words["words_missing_before"].tolist() == [0, 0, 0, 1]
    assert alone.notes[1] == (
        "The words are those that anybody fixated; give all words of the texts in a file texts.csv."
    )
    both = alone.reading.merge(corpus.reading, on=["subject", "text_id", "word"], validate="one_to_one")
    assert len(both) == len(alone.reading)
    np.testing.assert_array_equal(both["go_past_time_x"], both["go_past_time_y"])


def test_the_layout_of_ucl(tmp_path):
    (tmp_path / "stimuli.txt").write_text(
        "sent_nr\tsentence\n3\tThe cat sat.\n4\tNobody read this.\n", encoding="utf-8"
    )
    rows = "subj_nr\tsent_nr\tfix_nr\tword_pos\tfix_dur\n1\t3\t1\t1\t200\n1\t3\t2\tNaN\t90\n1\t3\t3\t3\t150\n"
    (tmp_path / "eyetracking.fix.txt").write_text(rows, encoding="utf-8")
    found = psymem.load_corpus("fixation-report", tmp_path)
    assert found.words["word"].tolist() == ["The", "cat", "sat."]
    np.testing.assert_array_equal(found.reading["gaze_duration"], [200, NA, 150])


def test_the_layout_of_the_beijing_sentence_corpus(tmp_path):
    (tmp_path / "texts.csv").write_text(
        "text_id,word_id,word\n1,1,\u5927\u5b66\n1,2,\u5f88\n", encoding="utf-8"
    )
    (tmp_path / "BSC.EMD.txt").write_text("id\tsn\twn\tdur\n5\t1\t1\t210\n5\t1\t2\t160\n", encoding="utf-8")
    found = psymem.load_corpus("fixation-report", tmp_path)
    assert found.reading["total_reading_time"].tolist() == [210, 160]
    assert (
        "Fixations of BSC.EMD.txt are in the order of its rows; no column says when they were." in found.notes
    )


def test_other_columns_and_joined_keys(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "who,page,again,area,ms,w\na,1,0,1,200,Go\na,1,0,2,150,on\na,1,1,1,99,Go\n", encoding="utf-8"
    )
    columns = {"subject": "who", "text_id": "page+again", "word_id": "area", "duration": "ms", "word": "w"}
    found = psymem.load_corpus("fixation-report", path, columns=columns)
    totals = found.reading.set_index(["text_id", "word"])["total_reading_time"]
    assert totals.to_dict() == {("1+0", "Go"): 200, ("1+0", "on"): 150, ("1+1", "Go"): 99}
    assert refused(path, UnknownNameError, columns={**columns, "duration": "sec"}).startswith(
        "There is no column called 'sec'."
    )
    del columns["duration"]
    assert refused(path, UnknownNameError, columns=columns) == (
        "There is no column called 'duration'. Known: again, area, ms, page, w, who. These are the columns of "
        f"{path}. Say which column it is: --columns duration=COLUMN."
    )


def test_a_text_read_twice_is_refused(tmp_path):
    path = tmp_path / "r2.txt"
    content = (SAMPLE / "fixations_r2.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*content, *content[1:]]), encoding="utf-8")
    assert refused(path) == (
        f"{path}, row 6: reader r2 has fixation 1 of text 9 twice (4 such row(s)). If a text was read more than once, "
        "'item' alone does not say which reading it is: join two columns, --columns text_id=ONE+OTHER."
    )


def test_wrong_cells_and_words_are_named(tmp_path):
    shutil.copytree(SAMPLE, tmp_path / "x")
    path = tmp_path / "x" / "fixations_r2.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\t222\t1\t", "\t222\t1.5\t"), encoding="utf-8")
    assert refused(tmp_path / "x") == (
        f"{path}, row 2, column 'CURRENT_FIX_INTEREST_AREA_INDEX': '1.5' is not the number of a word."
    )
    path.write_text(text.replace("love", "hate"), encoding="utf-8")
    assert refused(tmp_path / "x") == (
        "1 word(s) differ between fixations and texts.csv: text 9, word 2: 'hate' against 'love'. Check that both belong "
        "to the same release."
    )


def test_reading_measures_are_public():
    fixations = pd.DataFrame(
        {"subject": "a", "text_id": "1", "word_id": [1, 2, 1], "duration_ms": [200.0, 100, 50]}
    ).astype({"subject": "str", "text_id": "str"})
    words = pd.DataFrame({"text_id": ["1", "1"], "sentence_id": 1, "word_id": [1, 2], "word": ["Go", "on"]})
    found = psymem.reading_measures(fixations, words, corpus="mine")
    assert found["go_past_time"].tolist() == [200, 150]
