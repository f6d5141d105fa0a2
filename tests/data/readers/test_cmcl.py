"""CMCL 2021 tables: the invented sample by hand, the real training data, and tables that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import psymem
from psymem.errors import DataError

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "cmcl" / "sample"
NA = np.nan


def refused(path):
    with pytest.raises(DataError) as caught:
        psymem.load_corpus("cmcl", path)
    return str(caught.value)


def test_scaled_means_are_named_as_such():
    corpus = psymem.load_corpus("cmcl", SAMPLE)
    assert corpus.averaged
    assert corpus.words["word"].tolist() == ["NA", "null,", "won.", "True", "story."]
    assert corpus.measures == (
        "first_fixation_duration_scaled",
        "go_past_time_scaled",
        "total_reading_time_scaled",
    )
    np.testing.assert_array_equal(corpus.reading["go_past_time_scaled"], [6.25, NA, 5.25, 100, 4.5])
    assert corpus.reading["skipped"].tolist() == [False, True, False, False, False]
    assert corpus.reading["fixation_proportion"].tolist() == [94.5, 0, 76.5, 100, 88.25]
    assert corpus.notes == (
        "2 of 2 sentences end with the mark <EOS>, which was taken off.",
        "Values were scaled to 0-100 by the publishers and are not in ms. 1 word(s) were read by nobody.",
    )


def test_the_test_set_has_no_values():
    path = SAMPLE / "test_data.csv"
    assert refused(path) == (
        f"{path} has no values, only zeros: it is the test set, which was given out without them. Read the training "
        "data (training_data.csv or train_and_valid.csv or train.csv)."
    )


def test_wrong_tables_are_refused(tmp_path):
    text = (SAMPLE / "train.csv").read_text(encoding="utf-8")
    path = tmp_path / "train.csv"
    path.write_text(text.replace("0,2,won.<EOS>,12.5", "0,2,won.<EOS>,212.5"), encoding="utf-8")
    assert refused(tmp_path) == (
        f"{path}, row 4: fixation_count_scaled is 212.5. The shared task's values are scaled to 0-100; read other "
        "averages as a plain table (psymem corpora show csv)."
    )
    path.write_text(text.replace("0,2,won.", "0,1,won."), encoding="utf-8")
    assert refused(tmp_path).startswith(f"{path}, row 4: text_id 0, word_id 1 is already in row 3")
    path.write_text(text.replace("won.<EOS>", "<EOS>"), encoding="utf-8")
    assert refused(tmp_path) == f"{path}, row 4, column 'word': it is empty."
    path.write_text("", encoding="utf-8")
    assert refused(tmp_path) == f"{path} is empty: it has no header and no rows."


@pytest.mark.shared
def test_the_real_training_data(shared):
    folder = shared / "data/reading/cmcl2021"
    corpus = psymem.load_corpus("cmcl", folder)
    raw = pd.read_csv(folder / "data/training_data/train_and_valid.csv", keep_default_na=False)
    assert len(corpus.reading) == len(raw) == 15736
    assert corpus.words["text_id"].nunique() == 800
    assert corpus.reading["skipped"].sum() == 134
    assert not corpus.words["word"].str.contains("<EOS>").any()
    assert corpus.reading["total_reading_time_scaled"].sum() == pytest.approx(raw["TRT"].sum())
    with pytest.raises(DataError, match=r"row 10: go_past_time_scaled is -0\.496"):
        psymem.load_corpus("cmcl", folder / "data/provo.csv")  # somebody's own scaling
    with pytest.raises(DataError, match="has no values, only zeros"):
        psymem.load_corpus("cmcl", folder / "data/training_data/test_data.csv")
