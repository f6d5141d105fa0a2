"""Reading training text: paragraphs, sentence ends, file kinds."""

from __future__ import annotations

import gzip

import pytest

from psymem.errors import DataError
from psymem.train.text.files import read_sentences, split_sentences, text_files


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ("It rained. He left.", ["It rained.", "He left."]),
        ("Mr. Smith met Dr. J. Brown. They spoke.", ["Mr. Smith met Dr. J. Brown.", "They spoke."]),
        ('"Stop!" she said. "Why?" He ran.', ['"Stop!" she said.', '"Why?"', "He ran."]),
        ("no capitals . all one line .", ["no capitals . all one line ."]),
        ("It is 3.5 m. 12 men came.", ["It is 3.5 m. 12 men came."]),
        ("So am I. You too?", ["So am I.", "You too?"]),
        ("", []),
    ],
)
def test_sentence_ends(paragraph, sentences):
    assert split_sentences(paragraph) == sentences


def test_hard_wrapped_lines_are_joined_and_long_lines_are_paragraphs(tmp_path):
    wrapped = tmp_path / "wrapped.txt"
    wrapped.write_text(
        "The key to\nthe cabinet was old. It\nbroke.\n\nNew paragraph\nhere\n", encoding="utf-8"
    )
    assert list(read_sentences(wrapped)) == [
        "The key to the cabinet was old.",
        "It broke.",
        "New paragraph here",
    ]
    lines = tmp_path / "lines.txt"
    lines.write_text("one line without end\nanother line\n", encoding="utf-8")
    assert list(read_sentences(lines)) == ["one line without end", "another line"]


def test_wikitext_marks_are_undone_and_headings_left_out(tmp_path):
    path = tmp_path / "wiki.txt"
    path.write_text(
        " = Lobster = \n \n A well @-@ known 1 @,@ 200 kg animal . It swims .\n", encoding="utf-8"
    )
    assert list(read_sentences(path)) == ["A well-known 1,200 kg animal .", "It swims ."]


def test_conllu_and_gzip(tmp_path):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(b"# sent_id = 1\n# text = It's late.\n1\tIt\t_\n\n# text = Go!\n"))
    assert list(read_sentences(path)) == ["It's late.", "Go!"]


def test_windows_1252_is_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("caf\xe9 \x93noir\x94".encode("latin-1"))
    assert list(read_sentences(path)) == ["café “noir”"]


def test_files_of_a_folder_are_sorted_and_bad_paths_explained(tmp_path):
    for name in ("b.txt", "a.txt.gz", "notes.md"):
        (tmp_path / name).write_bytes(b"")
    assert [p.name for p in text_files([tmp_path])] == ["a.txt.gz", "b.txt"]
    kinds = ".txt, .txt.gz, .conllu, .conllu.gz"
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError) as caught:
        text_files([empty])
    assert str(caught.value) == f"The folder {empty} holds no text; expected files ending in {kinds}."
    with pytest.raises(DataError) as caught:
        text_files([tmp_path / "no.txt"])
    assert (
        str(caught.value)
        == f"There is no file or folder {tmp_path / 'no.txt'}. Give the path of a text file."
    )
    with pytest.raises(DataError) as caught:
        text_files([tmp_path / "notes.md"])
    assert (
        str(caught.value) == f"{tmp_path / 'notes.md'} is not a text file that can be read; expected {kinds}."
    )


def test_truncated_gzip_is_explained(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"some text " * 1000)[:40])
    with pytest.raises(DataError, match=r"a\.txt\.gz cannot be read: Compressed file ended"):
        list(read_sentences(path))
