"""The UCL corpus, both experiments: the invented sample by hand, and files that are wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import psymem
from psymem.errors import DataError

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "ucl" / "sample"
NA = np.nan


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(SAMPLE, tmp_path / "ucl"))


def refused(folder, name="ucl"):
    with pytest.raises(DataError) as caught:
        psymem.load_corpus(name, folder)
    return str(caught.value)


def test_eye_movements():
    corpus = psymem.load_corpus("ucl", SAMPLE)
    assert corpus.words["word"].tolist() == ['"Is', "NA", 'true?"', "she", "said.", "The", "café", "closed."]
    one = corpus.reading.query("subject == '1'")
    expected = {
        "first_fixation_duration": [200, NA, 210, NA, 190, 150, 230, 250],
        "gaze_duration": [200, NA, 400, NA, 190, 150, 470, 250],
        "right_bounded_time": [200, NA, 400, NA, 250, 150, 470, 250],
        "go_past_time": [200, NA, 650, NA, 250, 150, 470, 900],
    }
    for measure, values in expected.items():
        np.testing.assert_array_equal(one[measure], values, err_msg=measure)
    assert one["skipped"].tolist() == [False, True, False, True, False, False, False, False]
    assert corpus.notes[-1] == "3 of 13 words of readers were not fixated in first pass."


def test_self_paced_reading_is_a_corpus_of_its_own():
    corpus = psymem.load_corpus("ucl-self-paced", SAMPLE)
    assert corpus.name == "ucl-self-paced"
    assert corpus.words["text_id"].drop_duplicates().tolist() == ["1", "2", "7"]
    np.testing.assert_array_equal(
        corpus.reading["self_paced_reading_time"], [300, 310, 320, 330, 700, 280, NA, 400, 410, 420]
    )
    assert corpus.card["title"] == "UCL corpus: self-paced reading"


def test_words_that_differ_from_the_sentences_are_shown(folder):
    path = folder / "stimuli.txt"
    path.write_bytes(path.read_bytes().replace(b"she said", b"he asked").replace(b"closed", b"opened"))
    assert refused(folder) == (
        "3 word(s) differ between eyetracking.RT.txt and stimuli.txt: text 1, word 4: 'she' against 'he'; text 1, word "
        "5: 'said.' against 'asked.'; text 2, word 3: 'closed.' against 'opened.'. Check that both belong to the same "
        "release."
    )


def test_wrong_files_are_refused(folder):
    path = folder / "eyetracking.RT.txt"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\t900", b"\t-900"))
    assert refused(folder) == (
        f"{path}, row 14, column 'RTgopast': -900 is negative (1 such cell(s)). Durations are times in ms; mend the file."
    )
    path.write_bytes(content + content.splitlines(keepends=True)[-1])
    assert refused(folder).startswith(f"{path}, row 15: subject 1, text_id 2, word_id 3 is already in row 14")
    path.write_bytes(content[:-20])
    assert refused(folder).startswith(f"{path}, row 14: it has 7 cells, the header 11;")
    path.unlink()
    assert refused(folder) == (
        f"{folder} does not hold the corpus 'ucl'. Looked for eyetracking.RT.txt; found selfpacedreading.RT.txt, "
        "stimuli.txt. Where to get it: psymem corpora show ucl."
    )
