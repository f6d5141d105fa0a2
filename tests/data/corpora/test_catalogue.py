"""Cards, and what all readers share: finding files, reading cells, comparing words."""

from __future__ import annotations

import pandas as pd
import pytest

import psymem
from psymem.data.corpora.catalogue import found_files, read_card, sample_folder
from psymem.data.corpora.files import find_file, numbers, read_cells
from psymem.data.corpora.words import drop_differing
from psymem.errors import DataError, UnknownNameError
from psymem.registry import CORPORA


@pytest.mark.parametrize("name", CORPORA.names())
def test_every_card_says_what_a_reader_of_a_paper_needs(name):
    card = read_card(name)
    assert card["name"] == name
    assert card["title"]
    assert card["licence"]
    assert card["citation"]
    assert card["get"]
    assert card["fetch"] in {"none", "direct", "archive"}
    assert card["fetch"] != "none" or card["why_not_fetched"]
    assert card["files"]
    assert all(f["name"] and f["holds"] for f in card["files"])
    assert all(f["checksum"].startswith(("sha256:", "md5:")) for f in card["files"] if "url" in f)


@pytest.mark.parametrize("name", CORPORA.names())
def test_every_corpus_has_a_sample_that_is_complete_and_can_be_read(name):
    folder = sample_folder(name)
    assert folder is not None
    missing = [f["name"] for f in found_files(name, folder) if not f["path"] and not f["optional"]]
    assert missing == []
    corpus = psymem.load_corpus(name, folder)
    assert corpus.name == name
    assert corpus.card == read_card(name)
    assert corpus.measures
    assert corpus.reading["corpus"].unique().tolist() == [name]


def test_unknown_names_are_answered():
    with pytest.raises(
        UnknownNameError, match=r"^There is no corpus called 'prova'\. Did you mean 'provo'\?"
    ):
        psymem.load_corpus("prova", ".")
    with pytest.raises(UnknownNameError, match=r"^There is no corpus called 'prova'\."):
        read_card("prova")
    with pytest.raises(UnknownNameError) as caught:
        psymem.load_corpus("natural-stories", ".", average=True)
    assert str(caught.value) == (
        "There is no setting of the corpus 'natural-stories' called 'average'. Did you mean 'averaged'? Known: averaged."
    )


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(DataError) as caught:
        find_file(tmp_path / "gone", ("a.csv",), "provo")
    assert str(caught.value) == (
        f"{tmp_path / 'gone'} does not exist. Give the folder that holds the files of the corpus 'provo': a.csv "
        "(psymem corpora show provo)."
    )


def test_a_file_is_found_one_folder_below_whatever_its_case(tmp_path):
    below = tmp_path / "release"
    below.mkdir()
    (below / "Data.CSV").write_text("x\n", encoding="utf-8")
    assert find_file(tmp_path, ("data.csv",), "provo") == below / "Data.CSV"


def cells(tmp_path, content, columns=("a", "b"), **settings):
    path = tmp_path / "cells.csv"
    path.write_bytes(content)
    notes = []
    return read_cells(path, columns, notes, **settings), notes


def test_cells_stay_text_and_rows_keep_their_numbers(tmp_path):
    frame, notes = cells(tmp_path, b'\xef\xbb\xbfb,x,a\r\n1,,null\r\n\r\n"2,5",,"N""A"\r\n,,\r\n')
    assert frame.to_dict("list") == {"a": ["null", 'N"A'], "b": ["1", "2,5"]}
    assert frame.index.tolist() == [2, 4]
    assert notes == []


def test_quotation_marks_may_be_characters(tmp_path):
    frame, notes = cells(tmp_path, b'a\tb\n"x\t1\ny"\t2', separator="\t", quoting=False)
    assert frame["a"].tolist() == ['"x', 'y"']
    assert notes == [
        "cells.csv does not end with a line end; if the last row is not whole, get the file again."
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{} is empty: it has no header and no rows."),
        (b"a,b\n", "{} has a header but no rows."),
        (b"a,b\n1,2\n3\n", "{}, row 3: it has 1 cells, the header 2; the file may have been cut off or changed "
         "while it was copied. Get it again."),
        (b"a,b\n1,2\n1,2,3\n", "{}, row 3: it has 3 cells, the header 2; the file may have been cut off or changed while "
         "it was copied. Get it again."),
        (b'a,b\n1,"2\n3,4\n', "{}: unexpected end of data; the file may have been cut off. Get it again."),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, content, message):
    with pytest.raises(DataError) as caught:
        cells(tmp_path, content)
    assert str(caught.value) == message.format(tmp_path / "cells.csv")


def test_numbers_say_which_cell_is_none(tmp_path):
    frame, _ = cells(tmp_path, b"a,b\n1,2\nNA,1e3\n.,inf\n")
    pd.testing.assert_series_equal(
        numbers(frame["a"], tmp_path),
        pd.Series([1, None, None], index=frame.index, dtype=float),
        check_names=False,
    )
    with pytest.raises(DataError, match=r"row 4, column 'b': 'inf' is not a number"):
        numbers(frame["b"], tmp_path)


def test_a_few_differing_words_are_left_out_and_reported():
    text = pd.DataFrame({"text_id": "1", "word_id": range(1, 201), "word": [f"w{i}" for i in range(1, 201)]})
    rows = pd.concat([text.assign(subject=s) for s in ("a", "b")], ignore_index=True)
    rows.loc[[4, 204], "word"] = "other"
    rows.loc[9, "word"] = "W10,"
    notes = []
    kept = drop_differing(rows, text, "times and text", notes)
    assert len(kept) == 398
    assert kept.query("word_id == 10")["word"].tolist() == ["w10", "w10"]
    assert notes == [
        "1 word(s) differ between times and text in punctuation or case only and were taken as the text has them: text "
        "1, word 10: 'W10,' against 'w10'.",
        "1 word(s) differ between times and text and were left out (2 rows): text 1, word 5: 'other' against 'w5'.",
    ]


def test_line_ends_of_old_macs_and_odd_spaces_inside_cells(tmp_path):
    frame, _ = cells(tmp_path, "a,b\r1\u2028,2\r3,4".encode())
    assert frame["a"].tolist() == ["1\u2028", "3"]
    assert frame["b"].tolist() == ["2", "4"]


def test_cells_that_nobody_needs_may_be_missing_and_empty_ones_may_follow(tmp_path):
    frame, _ = cells(tmp_path, b"a\tb\tc\td\n1\t2\n3\t4\t5\t6\t\t\n7\t8\t9\t0\n", separator="\t")
    assert frame.to_dict("list") == {"a": ["1", "3", "7"], "b": ["2", "4", "8"]}
    with pytest.raises(
        DataError, match=r"row 3: it has 2 cells, the header 4; the file may have been cut off"
    ):
        cells(tmp_path, b"a\tb\tc\td\n1\t2\t3\t4\n7\t8\n", separator="\t")
