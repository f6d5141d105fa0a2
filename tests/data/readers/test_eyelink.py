"""Interest-area reports: the invented sample by hand, and reports that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import psymem
from psymem.errors import DataError, UnknownNameError

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "eyelink" / "sample"
NA = np.nan


def refused(folder, error=DataError, **settings):
    with pytest.raises(error) as caught:
        psymem.load_corpus("eyelink", folder, **settings)
    return str(caught.value)


def test_reports_of_two_readers_in_two_encodings():
    corpus = psymem.load_corpus("eyelink", SAMPLE)
    assert corpus.words["word"].tolist() == ['"No', 'cats,"', "null", "said.", "TRUE", "love"]
    assert corpus.words["text_id"].tolist() == ["7"] * 4 + ["9"] * 2
    one = corpus.reading[corpus.reading["subject"] == "r1"]
    expected = {
        "first_fixation_duration": [190, 210, NA, 250, NA, 300],
        "gaze_duration": [190, 410, NA, 250, NA, 300],
        "go_past_time": [190, 410, NA, 670, NA, 300],
        "right_bounded_time": [190, 410, NA, 460, NA, 300],
        "single_fixation_duration": [190, NA, NA, 250, NA, 300],
        "first_run_dwell_time": [190, 410, NA, 250, 180, 300],
        "total_reading_time": [400, 410, NA, 460, 180, 300],
        "regressions_out": [0, 1, 0, 1, 0, 0],
        "first_pass_regressions_out": [0, 0, 0, 1, 0, 0],
    }
    for measure, values in expected.items():
        np.testing.assert_array_equal(one[measure], values, err_msg=measure)
    assert one["skipped"].tolist() == [False, False, True, False, True, False]
    assert corpus.notes == (
        "The column item says which text was read; another one can be named: --columns text_id=COLUMN.",
        "IA_SKIP is about first pass: 1 word(s) of r1.txt skipped then were read later and have total reading time and "
        "first-run dwell time, but no first-pass measure.",
        "r2.txt is UTF-16 text.",
    )


def rewritten(tmp_path, change):
    text = (SAMPLE / "r1.txt").read_text(encoding="utf-8")
    path = tmp_path / "report.txt"
    path.write_text(change(text), encoding="utf-8")
    return path


def test_without_a_skip_column_there_is_no_first_pass(tmp_path):
    corpus = psymem.load_corpus("eyelink", rewritten(tmp_path, lambda text: text.replace("IA_SKIP", "OTHER")))
    assert corpus.measures == ("first_run_dwell_time", "total_reading_time")
    assert corpus.notes[-1] == (
        "Without IA_SKIP or IA_FIRST_FIX_PROGRESSIVE nobody can tell first-pass reading from later runs: there is no "
        "gaze duration, but first_run_dwell_time."
    )


def test_first_fixations_that_went_forward_are_first_pass(tmp_path):
    def progressive(text):
        flip = str.maketrans("01", "10")
        lines = [line[:-1] + line[-1].translate(flip) for line in text.strip().splitlines()]
        return "\n".join(lines).replace("IA_SKIP", "IA_FIRST_FIX_PROGRESSIVE")

    corpus = psymem.load_corpus("eyelink", rewritten(tmp_path, progressive))
    np.testing.assert_array_equal(corpus.reading["gaze_duration"], [190, 410, NA, 250, NA, 300])


def test_the_column_of_texts_can_be_named_and_is_checked():
    assert refused(SAMPLE, columns={"text_id": "TRIAL_INDEX"}) == (
        "4 word(s) differ between readers of the same text (is text_id the right column?): text 1, word 1: 'TRUE' "
        "against '\"No'; text 1, word 2: 'love' against 'cats,\"'; text 2, word 1: '\"No' against 'TRUE'; text 2, word "
        "2: 'cats,\"' against 'love'. Check that both belong to the same release."
    )
    assert refused(SAMPLE, UnknownNameError, columns={"text": "item"}) == (
        "There is no column to be named called 'text'. Did you mean 'text_id'? Known: sentence_id, subject, text_id, "
        "word."
    )


def test_what_is_no_report_of_words_is_refused(tmp_path):
    regions = rewritten(tmp_path, lambda text: text.replace("\t\"No", "\tThe dog").replace("cats,\"", "was here")
                        .replace("null", "so far").replace("said.", "they said."))  # fmt: skip
    assert refused(regions) == (
        "4 of 6 interest areas hold several words or none, such as 'The dog'. psymem needs a report with one interest "
        "area a word."
    )
    other = tmp_path / "other.txt"
    other.write_text("a\tb\n1\t2\n", encoding="utf-8")
    assert refused(other) == (
        f"{other} is no interest-area report: it has no column that begins with IA_, but a, b."
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty) == (
        f"{empty} does not hold the corpus 'eyelink'. Looked for *.txt or *.tsv or *.xls or *.csv; found nothing. Where "
        "to get it: psymem corpora show eyelink."
    )
    cut = rewritten(tmp_path, lambda text: text[:-12])
    assert refused(cut).startswith(f"{cut}, row 7: it has 11 cells, the header 16;")


def test_an_area_that_is_missing_leaves_a_gap(tmp_path):
    def without(text):
        return "".join(line for line in text.splitlines(keepends=True) if "\tcats," not in line)

    corpus = psymem.load_corpus("eyelink", rewritten(tmp_path, without))
    assert corpus.words["word"].tolist() == ['"No', "null", "said.", "TRUE", "love"]
    assert corpus.words["words_missing_before"].tolist() == [0, 1, 0, 0, 0]
    assert corpus.notes[-1].startswith(
        "1 word(s) are missing, where word numbers jump: text 7, between 1 '\"No' and 2"
    )


def test_texts_known_by_two_columns(tmp_path):
    path = rewritten(tmp_path, lambda text: text)
    corpus = psymem.load_corpus("eyelink", path, columns={"text_id": "item+TRIAL_INDEX"})
    assert corpus.words["text_id"].unique().tolist() == ["7+1", "9+2"]
