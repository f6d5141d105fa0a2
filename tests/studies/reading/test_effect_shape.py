"""The restricted cubic spline against scipy's natural spline, and a curve that is not straight."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from psymem.studies.reading.effect_shape import restricted_cubic
from psymem.studies.reading.rows import _standardised
from psymem.studies.reading.settings import StudySettings
from psymem.studies.reading.study import analyse_corpus

KNOTS = np.array([-1.5, -0.4, 0.1, 0.9, 2.0])


def test_basis_holds_every_natural_spline_and_is_straight_beyond_the_knots(rng):
    x = np.linspace(KNOTS[0], KNOTS[-1], 200)
    natural = CubicSpline(KNOTS, rng.normal(size=5), bc_type="natural")(x)
    design = np.column_stack([np.ones(200), x, restricted_cubic(x, KNOTS)])
    assert design.shape[1] == 5
    np.testing.assert_allclose(design @ np.linalg.lstsq(design, natural, rcond=None)[0], natural, atol=1e-9)
    beyond = restricted_cubic(np.array([3.0, 4.0, 5.0, -4.0, -3.0, -2.0]), KNOTS)
    np.testing.assert_allclose(np.diff(beyond[:3], 2, axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(beyond[3:], 0, atol=1e-12)


def test_a_curve_is_found_and_a_line_is_not(invented_reading):
    corpus, scores = invented_reading(seed=8)
    bits = scores[scores["model"] == "m/1"].set_index(["text_id", "word_id"])["surprisal_bits"]
    own = corpus.reading.set_index(["text_id", "word_id"]).index.map(bits)
    bent = dataclasses.replace(
        corpus,
        reading=corpus.reading.assign(
            gaze_duration=corpus.reading["gaze_duration"] + (np.asarray(own) - 8) ** 2
        ),
    )
    settings = StudySettings(folds=0)
    scores = scores[scores["model"] == "m/1"]
    curved, straight = (analyse_corpus(c, scores, settings).shapes for c in (bent, corpus))
    key = ("m/1", "surprisal_bits")
    assert curved[key].test["p"][0] < 1e-6
    assert straight[key].test["p"][0] > 0.01
    bins = curved[key].bins
    assert len(bins) == 10
    assert bins["n"].sum() == corpus.words["word_id"].between(3, 8).sum()
    assert bins["mean"].iloc[-1] > bins["mean"].iloc[4] < bins["mean"].iloc[0]
    middle = np.interp(curved[key].curve["x"], bins["x"], bins["mean"])
    assert np.corrcoef(middle, curved[key].curve["spline"])[0, 1] > 0.9


def test_many_columns_stay_in_one_piece():
    """pandas warns of frames whose columns are all pieces of their own, and warnings are errors here."""
    frame = pd.DataFrame({f"m{k}": np.arange(5.0) for k in range(150)})
    standardised, _ = _standardised(frame, list(frame), StudySettings())
    standardised["one_more"] = 1.0
    assert standardised.shape == (5, 151)
