"""People's trials: what is read, and what is refused with row and column."""

from __future__ import annotations

import pandas as pd
import pytest

from psymem.data.items.human_trials import read_human_trials
from psymem.errors import DataError, UnknownNameError

CONDITIONS = {"1": ["A", "B"], "2": ["A", "B"], "bell": ["A"]}
HAS = "Expected subject, item, condition and rt_ms, judgement or response; the file has {}."


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        path = tmp_path / "trials.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refusal(path, kind=None) -> str:
    with pytest.raises(DataError) as error:
        read_human_trials(path, CONDITIONS, kind)
    return str(error.value)


def test_times_with_missing_ones_left_out_and_counted(write):
    path = write("subject,item,condition,rt_ms,list\ns1,1,A,512,x\ns1,2,B,NA,x\ns2,1,B,498.5,y\n")
    read = read_human_trials(path, CONDITIONS)
    expected = pd.DataFrame(
        {"subject": ["s1", "s2"], "item": ["1", "1"], "condition": ["A", "B"], "response": [512, 498.5]}
    )
    pd.testing.assert_frame_equal(read.frame, expected, check_dtype=False)
    assert read.kind == "rt"
    assert read.notes == ("1 of 3 trials of trials.csv have no response.",)
    assert len(read.sha256) == 64


@pytest.mark.parametrize(
    ("column", "cells", "given", "kind"),
    [
        ("judgement", ("0", "1"), None, "judgement"),
        ("response", ("0", "1.0"), None, "judgement"),
        ("response", ("350", "1"), None, "rt"),
        ("response", ("350", "400"), "rt", "rt"),
        ("response", ("0", "0"), "judgement", "judgement"),
    ],
)
def test_what_the_responses_are(column, cells, given, kind, write):
    path = write(f"subject,item,condition,{column}\ns1,1,A,{cells[0]}\ns1,2,A,{cells[1]}\n")
    assert read_human_trials(path, CONDITIONS, given).kind == kind


def test_decimal_commas(write):
    path = write("subject;item;condition;rt_ms\ns1;1;A;412,5\n")
    assert read_human_trials(path, CONDITIONS).frame["response"].tolist() == [412.5]


def test_repetitions_are_numbered(write):
    rows = "s1,1,A,{}500\ns1,1,A,{}520\n"
    numbered = write("subject,item,condition,trial,rt_ms\n" + rows.format("1,", "2,"))
    assert len(read_human_trials(numbered, CONDITIONS).frame) == 2
    path = write("subject,item,condition,rt_ms\n" + rows.format("", ""))
    assert refusal(path) == (
        f"{path}, row 3: subject 's1', item '1' and condition 'A' are already in row 2. If people met the same "
        "sentence more than once, number their trials in a column 'trial'."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "participant,item,condition,rt_ms\ns1,1,A,500\n",
            "{path}, row 1: there is no column 'subject'. "
            + HAS.format("participant, item, condition, rt_ms"),
            id="no subject",
        ),
        pytest.param(
            "subject,items,condition,rt_ms\ns1,1,A,500\n",
            "{path}, row 1: there is no column 'item' (did you mean 'items'?). "
            + HAS.format("subject, items, condition, rt_ms"),
            id="misspelled column",
        ),
        pytest.param(
            "subject,item,condition,time\ns1,1,A,500\n",
            "{path}, row 1: there is no column of responses; keep one of rt_ms, judgement, response. "
            + HAS.format("subject, item, condition, time"),
            id="no responses",
        ),
        pytest.param(
            "subject,item,condition,rt_ms,judgement\ns1,1,A,500,1\n",
            "{path}, row 1: rt_ms and judgement are both there; keep one of rt_ms, judgement, response. "
            + HAS.format("subject, item, condition, rt_ms, judgement"),
            id="two kinds of responses",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,1,A,500\n,1,B,500\n",
            "trials.csv, row 3, column 'subject': it is empty; say whose trial this is.",
            id="empty subject",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,1,A,500\nNA,1,B,500\n",
            "trials.csv, row 3, column 'subject': 'NA' means missing; say whose trial this is.",
            id="missing subject",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,belt,A,500\n",
            "trials.csv, row 2, column 'item': there is no item 'belt' (did you mean 'bell'?). "
            "The item set has 1, 2, bell.",
            id="unknown item",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,1,b,500\n",
            "trials.csv, row 2, column 'condition': item '1' has no condition 'b' (did you mean 'B'?). "
            "The item set has A, B.",
            id="condition in lower case",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,1,A,500\ns1,2,A,fast\n",
            "trials.csv, row 3, column 'rt_ms': 'fast' is not a number. Write a missing response as NA or leave it "
            "empty.",
            id="not a number",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,1,A,500\ns1,2,A,-1\n",
            "trials.csv, row 3, column 'rt_ms': -1 cannot be; times are in ms and above 0.",
            id="negative time",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,1,A,0.5\ns1,2,A,1.2\n",
            "{path}: the longest time in column 'rt_ms' is 1.2. Times are expected in ms; multiply by 1000 if these "
            "are seconds.",
            id="seconds",
        ),
        pytest.param(
            "subject,item,condition,judgement\ns1,1,A,1\ns1,2,A,2\n",
            "trials.csv, row 3, column 'judgement': 2 cannot be; a judgement is 0 or 1.",
            id="judgement of two",
        ),
        pytest.param(
            "subject,item,condition,rt_ms\ns1,1,A,NA\n",
            "{path}: column 'rt_ms' has no response, only missing values.",
            id="nothing but missing",
        ),
    ],
)
def test_refusals_name_the_place(text, message, write):
    path = write(text)
    assert refusal(path) == message.format(path=path)


def test_a_kind_that_contradicts_the_column(write):
    path = write("subject,item,condition,judgement\ns1,1,A,1\n")
    assert refusal(path, "rt") == (
        f"{path}: the column 'judgement' holds responses of the kind judgement, not rt. Rename it to 'response', or "
        "leave the kind out."
    )
    with pytest.raises(UnknownNameError) as error:
        read_human_trials(path, CONDITIONS, "speed")
    assert str(error.value) == "There is no kind of response called 'speed'. Known: judgement, rt."


@pytest.mark.parametrize(("yes", "no"), [("TRUE", "FALSE"), ("yes", "no"), ("True", "False")])
@pytest.mark.parametrize("column", ["judgement", "response"])
def test_judgements_in_words(write, yes, no, column):
    read = read_human_trials(
        write(f"subject,item,condition,{column}\ns1,1,A,{yes}\ns1,2,B,{no}\ns2,1,B,\n"), CONDITIONS
    )
    assert read.kind == "judgement"
    assert read.frame["response"].tolist() == [1, 0]
    assert read.notes == (
        f"Judgements in words were read: {no!r} as accepted and {yes!r} as rejected. If they mean the opposite, write 0 and 1.",
        "1 of 3 trials of trials.csv have no response.",
    )


def test_words_are_no_times(write):
    path = write("subject,item,condition,rt_ms\ns1,1,A,yes\n")
    assert "column 'rt_ms': 'yes' is not a number." in refusal(path)
