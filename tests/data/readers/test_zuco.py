"""ZuCo on its synthetic samples, whose writer is tests/data/samples/make_zuco.py; expectations are by hand."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io

from psymem.data.readers import zuco
from psymem.errors import DataError

NA = np.nan
CORPORA = Path(__file__).resolve().parents[3] / "corpora"
MEASURES = [*zuco.FIRST_PASS, *zuco.ANY_TIME, "fixation_count", "skipped"]


@pytest.fixture(params=["zuco1", "zuco2"])
def name(request):
    return request.param


@pytest.fixture
def folder(name, tmp_path):
    """A copy of a sample that a test may change."""
    return shutil.copytree(CORPORA / name / "sample", tmp_path / name)


def read_sample(name):
    return zuco.read(CORPORA / name / "sample", name)


def measures_of(corpus, subject, text):
    rows = corpus.reading
    return rows[(rows["subject"] == subject) & (rows["text_id"] == text)].set_index("word")[MEASURES]


A_SENTENCE = {  # ms: twice the samples; first fixation, gaze and go-past only in first pass
    "A": (NA, NA, NA, NA, NA, 0, True),
    "null": (120, 270, 270, 270, 270, 2, False),
    "plot,": (NA, NA, NA, 180, 180, 1, True),
    "NA": (202, 202, 382, 202, 346, 2, False),
    "true.": (150, 150, 150, 150, 150, 1, False),
}


@pytest.mark.parametrize(("name", "subject", "text"), [("zuco1", "ZAB", "SR-1"), ("zuco2", "YAC", "NR-1")])
def test_samples_become_ms_and_words_stay_what_they_are(name, subject, text):
    found = measures_of(read_sample(name), subject, text)
    assert found.index.tolist() == list(A_SENTENCE)
    np.testing.assert_array_equal(found.astype(float), np.array(list(A_SENTENCE.values()), dtype=float))


@pytest.mark.parametrize(("name", "subject", "text"), [("zuco1", "ZAB", "SR-3"), ("zuco2", "YAC", "NR-3")])
def test_a_sentence_of_one_word_is_read(name, subject, text):
    found = measures_of(read_sample(name), subject, text)
    assert found.to_dict("index") == {
        "Dull.": dict(zip(MEASURES, (140, 460, 460, 460, 460, 3, False), strict=True))
    }


def test_letters_beyond_ascii_and_misspellings(name):
    assert read_sample(name).words.query("text_id in ('SR-2', 'NR-2')")["word"].tolist() == [
        "An",
        "empty",
        "caf\u00e9.",
    ]


def test_readers_have_the_sentences_they_read():
    one, two = (
        read_sample(n).reading.groupby(["subject", "text_id"]).size().to_dict() for n in ("zuco1", "zuco2")
    )
    assert one == {("ZAB", "NR-1"): 3, ("ZAB", "SR-1"): 5, ("ZAB", "SR-2"): 3, ("ZAB", "SR-3"): 1} | {
        ("ZDM", "SR-1"): 5,
        ("ZDM", "SR-3"): 1,
    }
    assert two == {
        ("YAC", "NR-1"): 5,
        ("YAC", "NR-2"): 3,
        ("YAC", "NR-3"): 1,
        ("YAG", "NR-2"): 3,
        ("YAG", "NR-3"): 1,
    }


def test_what_is_missing_moved_or_mended_is_in_the_notes():
    assert read_sample("zuco1").notes == (
        "Task SR lacks 10 of 12 readers: ZDN, ZGW, ZJM, ZJN, ZJS, ZKB, ZKH, ZKW, ZMG, ZPH.",
        "Task NR lacks 11 of 12 readers: ZDM, ZDN, ZGW, ZJM, ZJN, ZJS, ZKB, ZKH, ZKW, ZMG, ZPH.",
        "1 sentence(s) of a reader are missing: ZDM SR-2.",
        "Words and sentence differ in 1 sentence(s), the words were followed: NR-1 'An empty caf\u00e9.' and "
        "'An empty caf\u00e9 again.'.",
        "Misspelt in the files and mended: emp11111ty.",
    )
    assert read_sample("zuco2").notes == (
        "Reader YMH was left out (dyslexia, incomplete data), as the publishers ask.",
        "Task NR lacks 16 of 18 readers: YAK, YDG, YDR, YFR, YFS, YHS, YIS, YLS, YMD, YMS, YRH, YRK, YRP, YSD, YSL, YTL.",
        "1 sentence(s) of a reader are missing: YAG NR-1.",
        "2 sentence(s) of a reader are not where other readers have them and were put there by their words: "
        "YAG NR-2, YAG NR-3.",
        "Misspelt in the files and mended: emp11111ty.",
    )


def test_files_may_lie_in_the_folders_of_the_tasks(tmp_path):
    for file in (CORPORA / "zuco1" / "sample").iterdir():
        task = "task1- SR" if "_SR" in file.name else "task2 - NR"
        (tmp_path / task / "Matlab files").mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / task / "Matlab files")
    pd.testing.assert_frame_equal(zuco.read_zuco1(tmp_path).reading, read_sample("zuco1").reading)


def test_the_search_task_is_left_out(tmp_path):
    shutil.copytree(CORPORA / "zuco1" / "sample", tmp_path, dirs_exist_ok=True)
    shutil.copy(tmp_path / "resultsZAB_NR.mat", tmp_path / "resultsZAB_TSR.mat")
    assert zuco.read_zuco1(tmp_path).notes[0] == (
        "1 file(s) of the search task TSR were left out; it is no natural reading."
    )


def test_without_positions_of_fixations_there_is_no_first_pass(tmp_path):
    words = np.zeros(
        (1, 2), dtype=[(n, object) for n in ("content", "nFixations", "FFD", "GD", "GPT", "TRT")]
    )
    words[0, 0] = ("Go", *(np.array([[n]]) for n in (1.0, 90.0, 95.0, 96.0, 97.0)))
    words[0, 1] = ("on.", *[np.zeros((0, 0))] * 5)
    sentence = np.zeros((1, 1), dtype=[("content", object), ("word", object)])
    sentence[0, 0] = ("Go on.", words)
    scipy.io.savemat(tmp_path / "resultsZAB_NR.mat", {"sentenceData": sentence})
    corpus = zuco.read_zuco1(tmp_path)
    assert corpus.measures == ("first_run_dwell_time", "total_reading_time")
    assert corpus.reading["first_run_dwell_time"].tolist()[0] == 190
    assert corpus.reading["skipped"].tolist() == [False, True]
    assert any(note.startswith("Some words have no fixPositions") for note in corpus.notes)


# bad input -------------------------------------------------------------------------------------------------
def test_a_wrong_folder_says_what_was_looked_for_and_found(name, tmp_path):
    (tmp_path / "readme.txt").write_text("x")
    with pytest.raises(DataError) as error:
        zuco.read(tmp_path, name)
    first = {"zuco1": "resultsZAB_SR.mat", "zuco2": "resultsYAC_NR.mat"}[name]
    assert str(error.value) == (
        f"{tmp_path} does not hold the corpus {name!r}. Looked for files such as {first}, also in folders inside; "
        f"found readme.txt. Where to get it: psymem corpora show {name}."
    )


def test_the_other_corpus_is_not_taken_for_this_one():
    with pytest.raises(DataError, match="does not hold the corpus 'zuco2'"):
        zuco.read_zuco2(CORPORA / "zuco1" / "sample")


@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.95])
def test_a_file_that_was_cut_off_is_refused(folder, name, part):
    path = sorted(folder.glob("*.mat"))[0]
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(DataError) as error:
        zuco.read(folder, name)
    assert str(error.value).startswith(
        f"{path} is no MATLAB file of ZuCo, is damaged or was cut off while it was copied ("
    )


def test_another_matlab_file_is_refused(tmp_path):
    scipy.io.savemat(tmp_path / "resultsZAB_NR.mat", {"x": 1})
    with pytest.raises(DataError) as error:
        zuco.read_zuco1(tmp_path)
    assert str(error.value) == (
        f"{tmp_path / 'resultsZAB_NR.mat'} has no variable sentenceData; it is no results file of ZuCo."
    )


def test_a_negative_time_is_named(tmp_path):
    shutil.copy(CORPORA / "zuco2" / "sample" / "resultsYAC_NR.mat", tmp_path)
    path = tmp_path / "resultsYAC_NR.mat"
    with h5py.File(path, "r+") as file:
        group = file[file["sentenceData/word"][0, 0]]
        file[group["GD"][1, 0]][...] = -7
    with pytest.raises(DataError) as error:
        zuco.read_zuco2(tmp_path)
    assert str(error.value) == (
        f"{path}, sentence NR-1, word 'null': GD is -7, which is negative. Get the file again."
    )


def test_files_without_any_data_are_refused(tmp_path):
    sentence = np.zeros((1, 1), dtype=[("content", object), ("word", object)])
    sentence[0, 0] = ("Go on.", np.nan)
    scipy.io.savemat(tmp_path / "resultsZAB_NR.mat", {"sentenceData": sentence})
    with pytest.raises(DataError, match="hold no sentence that anybody read"):
        zuco.read_zuco1(tmp_path)


def test_published_times_are_samples_at_500_hertz(shared):
    """Derived tables of all readers: odd numbers cannot be ms at 2 ms a sample, and fixations of 100 ms begin at 50."""
    folder = shared / "data" / "reading" / "relfix" / "extract_human_fixations" / "data" / "zuco"
    for task, reader in (("zuco1_SR", "ZAB"), ("zuco1_NR", "ZKW"), ("zuco2_NR", "YAC")):
        table = pd.read_csv(folder / task / f"{reader}-relfix-feats.csv.gz", usecols=["TRT"])["TRT"]
        read = table[table > 0]
        assert 0.4 < (read % 2).mean() < 0.6
        assert 95 <= zuco.samples_to_ms(read.min(), zuco.HERTZ) <= 105
        assert 200 < zuco.samples_to_ms(read.median(), zuco.HERTZ) < 600


def test_a_fixation_on_the_edge_of_two_boxes_is_one_on_both_words():
    found = measures_of(read_sample("zuco1"), "ZDM", "SR-1")
    assert not found["skipped"].any()
    assert found.loc["plot,", "gaze_duration"] == found.loc["NA", "gaze_duration"] == 132


def test_zeros_are_no_times():
    found = measures_of(read_sample("zuco1"), "ZDM", "SR-1").loc["true."]
    assert found[["gaze_duration", "total_reading_time", "first_run_dwell_time"]].isna().all()
