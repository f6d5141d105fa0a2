"""The default engine against lme4's numbers on real data, and on data that are degenerate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError
from psymem.fitting.fit import fit
from psymem.fitting.profiled import crossproducts

LEVELS = {"attraction": ["none", "double", "semantic", "grammatical"]}
PAIR, GROUPS = "{y} ~ attraction", " + (1|item) + (1|model)"
ATTRACTION = {
    "A-B agr": ("violation == 'grammatical'", PAIR),
    "C-D sem": ("violation == 'semantic'", PAIR),
    "(C-D)-(A-B) int": ("violation != 'double'", "{y} ~ single_attr * violation"),
    "E-H gram": ("condition in ('e', 'h')", PAIR),
    "E-G sem": ("condition in ('e', 'g')", PAIR),
    "G-H gram.vs.sem": ("condition in ('g', 'h')", PAIR),
    "E-F double": ("condition in ('e', 'f')", PAIR),
    "additivity int": ("violation == 'double'", "{y} ~ gram_attr * sem_attr"),
}


@pytest.mark.shared
@pytest.mark.parametrize("y", ["surp", "rel"])
@pytest.mark.parametrize("contrast", ATTRACTION)
def test_every_effect_of_the_attraction_experiment_equals_lme4(attraction_scores, shared, contrast, y):
    gold = pd.read_csv(shared / "data" / "statistics" / "attraction_cbr_rnn_lme4.csv")
    (expected,) = gold[(gold.contrast == contrast) & (gold.y == y)].itertuples()
    where, formula = ATTRACTION[contrast]
    found = fit(attraction_scores, formula.format(y=y) + GROUPS, where=where, levels=LEVELS)
    row = found.coefficients.set_index("term").loc[expected.term]
    assert found.n_obs == expected.n
    assert row.estimate == pytest.approx(expected.est, rel=1e-6)
    assert row.se == pytest.approx(expected.se, rel=1e-4)
    assert row["df"] == pytest.approx(expected.df, rel=0.01)
    assert row.p == pytest.approx(expected.p, rel=0.01)
    assert found.loglik == pytest.approx(expected.logLik_REML, abs=1e-4)
    assert found.singular == expected.singular


READING = {
    "gg05_logRT_maximal": ("log(RT) ~ c + (1+c|subj) + (1+c|item)", True),
    "gg05_logRT_uncorr": ("log(RT) ~ c + (1+c||subj) + (1+c||item)", True),
    "gg05_logRT_interc_ML": ("log(RT) ~ c + (1|subj) + (1|item)", False),
    "ucl_spr_gpt2": (
        "self_paced_reading_time ~ scale(s_GPT2) + scale(length) + scale(Subtlex_log10) + "
        "scale(context_length) + (1|sent_id)",
        True,
    ),
}


@pytest.mark.shared
@pytest.mark.parametrize("model", READING)
def test_reading_data_equal_lme4(shared, model):
    folder = shared / "data"
    if model.startswith("gg05"):
        frame = pd.read_csv(folder / "statistics" / "grodner_gibson_2005_e1.csv")
        frame["c"] = np.where(frame.condition == "objgap", 0.5, -0.5)
    else:
        frame = pd.read_csv(folder / "reading" / "devarda_ucl205" / "all_measures.csv")
    gold = pd.read_csv(folder / "statistics" / "real_data_lme4_gold.tsv", sep="\t")
    variances = pd.read_csv(folder / "statistics" / "real_data_lme4_varcomp.tsv", sep="\t")
    gold, variances = gold[gold.model == model], variances[variances.model == model]
    formula, reml = READING[model]
    found = fit(frame, formula, reml=reml)
    table = found.coefficients
    assert table.term.tolist() == gold.term.tolist()
    np.testing.assert_allclose(table.estimate, gold.est, rtol=1e-6)
    np.testing.assert_allclose(table.se, gold.se, rtol=1e-4)
    np.testing.assert_allclose(table["df"], gold.df, rtol=0.01)
    assert found.loglik == pytest.approx(variances.logLik.iloc[0], abs=1e-4)
    assert found.n_obs == variances.nobs.iloc[0]
    np.testing.assert_allclose(found.variance_components.variance, variances.vcov, rtol=2e-3)


def test_balanced_design_equals_the_analysis_of_variance():
    """One factor, balanced: variances from mean squares, df of the intercept = groups - 1."""
    rng = np.random.default_rng(11)
    group = np.repeat(np.arange(12), 8)
    y = 5 + rng.normal(0, 2, 12)[group] + rng.normal(size=96)
    found = fit(pd.DataFrame({"y": y, "g": group}), "y ~ 1 + (1|g)")
    means = pd.Series(y).groupby(group).mean()
    between = 8 * means.var()
    inside = ((y - means[group].to_numpy()) ** 2).sum() / 84
    np.testing.assert_allclose(
        found.variance_components.variance, [(between - inside) / 8, inside], rtol=1e-5
    )
    assert found.coefficients["df"][0] == pytest.approx(11, rel=1e-4)
    assert found.coefficients.se[0] == pytest.approx(np.sqrt(between / 96), rel=1e-5)


def test_without_random_effects_it_is_lm(crossed):
    found = fit(crossed, "y ~ x + condition")
    x = np.column_stack(
        [np.ones(480), crossed.x, crossed.condition == "none", crossed.condition == "semantic"]
    )
    beta, squares, *_ = np.linalg.lstsq(x.astype(float), crossed.y, rcond=None)
    np.testing.assert_allclose(found.coefficients.estimate, beta)
    assert found.sigma**2 == pytest.approx(squares[0] / 476)
    assert found.loglik == pytest.approx(-240 * (np.log(2 * np.pi * squares[0] / 480) + 1))
    assert found.warnings == [
        "The formula has no random effects, so it was fitted by ordinary least squares, as R's lm does."
    ]


def test_scales_and_origins_change_nothing(crossed):
    plain = fit(crossed, "y ~ x + (1+x|subject)")
    huge = fit(crossed.assign(y=crossed.y * 1e9, x=crossed.x * 1e-6 + 2.0), "y ~ x + (1+x|subject)")
    np.testing.assert_allclose(huge.coefficients.t[1], plain.coefficients.t[1], rtol=1e-5)
    np.testing.assert_allclose(huge.coefficients["df"][1], plain.coefficients["df"][1], rtol=1e-3)
    assert huge.singular == plain.singular


def test_zero_variance_is_found_and_said(crossed):
    rng = np.random.default_rng(8)
    frame = crossed.assign(y=rng.normal(size=480))
    for _ in range(20):
        frame["y"] = rng.normal(size=480)
        found = fit(frame, "y ~ x + (1|subject)")
        if found.singular:
            break
    assert found.converged
    assert found.variance_components.variance[0] == 0
    assert found.warnings == [
        "The fit is singular: the variance of (Intercept) for subject is zero. The random effects may be "
        "too complex for these "
        "data."
    ]
    assert found.coefficients["df"][1] == pytest.approx(478, rel=1e-3)
    ols = fit(frame, "y ~ x")
    np.testing.assert_allclose(
        found.coefficients[["estimate", "se"]], ols.coefficients[["estimate", "se"]], rtol=1e-9
    )


def test_rank_deficient_fixed_effects_drop_the_later_column(crossed):
    found = fit(crossed.assign(x2=2 * crossed.x - 1), "y ~ x + x2 + (1|subject)")
    assert found.dropped_columns == ["x2"]
    assert (
        found.warnings[0]
        == "The fixed effects are not independent: x2 left out, since the other columns determine it."
    )
    pd.testing.assert_frame_equal(found.coefficients, fit(crossed, "y ~ x + (1|subject)").coefficients)


def test_collinear_slopes_are_said(crossed):
    found = fit(crossed.assign(x2=2 * crossed.x), "y ~ x + (1 + x + x2|subject)")
    assert found.warnings[0] == (
        "The columns (Intercept), x, x2 of the random effects for subject determine one another; their "
        "variances cannot be told "
        "apart. Leave one of them out."
    )


def test_tiny_groups():
    rng = np.random.default_rng(4)
    pair = np.repeat(np.arange(30), 2)
    frame = pd.DataFrame(
        {"pair": pair, "x": rng.normal(size=60), "y": rng.normal(0, 1, 30)[pair] + rng.normal(0, 0.5, 60)}
    )
    found = fit(frame, "y ~ x + (1|pair)")
    assert found.converged
    assert 5 < found.coefficients["df"][1] < 60


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            lambda f: 5.0,
            "The response 'y' has the same value (5) in all 480 rows; there is no variation to explain.",
        ),
        (
            lambda f: 2 * f.x + 1,
            "The response 'y' is determined completely by the fixed effects and subject: no residual variance is left, so "
            "nothing can be tested. Is the response an average per level, or a copy of a predictor?",
        ),
        (
            lambda f: f.groupby("subject").y.transform("mean"),
            "The response 'y' is determined completely by the fixed effects and subject: no residual variance is left, so "
            "nothing can be tested. Is the response an average per level, or a copy of a predictor?",
        ),
    ],
    ids=["constant", "copy of a predictor", "averages"],
)
def test_a_response_without_residual_variance_is_refused(crossed, y, message):
    with pytest.raises(FitError) as raised:
        fit(crossed.assign(y=y), "y ~ x + (1|subject)")
    assert str(raised.value) == message


def test_two_large_crossed_factors_give_the_dense_result(crossed, monkeypatch):
    formula = "y ~ x + (1|subject) + (1|item)"
    dense = fit(crossed, formula)
    monkeypatch.setattr(crossproducts, "DENSE_CELLS", 0)
    monkeypatch.setattr(crossproducts, "DENSE_SHARE", 1e6)
    sparse = fit(crossed, formula)
    np.testing.assert_allclose(
        sparse.coefficients.drop(columns="term"),
        dense.coefficients.drop(columns="term"),
        rtol=1e-3,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        sparse.random_effects[["estimate", "sd"]], dense.random_effects[["estimate", "sd"]], rtol=1e-5
    )


class TestAfterTheFit:
    @pytest.fixture(scope="class")
    def found(self, crossed):
        return fit(crossed, "y ~ x + condition + (1+x|subject) + (1|item)")

    def test_fitted_values_are_predictions_with_random_effects(self, found, crossed):
        np.testing.assert_allclose(found.fitted, found.predict(crossed))
        np.testing.assert_allclose(found.residuals, crossed.y - found.fitted)

    def test_new_levels_get_no_random_effect(self, found, crossed):
        new = crossed.assign(subject="new", item=99)
        np.testing.assert_allclose(found.predict(new), found.predict(crossed, random=False))

    def test_new_levels_can_be_an_error(self, found, crossed):
        with pytest.raises(FitError) as raised:
            found.predict(crossed.assign(subject="new"), new_levels="error")
        assert str(raised.value) == (
            "Row 1 has a level of 'subject' that the fitted rows lack. Use new_levels='zero' to predict "
            "it without that random "
            "effect."
        )

    def test_an_unseen_category_is_an_error(self, found, crossed):
        with pytest.raises(FitError) as raised:
            found.predict(crossed.assign(condition="triple"))
        assert str(raised.value) == (
            "Column 'condition' has the value 'triple' in row 1, which the fitted rows lack; known are "
            "double, none, semantic. "
            "No effect was estimated for it."
        )

    def test_missing_predictors_give_missing_predictions(self, found, crossed):
        new = crossed.head(3).assign(x=[np.nan, 1.0, 2.0])
        assert np.isnan(found.predict(new)).tolist() == [True, False, False]

    def test_random_effects_sum_to_nearly_nothing(self, found):
        table = found.random_effects
        assert set(table.columns) == {"group", "level", "term", "estimate", "sd"}
        intercepts = table[(table.group == "item") & (table.term == "(Intercept)")]
        assert abs(intercepts.estimate.sum()) < 0.05
        assert (table.sd > 0).all()

    def test_criteria_count_fixed_effects_and_variances(self, found):
        assert found.n_parameters == 4 + 4 + 1
        assert found.aic == pytest.approx(-2 * found.loglik + 18)
        assert found.bic == pytest.approx(-2 * found.loglik + 9 * np.log(480))


def test_a_dense_part_beyond_memory_is_refused_in_words(crossed, monkeypatch):
    monkeypatch.setattr(crossproducts, "MOST_GIBIBYTES", 1e-6)
    with pytest.raises(FitError) as raised:
        fit(crossed, "y ~ x + (1|subject) + (1|item)")
    assert str(raised.value) == (
        "Besides item, the grouping factors (subject) have 20 random effects; holding them together takes about 0 GiB. Merge "
        "rare levels, leave out a term or slope, or choose engine 'lme4'."
    )


def test_a_fit_shows_itself_in_one_line(crossed):
    found = fit(crossed, "y ~ x + (1|subject)")
    assert repr(found) == (
        f"<Fit 'y ~ x + (1|subject)': 480 rows, 20 subject, logLik {found.loglik:.4f}; print() shows it>"
    )
