from __future__ import annotations

import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import FitError, NotNestedError
from psymem.fitting.comparison import COMPARISON_COLUMNS, compare, complete_rows
from psymem.fitting.fit import fit

BASE = "rt ~ length + (1|subject)"
FULL = "rt ~ length + surprisal + (1|subject)"


@pytest.fixture(scope="module")
def reading() -> pd.DataFrame:
    """12 subjects x 60 words; surprisal matters, `noise` does not."""
    rng = np.random.default_rng(7)
    subject, word = (a.ravel() for a in np.meshgrid(np.arange(12), np.arange(60), indexing="ij"))
    words = pd.DataFrame(
        {"length": rng.normal(5, 2, 60), "surprisal": rng.normal(8, 3, 60), "noise": rng.normal(size=60)}
    )
    frame = words.iloc[word].reset_index(drop=True).assign(subject=[f"s{i}" for i in subject])
    frame["rt"] = (
        300 + 5 * frame.length + 2 * frame.surprisal + rng.normal(0, 30, 12)[subject] + rng.normal(0, 40, 720)
    )
    return frame


def test_the_test_is_twice_the_difference_of_ml_log_likelihoods(reading):
    base, full = fit(reading, BASE, reml=False), fit(reading, FULL, reml=False)
    found = compare(base, full).table
    assert tuple(found.columns) == COMPARISON_COLUMNS
    row = found.iloc[1]
    assert row.delta_loglik == full.loglik - base.loglik
    assert row.delta_loglik_per_obs == row.delta_loglik / 720
    assert row.chi_square == 2 * row.delta_loglik
    assert row.df == 1
    assert row.p == row.p_adjusted == stats.chi2.sf(row.chi_square, 1)
    assert found.iloc[0][["delta_loglik", "chi_square", "df", "p", "p_adjusted"]].isna().all()


def test_reml_fits_are_made_again_by_maximum_likelihood(reading):
    by_reml = compare(fit(reading, BASE), fit(reading, FULL))
    by_ml = compare(fit(reading, BASE, reml=False), fit(reading, FULL, reml=False))
    pd.testing.assert_frame_equal(by_reml.table, by_ml.table)
    assert not by_reml.base.spec.reml


@pytest.mark.r
def test_equals_anova_of_lme4(rscript, reading, tmp_path):
    reading.to_csv(tmp_path / "data.csv", index=False)
    script = f"""
    library(lme4); d <- read.csv("data.csv"); m0 <- lmer({BASE}, d); m1 <- lmer({FULL}, d)
    m2 <- lmer(rt ~ length + surprisal + (1 + surprisal|subject), d)
    a <- suppressMessages(anova(m0, m1, m2))
    write.csv(format(data.frame(a), digits = 12), "out.csv", quote = FALSE)
    """
    subprocess.run([rscript, "-e", script], cwd=tmp_path, check=True, capture_output=True)
    expected = pd.read_csv(tmp_path / "out.csv", skipinitialspace=True)
    slopes = "rt ~ length + surprisal + (1 + surprisal|subject)"
    steps = [(BASE, FULL), (FULL, slopes)]
    for k, (small, large) in enumerate(steps, start=1):
        row = compare(fit(reading, small), fit(reading, large)).table.iloc[1]
        assert row.loglik == pytest.approx(expected["logLik"][k], abs=1e-4)
        assert row.chi_square == pytest.approx(expected["Chisq"][k], abs=2e-4)
        assert row.df == expected["Df"][k]
        assert row.p == pytest.approx(expected["Pr..Chisq."][k], rel=1e-3)


def test_several_models_against_one_base_are_corrected_together(reading):
    fits = [fit(reading, f"{BASE} + {x}") for x in ("surprisal", "noise", "I(noise^2)")]
    found = compare(fit(reading, BASE), *fits)
    assert list(found.table.model) == ["base", "full 1", "full 2", "full 3"]
    p = found.table.p.to_numpy()[1:]
    order = np.argsort(p)
    expected = np.minimum(1, np.maximum.accumulate(np.array([3, 2, 1]) * p[order]))
    np.testing.assert_allclose(found.table.p_adjusted.to_numpy()[1:][order], expected)


def test_printing_shows_the_formulas_that_were_compared(reading):
    text = str(compare(fit(reading, BASE), fit(reading, FULL)))
    lines = text.splitlines()
    assert lines[:3] == [
        "Models of the same 720 rows, by maximum likelihood",
        f"base: {BASE}",
        f"full: {FULL}",
    ]
    assert lines[4].split() == [
        "model", "parameters", "loglik", "aic", "delta_loglik", "chi_square", "df", "p", "p_adjusted",
    ]  # fmt: skip
    assert lines[6].split()[-2:] == ["<.001", "<.001"]


def test_a_test_of_variances_is_called_conservative(reading):
    found = compare(fit(reading, FULL), fit(reading, "rt ~ length + surprisal + (1 + surprisal|subject)"))
    assert found.notes[-1] == (
        "A test that adds variances is conservative (a variance cannot be negative): the true p is smaller, about half "
        "for one added variance."
    )


def test_the_same_model_in_other_words_contains_the_base(reading):
    centred = reading.assign(longer=reading.length - 5)
    found = compare(
        fit(centred, "rt ~ longer + (1|subject)"), fit(centred, "rt ~ poly(length, 2) + (1|subject)")
    )
    assert found.table.df[1] == 1


def test_other_rows_are_refused_with_the_counts(reading):
    holes = reading.assign(surprisal=reading.surprisal.where(reading.index % 10 != 0))
    base, full = fit(holes, BASE), fit(holes, FULL)
    with pytest.raises(FitError) as error:
        compare(base, full)
    assert str(error.value) == (
        f"The models were fitted to different rows: {BASE} to 720, {FULL} to 648, of which 648 are the same. Compare "
        "them on the rows where every variable of both is present (complete_rows in Python, --complete-rows on the "
        "command line)."
    )
    kept = complete_rows(holes, [BASE, FULL])
    assert list(kept.index) == [i for i in range(720) if i % 10]
    assert compare(fit(kept, BASE), fit(kept, FULL)).base.n_obs == 648


def test_the_same_number_of_other_rows_is_refused_too(reading):
    with pytest.raises(
        FitError, match=r"^The models were fitted to different rows: .* of which 700 are the same\. "
    ):
        compare(fit(reading.iloc[:710], BASE), fit(reading.iloc[10:], FULL))


def test_another_response(reading):
    with pytest.raises(FitError) as error:
        compare(fit(reading, BASE), fit(reading, "log(rt) ~ length + surprisal + (1|subject)"))
    assert str(error.value) == (
        "The models have different responses, so their likelihoods differ in kind: rt ~ length + (1|subject); "
        "log(rt) ~ length + surprisal + (1|subject)."
    )


def test_models_that_are_not_nested(reading):
    with pytest.raises(NotNestedError) as error:
        compare(fit(reading, BASE), fit(reading, "rt ~ surprisal + (1|subject)"))
    assert str(error.value) == (
        "rt ~ surprisal + (1|subject) does not contain the base rt ~ length + (1|subject): it lacks length. A "
        "likelihood-ratio test needs a model that contains the base; held-out likelihood (--folds) does not."
    )


def test_a_base_that_is_the_larger_model(reading):
    with pytest.raises(NotNestedError) as error:
        compare(fit(reading, "rt ~ length + (1 + surprisal|subject)"), fit(reading, BASE))
    assert str(error.value) == (
        "rt ~ length + (1|subject) does not contain the base rt ~ length + (1 + surprisal|subject): it lacks "
        "((Intercept) + surprisal | subject). It is the other way round: give the smaller model as the base."
    )


def test_the_same_model_twice(reading):
    with pytest.raises(NotNestedError) as error:
        compare(fit(reading, BASE), fit(reading, BASE))
    assert str(error.value) == f"{BASE} and the base {BASE} are the same model, so there is nothing to test."


def test_nothing_to_compare_with(reading):
    with pytest.raises(FitError) as error:
        compare(fit(reading, BASE))
    assert str(error.value) == (
        "There is nothing to compare the base model with; give at least one larger model."
    )
