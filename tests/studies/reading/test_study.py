"""Reading studies on invented data: rows, models, and what is said about them."""

from __future__ import annotations

import dataclasses
import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.backends.toy import ToyBackend
from psymem.errors import DataError, ModelError, UnknownNameError
from psymem.studies.common.corpus_scores import ScoringPlan
from psymem.studies.reading.predictive_power import INTERCEPTS, SLOPES
from psymem.studies.reading.settings import StudySettings
from psymem.studies.reading.study import analyse_corpus, reading

SETTINGS = StudySettings(folds=3, permutations=200)


@pytest.fixture(scope="module")
def made(invented_reading):
    """Corpus and scores."""
    return invented_reading()


@pytest.fixture(scope="module")
def analysis(made):
    """The analysis with two instances, a mean and readers' own effects."""
    return analyse_corpus(*made, dataclasses.replace(SETTINGS, by_reader=True))


@pytest.fixture(scope="module")
def averaged(made, as_averages):
    """The analysis of means over readers."""
    return analyse_corpus(as_averages(made[0]), made[1], SETTINGS)


def test_rows_and_exclusions_by_hand(made, analysis):
    frame = analysis.rows.frame
    assert analysis.exclusions["rows_left_out"].tolist() == [
        0, 0, int((made[0].reading["gaze_duration"] < 80).sum()), 0, 84, 84, 84,
    ]  # fmt: skip
    assert analysis.exclusions["reason"].tolist()[-3:] == [
        "first word of a sentence",
        "last word of a sentence",
        "fewer than 2 word(s) before it to spill over",
    ]
    assert len(frame) == 6 * 14 * 6
    assert sorted(frame["word_id"].unique()) == [3, 4, 5, 6, 7, 8]


def test_predictors_are_standardised_and_those_of_words_before_belong_to_the_words_before(made, analysis):
    frame, scales = analysis.rows.frame, analysis.scales.set_index("column")
    assert frame["length"].mean() == pytest.approx(0, abs=1e-12)
    assert frame["length"].std() == pytest.approx(1)
    back = (
        frame["length_previous_2"] * scales.loc["length_previous_2", "sd"]
        + scales.loc["length_previous_2", "mean"]
    )
    lengths = made[0].words.set_index(["text_id", "word_id"])["word"].str.len()
    expected = [
        lengths[text, number - 2] for text, number in zip(frame["text_id"], frame["word_id"], strict=True)
    ]
    np.testing.assert_allclose(back, expected)


def test_instances_are_averaged_and_shown(made, analysis):
    assert [(p.model, p.family) for p in analysis.predictors] == [("m", "m"), ("m/1", "m"), ("m/2", "m")]
    wide = made[1].pivot(index=["text_id", "word_id"], columns="model", values="surprisal_bits").mean(axis=1)
    frame, own = analysis.rows.frame, analysis.scales.set_index("column").loc["m1"]
    expected = [wide[text, number] for text, number in zip(frame["text_id"], frame["word_id"], strict=True)]
    np.testing.assert_allclose(frame["m1"] * own["sd"] + own["mean"], expected)
    table = analysis.power.table.set_index(["model", "structure"])
    assert table.loc[("m/1", INTERCEPTS), "instance_of"] == "m"
    assert ("m/1", SLOPES) not in table.index
    assert np.isnan(table.loc[("m/1", INTERCEPTS), "p_adjusted"])
    assert table.loc[("m", INTERCEPTS), "delta_loglik"] > 5


R_SCRIPT = """
suppressMessages({library(lme4); library(lmerTest)})
d <- read.csv(commandArgs(TRUE)[1])
control <- "gaze_duration ~ position + length + length_previous_1 + length_previous_2 + log_frequency +
  log_frequency_previous_1 + log_frequency_previous_2"
ours <- " + m1 + m1_previous_1 + m1_previous_2"
random <- c("(1|subject) + (1|word_token)", "(1 + m1 || subject) + (1|word_token)")
for (r in random) {
  base <- suppressMessages(lmer(as.formula(paste(control, "+", r)), d, REML = FALSE))
  full <- suppressMessages(lmer(as.formula(paste0(control, ours, "+", r)), d, REML = FALSE))
  cat(sprintf("%.10g", as.numeric(logLik(full) - logLik(base))), "")
  m <- suppressMessages(lmer(as.formula(paste0(control, ours, "+", r)), d))
  cat(sprintf("%.10g", coef(summary(m))["m1", c("Estimate", "Std. Error")]), "")
}
"""


@pytest.mark.r
def test_gains_and_effects_are_those_of_lme4(analysis, rscript, tmp_path):
    analysis.rows.frame.to_csv(tmp_path / "rows.csv", index=False)
    done = subprocess.run(
        [rscript, "-e", R_SCRIPT, str(tmp_path / "rows.csv")], capture_output=True, text=True, check=True
    )
    theirs = np.array(done.stdout.split(), dtype=float).reshape(2, 3)
    table = analysis.power.table[analysis.power.table["model"] == "m"].set_index("structure")
    effects = analysis.power.coefficients
    effects = effects[(effects["model"] == "m") & (effects["words_back"] == 0)].set_index("structure")
    for structure, (gain, estimate, se) in zip((INTERCEPTS, SLOPES), theirs, strict=True):
        assert table.loc[structure, "delta_loglik"] == pytest.approx(gain, abs=1e-3)
        assert effects.loc[structure, "estimate"] == pytest.approx(estimate, rel=1e-4)
        assert effects.loc[structure, "se"] == pytest.approx(se, rel=1e-3)


def test_averages_get_a_linear_model_and_the_notes_say_so(averaged):
    frame = averaged.rows.frame
    controls = [
        "position",
        *(f"{n}{b}" for n in ("length", "log_frequency") for b in ("", "_previous_1", "_previous_2")),
    ]
    y = frame["gaze_duration"].to_numpy()

    def loglik(columns: list[str]) -> float:
        design = np.column_stack([np.ones(len(y)), frame[columns]])
        residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return stats.norm.logpdf(residual, 0, residual.std()).sum()

    gain = loglik([*controls, "m1", "m1_previous_1", "m1_previous_2"]) - loglik(controls)
    assert averaged.power.table["delta_loglik"].iloc[0] == pytest.approx(gain)
    assert averaged.rows.random == ""
    assert averaged.notes[:-1] == (
        "The data are means over readers, so differences between readers are not in the model and it generalises over "
        "words, not over readers.",
        "A linear model with equal weights, since the table has no number of readers per word (--weights COLUMN) was "
        "fitted.",
    )
    assert averaged.notes[-1].startswith("Word frequencies are those of English: nobody said")
    assert set(averaged.power.table["structure"]) == {INTERCEPTS}


def test_averages_with_weights(made, as_averages):
    settings = dataclasses.replace(SETTINGS, weights="n_readers", folds=0)
    found = analyse_corpus(as_averages(made[0]), made[1], settings)
    assert found.power.base.spec.weights == "n_readers"
    assert found.notes[1] == "A linear model weighted by n_readers was fitted."
    assert found.power.held_out is None


def test_effects_by_reader_are_least_squares_of_their_rows(analysis):
    own = analysis.readers.set_index("subject").loc["r2"]
    frame = analysis.rows.frame[analysis.rows.frame["subject"] == "r2"]
    columns = [*analysis.rows.fixed.split(" + "), *analysis.predictors[0].columns]
    design = np.column_stack([np.ones(len(frame)), frame[columns]])
    beta = np.linalg.lstsq(design, frame["gaze_duration"], rcond=None)[0]
    assert own["estimate"] == pytest.approx(beta[len(columns) - 2])
    assert own["n_obs"] == len(frame)
    assert analysis.readers["subject"].tolist() == [f"r{k}" for k in range(1, 7)]


def test_held_out_gain_has_an_interval_around_it(analysis):
    row = analysis.power.table.iloc[0]
    assert row["held_out_gain_ci_low"] < row["held_out_gain_per_obs"] < row["held_out_gain_ci_high"]
    held = analysis.power.held_out
    assert held.group_by == "text_id"
    assert held.folds == 3


def test_unknown_words_and_their_spillover_are_left_out(made):
    corpus, scores = made
    unknown = scores.assign(oov=(scores["text_id"] == "1") & (scores["word_id"] == 5))
    settings = dataclasses.replace(SETTINGS, folds=0)
    frame = analyse_corpus(corpus, unknown, settings).rows.frame
    assert sorted(frame.loc[frame["text_id"] == "1", "word_id"].unique()) == [3, 4, 8]
    kept = analyse_corpus(corpus, unknown, dataclasses.replace(settings, keep_oov=True)).rows.frame
    assert sorted(kept.loc[kept["text_id"] == "1", "word_id"].unique()) == [3, 4, 5, 6, 7, 8]


def test_logarithms_no_spillover_and_own_formulas(made):
    settings = StudySettings(
        scale="log",
        spillover=0,
        folds=0,
        base="length * position",
        random_effects="(1 | subject)",
        leave_out=(),
    )
    found = analyse_corpus(*made, settings)
    assert found.power.formulas == {
        "base": "log_gaze_duration ~ length * position + (1 | subject)",
        "full": "log_gaze_duration ~ length * position + MEASURE + (1 | subject)",
    }
    np.testing.assert_allclose(
        found.rows.frame["log_gaze_duration"], np.log(found.rows.frame["gaze_duration"])
    )
    assert found.power.coefficients["unit"].unique().tolist() == ["log ms per SD"]


def test_study_writes_tables_figures_and_a_report(made, tmp_path):
    corpus, scores = made
    scores.to_csv(tmp_path / "s.csv", index=False)
    study = reading(
        [corpus],
        ["toy"],
        dataclasses.replace(SETTINGS, by_reader=True),
        plan=ScoringPlan(("surprisal",)),
        scores=[tmp_path / "s.csv"],
        out=tmp_path / "out",
    )
    names = {p.name for p in (tmp_path / "out").iterdir()}
    for table in (
        "delta_loglik",
        "coefficients",
        "exclusions",
        "predictors",
        "nonlinearity",
        "scores_invented",
        "by_reader",
    ):
        assert {f"{table}.csv", "provenance.json"} <= names
    for figure in ("delta_loglik", "spillover", "shape", "by_reader"):
        assert {f"{figure}.pdf", f"{figure}.png"} <= names
    plotted = pd.read_csv(tmp_path / "out" / "delta_loglik_plotted.csv")
    table = study.delta_loglik[study.delta_loglik["structure"] == INTERCEPTS]
    np.testing.assert_allclose(plotted["value"], table["held_out_gain_per_obs"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for said in (
        "80 to 3000 ms",
        "treatment coding",
        "holm, over the models and measures",
        "2 words, within the sentence",
    ):
        assert said in page
    assert "psymem cannot tell whether they look at later words" in page
    about = json.loads((tmp_path / "out" / "provenance.json").read_text(encoding="utf-8"))
    assert about["analyses"][0]["formulas"]["base"].startswith("gaze_duration ~ position + length")


def test_complete_scores_are_not_computed_again(made, tmp_path, monkeypatch):
    settings = dataclasses.replace(SETTINGS, folds=0)
    first = reading([made[0]], ["toy"], settings, out=tmp_path / "out")

    def fail(*_, **__):
        raise AssertionError("scored again")

    monkeypatch.setattr("psymem.studies.common.corpus_scores.compute_parts", fail)
    again = reading([made[0]], ["toy"], settings, out=tmp_path / "out")
    pd.testing.assert_frame_equal(again.scores["invented"], first.scores["invented"])


def test_one_text_is_not_held_out(made):
    corpus, scores = made
    one = dataclasses.replace(
        corpus,
        words=corpus.words.assign(
            sentence_id=corpus.words["text_id"], text_id="t", word_id=np.arange(1, len(corpus.words) + 1)
        ).astype({"text_id": "str"}),
        reading=corpus.reading.assign(
            word_id=np.tile(np.arange(1, len(corpus.words) + 1), 6), text_id="t"
        ).astype({"text_id": "str"}),
    )
    own = scores.assign(word_id=np.tile(np.arange(1, len(corpus.words) + 1), 2), text_id="t").astype(
        {"text_id": "str"}
    )
    found = analyse_corpus(one, own, SETTINGS)
    assert found.power.held_out is None
    assert found.notes[-1] == (
        "There is one text only, so nothing was held out; --group-by sentence holds out sentences."
    )
    by_sentence = analyse_corpus(one, own, dataclasses.replace(SETTINGS, group_by="sentence"))
    assert by_sentence.power.held_out.group_by == "sentence"


def test_response_that_the_corpus_lacks(made):
    with pytest.raises(UnknownNameError) as caught:
        analyse_corpus(*made, StudySettings(response="go_past_time"))
    assert str(caught.value) == (
        "There is no response called 'go_past_time'. Known: gaze_duration. (durations of the corpus invented; name one "
        "with --response.)"
    )


def test_nothing_left_to_analyse(made):
    with pytest.raises(DataError) as caught:
        analyse_corpus(*made, StudySettings(shortest=5000))
    assert str(caught.value) == (
        "No row is left to analyse. Left out: gaze_duration below 5000 ms: 756. Loosen the exclusions."
    )


def test_scores_without_any_value(made):
    scores = made[1].assign(surprisal_bits=np.nan)
    with pytest.raises(DataError) as caught:
        analyse_corpus(made[0], scores, SETTINGS)
    assert str(caught.value) == (
        "The scores of m have no value of surprisal_bits for any word, so they explain nothing (values of words that "
        "the model does not know count as missing, unless --keep-oov)."
    )


class LooksAhead(ToyBackend):
    """Says that its values depend on later words, and must never be asked to read."""

    causal = False

    def read_many(self, *arguments, **settings):
        """Fail."""
        raise AssertionError("a model read")


def test_a_model_that_looks_ahead_is_refused(made):
    with pytest.raises(
        ModelError, match=r"^toy.* is not causal: what it gives at a word depends on later words too"
    ):
        reading([made[0]], [LooksAhead()], SETTINGS)


def test_a_response_that_is_not_there_is_refused_before_models_read(made, monkeypatch):
    monkeypatch.setattr("psymem.studies.reading.study.score_corpus", None)
    with pytest.raises(UnknownNameError, match=r"^There is no response called 'go_past_time'\."):
        reading([made[0]], ["cbr-rnn/1"], [SETTINGS, StudySettings(response="go_past_time")])


def test_scores_of_other_words(made, tmp_path):
    scores = made[1].assign(word="x")
    scores.to_csv(tmp_path / "s.csv", index=False)
    with pytest.raises(
        DataError,
        match=rf"^{tmp_path}/s\.csv \(m/1\) has 126 word\(s\) that differ from the text: text 1, word 1:",
    ):
        reading([made[0]], scores=[tmp_path / "s.csv"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "There is nothing to explain reading times with: give models or tables of scores."),
        ({"scores": ["s.csv"]}, "Tables of scores belong to one corpus; analyse the corpora one at a time."),
    ],
)
def test_studies_that_cannot_be_run(made, arguments, message):
    corpora = [made[0], made[0]] if arguments else [made[0]]
    with pytest.raises(DataError) as caught:
        reading(corpora, **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds is 1; it is 0 (no cross-validation) or at least 2."),
        ({"spillover": 11}, "spillover is 11; it is a number of words from 0 to 10."),
        ({"alpha": 5}, "alpha is 5; it lies between 0 and 1, as in 0.05."),
    ],
)
def test_settings_that_mean_nothing(options, message):
    with pytest.raises(DataError) as caught:
        StudySettings(**options)
    assert str(caught.value) == message


def test_few_texts_cannot_give_a_small_held_out_p(made):
    corpus, scores = made
    texts = sorted(corpus.words["text_id"].unique())[:4]
    few = dataclasses.replace(
        corpus,
        words=corpus.words[corpus.words["text_id"].isin(texts)],
        reading=corpus.reading[corpus.reading["text_id"].isin(texts)],
    )
    found = analyse_corpus(few, scores[scores["text_id"].isin(texts)], SETTINGS)
    assert "With 4 groups to hold out, flipping signs can give no held-out p below 0.125." in found.notes
    assert (found.power.table["held_out_p"].dropna() >= 0.125).all()
