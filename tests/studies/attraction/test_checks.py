"""Manipulation checks and effects against controls, with plain pandas beside them; a model that has learned nothing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.checkpoints import word_counts_content
from psymem.fitting.multiplicity import adjust
from psymem.studies.attraction import checks as checks_of
from psymem.studies.attraction.readings import Readings
from psymem.studies.attraction.study import analyse
from tests.studies.conftest import FACTORS, simulated

MEASURES = ["surprisal_bits", "relative_attention"]
MODELS = tuple(f"cbr-rnn/{n}" for n in range(1, 6))
ABOUT = {"item_set": {"name": "own items"}, "models": []}
LEVELS = ("singular", "plural")


def controls_of(scores, cost: float, seed: int = 9):
    """Grammatical sentences: as the violating ones without attraction, and `cost` bits less surprising."""
    rng = np.random.default_rng(seed)
    base = scores[scores["condition"] == "A"].set_index(["item", "model"])["surprisal_bits"]
    values = pd.MultiIndex.from_frame(scores[["item", "model"]]).map(base)
    noise = rng.normal(0, 0.1, len(scores))
    return scores.assign(
        surprisal_bits=np.asarray(values, float) - cost + noise, relative_attention=0.5 + noise / 10
    )


def numbers_of(subject: float, attractor: float, models=MODELS, n_items: int = 8, seed: int = 2):
    """Scores of sentences that cross the numbers, with costs of a verb that fits neither subject nor attractor."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "item": str(item),
            "condition": f"{s}-{a}-{v}",
            "text_id": f"{item}-{s}-{a}-{v}",
            "target_number": s,
            "attractor_number": a,
            "verb_number": v,
            "model": model,
            "surprisal_bits": 8
            + subject * (v != s)
            + attractor * (a != "none" and v != a)
            + rng.normal(0, 0.2),
        }
        for item, s, a, v, model in product(range(1, n_items + 1), LEVELS, (*LEVELS, "none"), LEVELS, models)
    ]
    frame = pd.DataFrame(rows).assign(
        sentence_id=1, word_id=5, word="is", region="verb", role="critical", oov=False
    )
    return frame.assign(frame=np.where(frame["attractor_number"] == "none", "next", "phrase"))


def run(scores, controls=None, numbers=None, **settings):
    beside = Readings(scores, controls, numbers, "crossed" if numbers is not None else "")
    return analyse(
        scores, FACTORS, attraction=True, measures=MEASURES, about=ABOUT, beside=beside, **settings
    )


@pytest.fixture(scope="module")
def scores():
    return simulated(n_items=14, models=MODELS)


@pytest.fixture(scope="module")
def detecting(scores):
    return run(scores, controls_of(scores, 3.0), numbers_of(2.0, 0.7))


def test_costs_are_differences_to_the_controls(scores, detecting):
    table = detecting.checks.table.set_index("check")
    controls = controls_of(scores, 3.0)
    for check, condition in {
        "agreement violation": "A",
        "semantic violation": "C",
        "double violation": "E",
    }.items():
        expected = (scores["surprisal_bits"] - controls["surprisal_bits"])[
            scores["condition"] == condition
        ].mean()
        assert table.loc[check, "estimate"] == pytest.approx(expected)
        assert table.loc[check, "reliable"]
    kinds = table.loc[["agreement violation", "semantic violation"]]
    assert kinds["p_holm"].to_numpy() == pytest.approx(adjust(kinds["p"].to_numpy(float), "holm"))
    assert table["p_holm"].drop(kinds.index).isna().all()
    assert table.loc["agreement violation", ["n_items", "n_models"]].tolist() == [14, 5]


def test_weights_are_the_costs_that_were_put_in(detecting):
    table = detecting.checks.table.set_index("check")
    assert table.loc["subject's number", "estimate"] == pytest.approx(2.0, abs=0.1)
    assert table.loc["attractor's number", "estimate"] == pytest.approx(0.7, abs=0.1)
    assert table.loc["wrong verb, attractor of the subject's number", "estimate"] == pytest.approx(
        2.7, abs=0.1
    )
    assert table.loc["wrong verb, attractor of the other number", "estimate"] == pytest.approx(1.3, abs=0.1)
    assert table.loc["wrong verb, no attractor", "estimate"] == pytest.approx(2.0, abs=0.1)
    assert table.loc["wrong verb, no attractor", "condition"] == "next"


def test_weights_are_main_effects_over_the_same_cells(detecting):
    frame = numbers_of(2.0, 0.7)
    frame = frame[frame["frame"] == "phrase"]
    table = detecting.checks.table.set_index("check")["estimate"]
    for name, column in (("subject's number", "target_number"), ("attractor's number", "attractor_number")):
        misfit = frame["verb_number"] != frame[column]
        assert table[name] == pytest.approx(
            frame.loc[misfit, "surprisal_bits"].mean() - frame.loc[~misfit, "surprisal_bits"].mean()
        )


def test_effects_against_controls_are_differences_of_differences(scores, detecting):
    first = detecting.first.set_index(["measure", "effect"])
    controls = controls_of(scores, 3.0)
    wide = [
        f.pivot(index=["item", "model"], columns="condition", values="surprisal_bits")
        for f in (scores, controls)
    ]
    values = (wide[0]["B"] - wide[0]["A"]) - (wide[1]["B"] - wide[1]["A"])
    row = first.loc[("surprisal_bits", "agreement-attraction")]
    assert row["estimate"] == pytest.approx(values.mean())
    assert set(first["baseline"]) == {"grammatical control"}
    assert set(first["structure"]) == {"items and instances crossed"}
    plain = detecting.effects.query("baseline == 'none' and structure == 'items and instances crossed'")
    simple = plain.set_index(["measure", "effect"]).loc[("surprisal_bits", "agreement-attraction")]
    assert simple["estimate"] == pytest.approx((wide[0]["B"] - wide[0]["A"]).mean())


def test_one_instance_is_a_t_test_of_the_items_differences(scores):
    one = scores[scores["model"] == MODELS[0]]
    controls = controls_of(one, 3.0)
    row = (
        run(one, controls)
        .first.set_index(["measure", "effect"])
        .loc[("surprisal_bits", "semantic-attraction")]
    )
    wide = [f.pivot(index="item", columns="condition", values="surprisal_bits") for f in (one, controls)]
    expected = stats.ttest_1samp((wide[0]["D"] - wide[0]["C"]) - (wide[1]["D"] - wide[1]["C"]), 0)
    assert (row["t"], row["p"], row["df"]) == pytest.approx((expected.statistic, expected.pvalue, 13))
    assert row["structure"] == "over items"


def test_sentences_of_a_model_that_detects(detecting):
    said = detecting.checks.sentences("cbr-rnn")
    assert said[0].startswith("cbr-rnn: violations detected (agreement: +3.0")
    assert said[1].startswith(
        "What a verb that does not fit costs across the attractor (crossed, phrase): subject's number +1.99 bits ["
    )
    assert said[2].startswith("The wrong verb costs +")
    assert said[2].endswith(": the verb goes by its subject.")
    assert said[3].startswith("Critical verbs: mean surprisal ")
    assert set(detecting.first["verdict"].dropna()) <= {"as people", "against people", "undecided"}


def test_one_violation_that_is_not_detected(scores):
    controls = controls_of(scores, 3.0)
    own = scores["condition"].isin(["C", "D"])
    noise = np.random.default_rng(1).normal(0, 1, len(scores))
    controls.loc[own, "surprisal_bits"] = (scores["surprisal_bits"] + noise)[own]
    result = run(scores, controls)
    assert "no violation detected of semantic (" in result.checks.headline("cbr-rnn")
    assert result.checks.headline("cbr-rnn").endswith(
        "; attraction cannot be interpreted where it rests on semantic."
    )
    verdicts = result.first.set_index(["measure", "effect"])["verdict"]["surprisal_bits"]
    assert verdicts["agreement-attraction"] == "as people"
    assert set(verdicts.drop(["agreement-attraction", "agreement-in-double"])) == {"not interpretable"}


def random_model(models=MODELS):
    """Scores of networks that have learned nothing: noise of items and instances, no effect of anything."""
    made = simulated(n_items=14, models=models)
    rng = np.random.default_rng(11)
    return [
        made.assign(
            surprisal_bits=15 + rng.normal(0, 1, len(made)),
            relative_attention=rng.uniform(0.3, 0.7, len(made)),
        )
        for _ in range(2)
    ]


@pytest.mark.parametrize("models", [MODELS, MODELS[:1]], ids=["five instances", "one"])
def test_every_sentence_is_true_of_a_model_that_has_learned_nothing(models, tmp_path, monkeypatch):
    from psymem.studies.attraction import folder

    monkeypatch.setattr(folder, "figures", lambda result: {})
    items, controls = random_model(models)
    result = run(items, controls, numbers_of(0.0, 0.0, models))
    model = result.models[0]
    said = result.checks.headline(model)
    assert said.startswith(f"{model}: no violation detected (agreement: ")
    assert said.endswith("; attraction cannot be interpreted.")
    assert set(result.first["verdict"].dropna()) == {"not interpretable"}
    assert result.effects["consistent"].isna().all()
    result.save(tmp_path)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    first = report.index("<h2>Manipulation checks</h2>")
    assert first < report.index("<h2>Effects at the critical word</h2>")
    assert "no violation detected" in report[first : first + 400]
    words = report[report.index("<h2>Methods paragraph</h2>") : report.index("<h2>Condition means</h2>")]
    assert f"Manipulation checks: {model}: no violation detected" in words
    assert "as people." not in words
    assert "people show" not in words
    assert (
        words.count("the model does not detect the violation: no sign of attraction, or of its absence.")
        == 14
    )


def test_without_controls_the_crossed_set_decides_and_the_rest_is_not_known(scores):
    blind = run(scores, None, numbers_of(0.0, 1.5))
    said = blind.checks.sentences("cbr-rnn")
    assert said[0].startswith("cbr-rnn: no violation detected in crossed (agreement: ")
    assert said[1].startswith("No grammatical controls were read: ")
    unknown = run(scores)
    assert unknown.checks.headline("cbr-rnn") == (
        "cbr-rnn: whether the model detects the violations was not checked."
    )
    assert set(unknown.first["baseline"]) == {"none"}
    assert unknown.first["verdict"].notna().any()


def test_counts_of_forms_come_from_the_model_s_folder(scores, tmp_path, monkeypatch):
    (tmp_path / "word_counts.tsv.gz").write_bytes(word_counts_content({"were": 40, "is": 7}))
    monkeypatch.setattr(checks_of, "word_counts", lambda folder: {"were": 40, "is": 7})
    models = [{"model": m, "checkpoint": str(tmp_path)} for m in MODELS[:2]] + [{"model": MODELS[2]}]
    found = checks_of.training_counts(scores, models)
    assert found.to_dict("records") == [{"model": "cbr-rnn", "word": "were", "count": 40.0}]
    result = analyse(scores, FACTORS, attraction=True, measures=MEASURES, about={**ABOUT, "models": models})
    assert result.checks.sentences("cbr-rnn")[-1].endswith(
        "In one pass over the training text, per form: median 40 times, least 'were' (40)."
    )


@pytest.mark.parametrize(("beyond", "told"), [(0.0, False), (1.5, True)])
def test_semantic_attraction_is_told_from_attractor_and_verb_going_together(scores, beyond, told):
    """With another subject that the verb fits, D is as much easier than C as in the items, or `beyond` bits less so."""
    others = scores[scores["condition"].isin(list("CDEFGH"))].copy()
    noise = np.random.default_rng(4).normal(0, 0.05, len(others))
    others["surprisal_bits"] = others["surprisal_bits"] - 3 + beyond * (others["condition"] == "D") + noise
    beside = Readings(scores, controls_of(scores, 4.0), other_subjects=others)
    result = analyse(scores, FACTORS, attraction=True, measures=MEASURES, about=ABOUT, beside=beside)
    check = result.checks.table.set_index("check").loc[checks_of.BEYOND_ASSOCIATION]
    wide = [
        frame.pivot_table(index=["item", "model"], columns="condition", values="surprisal_bits")
        for frame in (scores, others)
    ]
    by_hand = ((wide[0]["C"] - wide[0]["D"]) - (wide[1]["C"] - wide[1]["D"])).mean()
    assert check["estimate"] == pytest.approx(by_hand)
    assert check["reliable"] == told
    said = " ".join(result.checks.sentences("cbr-rnn"))
    assert ("semantic attraction is not told from attractor and verb going together" in said) != told
    verdicts = result.first.query("measure == 'surprisal_bits'").set_index("effect")["verdict"]
    rest_on_it = {
        "semantic-attraction",
        "interaction",
        "double-attraction",
        "semantic-in-double",
        "additivity",
    }
    assert {e for e, v in verdicts.items() if v == "not interpretable"} == (set() if told else rest_on_it)


@pytest.mark.parametrize(
    ("subject", "attractor", "told"), [(2.0, 1.0, True), (0.3, 1.0, False), (0.0, 2.0, False)]
)
def test_agreement_with_the_nearest_noun_is_no_attraction(scores, subject, attractor, told):
    """Condition A looks detected to a model that goes by the nearest noun; the crossed numbers tell it."""
    result = run(scores, controls_of(scores, 4.0), numbers_of(subject, attractor))
    check = result.checks.table.query("condition == 'phrase'").set_index("check").loc[checks_of.OTHER]
    assert check["estimate"] == pytest.approx(subject - attractor, abs=0.15)
    assert check["reliable"] == told
    assert result.checks.gates("cbr-rnn")["agreement"]["reliable"]
    said = " ".join(result.checks.sentences("cbr-rnn"))
    assert ("agreement attraction is not told from agreement with that" in said) != told
    verdicts = result.first.query("measure == 'surprisal_bits'").set_index("effect")["verdict"]
    rest_on_it = {
        "agreement-attraction",
        "interaction",
        "double-attraction",
        "agreement-in-double",
        "additivity",
    }
    assert {e for e, v in verdicts.items() if v == "not interpretable"} == (set() if told else rest_on_it)


def test_items_with_an_unknown_word_after_another_subject_are_left_out_of_that_check(scores):
    others = scores[scores["condition"].isin(list("CDEFGH"))].copy()
    unknown = (others["item"] == others["item"].iloc[0]) & (others["role"] == "critical")
    others.loc[unknown, ["oov", "surprisal_bits"]] = [True, 99.0]
    beside = Readings(scores, controls_of(scores, 4.0), other_subjects=others)
    result = analyse(scores, FACTORS, attraction=True, measures=MEASURES, about=ABOUT, beside=beside)
    check = result.checks.table.set_index("check").loc[checks_of.BEYOND_ASSOCIATION]
    assert (check["n_items"], check["estimate"]) == (13, pytest.approx(0, abs=1e-9))
