"""Words from text files and tables."""

from __future__ import annotations

import pytest

from psymem.data.words.texts import words_from_table, words_from_text
from psymem.errors import DataError, UnknownNameError
from psymem.tables import WORDS, check


@pytest.fixture
def file(tmp_path):
    def write(content: str, name: str = "words.csv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return write


def test_a_line_is_a_text_named_by_its_number(file):
    words = check(words_from_text(file("It rained. He left.\n\n  NA\tnull  true\n", "text.txt")), WORDS)
    assert words["text_id"].tolist() == ["1"] * 4 + ["3"] * 3
    assert words["sentence_id"].tolist() == [1, 1, 2, 2, 1, 1, 1]
    assert words["word_id"].tolist() == [1, 2, 3, 4, 1, 2, 3]
    assert words["word"].tolist() == ["It", "rained.", "He", "left.", "NA", "null", "true"]


def test_an_article_is_a_text_and_its_lines_are_sentences(file):
    content = "\n!ARTICLE\nDr. Lee slept. It rained.\n\nNA fit !ARTICLE\n!ARTICLE \n!ARTICLE\r\nHe left.\n"
    words = check(words_from_text(file(content, "text.txt")), WORDS)
    assert words["text_id"].tolist() == ["1"] * 8 + ["3"] * 2
    assert words["sentence_id"].tolist() == [1, 1, 1, 1, 1, 2, 2, 2, 1, 1]
    assert words["word_id"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 1, 2]
    assert words["word"].tolist() == "Dr. Lee slept. It rained. NA fit !ARTICLE He left.".split()


def test_words_before_the_first_article_are_refused(file):
    path = file("\nTitle\n!ARTICLE\nIt rained.\n", "text.txt")
    with pytest.raises(DataError) as caught:
        words_from_text(path)
    assert str(caught.value) == (
        f"{path}, line 2: there are words before the first !ARTICLE. Begin the file with a line that says "
        "!ARTICLE."
    )


def test_articles_without_sentences_are_refused(file):
    path = file("!ARTICLE\n!ARTICLE\n", "text.txt")
    with pytest.raises(DataError) as caught:
        words_from_text(path)
    assert str(caught.value) == f"{path} has no words."


def test_a_text_without_words_is_refused(file):
    path = file(" \n\n", "text.txt")
    with pytest.raises(DataError) as caught:
        words_from_text(path)
    assert str(caught.value) == f"{path} has no words."


def test_a_table_keeps_its_columns_and_counts_what_it_lacks(file):
    words = check(
        words_from_table(file("text_id,word,rt\na,It,300\na,rained.,NA\na,So,1\nb,null,2\n")), WORDS
    )
    assert list(words.columns) == ["text_id", "sentence_id", "word_id", "word", "rt"]
    assert words["sentence_id"].tolist() == [1, 1, 2, 1]
    assert words["word_id"].tolist() == [1, 2, 3, 1]
    assert words["rt"].tolist() == ["300", "NA", "1", "2"]


def test_columns_may_have_other_names_and_the_table_may_be_one_text(file):
    words = words_from_table(
        file("story\tzone\ttoken\n1\t5\tOne\n1\t6\tday\n"), word_column="token", text_column="story"
    )
    assert words["text_id"].tolist() == ["1", "1"]
    assert list(words.columns) == ["text_id", "sentence_id", "word_id", "word", "zone"]
    assert words_from_table(file("token\nOne\n"), word_column="token")["text_id"].tolist() == ["1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("word\nOne\ntwo words\n", "words.csv, row 3, column 'word': 'two words' has white space inside. "
         "Every row has to hold one word."),
        ("word,x\nOne,1\n,2\n", "words.csv, row 3, column 'word': is empty. Every row has to hold one word."),
        ("word,word_id\nOne,first\n", "{path}: word_id 'first' is not a whole number."),
    ],
    ids=["two words", "empty", "word number"],
)  # fmt: skip
def test_cells_that_are_wrong_are_named(file, content, message):
    path = file(content)
    with pytest.raises(DataError) as caught:
        words_from_table(path)
    assert str(caught.value) == message.format(path=path)


def test_a_missing_column_offers_near_names(file):
    path = file("text_id,words\na,It\n")
    with pytest.raises(UnknownNameError) as caught:
        words_from_table(path)
    assert str(caught.value) == (
        f"There is no column called 'word'. Did you mean 'words'? Known: text_id, words. These are the columns of {path}."
    )
