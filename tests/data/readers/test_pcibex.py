"""Results files of PCIbex: the invented sample, the older Ibex, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import psymem
from psymem.errors import DataError, UnknownNameError
from psymem.io.delimited import read_table

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "pcibex" / "sample"
ADDRESS = "0cc175b9c0f1b6a831c399e269772661"


def refused(path, error=DataError, **settings):
    with pytest.raises(error) as caught:
        psymem.load_corpus("pcibex", path, **settings)
    return str(caught.value)


def test_the_sample():
    corpus = psymem.load_corpus("pcibex", SAMPLE)
    assert corpus.words["word"].tolist() == "No, the null hypothesis fell. It was Jos\u00e9's.".split()
    assert corpus.reading["subject"].unique().tolist() == [f"{ADDRESS}+1700000001", f"{ADDRESS}+1700000002"]
    assert corpus.measures == ("self_paced_reading_time",)
    second = corpus.reading[corpus.reading["subject"].str.endswith("2")]
    np.testing.assert_array_equal(
        second["self_paced_reading_time"], [412, np.nan, 390, 444, 401, 512, 498, 470]
    )
    assert corpus.notes == (
        "results.csv is a results file of PCIbex; its comments name the columns.",
        "2 row(s) of results.csv that are no self-paced reading were left out.",
    )


def test_columns_of_ones_own():
    corpus = psymem.load_corpus(
        "pcibex", SAMPLE, columns={"subject": "Results reception time", "text_id": "item+Label"}
    )
    assert corpus.words["text_id"].unique().tolist() == ["1+reading", "2+reading"]
    assert corpus.reading["subject"].unique().tolist() == ["1700000001", "1700000002"]
    assert refused(SAMPLE, UnknownNameError, columns={"text_id": "itm"}).startswith(
        "There is no column called 'itm'. Did you mean 'item'?"
    )
    assert refused(SAMPLE, UnknownNameError, columns={"word": "Value"}).startswith(
        "There is no column to be named called 'word'."
    )


def test_one_reader_for_two_is_refused():
    path = SAMPLE / "results.csv"
    assert refused(SAMPLE, columns={"subject": "MD5 hash of participant's IP address"}) == (
        f"{path}, row 59: subject {ADDRESS}, text_id It was Jos\u00e9's., area 1 is already in row 31 (8 repeated row(s)). "
        "Each reader reads a word once; remove one of the rows."
    )


def test_the_older_ibex(tmp_path):
    names = (
        "Time results were received;MD5 hash of participant's IP address;Controller name;Item number;Element number;Type;"
        "Group;Word number;Word;Reading time;Newline?;Sentence (or sentence MD5)"
    ).split(";")
    comments = [f"# {n}. {name}." for n, name in enumerate(names, start=1)]
    rows = [
        f"17,{ADDRESS},DashedSentence,3,0,filler,NULL,{n},{w},{ms},False,abc"
        for n, w, ms in ((1, "Go", 200), (2, "on", 210))
    ]
    path = tmp_path / "results"
    path.write_text("\n".join(["# Results on Monday", *comments, *rows]) + "\n", encoding="utf-8")
    corpus = psymem.load_corpus("pcibex", path)
    assert corpus.words["word"].tolist() == ["Go", "on"]
    assert corpus.reading["self_paced_reading_time"].tolist() == [200, 210]


def test_the_file_is_a_table_everywhere():
    frame = read_table(SAMPLE / "results.csv")
    assert frame.columns.tolist()[-4:] == [
        "Comments",
        "Reading time",
        "Newline?",
        "Sentence (or sentence MD5)",
    ]
    assert frame["Reading time"].tolist()[1:3] == [310, 295]
    assert frame["Value"].tolist()[:4] == ["Start", "No,", "the", "null"]
    assert frame["Latin Square Group"].isin(["", np.nan]).all() or frame["Latin Square Group"].isna().all()


def test_files_that_are_wrong(tmp_path):
    text = (SAMPLE / "results.csv").read_text(encoding="utf-8")
    path = tmp_path / "results.csv"
    path.write_text(text[:-20], encoding="utf-8")
    assert refused(path).startswith(
        f"{path}, row 66: it has 16 cells, the comments above it name 17 columns."
    )
    path.write_text("\n".join(line for line in text.splitlines() if line.startswith("#")), encoding="utf-8")
    assert refused(path) == f"{path} has comments that name columns, but no rows."
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert refused(path) == (
        f"{path} has no self-paced reading: no column is called 'Reading time', as in results of the controller "
        "DashedSentence. It has a, b."
    )
