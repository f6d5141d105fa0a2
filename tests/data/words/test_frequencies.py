"""Log frequencies of words."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from psymem.data.words.frequencies import log_frequency
from psymem.errors import DataError, UnknownNameError

WORDS = pd.Series(["The", "house,", "—", "qzxv"], dtype="str")


def test_zipf_values_of_wordfreq():
    found = log_frequency(WORDS)
    assert found[0] == pytest.approx(7.73, abs=0.05)  # once in about twenty words
    assert found[1] == pytest.approx(5.7, abs=0.1)
    assert math.isnan(found[2])
    assert found[3] == 1.0


def test_counts_become_zipf_values(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("word,count\nthe,97\nhouse,0\n", encoding="utf-8")
    found = log_frequency(WORDS, path)
    assert found[0] == pytest.approx(math.log10(98 / 99 * 1e9))
    assert found[1] == found[3] == pytest.approx(math.log10(1 / 99 * 1e9))


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [("per_million", 1, 3.0), ("zipf", 3, 3.0), ("log_frequency", 14.2, 14.2)],
)
def test_other_scales(tmp_path, column, value, expected):
    path = tmp_path / "frequencies.csv"
    path.write_text(f"word;{column}\nHouse;{value}\n", encoding="utf-8")
    assert log_frequency(WORDS, path)[1] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "word,n\nthe,1\n",
            "{} has the columns word, n; a table of frequencies needs 'word' and one of log_frequency, zipf, "
            "per_million, count.",
        ),
        ("word,count\nthe,many\n", "{}: column 'count' holds text where frequencies are expected."),
        ("word,count\nthe,1\na,-2\n", "{}, row 3, column 'count': -2 is no frequency."),
        (
            "word,count\nthe,1\nThe,2\n",
            "{}, row 3: the word 'the' is there twice (capitals and punctuation make no difference).",
        ),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        log_frequency(WORDS, path)
    assert str(caught.value) == message.format(path)


def test_language_without_a_list():
    with pytest.raises(UnknownNameError, match=r"^There is no language of wordfreq called 'xx'"):
        log_frequency(WORDS, language="xx")
