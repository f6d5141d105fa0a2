"""The held-out test: its algebra against explicit matrices, and how often it is wrong where nothing is there."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from psymem.fitting.comparison import compare
from psymem.fitting.cross_validation import EQUAL, NOT_ABOVE, SCORES, assign_folds, cross_validate
from psymem.fitting.fit import fit
from psymem.fitting.score_flips import can_flip_scores, flipped_scores_p, group_scores

RANDOM = " + (1|reader) + (1|word)"


def reading_rows(rng, *, texts=24, words=10, readers=8, effect=0.0, dependence=0.0) -> pd.DataFrame:
    """Every reader reads every word; with `dependence` the measure and the times differ between texts too."""
    shape = np.arange(texts), np.arange(words), np.arange(readers)
    text, place, reader = (a.ravel() for a in np.meshgrid(*shape, indexing="ij"))
    word, n = text * words + place, texts * words
    length, measure = (
        rng.normal(size=n),
        rng.normal(size=n) + dependence * np.repeat(rng.normal(size=texts), words),
    )
    time = 300 + 5 * length[word] + effect * measure[word] + 4 * dependence * rng.normal(size=texts)[text]
    time += rng.normal(0, 15, readers)[reader] + rng.normal(0, 8, n)[word] + rng.normal(0, 30, len(word))
    return pd.DataFrame(
        {
            "text": text,
            "word": word,
            "reader": reader,
            "length": length[word],
            "x": measure[word],
            "time": time,
        }
    ).assign(before=np.r_[0.0, measure[:-1]][word])


def pair(rows, added="x + before", **options):
    formulas = (f"time ~ length{RANDOM}", f"time ~ length + {added}{RANDOM}")
    return tuple(fit(rows, formula, reml=False, **options) for formula in formulas)


@pytest.fixture(scope="module")
def small():
    rows = reading_rows(np.random.default_rng(8), texts=6, words=4, readers=5, effect=6.0)
    return rows, *pair(rows)


def dense(rows, base, full):
    """X, the added columns, V and what X leaves of the columns and of the response, as whole matrices."""
    sd = base.variance_components.set_index("group")["sd"]
    covariance = base.sigma**2 * np.eye(len(rows))
    for group in ("reader", "word"):
        own = pd.get_dummies(rows[group]).to_numpy(dtype=float)
        covariance += sd[group] ** 2 * own @ own.T
    inverse = np.linalg.inv(covariance)
    x, added = base.data.fixed, full.data.fixed[:, 2:]
    projection = np.eye(len(rows)) - x @ np.linalg.solve(x.T @ inverse @ x, x.T @ inverse)
    return projection @ added, inverse, projection @ base.data.response


def test_scores_and_information_equal_explicit_matrices(small):
    rows, base, full = small
    fold = assign_folds(rows["text"], 3, seed=0)
    scores, information, fold_of = group_scores(base, full, rows["text"].to_numpy(), fold)
    added, inverse, response = dense(rows, base, full)
    for text in range(6):
        own = (rows["text"] == text).to_numpy()
        np.testing.assert_allclose(scores[text], added[own].T @ (inverse @ response)[own], rtol=1e-6)
        cross = added[own].T @ (inverse @ added)[own]
        np.testing.assert_allclose(information[text], (cross + cross.T) / 2, rtol=1e-6, atol=1e-9)
        assert (fold[own] == fold_of[text]).all()


def test_p_is_the_share_of_sign_patterns_with_as_large_a_gain(small):
    rows, base, full = small
    fold = assign_folds(rows["text"], 3, seed=0)
    scores, information, fold_of = group_scores(base, full, rows["text"].to_numpy(), fold)

    def gain(signs):
        found = 0.0
        for k in range(3):
            inside, outside = fold_of == k, fold_of != k
            flipped = scores * np.asarray(signs)[:, None]
            effect = np.linalg.solve(information[outside].sum(axis=0), flipped[outside].sum(axis=0))
            found += (
                effect @ flipped[inside].sum(axis=0) - effect @ information[inside].sum(axis=0) @ effect / 2
            )
        return found

    gains = np.array([gain(signs) for signs in product((1, -1), repeat=6)])
    expected = (gains >= gains[0] - 1e-9).mean()
    assert flipped_scores_p(base, full, rows["text"].to_numpy(), fold) == expected


def test_weights_of_rows_count_as_rows_that_are_repeated():
    """A linear model: a row of weight 3 has the score of three equal rows."""
    rng = np.random.default_rng(3)
    once = pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40), "n": rng.integers(1, 5, 40)})
    once["text"] = np.arange(40) // 5
    often = once.loc[once.index.repeat(once["n"])].reset_index(drop=True)
    found = []
    for rows, weights in ((once, "n"), (often, None)):
        base, full = (fit(rows, f, weights=weights, reml=False) for f in ("y ~ 1", "y ~ x"))
        scores, _, _ = group_scores(
            base, full, rows["text"].to_numpy(), assign_folds(rows["text"], 4, seed=0)
        )
        found.append(scores[:, 0] * base.sigma**2)
    np.testing.assert_allclose(*found, rtol=1e-9)


def share_rejected(n, *, dependence=0.0, effect=0.0, added="x + before"):
    """Share of data sets with p < .05: by flipped scores, and by the likelihood ratio."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(n):
        rows = reading_rows(rng, effect=effect, dependence=dependence)
        base, full = pair(rows, added)
        fold = assign_folds(rows["text"], 10, seed=0)
        flipped = flipped_scores_p(base, full, rows["text"].to_numpy(), fold, permutations=499)
        found.append([flipped, compare(base, full).table["p"][1]])
    return (np.asarray(found) < 0.05).mean(axis=0)


def test_noise_is_seldom_significant():
    """At 5% the number among 60 is at most 7 with 98.5% probability; signs of gains called 26% significant."""
    assert share_rejected(60)[0] <= 7 / 60


def test_noise_in_texts_that_differ_is_seldom_significant():
    """Rows of one text depend on one another, which the likelihood ratio does not know."""
    assert share_rejected(60, dependence=1.0)[0] <= 7 / 60


def test_a_real_effect_is_found_about_as_often_as_by_the_likelihood_ratio():
    flipped, ratio = share_rejected(40, effect=3.0, added="x")
    assert flipped > 0.75
    assert flipped > ratio - 0.2


def test_which_null_hypothesis_is_tested():
    rows = reading_rows(np.random.default_rng(2), texts=5, words=4, readers=6)
    formulas = {
        SCORES: ("time ~ length + (1|reader)", "time ~ length + x + (1|reader)"),
        NOT_ABOVE: ("time ~ length + (1|reader)", "time ~ length + (1 + x|reader)"),
        EQUAL: ("time ~ length + (1|reader)", "time ~ x + (1|reader)"),
    }
    for test, pair_ in formulas.items():
        base, full = (fit(rows, formula, reml=False) for formula in pair_)
        found = cross_validate(base, [full], rows["text"], folds=5, permutations=100).table
        assert found["test"].tolist() == ["", test]
        assert 0 < found["p"][1] <= 1
        assert can_flip_scores(base, full) == (test == SCORES)


def test_another_engine_gives_the_same_p(small):
    rows = small[0]
    group, fold = rows["text"].to_numpy(), assign_folds(rows["text"], 3, seed=0)
    found = [
        flipped_scores_p(
            *(fit(rows, f, engine=engine) for f in ("time ~ length", "time ~ length + x")), group, fold
        )
        for engine in ("profiled", "statsmodels")
    ]
    assert found[0] == found[1] < 1
