"""People's trials: effects and predictors against plain means, and against lme4."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from psymem.data.items.human_trials import HumanTrials
from psymem.errors import DataError, UnknownNameError
from psymem.studies.attraction import significance
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.people.analysis import HumanSource
from psymem.studies.attraction.people.fits import LINEAR_PROBABILITY, SLOPES
from psymem.studies.attraction.study import analyse

MEASURES = ["surprisal_bits", "relative_attention", "attention_entropy_bits"]
FACTORS = ["attraction", "violation"]
SIZES = {"A": 0.0, "B": -60, "C": 0.0, "D": -40, "E": 90, "F": 10, "G": 60, "H": 50}


def trials(kind="rt", n_subjects=16, n_items=12, seed=3) -> pd.DataFrame:
    """Every subject reads every item in every condition; subjects and items differ."""
    rng = np.random.default_rng(seed)
    subject, item = rng.normal(0, 40, n_subjects), rng.normal(0, 30, n_items)
    rows = [
        (f"s{s}", str(i + 1), condition, 600 + size + subject[s] + item[i] + rng.normal(0, 80))
        for s in range(n_subjects)
        for i in range(n_items)
        for condition, size in SIZES.items()
    ]
    frame = pd.DataFrame(rows, columns=["subject", "item", "condition", "response"])
    if kind == "judgement":
        frame["response"] = (frame["response"] > 600).astype(float)
    return frame.astype(dict.fromkeys(["subject", "item", "condition"], "str"))


def run(scores, frame, kind="rt", tests=None, attraction=True, measures=MEASURES, **source):
    return analyse(
        scores,
        FACTORS,
        attraction=attraction,
        measures=measures,
        tests=tests,
        human=(HumanTrials(frame, kind, "trials.csv", "0" * 64), HumanSource("trials.csv", **source)),
    )


@pytest.fixture(scope="module")
def with_times(make_scores):
    return run(make_scores(models=("cbr-rnn/1", "cbr-rnn/2")), trials())


def test_effects_of_complete_data_are_differences_of_means(with_times):
    means = trials().groupby("condition")["response"].mean()
    effects = with_times.human.effects
    for effect in ATTRACTION_EFFECTS:
        found = effects.loc[effects["effect"] == effect.name, "estimate"]
        assert len(found) == 2
        assert found.to_numpy() == pytest.approx(
            sum(means[c] * w for c, w in effect.weights.items()), abs=1e-6
        )
    assert set(effects["scale"]) == {"ms"}
    assert set(effects["n_subjects"]) == {16}


def test_random_effects_are_subjects_and_items(with_times):
    by_name = with_times.human.effects.set_index(["effect", "structure"])["formula"]
    assert by_name["agreement-attraction", "random intercepts"] == (
        "rt_ms ~ attraction + (1|subject) + (1|item)"
    )
    assert by_name["agreement-attraction", SLOPES] == (
        "rt_ms ~ attraction + (1 + attraction|subject) + (1 + attraction|item)"
    )


def test_slopes_only_where_there_are_more_trials_than_slopes(toy_scores):
    frame = trials()
    once_a_condition = frame.groupby(["subject", "condition"]).sample(1, random_state=1)
    human = run(toy_scores, once_a_condition).human
    by_name = human.effects.set_index(["effect", "structure"])["random_effects"]
    assert by_name["agreement-attraction", SLOPES] == "(1|subject) + (1 + attraction|item)"


def test_models_are_compared_with_these_people(with_times):
    people = with_times.effects.set_index("effect")["human_direction"].groupby("effect").first()
    assert people["agreement-attraction"] == "negative"
    assert people.to_dict() == with_times.human.directions()


def test_the_means_of_the_figure(with_times):
    panel = with_times.plotted[with_times.plotted["panel"] == "humans"].set_index("condition")
    by_subject = trials().groupby(["condition", "subject"])["response"].mean().unstack()
    mean = by_subject.mean(axis=1)
    sd = (by_subject - by_subject.mean()).std(axis=1) * (8 / 7) ** 0.5  # Cousineau-Morey, eight conditions
    assert panel["mean"].to_dict() == pytest.approx(mean.to_dict())
    half = 2.131449545559323 * sd / 4  # t(15), 16 subjects
    assert panel["ci_high"].to_dict() == pytest.approx((mean + half).to_dict())
    assert set(panel["interval"]) == {"95% within-subject (Cousineau-Morey), t over subjects"}
    plain = with_times.human.means.set_index("condition")["subject_ci_high"]
    over = 2.131449545559323 * by_subject.std(axis=1) / 4
    assert plain.to_dict() == pytest.approx((mean + over).to_dict())
    assert set(panel["measure"]) == {"mean_rt_ms"}
    assert set(panel["title"]) == {"humans"}


def test_predictors_are_standardised_measures_of_averaged_instances(with_times, make_scores):
    scores = make_scores(models=("cbr-rnn/1", "cbr-rnn/2"))
    value = scores.groupby(["item", "condition"])["surprisal_bits"].mean().rename("x").reset_index()
    joined = trials().merge(value, on=["item", "condition"], validate="many_to_one")
    z = (joined["x"] - joined["x"].mean()) / joined["x"].std()
    from psymem.fitting.fit import fit

    expected = fit(joined.assign(z=z), "response ~ z + (1|subject) + (1|item)").coefficients.iloc[1]
    found = with_times.human.predictors.set_index("measure").loc["surprisal_bits"]
    assert found["model"] == "cbr-rnn"
    assert found["formula"] == "rt_ms ~ scale(surprisal_bits) + (1|subject) + (1|item)"
    for column in ("estimate", "se", "p"):
        assert found[column] == pytest.approx(expected[column], rel=1e-5)


def test_logarithms_of_times(toy_scores):
    human = run(toy_scores, trials(), response="log-rt").human
    frame = trials()
    logs = np.log(frame["response"]).groupby(frame["condition"]).mean()
    first = human.effects.iloc[0]
    assert first["estimate"] == pytest.approx(logs["B"] - logs["A"], abs=1e-8)
    assert (first["scale"], first["formula"]) == ("ln(ms)", "log_rt_ms ~ attraction + (1|subject) + (1|item)")


def test_judgements_by_the_default_engine_are_called_an_approximation(toy_scores):
    result = run(toy_scores, trials("judgement"), "judgement")
    assert set(result.human.effects["scale"]) == {LINEAR_PROBABILITY}
    assert set(result.human.predictors["scale"]) == {LINEAR_PROBABILITY}
    means = trials("judgement").groupby("condition")["response"].mean()
    assert result.human.effects.iloc[0]["estimate"] == pytest.approx(means["B"] - means["A"], abs=1e-8)
    panel = result.plotted[result.plotted["panel"] == "humans"].set_index("condition")
    assert panel["mean"].to_dict() == pytest.approx((100 * means).to_dict())


def test_another_design_has_the_formula_of_the_models(toy_scores):
    tests = significance.Tests(
        formula="y ~ violation + (1|item)", levels={"violation": ["semantic", "grammatical", "double"]}
    )
    human = run(toy_scores, trials(), tests=tests, attraction=False).human
    assert list(human.effects["effect"].unique()) == ["violationgrammatical", "violationdouble"]
    assert human.effects["formula"].iloc[0] == "rt_ms ~ violation + (1|subject) + (1|item)"


def test_trials_of_items_left_out_are_counted(toy_scores):
    unknown = (toy_scores["item"] == "3") & (toy_scores["condition"] == "A")
    human = run(toy_scores.assign(oov=unknown), trials()).human
    assert (human.about["trials_with_response"], human.about["trials_analysed"]) == (1536, 1408)


def test_effects_without_trials_have_a_note(toy_scores):
    frame = trials()
    human = run(toy_scores, frame[frame["condition"] != "H"]).human
    row = human.effects.set_index("effect").loc["agreement-in-double"]
    assert np.isnan(row["estimate"])
    assert row["note"] == "Not estimable: no trial is in condition H."
    assert human.directions()["agreement-in-double"] is None


def test_refusals(toy_scores):
    frame = trials()
    with pytest.raises(DataError) as error:
        run(toy_scores, frame.assign(response=400.0))
    assert str(error.value) == "All 1536 responses of trials.csv are 400: nothing varies."
    with pytest.raises(DataError) as error:
        run(toy_scores.assign(oov=toy_scores["item"] == "1"), frame[frame["item"] == "1"])
    assert str(error.value) == (
        "None of the 96 ... "
        if False
        else "None of the 128 trials of trials.csv is about an item that was analysed. The words of the others are not in "
        "the vocabulary of the model; --keep-oov keeps them."
    )
    with pytest.raises(UnknownNameError) as unknown:
        HumanSource("trials.csv", response="speed")
    assert str(unknown.value) == "There is no kind of response called 'speed'. Known: judgement, log-rt, rt."


LME4 = """
suppressMessages({library(lme4); library(lmerTest)})
d <- read.csv("trials.csv"); d <- d[d$condition %in% c("A", "B"), ]
d$attraction <- as.numeric(d$condition == "B")
m <- lmer(rt ~ attraction + (1|subject) + (1|item), d)
cat(coef(summary(m))["attraction", ], "\\n")
g <- glmer(judgement ~ attraction + (1|subject) + (1|item), d, family = binomial)
cat(coef(summary(g))["attraction", ], "\\n")
"""


@pytest.mark.r
def test_times_and_judgements_against_lme4(rscript, tmp_path, toy_scores):
    frame = trials()
    judged = frame.assign(rt=frame["response"], judgement=trials("judgement")["response"])
    judged.to_csv(tmp_path / "trials.csv", index=False)
    done = subprocess.run([rscript, "-e", LME4], cwd=tmp_path, capture_output=True, text=True, check=True)
    linear, binomial = (np.array(line.split(), float) for line in done.stdout.strip().splitlines())
    times = run(toy_scores, frame).human.effects.set_index(["effect", "structure"])
    found = times.loc[
        ("agreement-attraction", "random intercepts"), ["estimate", "se", "df", "t", "p"]
    ].to_numpy(float)
    assert found == pytest.approx(linear, rel=2e-3)
    part = frame[frame["condition"].isin(["A", "B"])]
    with_lme4 = run(
        toy_scores,
        part.assign(response=trials("judgement").loc[part.index, "response"]),
        "judgement",
        measures=MEASURES[:1],
        engine="lme4",
    ).human
    row = with_lme4.effects.iloc[0]
    assert row[["estimate", "se", "t", "p"]].to_numpy(float) == pytest.approx(binomial, rel=1e-3, abs=1e-8)
    assert (row["scale"], row["family"]) == ("log-odds (binomial model)", "binomial")


def test_a_version_that_was_not_estimated_well_is_not_cited(with_times):
    human = with_times.human
    slopes = human.effects["structure"] == SLOPES
    assert set(human.to_cite()["structure"]) == {SLOPES}
    unsure = human.effects.assign(converged=~slopes)
    assert set(replace(human, effects=unsure).to_cite()["structure"]) == {"random intercepts"}
    runaway = human.effects.assign(family="binomial", se=human.effects["se"].where(slopes, 0.5))
    assert set(replace(human, effects=runaway).to_cite()["structure"]) == {"random intercepts"}


def test_means_of_incomplete_subjects_have_the_plain_interval(toy_scores):
    frame = trials()
    frame = frame[~((frame["subject"] == "s1") & (frame["condition"] == "H"))]
    means = run(toy_scores, frame).human.means
    assert set(means["interval"]) == {"95%, t over subjects' means"}
    assert means["ci_high"].tolist() == means["subject_ci_high"].tolist()
