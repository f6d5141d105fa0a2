"""What is said about reading studies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from psymem.reports.wording import in_words
from psymem.studies.reading.result import ReadingResult
from psymem.studies.reading.settings import StudySettings
from psymem.studies.reading.study import analyse_corpus
from psymem.studies.reading.wording import methods_paragraph

SETTINGS = StudySettings(folds=0)


@pytest.fixture(scope="module")
def made(invented_reading):
    """Corpus and scores."""
    return invented_reading()


def methods(corpus, scores, **changed) -> str:
    """Methods paragraph of a quick study."""
    settings = dataclasses.replace(SETTINGS, **changed)
    found = analyse_corpus(corpus, scores, settings)
    return methods_paragraph(ReadingResult((found,), {}, {}))


def test_methods_name_only_what_was_left_out(made):
    said = methods(*made, spillover=1, correction="none", standardise="centre")
    assert (
        "Left out were first words of sentences, last words of sentences and words that a model does not know."
        in said
    )
    assert "of m at the word and at the word before it. Predictors were centred. Nested" in said
    assert "compared by likelihood-ratio tests. " in said
    said = methods(*made, spillover=0, leave_out=(), keep_oov=True)
    assert "Left out" not in said
    assert "of m at the word. " in said


def test_lines_and_unread_words_are_named_where_the_corpus_has_them(made):
    corpus, scores = made
    lines = corpus.words.assign(line_first=corpus.words["word_id"] == 2, line_last=False)
    read = corpus.reading.copy()
    read.loc[read["word_id"] == 4, "gaze_duration"] = np.nan
    said = methods(dataclasses.replace(corpus, words=lines, reading=read), scores)
    assert (
        "Left out were first words of sentences, last words of sentences, first words of lines, last words of lines, "
        "words not fixated in first pass and words that a model does not know." in said
    )


def test_times_published_without_unit_are_not_called_ms(made, as_averages):
    corpus = as_averages(made[0])
    reading_ = corpus.reading.rename(columns={"gaze_duration": "gaze_duration_scaled"})
    scaled = dataclasses.replace(corpus, reading=reading_)
    settings = dataclasses.replace(SETTINGS, response="gaze_duration_scaled")
    found = analyse_corpus(scaled, made[1], settings)
    assert set(found.power.coefficients["unit"]) == {"points of 100 per SD"}
    assert settings.described(True)[0] == ("response", "gaze_duration_scaled, points of 100")
    assert "We analysed gaze duration scaled as published, scaled to 0-100." in methods_paragraph(
        ReadingResult((found,), {}, {})
    )
    assert dataclasses.replace(settings, scale="log").effect_unit == "log points of 100 per SD"


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("go_past_time", "go-past time"),
        ("right_bounded_time", "right-bounded time"),
        ("first_run_dwell_time", "first-run dwell time"),
        ("self_paced_reading_time", "self-paced reading time"),
        ("gaze_duration", "gaze duration"),
    ],
)
def test_compounds_have_their_hyphen(column, name):
    assert in_words(column) == name
