"""Which corpora and settings a comparison of fixations takes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from psymem.data.corpora.catalogue import load_corpus, sample_folder
from psymem.errors import DataError, PsymemWarning
from psymem.registry import CORPORA
from psymem.studies.fixations.result import FixationSettings
from psymem.studies.fixations.study import fixations
from psymem.studies.fixations.words import TIME, WITH_TIMES
from psymem.studies.reading.settings import StudySettings


def test_a_corpus_without_total_reading_times_is_refused():
    corpus = load_corpus("natural-stories", sample_folder("natural-stories"))
    with pytest.raises(DataError) as raised:
        fixations(corpus, "anything")
    assert str(raised.value) == (
        "The corpus natural-stories has no total reading times; it has self_paced_reading_time. Model fixations are compared "
        "with total_reading_time. Corpora that have it: zuco1, zuco2, geco, dundee, provo, cmcl, iitb, eyelink, fixation-report, csv."
    )


@pytest.mark.parametrize(
    "name", [n for n in CORPORA.names() if n != "csv"]
)  # a plain table may have them or not
def test_the_corpora_said_to_have_total_reading_times_have_them(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsymemWarning)
        corpus = load_corpus(name, sample_folder(name))
    assert any(m.startswith(TIME) for m in corpus.measures) == (name in WITH_TIMES)


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        (StudySettings, {"shortest": 500.0, "longest": 100.0}, "shortest is 500 and longest 100, which no duration in ms can fulfil; the shortest has to be below the longest."),
        (StudySettings, {"shortest": np.nan}, "shortest is nan and longest inf, which no duration in ms can fulfil; the shortest has to be below the longest."),
        (StudySettings, {"seed": -1}, "seed is -1; it is a whole number of at least 0."),
        (FixationSettings, {"seed": -1}, "seed is -1; it is a whole number of at least 0."),
        (FixationSettings, {"rare_below": np.nan}, "rare_below is no number; it is a Zipf frequency such as 4."),
    ],
)  # fmt: skip
def test_settings_that_mean_nothing(settings, given, message):
    with pytest.raises(DataError) as caught:
        settings(**given)
    assert str(caught.value) == message
