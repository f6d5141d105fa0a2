"""The UCL sentences with the bundled CBR-RNNs and published surprisals, and lme4's numbers for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.data.corpora.catalogue import load_corpus
from psymem.fitting.fit import fit
from psymem.studies.reading.predictive_power import INTERCEPTS
from psymem.studies.reading.settings import StudySettings
from psymem.studies.reading.study import reading, with_responses
from psymem.units import nats_to_bits

pytestmark = pytest.mark.shared
NAMES = {
    "first_fixation_duration": "RTfirstfix",
    "gaze_duration": "RTfirstpass",
    "right_bounded_time": "RTrightbound",
    "go_past_time": "RTgopast",
}


@pytest.fixture(scope="module")
def measures(shared) -> pd.DataFrame:
    """By-word means of 205 sentences, without the first word of each."""
    return pd.read_csv(
        shared / "data/reading/devarda_ucl205/all_measures.csv",
        keep_default_na=False,
        na_values={"s_GPT2": [""], "Subtlex_log10": [""]},
    )


@pytest.fixture(scope="module")
def study(measures, tmp_path_factory):
    """First-pass and self-paced times with cbr-rnn, and GPT-2's published surprisal from a table."""
    folder = tmp_path_factory.mktemp("ucl")
    frame = measures.assign(text_id=measures["sent_id"], word_id=measures["context_length"] + 1)
    frame = frame.sort_values(["text_id", "word_id"])
    sentences = frame.drop_duplicates("text_id")
    texts = [
        (row.text_id, 1, number, word)
        for row in sentences.itertuples()
        for number, word in enumerate(row.sentence.split(), start=1)
    ]
    (folder / "ucl").mkdir()
    pd.DataFrame(texts, columns=["text_id", "sentence_id", "word_id", "word"]).to_csv(
        folder / "ucl" / "texts.csv", index=False
    )
    keep = ["text_id", "word_id", "word", *NAMES.values(), "self_paced_reading_time"]
    frame[keep].to_csv(folder / "ucl" / "means.csv", index=False)
    frame.assign(surprisal_bits=nats_to_bits(frame["s_GPT2"].to_numpy()), model="gpt2")[
        ["text_id", "word_id", "word", "model", "surprisal_bits"]
    ].to_csv(folder / "gpt2.csv", index=False)
    corpus = load_corpus("csv", folder / "ucl", called="ucl", averaged=True, zero="unread", columns=NAMES)
    assert (len(corpus.words), len(corpus.reading)) == (1931, 1726)
    quick = StudySettings(folds=5, permutations=500)
    settings = [
        *with_responses(quick, ["gaze_duration", "self_paced_reading_time"]),
        StudySettings(response="self_paced_reading_time", folds=0, leave_out=("sentence-first",)),
    ]
    return reading([corpus], ["cbr-rnn"], settings, scores=[folder / "gpt2.csv"])


def effects(study, number: int) -> pd.DataFrame:
    """Effects of the models' surprisal at the word itself and the two before."""
    table = study.analyses[number].power.coefficients
    return table[table["structure"] == INTERCEPTS].set_index(["model", "words_back"])


def test_surprisal_lengthens_first_pass_times(study):
    table = effects(study, 0)
    for model in ("cbr-rnn", "gpt2"):
        assert table.loc[(model, 0), "estimate"] > 0
        assert table.loc[(model, 0), "p"] < 0.05
        assert table.loc[(model, 1), "estimate"] > 0
        assert table.loc[(model, 1), "p"] < 0.001
    gains = study.analyses[0].power.table.set_index("model")
    assert (gains["p"] < 0.001).all()
    assert gains.loc["gpt2", "held_out_gain_per_obs"] > 0


def test_self_paced_times_with_and_without_the_last_word(study):
    without, with_last = study.analyses[1:]
    assert with_last.facts["rows"] - without.facts["rows"] > 150
    for number in (1, 2):
        assert effects(study, number).loc[("gpt2", 1), "estimate"] > 0
    last = with_last.exclusions["reason"]
    assert "last word of a sentence" not in set(last)
    assert "last word of a sentence" in set(without.exclusions["reason"])


def test_effect_in_the_study_is_least_squares_on_its_rows(study):
    rows = study.analyses[0].rows
    gpt2 = next(p for p in study.analyses[0].predictors if p.model == "gpt2")
    columns = [*rows.fixed.split(" + "), *gpt2.columns]
    design = np.column_stack([np.ones(len(rows.frame)), rows.frame[columns]])
    beta = np.linalg.lstsq(design, rows.frame["gaze_duration"], rcond=None)[0]
    assert effects(study, 0).loc[("gpt2", 0), "estimate"] == pytest.approx(beta[-3])


def test_published_surprisal_as_lme4_has_it(measures, shared):
    gold = pd.read_csv(shared / "data/statistics/real_data_lme4_gold.tsv", sep="\t")
    gold = gold[gold["model"] == "ucl_spr_gpt2"].set_index("term")
    found = fit(
        measures,
        "self_paced_reading_time ~ scale(s_GPT2) + scale(length) + scale(Subtlex_log10) + scale(context_length) + "
        "(1 | sent_id)",
    )
    assert found.n_obs == 1696
    table = found.coefficients.set_index("term")
    np.testing.assert_allclose(table["estimate"], gold.loc[table.index, "est"], rtol=1e-5)
    np.testing.assert_allclose(table["se"], gold.loc[table.index, "se"], rtol=1e-4)
    np.testing.assert_allclose(table["df"], gold.loc[table.index, "df"], rtol=2e-3)
    variances = pd.read_csv(shared / "data/statistics/real_data_lme4_varcomp.tsv", sep="\t")
    own = variances[variances["model"] == "ucl_spr_gpt2"]
    np.testing.assert_allclose(found.variance_components["variance"], own["vcov"], rtol=1e-4)
    assert found.loglik == pytest.approx(own["logLik"].iloc[0], abs=1e-4)
