"""Labelled texts in the layouts in which collections are published, and what is refused."""

from __future__ import annotations

import re

import pytest

from psymem.data.words.labelled_texts import LAYOUTS, read_labelled_texts
from psymem.errors import DataError


def write(folder, **files):
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    return folder


def test_messages_have_their_label_first(tmp_path):
    write(tmp_path, SMSSpamCollection="Label\tSMS\nham\tsee you\tthere\nspam\tWIN £1000 now\r\nham\tnull\n")
    found = read_labelled_texts(tmp_path, "sms")
    assert found.train == (("see you\tthere", "ham"), ("WIN £1000 now", "spam"), ("null", "ham"))
    assert (found.name, found.test, found.labels) == ("sms", (), ["ham", "spam"])


def test_tables_with_and_without_header(tmp_path):
    write(tmp_path, train__tsv="sentence\tlabel\nso good \t1\nbad\t0\n", test__tsv="label\t0\nfine\t1\n")
    found = read_labelled_texts(tmp_path)
    assert found.train == (("so good", "1"), ("bad", "0"))
    assert found.test == (("label", "0"), ("fine", "1"))
    assert found.name == tmp_path.name


def test_quoted_tables_of_several_texts(tmp_path):
    write(
        tmp_path,
        train__csv='"3","Title","He said ""no"",\nthen left"\n"1","a","b"\n',
        test__csv='"1","x","y"\n',
    )
    found = read_labelled_texts(tmp_path)
    assert found.train[0] == ('Title He said "no",\nthen left', "3")
    assert found.parts(1) == ([*found.train], [*found.test])


def test_a_fifth_is_the_test_where_there_is_none(tmp_path):
    lines = [f"{'ham' if n % 2 else 'spam'}\ttext {n}" for n in range(50)]
    found = read_labelled_texts(write(tmp_path, SMSSpamCollection="\n".join(lines)))
    train, test = found.parts(1)
    assert (len(train), len(test)) == (40, 10)
    assert set(train) | set(test) == set(found.train)
    assert found.parts(1) == (train, test)
    assert found.parts(2)[1] != test


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"train__tsv": "good 1\nbad\t0\n", "test__tsv": "x\t0\n"},
            "{0}/train.tsv, line 1: no text; expected a text and a label with a tab or comma between.",
        ),
        (
            {"SMSSpamCollection": "ham\ta\n\nspam\n"},
            "{0}/SMSSpamCollection, line 3: no text; expected a text and a label with a tab or comma between.",
        ),
        (
            {"train__csv": '"1","a"\n"2","b"\n', "test__csv": '"5","c"\n'},
            "{0}/test.csv has the label '5', which train.csv does not have; its labels are 1, 2.",
        ),
        (
            {"SMSSpamCollection": "ham\ta\nham\tb\n"},
            "{0}/SMSSpamCollection has 1 label; a classification needs two or more.",
        ),
        (
            {"train__tsv": "a\t1\nb\t0\n"},
            "{0} has no collection of labelled texts. It has train.tsv; expected " + LAYOUTS + ".",
        ),
    ],
)
def test_refusals(tmp_path, files, message):
    write(tmp_path, **files)
    with pytest.raises(DataError, match=f"^{re.escape(message.format(tmp_path))}$"):
        read_labelled_texts(tmp_path)


def test_no_folder(tmp_path):
    expected = f"{tmp_path / 'x'} has no collection of labelled texts. It is no folder; expected {LAYOUTS}."
    with pytest.raises(DataError, match=f"^{re.escape(expected)}$"):
        read_labelled_texts(tmp_path / "x")


@pytest.mark.parametrize(
    ("folder", "sizes", "classes"),
    [
        ("sms_spam", (5574, 0), 2),
        ("text_classification/data/SST-2", (60614, 872), 2),
        ("text_classification/data/agnews", (10001, 7600), 4),
    ],
)
@pytest.mark.shared
def test_real_collections(shared, folder, sizes, classes):
    found = read_labelled_texts(shared / "data/classification" / folder)
    assert (len(found.train), len(found.test), len(found.labels)) == (*sizes, classes)
