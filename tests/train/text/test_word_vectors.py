"""Word vectors from a text file go to the rows of their words, and only there."""

from __future__ import annotations

import gzip

import pytest
import torch

from psymem.errors import DataError, TrainingError
from psymem.train.text.word_vectors import fill_embedding, read_word_vectors


def test_words_are_looked_up_in_lower_case_and_others_stay(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2\nkey 3 4\nunused 5 6\n", encoding="utf-8")
    weight = torch.zeros(4, 2)
    assert fill_embedding(weight, {"<unk>": 0, "The": 1, "door": 2, "key": 3}, path) == 2
    assert weight.tolist() == [[0, 0], [1, 2], [0, 0], [3, 4]]


def test_compressed_files_and_word2vec_headers(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("1 3\nclé 1 2 3\n")
    assert read_word_vectors(path, {"clé"}, 3)["clé"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "the 1 2\nkey 1 2 3\n",
            "line 2: 3 numbers for 'key', but the embedding is 2 wide. Give --embedding-width 3, or a file with 2 "
            "numbers a word.",
        ),
        ("the 1 x\n", "line 1: what follows 'the' are not 2 numbers."),
        ("the 1 nan\n", "line 1: what follows 'the' are not 2 numbers."),
    ],
)
def test_lines_that_do_not_fit(tmp_path, text, message):
    path = tmp_path / "glove.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_word_vectors(path, {"the", "key"}, 2)
    assert str(caught.value) == f"{path}, {message}"


def test_a_file_without_any_of_the_words(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("le 1 2\n", encoding="utf-8")
    with pytest.raises(TrainingError) as caught:
        fill_embedding(torch.zeros(1, 2), {"the": 0}, path)
    assert str(caught.value) == f"{path} has none of the 1 words of the vocabulary; is it the right file?"


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"^The word vectors .*none\.txt cannot be read: "):
        read_word_vectors(tmp_path / "none.txt", {"the"}, 2)
