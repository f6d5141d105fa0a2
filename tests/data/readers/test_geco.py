"""GECO on its synthetic sample, whose writer is tests/data/samples/make_geco.py; expectations are by hand."""

import io
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from psymem.data.readers import geco
from psymem.data.readers.geco_material import material_words, read_material
from psymem.errors import DataError, UnknownNameError
from psymem.io.spreadsheet import read_columns

NA = np.nan
SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "geco" / "sample"


@pytest.fixture
def folder(tmp_path):
    """A copy of the sample that a test may change."""
    return shutil.copytree(SAMPLE, tmp_path / "geco")


@pytest.fixture
def as_csv(folder):
    """The same data with the sheet DATA saved as CSV."""
    cells = read_columns(folder / "MonolingualReadingData.xlsx", geco.COLUMNS, [], sheet="DATA")
    cells.to_csv(folder / "MonolingualReadingData.csv", index=False)
    (folder / "MonolingualReadingData.xlsx").unlink()
    return folder


@pytest.fixture(scope="module")
def corpus():
    return geco.read(SAMPLE)


def row_of(corpus, subject, text, word):
    rows = corpus.reading
    return rows[(rows["subject"] == subject) & (rows["text_id"] == text) & (rows["word_id"] == word)].iloc[0]


def test_words_stay_what_they_are_and_what_excel_mangled_comes_from_the_material(corpus):
    assert corpus.words["word"].tolist() == [
        *("He felt much better. It was late. She said null. We left. A wastepaper basket. NA burns".split()),
        *(
            "Off wind-blown sails. Had had had gone. gravely. To Say: #NAME? indeed! A False step true hello there".split()
        ),
    ]


def test_sentences_are_mended(corpus):
    sentences = corpus.words.groupby("sentence_id", sort=False)["word"].agg(" ".join)
    assert sentences.to_dict() == {
        "1-283": "He felt much better.",
        "1-284": "It was late.",
        "1-285": "She said null.",
        "1-286": "We left.",
        "2-2": "A wastepaper basket.",
        "2-3": "NA burns",
        "2-524": "Off wind-blown sails.",
        "2-525": "Had had had gone.",
        "3-1269": "gravely.",
        "3-1270": "To",
        "4-471": "Say: #NAME? indeed!",
        "4-672": "A False step true",
        "4-673": "hello there",
    }


def test_lines_begin_and_end_where_the_material_says_also_around_words_it_lacks(corpus):
    words = corpus.words
    first = "He better. late. said A basket. Off sails. gravely. Say: A true".split()
    assert words.loc[words["line_first"], "word"].tolist() == first
    last = "much was She left. wastepaper burns wind-blown gone. To indeed! step there".split()
    assert words.loc[words["line_last"], "word"].tolist() == last


@pytest.mark.parametrize(
    ("subject", "text", "word", "expected"),
    [
        ("pp21", "1-41", 84, (190, 410, 410, 410, 410, 410, 2, False)),
        ("pp21", "1-41", 86, (NA, NA, NA, NA, 180, 180, 1, True)),
        ("pp21", "1-41", 87, (240, 240, 650, 420, 240, 500, 3, False)),
        ("pp21", "1-41", 88, (NA, NA, NA, NA, NA, NA, 0, True)),
        ("pp21", "2-5", 14, (300, 300, 300, 300, 300, 300, 1, False)),
        ("pp21", "2-57", 43, (280, 280, 280, 280, 280, 280, 1, False)),
        ("pp21", "2-57", 45, (NA, NA, NA, NA, NA, NA, 0, True)),
        ("pp22", "4-97", 1, (150, 150, 150, 150, 150, 275, 2, False)),
    ],
)
def test_times_are_first_run_times_and_first_pass_only_where_the_word_was_not_skipped(
    corpus, subject, text, word, expected
):
    columns = [*geco.FIRST_PASS, *geco.ANY_TIME, "fixation_count", "skipped"]
    assert columns[:4] == [
        "first_fixation_duration",
        "gaze_duration",
        "go_past_time",
        "right_bounded_time",
    ]
    found = row_of(corpus, subject, text, word)[columns].astype(float)
    np.testing.assert_array_equal(found, np.array(expected, dtype=float))


def test_rows_are_those_of_the_readers_without_second_halves(corpus):
    assert corpus.reading.groupby("subject").size().to_dict() == {"pp21": 33, "pp22": 28}


def test_everything_mended_is_in_the_notes(corpus):
    assert corpus.notes == (
        "2 word(s) that Excel took for something else (TRUE, FALSE, an error) were restored: 4-96-86 'False', 4-97-1 'true'.",
        "1 word(s) could not be restored: 4-65-102 '#NAME?'.",
        "1 area(s) of readers' rows hold a sign that is no word and were left out: 3-132-19 'Unknown 19'.",
        "The material lacks 7 word(s) that readers read; they were put into the sentence and the line of their neighbours: "
        "1-41-89 'was', 2-57-43 'wind-blown', 2-57-44 'wind-blown', 2-57-47 'had', 2-57-48 'had', ....",
        "SENTENCE_ID is one word too early from word 1-41-87 to the end of part 1 and was moved; that changed the sentence "
        "of 3 word(s): 1-41-87 'better.', 1-41-90 'late.', 1-42-2 'null.'.",
        "1 word(s) without SENTENCE_ID were put into a sentence next to them: 2-5-17 'NA'.",
        "2 word(s) broken over two lines are in the data twice; the second half and its times were dropped: "
        "2-5-15 'wastepaper', 2-57-44 'wind-blown'.",
        "There are 2 reader(s) (pp21, pp22); the corpus has 14.",
        "Readers without data for some pages (number of pages): pp22 1.",
        "2 word(s) of the text have no row of any reader: 4-97-2 'hello', 4-97-3 'there'.",
        "1 word(s) of a reader were skipped in first pass and looked at later: they have a first-run dwell time and a total "
        "reading time only.",
    )


def test_a_csv_of_the_sheet_gives_the_same(corpus, as_csv):
    same = geco.read(as_csv)
    pd.testing.assert_frame_equal(same.words, corpus.words)
    pd.testing.assert_frame_equal(same.reading, corpus.reading)
    assert same.notes == corpus.notes


def change_csv(folder, change):
    path = folder / "MonolingualReadingData.csv"
    frame = pd.read_csv(path, dtype="str", keep_default_na=False)
    change(frame).to_csv(path, index=False)
    return path


def test_windows_text_is_read_as_such(as_csv):
    path = as_csv / "MonolingualReadingData.csv"
    path.write_bytes(path.read_bytes().replace(b"indeed!", "d\u00e9j\u00e0!".encode("cp1252")))
    corpus = geco.read(as_csv)
    assert "d\u00e9j\u00e0!" in corpus.words["word"].tolist()
    assert corpus.notes[0] == "MonolingualReadingData.csv was read as Windows-1252 text."


# bad input -------------------------------------------------------------------------------------------------
def test_a_wrong_folder_says_what_was_looked_for_and_found(tmp_path):
    (tmp_path / "thesis.docx").write_text("x")
    with pytest.raises(DataError) as error:
        geco.read(tmp_path)
    assert "Looked for MonolingualReadingData.xlsx or MonolingualReadingData.csv; found thesis.docx" in str(
        error.value
    )


@pytest.mark.parametrize("keep", [0, 100, 6000])
def test_a_file_that_was_cut_off_is_refused(folder, keep):
    path = folder / "MonolingualReadingData.xlsx"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(
        DataError, match=r"xlsx is damaged or was cut off while it was copied \(.*Get the file again"
    ):
        geco.read(folder)


def test_a_csv_that_was_cut_off_is_refused(as_csv):
    path = as_csv / "MonolingualReadingData.csv"
    path.write_bytes(path.read_bytes()[:-15])
    with pytest.raises(DataError, match=r"row 67: it has 6 cell\(s\) but the header has 10"):
        geco.read(as_csv)


def test_damage_inside_is_refused(folder):
    path = folder / "MonolingualReadingData.xlsx"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 60] = bytes(60)
    path.write_bytes(content)
    with pytest.raises(DataError, match="is damaged or was cut off"):
        geco.read(folder)


def rewritten(path, part, change):
    """Change one part inside a workbook."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    parts[part] = change(parts[part])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)
    path.write_bytes(packed.getvalue())


def test_a_workbook_without_the_sheet_names_those_it_has(folder):
    path = folder / "EnglishMaterial.xlsx"
    rewritten(path, "xl/workbook.xml", lambda xml: xml.replace(b'"ALL"', b'"WORDS"'))
    with pytest.raises(DataError) as error:
        geco.read(folder)
    assert str(error.value) == f"{path} has no sheet called 'ALL'; it has 'SENTENCE', 'WORDS'."


def test_an_empty_sheet_is_refused(folder):
    path = folder / "MonolingualReadingData.xlsx"
    rewritten(
        path, "xl/worksheets/sheet1.xml", lambda xml: xml[: xml.find(b"<row")] + b"</sheetData></worksheet>"
    )
    with pytest.raises(DataError, match="the sheet 'DATA' is empty: it has no header and no rows"):
        geco.read(folder)


def test_a_header_without_rows_is_refused(as_csv):
    change_csv(as_csv, lambda frame: frame.iloc[:0])
    with pytest.raises(DataError, match="has a header but no rows"):
        geco.read(as_csv)


def test_a_missing_column_is_named(as_csv):
    change_csv(as_csv, lambda frame: frame.drop(columns="WORD_SKIP"))
    with pytest.raises(UnknownNameError, match="There is no column called 'WORD_SKIP'"):
        geco.read(as_csv)


@pytest.mark.parametrize(
    ("cell", "what"), [("-5", "is negative"), ("fast", "is not a number"), ("1.2.3", "is not a number")]
)
def test_a_cell_that_is_no_time_is_named_by_row_and_column(as_csv, cell, what):
    path = change_csv(as_csv, lambda frame: frame.assign(WORD_GAZE_DURATION=["410", cell, *["."] * 64]))
    with pytest.raises(DataError) as error:
        geco.read(as_csv)
    assert str(error.value) == (
        f"{path}, row 3, column 'WORD_GAZE_DURATION': {cell!r} {what} (1 such cell(s)). "
        "Times are in ms, a missing value is '.'."
    )


def test_a_word_number_that_excel_took_for_a_date_is_named(as_csv):
    path = change_csv(as_csv, lambda frame: frame.replace({"WORD_ID": {"2-5-13": "02/05/2013"}}))
    with pytest.raises(DataError) as error:
        geco.read(as_csv)
    assert str(error.value).startswith(
        f"{path}, row 14, column 'WORD_ID': '02/05/2013' is not PART-TRIAL-WORD"
    )


def test_the_same_row_twice_is_dropped_and_noted(as_csv):
    change_csv(as_csv, lambda frame: pd.concat([frame, frame.iloc[:1]]))
    corpus = geco.read(as_csv)
    assert corpus.notes[0] == (
        "1 row(s) of MonolingualReadingData.csv say the same as an earlier one and were dropped, the first is row 68."
    )


def test_two_rows_that_disagree_are_refused(as_csv):
    path = change_csv(
        as_csv, lambda frame: pd.concat([frame, frame.iloc[:1].assign(WORD_GAZE_DURATION="411")])
    )
    with pytest.raises(DataError) as error:
        geco.read(as_csv)
    assert str(error.value) == (
        f"{path}, rows 2 and 68: reader pp21 has two different rows for word 1-41-84. Remove one."
    )


def test_a_word_that_differs_is_shown_and_many_are_refused(as_csv):
    change_csv(as_csv, lambda frame: frame.replace({"WORD": {"felt": "fell"}}))
    assert "1 word(s) differ between readers' rows and the material: 1-41-85 'fell' and 'felt'" in " ".join(
        geco.read(as_csv).notes
    )
    others = {w: f"{w}x" for w in ("He", "much", "It", "She", "said", "We")}
    change_csv(as_csv, lambda frame: frame.replace({"WORD": others}))
    with pytest.raises(DataError) as error:
        geco.read(as_csv)
    assert str(error.value) == (
        "GECO: 7 word(s) differ between readers' rows and the material: 1-41-84 'Hex' and 'He'; 1-41-85 'fell' and "
        "'felt'; 1-41-86 'muchx' and 'much'; 1-41-88 'Itx' and 'It'; 1-41-91 'Shex' and 'She'. Check that both files "
        "belong to the same release."
    )


# the real material -----------------------------------------------------------------------------------------
GECO_SHARED = ("data", "reading", "relfix", "extract_human_fixations", "data", "geco")


def real_material(shared, tmp_path):
    """The material with sentence numbers corrected by hand by others, and the sentence of each word in it."""
    packed = shared.joinpath(*GECO_SHARED, "EnglishMaterial_corrected.csv.gz")
    table = pd.read_csv(packed, dtype="str", keep_default_na=False)
    path = tmp_path / "EnglishMaterial.csv"
    table.to_csv(path, index=False)
    return path, table.set_index("WORD_ID")["SENTENCE_ID"]


def words_from(path, notes):
    material = read_material(path, notes)
    nothing = material.loc[[], ["text_id", "word_id", "word"]]
    words = material_words(nothing, material, notes)
    return words.set_index(words["text_id"] + "-" + words["word_id"].astype(str))


def test_the_corrected_material_is_left_as_it_is(shared, tmp_path):
    path, sentences = real_material(shared, tmp_path)
    notes = []
    words = words_from(path, notes)
    assert not [n for n in notes if "one word too early" in n]
    known = sentences[sentences != "#N/A"].reindex(words.index).dropna()
    assert (words.loc[known.index, "sentence_id"] == known).all()
    assert len(known) > 54_300


def test_the_published_material_becomes_the_corrected_one(shared, tmp_path):
    """The published numbers of part 1 are, from 1-41-87 on, those of the next row (as the correction says)."""
    path, sentences = real_material(shared, tmp_path)
    start = sentences.index.get_loc("1-41-87")
    part = sentences.index.str.startswith("1-").sum()
    published = sentences.copy()
    published.iloc[start : part - 1] = sentences.iloc[start + 1 : part]
    table = pd.read_csv(path, dtype="str", keep_default_na=False)
    table.assign(SENTENCE_ID=published.to_numpy()).to_csv(path, index=False)
    notes = []
    words = words_from(path, notes)
    assert len([n for n in notes if "one word too early" in n]) == 1
    known = sentences[sentences != "#N/A"].reindex(words.index).dropna()
    assert (words.loc[known.index, "sentence_id"] == known).mean() > 0.9999


def test_broken_words_of_the_real_material(shared, tmp_path):
    path, _ = real_material(shared, tmp_path)
    notes = []
    words_from(path, notes)
    broken = next(n for n in notes if "broken over two lines" in n)
    assert broken.startswith("5 word(s) broken over two lines")
    assert "2-5-15 'wastepaper'" in broken
    assert "4-121-32 'mantel-piece'" in broken


def test_a_label_on_two_areas_that_the_real_material_lacks_is_one_word(shared, tmp_path):
    """Words 2-57-43/44 and 4-82-35/36 stand at the end of a line and are in readers' rows alone."""
    path, _ = real_material(shared, tmp_path)
    material = read_material(path, [])
    seen = [("2-57", 43), ("2-57", 44), ("4-82", 35), ("4-82", 36)]
    extra = pd.DataFrame([(t, n, "long-winded") for t, n in seen], columns=["text_id", "word_id", "word"])
    notes = []
    words = material_words(extra, material, notes)
    kept = words[words["word"] == "long-winded"]
    assert (kept["text_id"] + "-" + kept["word_id"].astype(str)).tolist() == ["2-57-43", "4-82-35"]
    assert kept["line_last"].all()
    assert next(n for n in notes if "broken over two lines" in n).startswith("7 word(s) broken")
