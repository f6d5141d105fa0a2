"""IITB Eye-tracking and Sentiment Analysis-II: the invented sample by hand, the real data, and wrong files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import psymem
from psymem.data.readers.iitb import align
from psymem.errors import DataError

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "iitb" / "sample"
NA = np.nan


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(SAMPLE, tmp_path / "iitb"))


def refused(folder):
    with pytest.raises(DataError) as caught:
        psymem.load_corpus("iitb", folder)
    return str(caught.value)


def test_measures_of_the_text_without_the_aspect():
    corpus = psymem.load_corpus("iitb", SAMPLE)
    text = corpus.words.set_index("text_id")["word"]
    assert text["1"].tolist() == ["I", "work", "hard", "to", "be", "true"]
    assert text["2"].tolist() == ["Don't", "ask,", "she", "said", '"no"', "again."]
    assert corpus.words.set_index("text_id")["sarcasm"]["1"].unique().tolist() == ["Yes"]
    reading = corpus.reading.set_index("text_id")
    expected = {  # by hand from the fixations: I, work x 2, away, true, back to hard
        ("1", "first_fixation_duration"): [200, 210, NA, NA, NA, 250],
        ("1", "gaze_duration"): [200, 400, NA, NA, NA, 250],
        ("1", "go_past_time"): [200, 400, NA, NA, NA, 430],
        ("1", "total_reading_time"): [200, 400, 180, NA, NA, 250],
        ("1", "skipped"): [False, False, True, True, True, False],
        ("2", "total_reading_time"): [220, 240, 230, NA, 260, NA],
        ("2", "go_past_time"): [220, NA, 470, NA, 260, NA],
        ("3", "total_reading_time"): [211, NA, NA, 214, 215, 216, 217],
    }
    for (text_id, measure), values in expected.items():
        np.testing.assert_array_equal(reading.loc[text_id, measure], values, err_msg=f"{text_id} {measure}")
    assert corpus.notes == (
        "1 fixation(s) of 0 ms or without a duration were left out.",
        "The files have 2 reader(s); 7 were published.",
        "Of 22 fixations, 5 are on the aspect before the text and 1 on no word; both are looks away.",
        "2 fixations in 1 texts are on words that do not agree with the text and are looks away too: text 3, word 6 on "
        "the screen: 'less...'; text 3, word 7 on the screen: 'Bob'.",
    )


def test_the_name_of_the_readme_is_read_too(folder):
    (folder / "Fixation_sequence.csv").rename(folder / "Fixtion_Sequence.csv")
    assert len(psymem.load_corpus("iitb", folder).reading) == 19


@pytest.mark.parametrize(
    ("numbers", "seen", "aspect", "expected"),
    [
        ([1, 2, 3, 5], ["Aspect--X", "a", "b", "d"], 1, [0, 1, 2, 4]),
        ([3, 4, 6], ["a", "b", "d"], 2, [1, 2, 4]),
        ([2, 3, 4, 5, 6], ["a", "b", "c1", "c2", "d"], 1, [1, 2, NA, NA, 4]),  # c in two pieces
        ([2, 3, 4], ["a", "bc", "d"], 1, [1, NA, 4]),  # b and c in one piece
        ([1, 2, 3, 4], ["Aspect", ":", "X", "a"], 1, [0, 0, 0, 1]),
        ([2, 9], ["a", "zzz"], 1, [1, NA]),
    ],
)
def test_screen_and_text_are_aligned(numbers, seen, aspect, expected):
    found = align(np.array(numbers), seen, ["a", "b", "c", "d", "e"], aspect)
    np.testing.assert_array_equal(found, expected)


def test_texts_of_another_release_are_refused(folder):
    path = folder / "text_and_annorations.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("I work hard to be true", "Six quite other words stand here"), encoding="utf-8"
    )
    corpus = psymem.load_corpus("iitb", folder)
    assert corpus.notes[-1].startswith("7 fixations in 2 texts are on words that do not agree with the text")
    path.write_text(
        text.replace("I work hard to be true", "Six quite other words stand here")
        .replace("Couldnt care less...Bob will win again soon", "Not a word of what they saw"),
        encoding="utf-8",
    )  # fmt: skip
    assert refused(folder).startswith(
        "13 of 22 fixations are on words that the texts do not have at that place, such as"
    )
    path.write_text(text.replace("\n3,", "\n33,"), encoding="utf-8")
    assert refused(folder) == (
        f"{folder / 'Fixation_sequence.csv'}, row 16: there is no text '3' (9 such fixation(s)). Take fixations and texts "
        "of the same release."
    )


def test_wrong_files_are_refused(folder):
    path = folder / "Fixation_sequence.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(",250\n", ",-250\n"), encoding="utf-8")
    assert refused(folder) == (
        f"{path}, row 7, column 'Fixation_Duration': -250 is negative (1 such cell(s)). Durations are times in ms; mend "
        "the file."
    )
    path.write_text(text[:-5], encoding="utf-8")
    assert refused(folder).startswith(f"{path}, row 24: it has 4 cells, the header 5;")
    path.unlink()
    assert refused(folder) == (
        f"{folder} does not hold the corpus 'iitb'. Looked for Fixation_sequence.csv or Fixtion_Sequence.csv; found "
        "text_and_annorations.csv. Where to get it: psymem corpora show iitb."
    )


@pytest.mark.shared
def test_the_real_fixations(shared):
    folder = shared / "data/reading/iitb_sa2"
    corpus = psymem.load_corpus("iitb", folder)
    raw = pd.read_csv(folder / "Fixation_sequence.csv", keep_default_na=False)
    assert corpus.words["text_id"].nunique() == 994
    assert corpus.reading["subject"].nunique() == 7
    on_text = corpus.reading["fixation_count"].sum()
    assert on_text == len(raw) - 3 - 6993 - 1246 - 714  # 0 ms, aspect, outside, not agreeing
    one = corpus.reading.query("subject == 'P1' and text_id == '1'").set_index("word")
    fixated = raw.query("Participant_ID == 'P1' and Text_ID == 1 and Word_ID == 3")["Fixation_Duration"]
    assert one.loc["work", "total_reading_time"] == fixated.sum() == 502
