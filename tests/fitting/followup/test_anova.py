"""Tests of terms against lmerTest 3.1-3 with pbkrtest 0.5.2 and against car 3.1-1.

m <- lmer(y ~ cond*plural + x + (1|subject) + (1|item), d); anova(m, type = 3); anova(m, type = 3, ddf = "Kenward-Roger")
m2 <- lmer(y ~ cond*x + plural + (1 + x|subject), d)
l <- lm(y ~ cond*plural + x, d, contrasts = list(cond = "contr.sum", plural = "contr.sum")); car::Anova(l, type = 3)
g <- glm(right ~ ..., family = binomial, contrasts = the same); car::Anova(g, type = 3, test.statistic = "Wald")
"""

from __future__ import annotations

import numpy as np
import pytest

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.fit import fit
from psymem.fitting.followup import kenward_roger as module
from psymem.fitting.followup.anova import anova

SATTERTHWAITE = {
    # type: den_df, F and p of cond, plural, x, cond:plural
    "I": [
        [139.094326, 137.713614, 144.734131, 138.279090],
        [4.604429683, 0.738686456, 13.650662767, 8.880343232],
        [0.011580649762, 0.391575616981, 0.000311475354, 0.000235309351],
    ],
    "II": [
        [139.120575, 137.643573, 144.686145, 138.274173],
        [4.35474470, 0.58762197, 11.38752678, 8.88034323],
        [0.014641908416, 0.444652895450, 0.000949248659, 0.000235313410],
    ],
    "III": [
        [139.093529, 137.727726, 144.686145, 138.274173],
        [5.48338141, 1.40212086, 11.38752678, 8.88034323],
        [0.005102909593, 0.238408323541, 0.000949248659, 0.000235313410],
    ],
}
KENWARD_ROGER = {
    "II": [
        [139.124589, 137.655795, 144.901730, 138.292772],
        [4.331249742, 0.586099619, 11.158285877, 8.845027429],
        [0.01496925641, 0.44524200039, 0.00106401729, 0.00024278022],
    ],
    "III": [
        [139.100200, 137.740977, 144.901730, 138.292772],
        [5.45582938, 1.39837211, 11.15828588, 8.84502743],
        [0.00523488436, 0.23903356694, 0.00106401729, 0.00024278022],
    ],
}


def check(table, expected, rtol=2e-4):
    for name, values in zip(("den_df", "f", "p"), expected, strict=True):
        np.testing.assert_allclose(table[name], values, rtol=rtol, err_msg=name)


@pytest.mark.parametrize("kind", SATTERTHWAITE)
def test_satterthwaite(crossed_fit, kind):
    found = crossed_fit.anova(kind=kind)
    assert found["term"].tolist() == ["cond", "plural", "x", "cond:plural"]
    assert found["num_df"].tolist() == [2, 1, 1, 2]
    check(found, SATTERTHWAITE[kind])


def test_sums_of_squares(crossed_fit):
    found = crossed_fit.anova()
    np.testing.assert_allclose(
        found["sum_sq"], [5.764780214, 0.737037784, 5.985958678, 9.336068959], rtol=1e-5
    )
    np.testing.assert_allclose(found["mean_sq"] * found["num_df"], found["sum_sq"])


@pytest.mark.parametrize("kind", KENWARD_ROGER)
def test_kenward_and_roger(crossed_fit, kind):
    check(crossed_fit.anova(kind=kind, ddf="kenward-roger"), KENWARD_ROGER[kind])


def test_slopes_and_a_number_in_an_interaction(slopes_fit):
    check(
        slopes_fit.anova(),
        [
            [146.4158352, 19.2934285, 145.1792386, 149.6023286],
            [3.158320624, 17.240763938, 0.232293959, 1.568643533],
            [0.045406910589, 0.000526208597, 0.630553870985, 0.211734523278],
        ],
        rtol=2e-3,
    )
    second = slopes_fit.anova(kind="II").set_index("term").loc["x"]
    assert (second["f"], second["den_df"]) == (
        pytest.approx(16.341681445, rel=1e-4),
        pytest.approx(18.31, rel=1e-2),
    )
    check(
        slopes_fit.anova(ddf="kenward-roger"),
        [
            [141.8333196, 13.8995821, 126.3721833, 147.9863427],
            [3.031257027, 17.084701680, 0.214927948, 1.496304516],
            [0.05139255538, 0.00102862135, 0.64372955425, 0.22732463932],
        ],
        rtol=2e-3,
    )


@pytest.mark.parametrize("coding", ["treatment", "sum", "helmert"])
def test_type_three_does_not_depend_on_the_coding(experiment, coding):
    """anova(lmer(y ~ cond*plural + (1|subject) + (1|item), d, contrasts = list(cond = "contr.helmert")))."""
    found = anova(fit(experiment, "y ~ cond*plural + (1|subject) + (1|item)", contrasts={"cond": coding}))
    np.testing.assert_allclose(found["f"], [5.23010069, 1.46833748, 8.85134430], rtol=1e-4)
    np.testing.assert_allclose(found["den_df"], [139.799712, 138.715340, 139.283552], rtol=1e-4)


def test_linear_model(experiment):
    found = fit(experiment, "y ~ cond*plural + x")
    sums = {
        "III": [5.757722759, 0.576318350, 19.427910883, 9.464084526],
        "II": [4.952949366, 0.316504486, 19.427910883, 9.464084526],
        "I": [5.470086137, 0.444749553, 21.580782505, 9.464084526],
    }
    for kind, expected in sums.items():
        table = found.anova(kind=kind)
        np.testing.assert_allclose(table["sum_sq"], expected, rtol=1e-8)
        assert table["den_df"].tolist() == [159] * 4
    np.testing.assert_allclose(found.anova()["p"], [0.088870, 0.484050, 7.3134e-05, 0.019436], rtol=1e-4)


def test_binomial_model_has_wald_tests(experiment):
    found = fit(experiment, "right ~ cond*plural + x", family="binomial").anova()
    np.testing.assert_allclose(found["f"] * found["num_df"], [2.36118, 0.13631, 2.70341, 2.37405], rtol=5e-5)
    np.testing.assert_allclose(found["p"], [0.30710, 0.71198, 0.10013, 0.30513], rtol=5e-5)
    assert np.isinf(found["den_df"]).all()


def test_one_contrast_has_the_degrees_of_freedom_of_the_coefficient(crossed_fit):
    row = crossed_fit.anova().set_index("term").loc["x"]
    coefficient = crossed_fit.coefficients.set_index("term").loc["x"]
    assert row["f"] == pytest.approx(coefficient["t"] ** 2)
    assert row["den_df"] == pytest.approx(coefficient["df"])
    assert row["p"] == pytest.approx(coefficient["p"])


def test_what_cannot_be_tested(experiment, crossed_fit, monkeypatch):
    dropped = fit(experiment, "y ~ x + I(2 * x) + (1|subject)")
    with pytest.raises(FitError) as raised:
        dropped.anova()
    assert str(raised.value) == (
        "Tests of terms need every effect, but I(2 * x) could not be estimated. Simplify the formula."
    )
    with pytest.raises(FitError) as raised:
        fit(experiment, "y ~ x + (1|subject)", reml=False).anova(ddf="kenward-roger")
    assert str(raised.value) == (
        "Kenward and Roger's degrees of freedom are for linear mixed models fitted by REML; use satterthwaite."
    )
    monkeypatch.setattr(module, "MOST_ROWS", 100)
    with pytest.raises(FitError) as raised:
        crossed_fit.anova(ddf="kenward-roger")
    assert str(raised.value) == (
        "Kenward and Roger's degrees of freedom need matrices of rows x rows, and the fit has 166 rows; the limit is 100. "
        "Use satterthwaite: with so many rows the two differ little."
    )
    with pytest.raises(UnknownNameError, match=r"^There is no type of test called 'IV'\."):
        crossed_fit.anova(kind="IV")


@pytest.mark.parametrize("bar", ["cond*plural ||", "0 + cond:plural |"])
def test_degrees_of_freedom_of_a_singular_fit(experiment, bar):
    """The same model twice, once with terms that are not identified: the same likelihood and degrees of freedom.

    lmerTest on lmer(y ~ cond*plural + (0 + cond:plural | subject), subset(d, cond != "a"), control =
    lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9))); with the usual settings its search stops short of
    such optima, and its degrees of freedom are then off by some percent.
    """
    found = fit(experiment, f"y ~ cond*plural + ({bar} subject)", where="cond != 'a'")
    assert found.singular
    assert found.loglik == pytest.approx(-129.9729596, abs=1e-6)
    expected = [14.799361, 14.014616, 22.243269, 20.318465]
    np.testing.assert_allclose(found.coefficients["df"], expected, rtol=1e-4)
