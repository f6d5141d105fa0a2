"""Reading delimited files: what is understood, what is noted, and the whole message of what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psymem.errors import DataError
from psymem.io.delimited import read_delimited, read_table

CELLS = [["item", "word"], ["1", "null"], ["2", "NA"], ["3", "true"], ["4", "café"]]


def save(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def joined(separator: str) -> str:
    return "".join(separator.join(cells) + "\n" for cells in CELLS)


def refused(path: Path, read=read_delimited, **settings) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **settings)
    return str(caught.value).replace(str(path.parent) + "/", "")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "utf-32"]
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_every_encoding_and_separator_gives_the_same_words(tmp_path, encoding, separator):
    read = read_delimited(save(tmp_path / "a.csv", joined(separator), encoding))
    assert read.frame.to_numpy().tolist() == CELLS[1:]
    assert list(read.frame.index) == [2, 3, 4, 5]
    assert read.separator == separator


def test_plain_comma_separated_utf8_needs_no_note(tmp_path):
    assert read_delimited(save(tmp_path / "a.csv", joined(","))).notes == ()


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        (joined(";"), ["a.csv is separated by semicolons."]),
        (joined(",").encode("utf-16"), ["a.csv is UTF-16 text."]),
        (joined(",").encode("utf-16-le"), ["a.csv is UTF-16 text."]),
        (
            joined(",").encode("cp1252"),
            ["a.csv was read as Windows-1252 text: row 5 has 'café'. Save it as CSV UTF-8 if that is wrong."],
        ),
        ("a,b\n 1 ,2\n\n,\n3,4\n", [
            "Blanks around cells of a.csv were dropped in 1 row(s), first row 2.",
            "2 empty row(s) of a.csv were skipped, the first is row 3.",
        ]),
        ("sep=;\na;b\n1;2\n", ["a.csv is separated by semicolons."]),
    ],
)  # fmt: skip
def test_what_is_normalised_is_noted(tmp_path, content, notes):
    assert list(read_delimited(save(tmp_path / "a.csv", content)).notes) == notes


def test_row_numbers_are_those_of_a_spreadsheet(tmp_path):
    read = read_delimited(save(tmp_path / "a.csv", 'a,b\n"two\nlines",1\n\nx,2\n'))
    assert read.frame.index.tolist() == [2, 4]
    assert read.at(4, "b") == "a.csv, row 4, column 'b'"


def test_the_header_separator_that_splits_all_rows_alike_wins(tmp_path):
    read = read_delimited(save(tmp_path / "a.csv", "item,sentence (a;b)\n1,One; two.\n2,Three.\n"))
    assert list(read.frame.columns) == ["item", "sentence (a;b)"]


def test_unnamed_empty_columns_are_dropped(tmp_path):
    assert list(read_delimited(save(tmp_path / "a.csv", "a,b,,\n1,2,,\n")).frame.columns) == ["a", "b"]


def test_quotation_marks_can_be_ordinary_characters(tmp_path):
    read = read_delimited(save(tmp_path / "a.tsv", 'zone\tword\n1\t"Oh\n'), quoting=False)
    assert read.frame["word"].tolist() == ['"Oh']


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.csv is empty: it has no header and no rows."),
        (b"\n \n", "a.csv is empty: it has no header and no rows."),
        (b"a,b\n", "a.csv has a header but no rows."),
        (
            b"a,b\n1,2\n3,4,5\n",
            "a.csv, row 3: it has 3 cell(s) but the header has 2. "
            "A cell that contains a comma has to be in quotation marks.",
        ),
        (
            b"a\tb\n1\n",
            "a.csv, row 2: it has 1 cell(s) but the header has 2. "
            "Is the file cut off? A missing value needs a cell too: leave it empty.",
        ),
        (
            b"a\tb\n1\t2\t3\n",
            "a.csv, row 2: it has 3 cell(s) but the header has 2. "
            "A cell that contains a tab has to be in quotation marks.",
        ),
        (b"a,b,a\n1,2,3\n", "a.csv, row 1: the header has 'a' more than once."),
        (b"a,,c\n1,2,3\n", "a.csv, row 1: column 2 has cells but no name in the header."),
        (
            b"a,b\n1,2\n3,\x00\n",
            "a.csv, row 3: there is a NUL character, so the file is damaged or not a text table. "
            "Save it again as CSV UTF-8.",
        ),
        (
            b'a,b\n1,"2\n3,4\n',
            "a.csv, row 2: a quotation mark that is never closed. "
            "Write a quotation mark inside a cell twice.",
        ),
        (
            b'a,b\n1,"2"3\n',
            "a.csv, row 2: bad quoting (',' expected after '\"'). "
            "Write a quotation mark inside a cell twice.",
        ),
        (
            b"a;b,c\n1;2,3\n",
            "a.csv: the separator is ambiguous, its header has comma and semicolon. "
            "Put names that contain a separator in quotation marks, or save the file as CSV.",
        ),
        (
            b"a,b\n1,\x81\n",
            "a.csv, row 2: byte 0x81 is neither UTF-8 nor Windows-1252. Save the file as CSV UTF-8.",
        ),
        (b"\xff\xfea\x00,", "a.csv begins like utf-16 text but is not: it may be cut off or damaged."),
        (
            b"PK\x03\x04rest",
            "a.csv is an Excel or other zipped file, not a text table; "
            "save it as CSV (File > Save As > CSV UTF-8) and give that file.",
        ),
        (
            b"\xd0\xcf\x11\xe0rest",
            "a.csv is an old Excel (.xls) file, not a text table; "
            "save it as CSV (File > Save As > CSV UTF-8) and give that file.",
        ),
        (
            b"\x1f\x8brest",
            "a.csv is a gzip-compressed file, not a text table; unpack it and give the file inside.",
        ),
        (b"%PDF-1.7", "a.csv is a PDF file, not a text table; save the table as CSV and give that file."),
    ],
)
def test_what_is_refused_says_where_and_what_to_do(tmp_path, content, message):
    assert refused(save(tmp_path / "a.csv", content)) == message


def test_a_missing_file_offers_near_names(tmp_path):
    save(tmp_path / "items.csv", joined(","))
    assert refused(tmp_path / "itmes.csv") == "There is no file itmes.csv. Did you mean items.csv?"
    assert refused(tmp_path / "Items.tsv") == "There is no file Items.tsv. Did you mean items.csv?"
    assert refused(tmp_path / "words.csv") == "There is no file words.csv.", "only the ending is the same"
    assert refused(tmp_path / "zzzzzzz") == "There is no file zzzzzzz."


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "nowhere" / "a.csv"
    message = f"There is no file {path}. The folder {path.parent} does not exist either."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read_delimited(path)


def test_a_folder_lists_its_tables(tmp_path):
    (tmp_path / "set").mkdir()
    save(tmp_path / "set" / "items.csv", joined(","))
    assert refused(tmp_path / "set") == "set is a folder; a file was expected. It holds items.csv."


# numbers ---------------------------------------------------------------------------------------------------
def test_numbers_become_numbers_and_words_stay_words(tmp_path):
    path = save(
        tmp_path / "a.csv",
        "id,n,rt,word,flag,x\n01,1,NA,NA,TRUE,-1.5e3\n02,2,300,null,FALSE,NaN\n03,3,,1st,TRUE,.5\n",
    )
    expected = pd.DataFrame(
        {
            "id": ["01", "02", "03"],
            "n": [1, 2, 3],
            "rt": [float("nan"), 300.0, float("nan")],
            "word": ["NA", "null", "1st"],
            "flag": ["TRUE", "FALSE", "TRUE"],
            "x": [-1500.0, float("nan"), 0.5],
        }
    )
    pd.testing.assert_frame_equal(read_table(path), expected)


@pytest.mark.parametrize("word", ["none", "nan", "1_000", "0x10", "１２", "infinity", "1 000"])
def test_what_python_might_take_for_a_number_stays_text(tmp_path, word):
    assert read_table(save(tmp_path / "a.csv", f"a\n{word}\n")).loc[0, "a"] == word


def test_decimal_commas_are_read_in_semicolon_files(tmp_path):
    frame = read_table(save(tmp_path / "a.csv", "a;b\n1,5;x\n2;y\nNA;z\n"))
    assert frame["a"].tolist()[:2] == [1.5, 2.0]
    assert frame.attrs["notes"] == [
        "a.csv is separated by semicolons.",
        "Column 'a' of a.csv has decimal commas, read as decimal points.",
    ]


def test_commas_that_may_mark_thousands_are_refused(tmp_path):
    assert refused(save(tmp_path / "a.csv", "a;b\n7;x\n1,500;x\n"), read_table) == (
        "a.csv, row 3, column 'a': the comma in '1,500' may mark decimals or thousands. "
        "Write decimals with a point and thousands with nothing."
    )


def test_one_bad_number_is_pointed_at(tmp_path):
    rows = "".join(f"{n}\n" for n in range(20))
    frame = read_table(save(tmp_path / "a.csv", f"rt\n{rows}3o0\n"))
    assert frame.attrs["notes"] == [
        "a.csv, row 22, column 'rt': '3o0' is not a number, so the column is text."
    ]
    assert pd.api.types.is_string_dtype(frame["rt"])


def test_an_all_missing_column_is_numeric(tmp_path):
    frame = read_table(save(tmp_path / "a.csv", "a,b\nNA,1\n,2\n"))
    assert frame["a"].isna().all()
    assert frame["a"].dtype == "float64"


text_cell = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1
).filter(lambda s: s == s.strip())  # fmt: skip


@given(st.lists(st.tuples(text_cell, text_cell), min_size=1, max_size=5))
def test_any_words_written_by_pandas_come_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("words") / "a.csv"
    expected = pd.DataFrame(rows, columns=["first", "second"])
    expected.to_csv(path, index=False)
    assert read_delimited(path).frame.to_numpy().tolist() == expected.to_numpy().tolist()


@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=1, max_size=8))
def test_any_numbers_written_by_pandas_come_back(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("numbers") / "a.csv"
    expected = pd.DataFrame({"y": values})
    expected.to_csv(path, index=False, na_rep="NA")
    pd.testing.assert_frame_equal(read_table(path), expected, check_exact=True)


@pytest.mark.parametrize("first", [0, 1, 54362], ids=["pandas", "r", "part of a table"])
def test_row_numbers_without_a_name_are_left_out(tmp_path, first):
    rows = "".join(f"{first + i},{word}\n" for i, word in enumerate(["null", "NA", "true"]))
    read = read_delimited(save(tmp_path / "scores.csv", f",word\n{rows}"))
    assert list(read.frame.columns) == ["word"]
    assert read.frame["word"].tolist() == ["null", "NA", "true"]
    assert read.notes == ("The first column of scores.csv, row numbers without a name, was left out.",)


def test_other_cells_without_a_name_are_still_refused(tmp_path):
    message = refused(save(tmp_path / "scores.csv", ",word\n1,the\n3,cat\n"))
    assert message == "scores.csv, row 1: column 1 has cells but no name in the header."
