"""Minimal pairs from JSON lines and tables."""

from __future__ import annotations

import json

import pytest

from psymem.data.items.minimal_pairs import pair_words, read_pairs
from psymem.errors import DataError, SuiteError, UnknownNameError
from psymem.tables import WORDS, check

KEYS = {"sentence_good": "The keys are rusty.", "sentence_bad": "The keys is rusty."}


@pytest.fixture
def file(tmp_path):
    def write(content, name: str = "pairs.jsonl"):
        if not isinstance(content, str):
            content = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in content) + "\n"
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return write


def test_blimp_lines_are_read(file):
    known = {
        "UID": "agreement",
        "pairID": "7",
        "field": "syntax",
        "linguistics_term": "agr",
        "one_prefix": True,
    }
    path = file([{**KEYS, **known}, {**KEYS, "UID": "NA", "pairID": 7}])
    frame = read_pairs(path)
    assert frame.to_dict("records") == [
        {
            "paradigm": "agreement",
            "pair": "7",
            "good": "The keys are rusty.",
            "bad": "The keys is rusty.",
            "field": "syntax",
            "linguistics_term": "agr",
        },
        {
            "paradigm": "NA",
            "pair": "7",
            "good": "The keys are rusty.",
            "bad": "The keys is rusty.",
            "field": "",
            "linguistics_term": "",
        },
    ]


def test_without_names_the_file_and_the_line_name_a_pair(file):
    path = file("\n" + json.dumps({**KEYS, "sentence_bad": "One\u2028two ."}, ensure_ascii=False) + "\r\n")
    frame = read_pairs(path)
    assert frame[["paradigm", "pair"]].to_numpy().tolist() == [["pairs", "2"]]


def test_tables_and_folders_are_read(file, tmp_path):
    file("good;bad;paradigm\nNA is.;NA are.;null\n\nIt is.;It are.;\n", "b.csv")
    file("sentence_good\tsentence_bad\tpair\nHe is.\tHe are.\tx\n", "a.tsv")
    file([KEYS], "c.jsonl")
    frame = read_pairs(tmp_path)
    assert frame.to_numpy().tolist() == [
        ["a", "x", "He is.", "He are."],
        ["null", "2", "NA is.", "NA are."],
        ["b", "4", "It is.", "It are."],
        ["c", "1", "The keys are rusty.", "The keys is rusty."],
    ]


def test_each_sentence_is_a_text_of_one_sentence(file):
    words = check(pair_words(read_pairs(file("good,bad\nIt is. NA fit,It are.\n", "a.csv"))), WORDS)
    assert words["text_id"].tolist() == ["a/2/good"] * 4 + ["a/2/bad"] * 2
    assert words["sentence"].tolist() == ["good"] * 4 + ["bad"] * 2
    assert words["word"].tolist() == ["It", "is.", "NA", "fit", "It", "are."]
    assert words["word_id"].tolist() == [1, 2, 3, 4, 1, 2]
    assert words["sentence_id"].unique().tolist() == [1]


NO_JSON = (
    'Expected one pair per line, such as {"sentence_good": "The keys are rusty.", '
    '"sentence_bad": "The keys is rusty."}.'
)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("{", f"this is not JSON (Expecting property name enclosed in double quotes). {NO_JSON}"),
        ("[1]", "a JSON object with 'sentence_good' and 'sentence_bad' was expected."),
        ('{"sentence_good": "A."}', "there is no 'sentence_bad'; it has 'sentence_good'."),
        (
            '{"sentence_good": "A.", "sentence_bda": "B."}',
            "there is no 'sentence_bad'; it has 'sentence_good', 'sentence_bda'. Did you mean it where it says "
            "'sentence_bda'?",
        ),
        (
            '{"sentence_good": "A.", "sentence_bad": null}',
            "'sentence_bad' has to be a sentence, but it is None.",
        ),
        (
            '{"sentence_good": " ", "sentence_bad": "B."}',
            "'sentence_good' has to be a sentence, but it is ' '.",
        ),
        (
            '{"sentence_good": "A.", "sentence_bad": "B.", "UID": "\\udfff"}',
            "'UID' has half a character (a lone surrogate): '\\udfff'.",
        ),
        (
            '{"sentence_good": "A b.", "sentence_bad": "A  b."}',
            "both sentences are 'A b.'; there is nothing to choose between.",
        ),
    ],
)
def test_a_bad_line_is_named(file, second, message):
    path = file(json.dumps(KEYS) + "\n" + second + "\n")
    with pytest.raises(SuiteError) as caught:
        read_pairs(path)
    assert str(caught.value) == f"{path}, line 2: {message}"


def test_a_pair_may_occur_once(file):
    path = file([{**KEYS, "UID": "x", "pairID": "1"}, {**KEYS, "UID": "x", "pairID": "1"}])
    with pytest.raises(SuiteError) as caught:
        read_pairs(path)
    assert str(caught.value) == f"{path}, line 2: pair '1' of 'x' occurred before, in {path}, line 1."


def test_bad_tables_are_refused(file):
    path = file("good,wrong\nA.,B.\n", "a.csv")
    with pytest.raises(SuiteError) as caught:
        read_pairs(path)
    assert str(caught.value) == (
        f"{path} has no column 'bad'; it has good, wrong. A table of minimal pairs needs the columns 'good' and "
        "'bad'; one sentence a line is read with --alternating."
    )
    path = file("good,bad,sentence_bad\nA.,B.,C.\n", "b.csv")
    with pytest.raises(SuiteError) as caught:
        read_pairs(path)
    assert str(caught.value) == f"{path}: two columns hold 'sentence_bad'. Leave one of them out."
    path = file("good,bad\nA.,\n", "c.csv")
    with pytest.raises(SuiteError) as caught:
        read_pairs(path)
    assert str(caught.value) == f"{path}, row 2: 'sentence_bad' has to be a sentence, but it is ''."


def test_nothing_to_read_is_refused(file, tmp_path):
    with pytest.raises(DataError) as caught:
        read_pairs(tmp_path)
    assert str(caught.value) == f"The folder {tmp_path} has no .jsonl, .csv or .tsv file with minimal pairs."
    path = file("\n")
    with pytest.raises(DataError) as caught:
        read_pairs(path)
    assert str(caught.value) == f"{path}: there are no minimal pairs."


@pytest.mark.shared
def test_published_pairs_are_read(shared):
    frame = read_pairs(shared / "data" / "stimuli" / "blimp")
    assert frame["paradigm"].value_counts().unique().tolist() == [1000]
    assert frame["paradigm"].nunique() == 11


@pytest.mark.parametrize("order", ["bad-first", "good-first"])
def test_sentences_that_alternate(tmp_path, order):
    path = tmp_path / "agreement.txt"
    path.write_text(
        "look at this dogs .\nlook at these dogs .\n\nthe lies on the foot is flat .\nthe lie is .\n", "utf-8"
    )
    pairs = read_pairs(tmp_path, alternating=order)
    first, second = ("bad", "good") if order == "bad-first" else ("good", "bad")
    assert pairs[first].tolist() == ["look at this dogs .", "the lies on the foot is flat ."]
    assert pairs[second].tolist() == ["look at these dogs .", "the lie is ."]
    assert pairs["paradigm"].tolist() == ["agreement"] * 2
    assert pairs["pair"].tolist() == ["1", "4"]


def test_alternating_sentences_need_an_order_and_both_of_a_pair(tmp_path):
    path = tmp_path / "agreement.txt"
    path.write_text("this dogs .\nthese dogs .\nthat dogs .\n", "utf-8")
    with pytest.raises(SuiteError) as error:
        read_pairs(path, alternating="bad-first")
    assert (
        str(error.value)
        == f"{path} has 3 sentences; both sentences of a pair were expected after each other."
    )
    with pytest.raises(
        UnknownNameError, match=r"^There is no order of the sentences of a pair called 'odd'\."
    ):
        read_pairs(path, alternating="odd")


def test_tables_of_multiblimp(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("sen\twrong_sen\tphenomenon\nDie Hunde bellen.\tDie Hunde bellt.\tSV-#\n", "utf-8")
    pairs = read_pairs(path)
    assert pairs[["paradigm", "good", "bad"]].iloc[0].tolist() == [
        "SV-#",
        "Die Hunde bellen.",
        "Die Hunde bellt.",
    ]
