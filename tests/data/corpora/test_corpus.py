import numpy as np
import pandas as pd
import pytest

from psymem.data.corpora.corpus import Corpus
from psymem.errors import DataError


@pytest.fixture
def tables():
    words = pd.DataFrame(
        {"text_id": ["1", "1"], "sentence_id": [1, 1], "word_id": [1, 2], "word": ["null", "NA"]}
    )
    reading = words.drop(columns="sentence_id").assign(
        corpus="toy", subject="s1", gaze_duration=[200.0, np.nan], skipped=[False, True]
    )
    return words, reading


def test_the_measures_are_the_durations_that_are_there(tables):
    words, reading = tables
    assert Corpus("toy", words, reading).measures == ("gaze_duration",)


def test_words_that_differ_are_shown(tables):
    words, reading = tables
    reading.loc[1, "word"] = "nan"
    with pytest.raises(DataError) as error:
        Corpus("toy", words, reading)
    assert str(error.value) == (
        "The corpus 'toy' has 1 word(s) that differ between the readers' data and the text: text 1, word 2: 'nan' "
        "read, 'NA' in the text. Check that both files belong to the same release."
    )


def test_a_negative_duration_is_refused(tables):
    words, reading = tables
    reading.loc[0, "gaze_duration"] = -3.0
    with pytest.raises(
        DataError, match=r"the first for reader s1, text 1, word 1: -3\.0\. Durations are times in ms"
    ):
        Corpus("toy", words, reading)


def test_an_empty_corpus_is_refused(tables):
    words, reading = tables
    with pytest.raises(DataError, match="nobody has read a word in it"):
        Corpus("toy", words, reading.iloc[:0])


def test_words_with_a_lost_character_are_said(tables):
    words, reading = tables
    words.loc[0, "word"] = reading.loc[0, "word"] = "caf\ufffd"
    assert Corpus("toy", words, reading, notes=("x",)).notes == (
        "x",
        "1 word(s) have a character that was lost before the file was published (U+FFFD), so models read another word: "
        "text 1, word 1: 'caf\ufffd'.",
    )


def test_times_beyond_a_minute_are_said_and_refused_as_means(tables):
    words, reading = tables
    reading.loc[0, "gaze_duration"] = 204_000.0
    said = "1 value(s) of gaze_duration are above 60,000 ms, the longest 204,000 ms (reader s1, text 1, word 1), which no "
    assert Corpus("toy", words, reading).notes == (
        f"{said[:-4]} is no ordinary reading of a word. Cut-offs leave them out (--longest).",
    )
    with pytest.raises(DataError) as error:
        Corpus("toy", words, reading, averaged=True)
    assert str(error.value) == f"The corpus 'toy': {said}mean over readers is. Mend the file."
