"""offset() and cbind() against R: lm, glm, lme4 1.1-31 and emmeans with ``d <- read.csv(..., stringsAsFactors = TRUE)``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import FitError, NotNestedError
from psymem.fitting.comparison import compare
from psymem.fitting.cross_validation import NOT_ABOVE, cross_validate
from psymem.fitting.fit import fit
from psymem.fitting.simulation import simulate_response, truth_of

MIXED = "y ~ task + x + offset(base) + (1|person)"
RATE = "errors ~ task + offset(log(seconds))"
COUNTS = "cbind(right, wrong) ~ task + x"


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """12 people, three tasks: a time with a known baseline, errors in some seconds, right and wrong answers."""
    k = np.arange(96)
    task = k % 3
    frame = pd.DataFrame(
        {"person": [f"p{i}" for i in k // 8], "task": np.array(["read", "name", "sort"])[task]}
    )
    frame["x"], frame["seconds"] = np.round(np.sin(1.7 * k), 3), 5 + (k * 7) % 11
    frame["base"] = np.round(10 + np.cos(k), 2)
    frame["y"] = np.round(frame.base + 2 * task + frame.x + 1.5 * np.sin(k // 8 * 2.1) + np.cos(3.3 * k), 3)
    frame["errors"] = (k * k * 5 + 3 * k) % 7 + (task == 1) * 2 + (k // 8) % 3
    frame["right"], frame["wrong"] = (k * 11) % 9 + (k // 8) % 4 + 2 * (task == 0), (k * 5) % 7 + 1
    return frame


def test_offset_of_a_mixed_model(people):
    """lmer(y ~ task + x + offset(base) + (1|person), d)."""
    found = fit(people, MIXED)
    assert found.loglik == pytest.approx(-127.7048744, abs=1e-5)
    table = found.coefficients
    assert table["estimate"].tolist() == pytest.approx(
        [1.957515279, -1.923860731, 2.067870305, 0.979139362], rel=1e-5
    )
    assert table["se"].tolist() == pytest.approx(
        [0.3386571109, 0.1906986447, 0.1907000797, 0.1096593704], rel=1e-4
    )
    assert table["df"].tolist() == pytest.approx(
        [13.70028662, 81.13368691, 81.13368655, 81.04812247], rel=2e-3
    )
    first = [11.06711273, 13.50227971, 13.38818409]
    assert found.fitted[:3] == pytest.approx(first, rel=1e-5)
    assert found.predict(people[:3]) == pytest.approx(first, rel=1e-5)
    np.testing.assert_allclose(found.fitted + found.residuals, people["y"])


def test_offset_of_marginal_means_is_its_mean(people):
    """emmeans(m, "task"): 12.0, 10.0 and 14.0 for the mixed model; 1.5593464 and so on for the rate."""
    means = fit(people, MIXED).marginal_means("task")
    assert means["estimate"].round(1).tolist() == [12.0, 10.0, 14.0]
    assert means.attrs["notes"][-1] == "The offset is held at its mean, 10.02."
    rates = fit(people, RATE, family="poisson").marginal_means("task")
    assert rates["estimate"].tolist() == pytest.approx([1.5593464, 1.0329487, 1.0730227], abs=1e-6)
    assert rates["ci_low"].tolist() == pytest.approx([1.4039112, 0.8329107, 0.8760390], abs=1e-6)
    assert rates.attrs["notes"] == ["The offset is held at its mean, 2.249.", "Results are on the log scale."]


def test_two_offsets_of_a_linear_model(people):
    """lm(y ~ task + offset(base) + offset(x), d)."""
    found = fit(people, "y ~ task + offset(base) + offset(x)")
    assert found.loglik == pytest.approx(-158.6690754, abs=1e-6)
    assert found.coefficients["estimate"].tolist() == pytest.approx([1.8065625, -1.61803125, 2.21484375])
    assert found.predict(people[:3]) == pytest.approx([11.18853125, 13.33856250, 13.34540625])


@pytest.mark.parametrize("engine", ["lme4", "mixedlm"])
@pytest.mark.r
def test_rate_in_people(rscript, people, engine):
    """glmer(errors ~ task + offset(log(seconds)) + (1|person), d, family = poisson)."""
    if engine == "mixedlm":
        pytest.importorskip("mixedlm", reason="mixedlm is not installed (extra binomial)")
    found = fit(people, RATE + " + (1|person)", family="poisson", engine=engine)
    assert found.loglik == pytest.approx(-224.2060729, abs=1e-3)
    expected = [-0.6910320674, -0.5238331754, -0.5156278647]
    assert found.coefficients["estimate"].tolist() == pytest.approx(expected, rel=3e-3)
    fitted = [1.274310973, 5.163979648, 2.055696169]
    assert found.fitted[:3] == pytest.approx(fitted, rel=3e-3)
    assert found.predict(people[:3]) == pytest.approx(fitted, rel=3e-3)


def test_rate_without_people(people):
    """glm(errors ~ task + offset(log(seconds)), d, family = poisson)."""
    found = fit(people, RATE, family="poisson")
    assert found.loglik == pytest.approx(-225.1245997, abs=1e-6)
    assert found.coefficients["se"].tolist() == pytest.approx(
        [0.0793051586, 0.1292515782, 0.1280246628], rel=1e-5
    )
    assert found.predict(people[:3]) == pytest.approx([1.481481481, 6.018927445, 2.467289720], rel=1e-6)


def test_models_with_other_offsets_are_not_nested(people):
    with pytest.raises(NotNestedError) as raised:
        compare(fit(people, "y ~ 1 + (1|person)"), fit(people, MIXED))
    assert str(raised.value) == (
        f"{MIXED} does not contain the base y ~ 1 + (1|person): their offsets differ. Give both the same offset()."
    )
    base = fit(people, "y ~ offset(base) + (1|person)", reml=False)
    assert compare(base, fit(people, MIXED, reml=False)).table["df"][1] == 3


def test_held_out_rows_have_their_offset(people):
    found = cross_validate(fit(people, MIXED, reml=False), [], people["person"], folds=3)
    own = fit(people.assign(y=people["y"] - people["base"]), "y ~ task + x + (1|person)", reml=False)
    other = cross_validate(own, [], people["person"], folds=3)
    np.testing.assert_allclose(found.observations["base"], other.observations["base"], rtol=1e-9)


def test_missing_offset_drops_the_row(people):
    assert fit(people.assign(base=people["base"].where(people.index > 4)), MIXED).n_obs == 91


def test_counts_of_a_generalised_model(people):
    """glm(cbind(right, wrong) ~ task + x, d, family = binomial)."""
    found = fit(people, COUNTS, family="binomial")
    assert found.loglik == pytest.approx(-183.0186268, abs=1e-6)
    expected = [0.48617844855, 0.05024890603, -0.23075555067, -0.06410441252]
    assert found.coefficients["estimate"].tolist() == pytest.approx(expected, rel=1e-5)
    errors = [0.11237391434, 0.16014979118, 0.16086352051, 0.09342069924]
    assert found.coefficients["se"].tolist() == pytest.approx(errors, rel=1e-5)
    assert found.fitted[:3] == pytest.approx([0.6309809387, 0.6041020994, 0.5675430023], rel=1e-6)


@pytest.mark.parametrize("engine", ["lme4", "mixedlm"])
@pytest.mark.r
def test_counts_in_people(rscript, people, engine):
    """glmer(cbind(right, wrong) ~ task + x + (1|person), d, family = binomial)."""
    if engine == "mixedlm":
        pytest.importorskip("mixedlm", reason="mixedlm is not installed (extra binomial)")
    found = fit(people, COUNTS + " + (1|person)", family="binomial", engine=engine)
    expected = [0.48394574706, 0.05022104659, -0.23130759371, -0.06379164006]
    np.testing.assert_allclose(found.coefficients["estimate"], expected, rtol=5e-3, atol=2e-4)
    assert found.variance_components["sd"][0] == pytest.approx(0.082565638, rel=0.02)
    assert found.fitted[:3] == pytest.approx([0.6245926208, 0.5976265676, 0.5606720226], rel=2e-3)
    if engine == "lme4":
        assert found.loglik == pytest.approx(-182.9717019, abs=1e-5)


def test_held_out_counts_have_the_binomial_probability(people):
    """The sum over rows of a model that was fitted to nearly all of them is near its log-likelihood."""
    base, full = (fit(people, f"cbind(right, wrong) ~ {x}", family="binomial") for x in ("1", "task"))
    found = cross_validate(base, [full], people["person"], folds=12, permutations=100)
    assert found.observations["base"].sum() == pytest.approx(base.loglik, abs=2)
    assert found.table["test"][1] == NOT_ABOVE


def test_simulated_counts_have_the_trials_of_the_rows(people):
    model = fit(people, COUNTS, family="binomial")
    drawn = simulate_response(truth_of(model), model.data, np.random.default_rng(1)) * model.data.trials
    assert (drawn == np.round(drawn)).all()
    assert (drawn <= people["right"] + people["wrong"]).all()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        pytest.param(
            {},
            {},
            "The response cbind(right, wrong) counts successes and failures, which is for the family binomial; the family "
            "is gaussian. Add family binomial, or name one column as response.",
            id="gaussian",
        ),
        pytest.param(
            {"wrong": -1},
            {"family": "binomial"},
            "cbind(right, wrong) has a count below 0 in row 4 (1 such row in all). It takes the numbers of successes and "
            "of failures, 0, 1, 2, ...; leave out rows without trials with where.",
            id="negative",
        ),
        pytest.param(
            {"wrong": 0, "right": 0},
            {"family": "binomial"},
            "cbind(right, wrong) has no trial at all in row 4 (1 such row in all). It takes the numbers of successes and "
            "of failures, 0, 1, 2, ...; leave out rows without trials with where.",
            id="no trials",
        ),
    ],
)
def test_counts_that_cannot_be(people, change, options, message):
    changed = people.copy()
    for name, value in change.items():
        changed.loc[3, name] = value
    with pytest.raises(FitError) as raised:
        fit(changed, COUNTS, **options)
    assert str(raised.value) == message
