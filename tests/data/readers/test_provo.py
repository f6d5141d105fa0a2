"""The Provo Corpus: the invented sample by hand, its traps, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import psymem
from psymem.errors import DataError, UnknownNameError

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "provo" / "sample"
FILE = "Provo_Corpus-Eyetracking_Data.csv"
NA = np.nan


@pytest.fixture(scope="module")
def corpus():
    return psymem.load_corpus("provo", SAMPLE)


@pytest.fixture
def changed(tmp_path):
    def write(change):
        content = (SAMPLE / FILE).read_bytes()
        (tmp_path / FILE).write_bytes(change(content))
        return tmp_path

    return write


def refused(folder, error=DataError):
    with pytest.raises(error) as caught:
        psymem.load_corpus("provo", folder)
    return str(caught.value)


def test_words_are_the_labels_in_their_order(corpus):
    words = corpus.words
    assert words.loc[words["text_id"] == "18", "word"].tolist() == [
        "He", "said", "the", "café’s", "true,", "null", "evolution.", "It", "ended."
    ]  # fmt: skip
    assert words.loc[words["text_id"] == "55", "word"].tolist() == [
        "NA", "is", "profession,", "writing.", "false"
    ]  # fmt: skip
    assert words["word_id"].tolist() == [*range(1, 10), *range(1, 6)]
    assert words["sentence_id"].tolist() == [1] * 7 + [2] * 2 + [1] * 4 + [2]
    assert words["area"].tolist()[-4:-1] == [3, None, None] or words["area"].isna().sum() == 2


def test_first_pass_measures_only_where_the_word_was_not_skipped(corpus):
    one = corpus.reading.query("subject == 'Sub01' and text_id == '18'").set_index("word_id")
    expected = {  # by hand, from the sample's rows
        "first_fixation_duration": [200, 210, NA, 250, NA, 220, 230, NA, 300],
        "gaze_duration": [200, 330, NA, 250, NA, 220, 230, NA, 500],
        "go_past_time": [200, 330, NA, 430, NA, 220, 230, NA, 500],
        "single_fixation_duration": [200, NA, NA, 250, NA, 220, 230, NA, NA],
        "first_run_dwell_time": [200, 330, NA, 250, 180, 220, 230, NA, 500],
        "total_reading_time": [200, 330, NA, 250, 180, 220, 460, NA, 500],
        "fixation_count": [1, 2, 0, 1, 1, 1, 2, 0, 2],
        "regressions_in": [0, 0, 0, 0, 1, 0, 1, 0, 0],
        "regressions_out": [0, 0, 0, 1, 0, 0, 1, 0, 0],
        "first_pass_regressions_out": [0, 0, 0, 1, 0, 0, 0, 0, 0],
    }
    for measure, values in expected.items():
        np.testing.assert_array_equal(one[measure], values, err_msg=measure)
    assert one["skipped"].tolist() == [False, False, True, False, True, False, False, True, False]


def test_what_was_mended_is_said(corpus):
    assert corpus.notes == (
        f"{FILE} was read as Windows-1252 text: row 5 has 'café’s'. Save it as CSV UTF-8 if that is wrong.",
        f"IA_SKIP is about first pass: 1 word(s) of {FILE} skipped then were read later and have total reading time "
        "and first-run dwell time, but no first-pass measure.",
        "1 area(s) hold a sign that is no word and were left out: text 55, area 2.",
        "Word_Number is given twice in a text, so words are known by their area: text 18, number 3: area 3 'the'; "
        "text 18, number 3: area 7 'evolution.'.",
        "The column Word has TRUE for 'true,' (2 such word(s)); words are those of IA_LABEL.",
        "The files have 2 reader(s); 84 were published.",
        "1 interest area(s) hold several words or none; the words are in the text, their times were left out: text 55, "
        "area 4: 'profession, writing.'.",
    )
    assert len(corpus.reading) == 2 * (9 + 3)


def test_another_folder_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a\n", encoding="utf-8")
    assert refused(tmp_path) == (
        f"{tmp_path} does not hold the corpus 'provo'. Looked for {FILE} or provo.csv; found other.csv. Where to get "
        "it: psymem corpora show provo."
    )


def test_a_truncated_file_is_refused(changed):
    folder = changed(lambda content: content[: len(content) // 2])
    assert refused(folder) == (
        f"{folder / FILE}, row 13: it has 3 cells, the header 64; the file may have been cut off or changed while it was "
        "copied. Get it again."
    )


def test_mixed_encodings_are_read_line_by_line(changed, corpus):
    utf8 = "café’s".encode()
    folder = changed(lambda content: content.replace("café’s".encode("cp1252"), utf8, 2))
    mixed = psymem.load_corpus("provo", folder)
    assert mixed.words.equals(corpus.words)
    assert mixed.notes[0] == (
        f"{FILE} mixes two encodings: row 5 is UTF-8, row 19 Windows-1252; every row was read as what it is."
    )


def test_wrong_cells_are_named(changed):
    row = changed(lambda content: content.replace(b",210,", b",-210,", 1))
    assert refused(row) == (
        f"{row / FILE}, row 3, column 'IA_FIRST_FIXATION_DURATION': -210 is negative (1 such cell(s)). Durations are "
        "times in ms; mend the file."
    )
    twice = changed(lambda content: content + content.splitlines(keepends=True)[1])
    assert refused(twice) == (
        f"{twice / FILE}, row 30: subject Sub01, text_id 18, area 1 is already in row 2 (1 repeated row(s)). Each reader "
        "reads a word once; remove one of the rows."
    )
    missing = changed(lambda content: content.replace(b"IA_LABEL", b"LABEL"))
    assert refused(missing, UnknownNameError).startswith("There is no column called 'IA_LABEL'.")


def test_words_that_differ_between_readers_are_shown(changed):
    def other_text(content: bytes) -> bytes:
        head, _, last = content.rpartition(b"Sub02,Sub02,QID2686")
        return head + b"Sub02,Sub02,QID2686" + last.replace(b"said", b"told")

    assert refused(changed(other_text)) == (
        "1 word(s) differ between readers of the same text (is text_id the right column?): text 18, word 2: 'told' "
        "against 'said'. Check that both belong to the same release."
    )


def test_a_label_in_another_writing_is_taken_as_most_readers_have_it(changed, corpus):
    def other_writing(content: bytes) -> bytes:
        head, _, last = content.rpartition("café’s,".encode("cp1252"))
        return head + "café's,".encode("cp1252") + last

    mended = psymem.load_corpus("provo", changed(other_writing))
    assert mended.words.equals(corpus.words)
    assert mended.reading.equals(corpus.reading)
    assert (
        "1 word(s) differ between readers of the same text (is text_id the right column?) in punctuation or case only and "
        "were taken as the text has them: text 18, word 4: \"café's\" against 'café’s'."
    ) in mended.notes


def test_a_file_without_rows_is_refused(changed):
    folder = changed(lambda content: content.splitlines(keepends=True)[0])
    assert refused(folder) == f"{folder / FILE} has a header but no rows."
