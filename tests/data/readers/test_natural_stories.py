"""Natural Stories: the invented sample by hand, the published means, and files that are wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import psymem
from psymem.errors import DataError

SAMPLE = Path(__file__).resolve().parents[3] / "corpora" / "natural-stories" / "sample"


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(SAMPLE, tmp_path / "naturalstories"))


def refused(folder, **settings):
    with pytest.raises(DataError) as caught:
        psymem.load_corpus("natural-stories", folder, **settings)
    return str(caught.value)


def test_times_of_readers():
    corpus = psymem.load_corpus("natural-stories", SAMPLE)
    assert corpus.words["word"].tolist() == ['"If', "you", "can't", "peak.", "NA", "comes.", "null", "ends."]
    assert corpus.words["sentence_id"].tolist() == [1, 1, 1, 1, 2, 2, 1, 1]
    times = corpus.reading.set_index(["subject", "text_id", "word_id"])["self_paced_reading_time"]
    assert times.to_dict() == {
        ("A1", "1", 1): 250, ("A1", "1", 2): 300, ("A1", "1", 4): 101, ("A1", "1", 6): 2999,
        ("A2", "1", 1): 260, ("A2", "1", 2): 310, ("A2", "1", 3): 400, ("A2", "1", 4): 1000,
        ("A2", "1", 5): 350, ("A2", "1", 6): 420, ("A1", "2", 1): 333, ("A1", "2", 2): 444,
    }  # fmt: skip
    assert not corpus.averaged
    assert corpus.notes == (
        "Sentences are those of stories-aligned.conllx.",
        "1 word(s) were shown otherwise than words.tsv has them; what was shown is kept: text 1, word 4: 'peak.' against "
        "'peek.'.",
        "The files have 3 reader(s); 181 were published.",
        "6 time(s) of readers with 4 or fewer right answers were left out.",
        "2 time(s) not between 100 and 3000 ms were left out.",
    )


def test_means_by_word(folder):
    (folder / "naturalstories_RTS" / "processed_RTs.tsv").unlink()
    corpus = psymem.load_corpus("natural-stories", folder)
    assert corpus.averaged
    assert corpus.reading["self_paced_reading_time"].tolist() == [255, 305, 400, 550.5, 350, 1709.5, 333, 444]
    assert corpus.reading["n_readers"].tolist() == [2, 2, 1, 2, 1, 2, 1, 1]
    assert corpus.notes[-1] == (
        "There is no processed_RTs.tsv: these are the means over readers of processed_wordinfo.tsv."
    )


def test_without_parses_sentences_follow_the_rule(folder):
    (folder / "parses" / "ud" / "stories-aligned.conllx").unlink()
    corpus = psymem.load_corpus("natural-stories", folder)
    assert corpus.words["sentence_id"].tolist() == [1, 1, 1, 1, 2, 2, 1, 1]
    assert corpus.notes[0] == (
        "Sentences end at . ! or ? before a capital; the parses of the corpus are not in the folder."
    )


def test_words_that_differ_from_the_text_are_refused_or_left_out(folder):
    path = folder / "naturalstories_RTS" / "processed_RTs.tsv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\tyou\t", "\tthou\t"), encoding="utf-8")
    assert refused(folder) == (
        "1 word(s) differ between processed_RTs.tsv and all_stories.tok: text 1, word 2: 'thou' against 'you'. Check "
        "that both belong to the same release."
    )
    path.write_text(text.replace("\tyou\t", "\tYou,\t"), encoding="utf-8")
    corpus = psymem.load_corpus("natural-stories", folder)
    assert corpus.notes[-1] == (
        "1 word(s) differ between processed_RTs.tsv and all_stories.tok in punctuation or case only and were taken as "
        "the text has them: text 1, word 2: 'You,' against 'you'."
    )


def test_words_without_a_time_hint_at_an_old_release(folder):
    path = folder / "naturalstories_RTS" / "processed_RTs.tsv"
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if "\tends.\t" not in line]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    assert psymem.load_corpus("natural-stories", folder).notes[-1] == (
        "1 word(s) of all_stories.tok have no time, the first is text 2, word 2: 'ends.'. Releases before May 2025 are "
        "shifted by one word; use a later one."
    )


def test_wrong_files_are_refused(folder, tmp_path):
    path = folder / "naturalstories_RTS" / "processed_RTs.tsv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\t444\t", "\t-444\t"), encoding="utf-8")
    assert refused(folder) == (
        f"{path}, row 21, column 'RT': -444 is negative (1 such cell(s)). Durations are times in ms; mend the file."
    )
    path.write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    assert refused(folder) == (
        f"{path}, row 22: subject A1, text_id 2, word_id 2 is already in row 21 (1 repeated row(s)). Each reader reads a "
        "word once; remove one of the rows."
    )
    path.write_text(text[:-10], encoding="utf-8")
    assert refused(folder).startswith(f"{path}, row 21: it has 8 cells, the header 12;")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty) == (
        f"{empty} does not hold the corpus 'natural-stories'. Looked for all_stories.tok; found nothing. Where to get "
        "it: psymem corpora show natural-stories."
    )


@pytest.mark.shared
def test_the_published_means(shared):
    folder = shared / "data/reading/naturalstories"
    corpus = psymem.load_corpus("natural-stories", folder)
    raw = pd.read_csv(
        folder / "naturalstories_RTS/processed_wordinfo.tsv", sep="\t", quoting=3, keep_default_na=False
    )
    assert len(corpus.words) == len(corpus.reading) == len(raw) == 10256
    assert len(corpus.words[["text_id", "sentence_id"]].drop_duplicates()) == 485  # as the paper says
    assert corpus.reading["n_readers"].sum() == raw["nItem"].sum()
    np.testing.assert_allclose(corpus.reading["self_paced_reading_time"].sum(), raw["meanItemRT"].sum())
    assert "text 2, word 749: 'peaked' against 'peeked'." in corpus.notes[1]
