"""Dundee on its synthetic sample, whose writer is tests/data/samples/make_dundee.py; expectations are by hand."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from psymem.data.corpora.fixations import MEASURES
from psymem.data.readers import dundee
from psymem.data.readers.dundee_files import guess_encoding
from psymem.errors import DataError

NA = np.nan
SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "dundee" / "sample"


@pytest.fixture(scope="module")
def corpus():
    return dundee.read(SAMPLE)


@pytest.fixture
def folder(tmp_path):
    """A copy of the sample that a test may change."""
    return shutil.copytree(SAMPLE, tmp_path / "dundee")


def change(path, old, new, count=1):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, count))


def measures_of(corpus, subject, text):
    rows = corpus.reading
    return rows[(rows["subject"] == subject) & (rows["text_id"] == text)].set_index("word")[list(MEASURES)]


def test_words_are_the_same_in_every_encoding_and_stay_what_they_are(corpus):
    words = 'Voil\u00e0, "Well," caf\u00e9 null NA \u00a35 m\u00e1s. (He) left. So. It goes.'.split()
    assert corpus.words["word"].tolist() == words
    assert set(corpus.reading["word"]) == set(words)


def test_sentences_are_those_of_the_treebank(corpus):
    assert corpus.words["sentence_id"].tolist() == [1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 5, 5]


def test_lines_end_with_the_line_and_the_screen(corpus):
    words = corpus.words
    assert words.loc[words["line_first"], "word"].tolist() == ["Voil\u00e0,", "NA", "(He)", "So."]
    assert words.loc[words["line_last"], "word"].tolist() == ["null", "m\u00e1s.", "left.", "goes."]


# first fixation, gaze, single, go-past, right-bounded, first run, total, count, regressions in, out and out in first pass, skipped
BY_HAND = {
    "Voil\u00e0,": (200, 300, NA, 300, 300, 300, 300, 2, 0, 0, 0, False),  # a blink does not end the run
    '"Well,"': (180, 180, 180, 180, 180, 180, 180, 1, 0, 0, 0, False),
    "caf\u00e9": (NA, NA, NA, NA, NA, 120, 120, 1, 1, 0, 0, True),
    "null": (250, 250, 250, 460, 340, 250, 340, 2, 0, 1, 1, False),
    "NA": (210, 210, 210, 270, 270, 210, 270, 2, 0, 0, 0, False),  # a look between the words does
    "\u00a35": (190, 250, NA, 250, 250, 250, 250, 2, 0, 0, 0, False),  # a gap in time does not
    "m\u00e1s.": (NA, NA, NA, NA, NA, NA, NA, 0, 0, 0, 0, True),
    "(He)": (230, 230, 230, 230, 230, 230, 230, 1, 0, 0, 0, False),
    "left.": (NA, NA, NA, NA, NA, NA, NA, 0, 0, 0, 0, True),
}


def test_measures_come_from_the_fixations(corpus):
    found = measures_of(corpus, "sa", "1")
    assert found.index.tolist() == list(BY_HAND)
    np.testing.assert_array_equal(found.astype(float), np.array(list(BY_HAND.values()), dtype=float))


def test_fixations_in_the_order_of_the_text_are_put_in_the_order_of_time(corpus):
    found = measures_of(corpus, "sc", "1")
    assert found.loc["null", "go_past_time"] == 270
    assert found["skipped"].tolist() == [False, True, True, False, True, True, True, True, True]
    assert found["total_reading_time"].sum() == 420


def test_both_orders_give_the_same(folder, corpus):
    lines = (folder / "sc01ma2p.dat").read_bytes().decode("cp437").splitlines()
    in_time = [lines[0], lines[1], lines[4], lines[3]]
    (folder / "sc01ma1p.dat").write_bytes("\r\n".join(in_time).encode("cp437"))
    pd.testing.assert_frame_equal(measures_of(dundee.read(folder), "sc", "1"), measures_of(corpus, "sc", "1"))


def test_what_is_missing_and_how_it_was_read_is_in_the_notes(corpus):
    assert corpus.notes == (
        "2 file(s) were read as cp1252: sa01ma1p.dat, sb01ma1p.dat.",
        "2 file(s) were read as cp437: tx01wrdp.dat, sc01ma2p.dat.",
        "There are 2 of 20 texts.",
        "There are 3 of 10 readers; missing: sd, se, sf, sg, sh, si, sj.",
        "Reader sb has no data for text(s) 2.",
        "Reader sc has no data for text(s) 2.",
        "1 file(s) are in the order of the text (ma2p); FXNO gave the order of time.",
        "The treebank lacks 1 word(s), which were put into the sentence before: 1-9 'left.'.",
    )


def test_without_the_treebank_sentences_are_split_by_the_stated_rule(folder):
    (folder / "TheDundeeTreebank_v1-0.csv").unlink()
    corpus = dundee.read(folder)
    assert corpus.words["sentence_id"].tolist() == [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    assert (
        "TheDundeeTreebank_v1-0.csv is not there; sentences are those of psymem's own rule." in corpus.notes
    )


def test_files_may_lie_in_folders(folder, corpus):
    for pattern, name in (("*ma?p.dat", "eye"), ("*wrdp.dat", "words"), ("*.csv", "TLT2015")):
        (folder / "english" / name).mkdir(parents=True)
        for path in folder.glob(pattern):
            path.rename(folder / "english" / name / path.name)
    pd.testing.assert_frame_equal(dundee.read(folder).reading, corpus.reading)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_copies_in_utf_8_are_read_as_that(folder, corpus, mark):
    for name, encoding in (("tx01wrdp.dat", "cp437"), ("sa01ma1p.dat", "cp1252"), ("sc01ma2p.dat", "cp437")):
        path = folder / name
        path.write_bytes(mark + path.read_bytes().decode(encoding).encode("utf-8"))
    copied = dundee.read(folder)
    pd.testing.assert_frame_equal(copied.words, corpus.words)
    pd.testing.assert_frame_equal(copied.reading, corpus.reading)
    assert copied.notes[:2] == (
        "1 file(s) were read as cp1252: sb01ma1p.dat.",
        "3 file(s) were read as utf-8: tx01wrdp.dat, sa01ma1p.dat, sc01ma2p.dat.",
    )


def test_a_file_without_header_loses_no_event(folder, corpus):
    for name in ("sa01ma1p.dat", "sa02ma1p.dat", "sc01ma2p.dat"):
        path = folder / name
        path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    pd.testing.assert_frame_equal(dundee.read(folder).reading, corpus.reading)


@pytest.mark.parametrize(
    ("word", "encoding"),
    [
        ("caf\u00e9", "cp437"),
        ("caf\u00e9", "cp1252"),
        ("\u00a35m", "cp437"),
        ("\u00a35m", "cp1252"),
        ("Fran\u00e7ois", "cp437"),
        ("Fran\u00e7ois", "cp1252"),
        ("na\u00efve", "cp437"),
        ("na\u00efve", "cp1252"),
        ("don\u2019t", "cp1252"),
        ("\u201cWell\u201d", "cp1252"),
        ("K\u00f6ln", "cp437"),
        ("vis-\u00e0-vis", "cp437"),
        ("se\u00f1or", "cp437"),
        ("se\u00f1or", "cp1252"),
        ("\u2014and", "cp1252"),
    ],
)
def test_one_word_is_enough_to_tell_the_encoding(word, encoding):
    content = word.encode(encoding)
    assert content.decode(guess_encoding([content])) == word


# bad input -------------------------------------------------------------------------------------------------
def test_a_wrong_folder_says_what_was_looked_for_and_found(tmp_path):
    (tmp_path / "paper.pdf").write_text("x")
    with pytest.raises(DataError) as error:
        dundee.read(tmp_path)
    assert str(error.value) == (
        f"{tmp_path} does not hold the corpus 'dundee'. Looked for files such as sa01ma1p.dat and tx01wrdp.dat, also in "
        "folders inside; found paper.pdf. Where to get it: psymem corpora show dundee."
    )


def test_words_without_events_are_not_enough(folder):
    for path in folder.glob("s*.dat"):
        path.unlink()
    with pytest.raises(DataError, match=r"Looked for files such as sa01ma1p\.dat, also in folders inside"):
        dundee.read(folder)


def test_events_of_a_text_without_its_words_are_refused(folder):
    (folder / "tx02wrdp.dat").unlink()
    with pytest.raises(DataError) as error:
        dundee.read(folder)
    assert (
        str(error.value) == f"{folder} has events of 1 text(s) without their words: tx02wrdp.dat not found."
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"    200 ", b"   -200 ", "row 2, column 'FDUR': -200 is negative (1 such cell(s))."),
        (b"    200 ", b"   fast ", "row 2, column 'FDUR': 'fast' is not a number."),
        (b"*Off-screen", b"*Offscreens", "row 9: '*Offscreens' is neither a word nor *Blink or *Off-screen."),
        (b"    200 ", b"    200   1 ", "is damaged: "),
    ],
)
def test_a_wrong_cell_is_named(folder, old, new, message):
    path = folder / "sa01ma1p.dat"
    change(path, old, new)
    with pytest.raises(DataError) as error:
        dundee.read(folder)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


@pytest.mark.parametrize(("name", "row"), [("sa01ma1p.dat", 18), ("tx01wrdp.dat", 9)])
def test_a_file_that_was_cut_off_is_refused(folder, name, row):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(
        DataError, match=f"{name}, row {row}: it has fewer than 1[24] cells; the file may have been cut"
    ):
        dundee.read(folder)


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b"WORD TEXT\r\n", "a header but no rows")]
)
def test_an_empty_file_is_refused(folder, content, message):
    (folder / "sa01ma1p.dat").write_bytes(content)
    with pytest.raises(DataError, match=message):
        dundee.read(folder)


def test_a_word_number_that_is_there_twice_is_refused(folder):
    change(folder / "tx02wrdp.dat", b"    3    42", b"    2    42")
    with pytest.raises(DataError, match=r"tx02wrdp\.dat, row 3: the word number 2 is there twice"):
        dundee.read(folder)


def test_words_that_differ_are_shown(folder):
    for word in ("So.", "goes."):
        change(folder / "sa02ma1p.dat", word.encode(), word[::-1].encode())
    with pytest.raises(DataError) as error:
        dundee.read(folder)
    assert str(error.value) == (
        "Dundee: 2 word(s) differ between events and texts: text 2, word 1: '.oS' and 'So.'; text 2, word 3: '.seog' and "
        "'goes.'. Check that both belong to the same release."
    )


def test_fixations_on_a_word_that_the_text_lacks_are_refused(folder):
    change(folder / "sa02ma1p.dat", b"      3    222", b"     33    222")
    with pytest.raises(
        DataError, match=r"There are fixations on 1 word\(s\) that the texts do not have: text 2, word 33"
    ):
        dundee.read(folder)
