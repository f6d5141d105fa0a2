from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.cross_validation import assign_folds, cross_validate, group_column, permutation_p
from psymem.fitting.fit import fit

BASE = "rt ~ length + (1|subject)"
FULL = "rt ~ length + surprisal + (1|subject)"


@pytest.fixture(scope="module")
def reading() -> pd.DataFrame:
    """8 subjects x 20 texts of 6 words."""
    rng = np.random.default_rng(17)
    subject, word = (a.ravel() for a in np.meshgrid(np.arange(8), np.arange(120), indexing="ij"))
    words = pd.DataFrame(
        {"length": rng.normal(5, 2, 120), "surprisal": rng.normal(8, 3, 120), "text_id": np.arange(120) // 6}
    )
    frame = words.iloc[word].reset_index(drop=True).assign(subject=[f"s{i}" for i in subject])
    frame["rt"] = (
        300 + 5 * frame.length + 4 * frame.surprisal + rng.normal(0, 30, 8)[subject] + rng.normal(0, 40, 960)
    )
    return frame


@pytest.fixture(scope="module")
def fits(reading):
    return fit(reading, BASE, reml=False), fit(reading, FULL, reml=False)


@pytest.fixture(scope="module")
def found(reading, fits):
    return cross_validate(fits[0], [fits[1]], reading.text_id, folds=5, permutations=2000, seed=3)


def test_a_fold_equals_a_fit_to_the_other_rows(reading, fits, found):
    kept = reading[found.observations.fold != 2]
    held_out = reading[found.observations.fold == 2]
    model = fit(kept, FULL, reml=False)
    mean = model.predict(held_out)
    effects = model.random_effects.set_index("level").sd[held_out.subject].to_numpy()
    expected = stats.norm.logpdf(held_out.rt, mean, np.sqrt(model.sigma**2 + effects**2))
    np.testing.assert_allclose(found.observations.loc[held_out.index, "full"], expected, rtol=1e-8)


def test_groups_are_held_out_whole_and_folds_are_even(found):
    assert (found.observations.groupby("group").fold.nunique() == 1).all()
    assert found.observations.fold.value_counts().tolist() == [192] * 5


def test_the_table_sums_up_the_observations(found):
    difference = found.observations["full"] - found.observations["base"]
    row = found.table.iloc[1]
    assert row.held_out_loglik_per_obs == pytest.approx(found.observations["full"].mean())
    assert row.held_out_gain_per_obs == pytest.approx(difference.mean())
    assert row.groups_better == (difference.groupby(found.observations.group).sum() > 0).mean()
    assert row.held_out_gain_per_obs > 0
    assert row.p < 0.05
    assert found.table.iloc[0][["held_out_gain_per_obs", "groups_better", "p", "p_adjusted"]].isna().all()


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_processes(reading, fits, found):
    again = cross_validate(fits[0], [fits[1]], reading.text_id, folds=5, permutations=2000, seed=3, n_jobs=2)
    pd.testing.assert_frame_equal(again.observations, found.observations, check_exact=True)
    pd.testing.assert_frame_equal(again.table, found.table, check_exact=True)


def test_another_seed_gives_other_folds(reading, found):
    other = assign_folds(reading.text_id, 5, seed=4)
    assert not np.array_equal(other, found.observations.fold)


def test_a_new_level_adds_the_variance_of_its_random_effect(reading):
    formula = "rt ~ length + (1|subject) + (1|text_id)"
    model = fit(reading, formula, reml=False)
    found = cross_validate(model, [], reading.text_id, folds=5)
    held_out = reading[found.observations.fold == 0]
    trained = fit(reading[found.observations.fold != 0], formula, reml=False)
    components = trained.variance_components.set_index("group").variance
    modes = (
        trained.random_effects[trained.random_effects.group == "subject"]
        .set_index("level")
        .loc[held_out.subject]
    )
    variance = components["text_id"] + modes.sd.to_numpy() ** 2 + trained.sigma**2
    expected = stats.norm.logpdf(held_out.rt, trained.predict(held_out), np.sqrt(variance))
    np.testing.assert_allclose(found.observations.loc[held_out.index, "base"], expected, rtol=1e-8)


def test_exact_permutation_test():
    difference = np.array([0.4, 0.1, 0.3, -0.05])
    signs = np.array(np.meshgrid(*[[1, -1]] * 4)).reshape(4, -1).T
    expected = (np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12).mean()
    assert permutation_p(difference, 10, seed=0) == expected == 4 / 16


def test_random_permutation_test_is_near_the_normal_approximation(rng):
    difference = rng.normal(0.25, 1, 200)
    z = difference.sum() / np.sqrt((difference**2).sum())
    assert permutation_p(difference, 20_000, seed=1) == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.01)


def test_no_difference_is_not_significant():
    assert permutation_p(np.zeros(50), 100, seed=0) == 1.0


@pytest.mark.parametrize("folds", [1, 21])
def test_number_of_folds(reading, fits, folds):
    with pytest.raises(FitError) as error:
        cross_validate(fits[0], [fits[1]], reading.text_id, folds=folds)
    assert str(error.value) == (
        f"{folds} folds were asked for, and 'text_id' has 20 different values; the number of folds has to lie between 2 "
        "and the number of groups."
    )


def test_a_row_without_a_group(reading, fits):
    with pytest.raises(FitError) as error:
        cross_validate(fits[0], [fits[1]], reading.text_id.where(reading.index > 3), folds=5)
    assert str(error.value) == "4 rows have no value in 'text_id', the column that groups are held out by."


def test_a_category_that_one_fold_has_alone(reading):
    frame = reading.assign(genre=np.where(reading.text_id == 7, "poem", "prose"))
    model = fit(frame, "rt ~ genre + (1|subject)")
    with pytest.raises(
        FitError, match=r"^Fold \d: 768 of the 960 rows do not determine every fixed effect "
    ) as error:
        cross_validate(model, [], frame.text_id, folds=5)
    assert str(error.value).endswith(
        "((Intercept), genreprose): a category is missing from them. Use more folds, so that fewer rows are held out, "
        "or group the folds by another column."
    )


def test_an_unknown_group_column(reading):
    with pytest.raises(UnknownNameError) as error:
        group_column(reading, "textid")
    assert str(error.value).startswith("There is no column called 'textid'. Did you mean 'text_id'?")


def test_progress_counts_fits(reading, fits):
    steps = []
    cross_validate(fits[0], [fits[1]], reading.text_id, folds=3, permutations=10, progress=steps.append)
    assert sum(steps) == 6
