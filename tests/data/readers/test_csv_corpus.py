"""Plain tables of reading data: what is read, what has to be said, and what is refused."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pandas as pd
import pytest

import psymem
from psymem.errors import DataError, UnknownNameError

GOOD = (
    "subject,text_id,word_id,word,gaze_duration,total_reading_time\n"
    "s1,A,1,null,210,250\n"
    "s1,A,2,NA,NA,180\n"
    "s1,A,3,true,,\n"
    "s2,A,1,null,190.5,190.5\n"
    "s2,A,3,true,300,.\n"
)


@pytest.fixture
def table(tmp_path):
    def write(text=GOOD, name="mine.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def refused(path, error=DataError, **settings):
    with pytest.raises(error) as caught:
        psymem.load_corpus("csv", path, **settings)
    return str(caught.value)


def test_a_plain_table_is_read_and_words_stay_words(table):
    corpus = psymem.load_corpus("csv", table())
    assert corpus.words["word"].tolist() == ["null", "NA", "true"]
    assert corpus.words["word_id"].tolist() == [1, 2, 3]
    expected = pd.DataFrame(
        {
            "corpus": "csv",
            "subject": ["s1", "s1", "s1", "s2", "s2"],
            "text_id": "A",
            "word_id": [1, 2, 3, 1, 3],
            "word": ["null", "NA", "true", "null", "true"],
            "gaze_duration": [210, np.nan, np.nan, 190.5, 300],
            "total_reading_time": [250, 180, np.nan, 190.5, np.nan],
            "skipped": [False, False, True, False, True],
        }
    )
    pd.testing.assert_frame_equal(corpus.reading, expected, check_dtype=False)
    assert corpus.measures == ("gaze_duration", "total_reading_time")
    assert corpus.card["title"] == "Reading data of one's own, in a plain table"
    assert corpus.notes == ("There is no column sentence_id: sentences end at . ! or ? before a capital.",)


def test_other_column_names_and_words_that_nobody_read(table):
    table("text_id,sentence_id,word_id,word\nA,1,1,null\nA,1,2,NA\nA,2,3,true\nA,2,4,unread.\n", "texts.csv")
    renamed = (
        GOOD.replace("subject,", "reader,").replace("word,gaze", "w,gaze").replace("gaze_duration", "GD")
    )
    columns = {"subject": "reader", "word": "w", "gaze_duration": "GD"}
    corpus = psymem.load_corpus("csv", table(renamed), columns=columns)
    assert corpus.words["sentence_id"].tolist() == ["1", "1", "2", "2"]
    assert corpus.words["word"].tolist() == ["null", "NA", "true", "unread."]
    assert corpus.reading["gaze_duration"].sum() == 700.5


def test_zeros_have_to_be_explained(table):
    path = table(GOOD.replace("s1,A,3,true,,", "s1,A,3,true,0,0"))
    assert refused(path) == (
        f"{path}, row 4, column 'gaze_duration': a time of 0 (1 such cell(s)). If these words were not read, say so: "
        '--zero unread (zero="unread"); if 0 is a time that was measured, --zero time.'
    )
    corpus = psymem.load_corpus("csv", path, zero="unread")
    assert corpus.reading.loc[2, ["gaze_duration", "total_reading_time"]].isna().all()
    assert corpus.reading.loc[2, "skipped"]
    assert psymem.load_corpus("csv", path, zero="time").reading.loc[2, "gaze_duration"] == 0
    assert refused(path, UnknownNameError, zero="unred") == (
        "There is no meaning of zero called 'unred'. Did you mean 'unread'? Known: time, unread."
    )


def test_mixed_encodings_are_read_row_by_row(table, tmp_path):
    path = tmp_path / "mine.csv"
    rows = GOOD.replace("null", "café").splitlines(keepends=True)
    path.write_bytes(b"".join(r.encode("cp1252" if "s2" in r else "utf-8") for r in rows))
    corpus = psymem.load_corpus("csv", path)
    assert corpus.words["word"].tolist() == ["café", "NA", "true"]
    assert corpus.notes[0] == (
        "mine.csv mixes two encodings: row 2 is UTF-8, row 5 Windows-1252; every row was read as what it is."
    )


def test_averages_have_no_reader(table):
    path = table("text_id,word_id,word,gaze_duration,gpt2\n1,1,A,200.5,1.25\n1,2,dog.,NA,7\n")
    corpus = psymem.load_corpus("csv", path, averaged=True, keep=["gpt2"], called="toy")
    assert corpus.averaged
    assert corpus.name == "toy"
    assert corpus.reading["subject"].unique().tolist() == ["average"]
    assert corpus.words["gpt2"].tolist() == [1.25, 7.0]
    message = refused(path, UnknownNameError)
    assert message == (
        "There is no column called 'subject'. Known: gaze_duration, gpt2, text_id, word, word_id. These are the columns "
        f"of {path}. Averages over readers have none: say averaged=True (--averaged). Say which column it is: "
        "--columns subject=COLUMN."
    )


def test_a_missing_column_is_named_in_the_advice(table):
    path = table("subject,passage,word,gaze_duration\ns1,A,Null,210\n")
    assert refused(path, UnknownNameError) == (
        "There is no column called 'text_id'. Known: gaze_duration, passage, subject, word. These are the columns "
        f"of {path}. Say which column it is: --columns text_id=COLUMN."
    )


def test_a_column_to_keep_has_no_other_name(table):
    path = table("subject,text_id,word,gaze_duration\ns1,A,Null,210\n")
    assert refused(path, UnknownNameError, keep=["gpt2"]) == (
        "There is no column called 'gpt2'. Known: gaze_duration, subject, text_id, word. These are the columns "
        f"of {path}."
    )


def test_one_file_a_reader_without_word_numbers(table, tmp_path):
    table("text_id,word,total_reading_time\n1,A,100\n1,dog,0\n", "zab.csv")
    table("text_id,word,total_reading_time\n1,A,55\n1,dog,60\n", "zdm.csv")
    corpus = psymem.load_corpus("csv", tmp_path, zero="unread", ms_per_unit=2)
    assert corpus.reading["subject"].tolist() == ["zab", "zab", "zdm", "zdm"]
    assert corpus.reading["word_id"].tolist() == [1, 2, 1, 2]
    np.testing.assert_array_equal(corpus.reading["total_reading_time"], [200, np.nan, 110, 120])
    table("text_id,word,total_reading_time\n1,A,55\n1,cat,60\n", "zdm.csv")
    assert refused(tmp_path, zero="unread") == (
        "1 word(s) differ between readers: text 1, word 2: 'cat' against 'dog'. Number the words of each text in a "
        "column word_id, the same for all readers."
    )


def test_words_that_differ_from_the_texts_are_shown(table):
    table("text_id,word_id,word\n" + "".join(f"A,{i},w{i}\n" for i in range(1, 8)), "texts.csv")
    header = "subject,text_id,word_id,word,gaze_duration\n"
    path = table(header + "".join(f"s1,A,{i},v{i},200\n" for i in range(1, 9)))
    shown = "; ".join(f"text A, word {i}: 'v{i}' against 'w{i}'" for i in range(1, 6))
    assert refused(path) == (
        f"8 word(s) differ between the readers' data and {path.with_name('texts.csv')}: {shown}. Check that both belong "
        "to the same release."
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("190.5,", "-1,", "row 5, column 'gaze_duration': -1 is negative (1 such cell(s)). Durations are times in "
         "ms; mend the file."),
        ("190.5,", "x,", "row 5, column 'gaze_duration': 'x' is not a number. A missing value is written NA."),
        ("s2,A,3,", "s2,A,1,", "row 6: subject s2, text_id A, word_id 1 is already in row 5 (1 repeated row(s)). Each "
         "reader reads a word once; remove one of the rows."),
        ("s2,A,3,", "s2,A,3.5,", "row 6, column 'word_id': '3.5' is not a whole number."),
        ("A,3,true,,", "A,3,,,", "row 4, column 'word': it is empty."),
        ("s2,A,3,", "NA,A,3,", "row 6, column 'subject': 'NA' means missing; say whose reading this is, or leave the "
         "row out."),
        ("A,3,true,,", "A,3,so what,,", "row 4, column 'word': 'so what' has white space inside. Every row has to "
         "hold one word."),
    ],
)  # fmt: skip
def test_a_wrong_cell_is_named(table, old, new, message):
    path = table(GOOD.replace(old, new, 1))
    assert refused(path) == f"{path}, {message}"


def test_files_that_are_no_reading_data(table, tmp_path):
    path = table("subject,text_id,word_id,word,speed\ns1,1,1,A,3\n")
    assert refused(path).startswith(
        f"{path} has no column of durations; it has subject, text_id, word_id, word, speed. Name them"
    )
    seconds = table(GOOD.replace("210", "0.21").replace("250", ".25").replace("190.5", "0.19")
                    .replace("300", ".3").replace("180", ".18"))  # fmt: skip
    assert refused(seconds) == (
        f"{seconds}: the longest duration is 0.3. Durations are expected in ms; if these are seconds, say "
        "ms_per_unit=1000 (--ms-per-unit 1000)."
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty) == (f"{empty} holds no table. Looked for files in .csv, .tsv, .txt; found nothing.")
    assert refused(tmp_path / "gone") == (
        f"There is no file or folder {tmp_path / 'gone'}. What to put there: psymem corpora show csv."
    )
    assert refused(table(), UnknownNameError, columns={"gaze": "GD"}).startswith(
        "There is no column of reading data called 'gaze'."
    )


@pytest.mark.shared
def test_published_averages_of_205_sentences(shared):
    path = shared / "data/reading/devarda_ucl205/all_measures.csv"
    columns = {
        "text_id": "sent_id",
        "word_id": "context_length",
        "first_fixation_duration": "RTfirstfix",
        "gaze_duration": "RTfirstpass",
        "right_bounded_time": "RTrightbound",
        "go_past_time": "RTgopast",
    }
    corpus = psymem.load_corpus("csv", path, averaged=True, columns=columns, keep=["s_GPT2"])
    raw = pd.read_csv(path, dtype={"word": "str"}, keep_default_na=False)
    assert len(corpus.reading) == len(raw) == 1726
    assert corpus.words["text_id"].nunique() == 205
    merged = corpus.reading.merge(
        raw.assign(text_id=raw["sent_id"].astype("str")),
        left_on=["text_id", "word_id"],
        right_on=["text_id", "context_length"],
        validate="one_to_one",
    )
    assert (merged["word_x"] == merged["word_y"]).all()
    np.testing.assert_array_equal(merged["go_past_time"], merged["RTgopast"].astype(float))
    assert corpus.words["s_GPT2"].mean() == pytest.approx(raw["s_GPT2"].astype(float).mean())


RELFIX = "data/reading/relfix/extract_human_fixations/data"


def unpacked(paths, folder):
    """Copy gzipped tables into a folder, one per reader."""
    for path in paths:
        reader = path.name.split("-")[0]
        (folder / f"{reader}.csv").write_bytes(gzip.decompress(path.read_bytes()))
    return folder


@pytest.mark.shared
def test_total_reading_times_of_zuco_readers_in_samples(shared, tmp_path):
    files = sorted((shared / RELFIX / "zuco/zuco2_NR").glob("*.csv.gz"))
    columns = {"text_id": "sentence_id", "total_reading_time": "TRT", "word_id": ""}
    folder = unpacked(files[:3], tmp_path)
    corpus = psymem.load_corpus("csv", folder, columns=columns, zero="unread", ms_per_unit=2)
    raw = pd.read_csv(files[0], keep_default_na=False)
    first = corpus.reading[corpus.reading["subject"] == files[0].name.split("-")[0]]
    assert len(first) == len(raw)
    assert first["total_reading_time"].sum() == 2 * raw["TRT"].sum()
    assert first["skipped"].sum() == (raw["TRT"] == 0).sum()


@pytest.mark.shared
def test_total_reading_times_of_geco_readers(shared, tmp_path):
    files = sorted((shared / RELFIX / "geco").glob("pp*.csv.gz"))
    columns = {"text_id": "sentence_id", "total_reading_time": "TRT"}
    files = files[:2]
    folder = unpacked(files, tmp_path)
    assert refused(folder, columns=columns, zero="unread") == (
        f"{folder / 'pp21.csv'}, row 22664, column 'word': it is empty."
    )
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(\d),,([\d.]+,[\d.]+\n)", r"\1,-,\2", text), encoding="utf-8")
    corpus = psymem.load_corpus("csv", folder, columns=columns, zero="unread")
    assert corpus.reading.groupby("subject").size().tolist() == [54362] * 2
    assert corpus.reading["total_reading_time"].sum() == sum(
        pd.read_csv(f, keep_default_na=False)["TRT"].sum() for f in files
    )


@pytest.mark.parametrize("given", [0.0, -1.0, float("nan")])
def test_a_unit_that_is_none(table, given):
    assert refused(table(), ms_per_unit=given) == (
        f"ms_per_unit={given:g} (--ms-per-unit) is not possible; it is what 1 in the table is in ms, such as 1000 for "
        "seconds."
    )


# keys and gaps ---------------------------------------------------------------------------------------------
TWO_KEYS = (
    "subject,item,model,word_id,word,gaze_duration\n"
    "s1,3,gpt2,1,A,200\ns1,3,gpt2,2,dog.,210\ns1,3,phi,1,The,220\ns1,3,phi,2,cat.,230\n"
)


def test_a_text_may_be_known_by_two_columns(table):
    corpus = psymem.load_corpus("csv", table(TWO_KEYS), columns={"text_id": "item+model"})
    assert corpus.words["text_id"].tolist() == ["3+gpt2", "3+gpt2", "3+phi", "3+phi"]
    assert corpus.reading["text_id"].tolist() == corpus.words["text_id"].tolist()
    assert "text_id 3, word_id 1 is already in row 2" in refused(table(TWO_KEYS), columns={"text_id": "item"})


def test_the_file_of_all_words_may_have_the_two_columns_too(table):
    table("item,model,word_id,word\n3,gpt2,1,A\n3,gpt2,2,dog.\n3,phi,1,The\n3,phi,2,cat.\n", "texts.csv")
    corpus = psymem.load_corpus("csv", table(TWO_KEYS), columns={"text_id": "item+model"})
    assert corpus.words["text_id"].tolist() == ["3+gpt2", "3+gpt2", "3+phi", "3+phi"]


def test_a_joined_column_that_is_missing_is_named(table):
    path = table(TWO_KEYS)
    assert refused(path, UnknownNameError, columns={"text_id": "item+modell"}) == (
        "There is no column called 'modell'. Did you mean 'model'? Known: gaze_duration, item, model, subject, word, "
        f"word_id. These are the columns of {path}."
    )


def test_a_missing_word_number_is_said(table):
    lacking = "".join(line for line in GOOD.splitlines(keepends=True) if ",2,NA," not in line)
    corpus = psymem.load_corpus("csv", table(lacking))
    assert corpus.notes[-1].startswith(
        "1 word(s) are missing, where word numbers jump: text A, between 1 'null' and 3 'true'. What models say of the 1 "
        "later word(s) of these sentences is NA"
    )
    anew = psymem.load_corpus("csv", table(lacking), columns={"word_id": ""})
    assert anew.words["word_id"].tolist() == [1, 2]
    assert len(anew.notes) == 2
