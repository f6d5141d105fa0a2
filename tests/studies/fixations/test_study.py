"""Model fixations beside human ones: alignment, correlations, mixed models, spread, words of low frequency."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.data.corpora.corpus import Corpus
from psymem.data.words.frequencies import log_frequency
from psymem.errors import DataError, FormulaError, MeasureError
from psymem.fitting.fit import fit
from psymem.studies.common.intervals import BOOTSTRAP, FISHER, fisher_interval
from psymem.studies.common.results_folder import pdf_bytes
from psymem.studies.fixations.correlations import PARTIAL, correlations, rank_correlations
from psymem.studies.fixations.result import FixationSettings
from psymem.studies.fixations.sentences import HUMAN, choose_sentences
from psymem.studies.fixations.statistics import spread
from psymem.studies.fixations.study import analyse_fixations, fixations
from psymem.studies.fixations.wording import NOT_CAUSAL, _correlation
from psymem.studies.fixations.words import TIME, human_times, model_words
from psymem.studies.reading.settings import StudySettings

VOCABULARY = (
    "the old key of a rusty cabinet was lost in museum and dogs chased it but nobody remembered which of them soon "
    "opened quietly wooden extraordinarily door said idiosyncrasy parsimony"
).split()
QUICK = FixationSettings(resamples=200, study=StudySettings(spillover=1))


def invented(texts: int = 12, length: int = 14, readers: int = 5, seed: int = 3) -> Corpus:
    """Sentences of random words with a comma, read longer the longer the word; readers skip some."""
    rng = np.random.default_rng(seed)
    words = []
    for text in range(1, texts + 1):
        for number in range(1, length + 1):
            word = "--" if number == 7 else str(rng.choice(VOCABULARY))
            words.append((f"t{text}", 1, number, word))
    frame = pd.DataFrame(words, columns=["text_id", "sentence_id", "word_id", "word"])
    frame = frame.astype({"text_id": "str", "word": "str"})
    rows = []
    for reader in range(readers):
        times = 180 + 15 * frame["word"].str.len() + 10 * reader + rng.normal(0, 30, len(frame))
        times[(rng.random(len(frame)) < 0.2) | (frame["word"] == "--")] = np.nan
        if reader == 0:
            times[3] = np.nan
        rows.append(frame.drop(columns="sentence_id").assign(subject=f"r{reader}", total_reading_time=times))
    reading = pd.concat(rows, ignore_index=True)
    reading.insert(0, "corpus", "invented")
    reading = reading.assign(skipped=reading[TIME].isna()).astype({"corpus": "str", "subject": "str"})
    order = ["corpus", "subject", "text_id", "word_id", "word", TIME, "skipped"]
    return Corpus("invented", frame, reading[order])


def as_scores(corpus: Corpus, model: str = "m", seed: int = 5, **more) -> pd.DataFrame:
    """Fixations that follow word length a little."""
    rng = np.random.default_rng(seed)
    words = corpus.words[["text_id", "sentence_id", "word_id", "word"]]
    n_active = 3 + 0.2 * words["word"].str.len() + rng.normal(0, 1, len(words))
    n_active[words["word"] == "--"] = np.nan
    return words.assign(
        model=model,
        oov=words["word"] == "idiosyncrasy",
        n_active=n_active,
        fix_level=np.clip(n_active, 0, 12),
        surprisal_bits=rng.normal(8, 2, len(words)),
        **more,
    )


@pytest.fixture(scope="module")
def corpus():
    return invented()


@pytest.fixture(scope="module")
def study(corpus):
    other = as_scores(corpus, "other", 9).drop(columns=["n_active", "fix_level"])
    return analyse_fixations(corpus, pd.concat([as_scores(corpus), other], ignore_index=True), QUICK)


# human times and alignment ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("unread", "fill"), [("left-out", np.nan), ("zero", 0.0)])
def test_human_times_are_means_over_readers(corpus, unread, fill):
    found = human_times(corpus, unread).words
    wide = corpus.reading.pivot(index=["text_id", "word_id"], columns="subject", values=TIME)
    expected = wide.fillna(fill).mean(axis=1) if fill == 0 else wide.mean(axis=1)
    keys = pd.MultiIndex.from_frame(found[["text_id", "word_id"]])
    np.testing.assert_allclose(found["human"], expected.reindex(keys))
    assert (found["spoken"] == (found["word"] != "--")).all()


def test_rows_are_matched_by_key_whatever_their_order(corpus, study):
    shuffled = as_scores(corpus).sample(frac=1, random_state=2)
    again = analyse_fixations(corpus, shuffled, dataclasses.replace(QUICK, mixed_models=False))
    pd.testing.assert_frame_equal(again.correlations, study.correlations)


def test_words_that_do_not_match_are_shown(corpus):
    scores = as_scores(corpus)
    scores.loc[2, "word"] = "strange"
    with pytest.raises(DataError) as raised:
        analyse_fixations(corpus, scores, QUICK)
    assert str(raised.value) == (
        "the scores of m has 1 word(s) that differ from the text: text t1, word 3: "
        f"{corpus.words['word'].iloc[2]!r} in the text, 'strange' there. Join tables of the same release."
    )


def test_no_shared_word_is_refused(corpus):
    scores = as_scores(corpus)
    with pytest.raises(DataError) as raised:
        analyse_fixations(corpus, scores.assign(text_id="elsewhere-" + scores["text_id"]), QUICK)
    assert str(raised.value) == (
        "the scores of m shares no word with the text: no pair of text_id and word_id occurs in both. The text begins at "
        "text_id 't1', word_id 1; the scores of m at text_id 'elsewhere-t1', word_id 1."
    )


def test_no_word_with_both_values_is_refused(corpus):
    scores = as_scores(corpus)
    read = human_times(corpus).words["human"].notna()
    scores["n_active"] = scores["n_active"].fillna(1.0).where(~read)
    with pytest.raises(DataError) as raised:
        analyse_fixations(corpus, scores, QUICK)
    assert str(raised.value) == (
        "No word has both a fixation of m and a total reading time, so there is nothing to compare."
    )


def test_a_model_without_fixations_is_refused_and_others_are_named(corpus):
    with pytest.raises(MeasureError) as raised:
        fixations(corpus, "cbr-rnn/1")
    assert str(raised.value).startswith(
        "cbr-rnn/1 gives no fixations: nothing in it is frozen or let go by how long a word is fixated. "
    )
    assert str(raised.value).endswith(
        "psymem train fgp-rnn, fgp-lstm, fgl-rnn and fgl-lstm make such models."
    )


def test_scores_without_fixations_are_refused(corpus):
    with pytest.raises(DataError) as raised:
        analyse_fixations(corpus, as_scores(corpus).drop(columns="n_active"), QUICK)
    assert str(raised.value) == (
        "None of the scores is a fixation: there is no value of layers_active or n_active. psymem score --measure "
        "model-fixations gives them for models whose family begins with fgp or fgl."
    )


# correlations ----------------------------------------------------------------------------------------------
def test_correlations_within_texts_are_scipys(study):
    own = study.words[study.words["spoken"] & ~study.words["oov"] & study.words["human"].notna()]
    rho, n = [], []
    for _, text in own.groupby("text_id"):
        rho.append(stats.spearmanr(text["fixation"], text["human"]).statistic)
        n.append(len(text))
    table = study.correlations.set_index(["predictor", "words"])
    row = table.loc[("model fixation", "known to the model")]
    assert row["rho"] == pytest.approx(np.average(rho, weights=n), abs=1e-12)
    assert (row["n_texts"], row["n_words"], row["interval"]) == (len(n), sum(n), BOOTSTRAP)
    draws = np.random.default_rng(7).integers(0, len(n), (4000, len(n)))
    means = (np.array(rho) * n)[draws].sum(1) / np.array(n)[draws].sum(1)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.04)
    assert table.loc[("length", "known to the model"), "rho"] > row["rho"] > 0


def partial_by_recursion(r, x, y, held):
    """Partial correlation from a matrix of correlations, one held variable after the other."""
    if not held:
        return r.loc[x, y]
    *rest, z = held
    xy, xz, yz = (partial_by_recursion(r, *pair, rest) for pair in ((x, y), (x, z), (y, z)))
    return (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))


def test_the_partial_correlation_holds_the_other_predictors_constant(study):
    own = study.words[study.words["spoken"] & ~study.words["oov"] & study.words["human"].notna()]
    columns = ["fixation", "human", "length", "log_frequency", "surprisal_bits"]
    own = own.dropna(subset=columns)
    texts = [text[columns].corr("spearman").fillna(0) for _, text in own.groupby("text_id")]
    n = own.groupby("text_id").size().to_numpy()
    mean = sum(k * r for k, r in zip(n, texts, strict=True)) / n.sum()
    row = study.correlations.set_index(["predictor", "words"]).loc[(PARTIAL, "known to the model")]
    assert row["rho"] == pytest.approx(
        partial_by_recursion(mean, "fixation", "human", columns[2:]), abs=1e-12
    )
    assert (row["n_texts"], row["n_words"], row["interval"]) == (len(n), n.sum(), BOOTSTRAP)
    assert row["ci_low"] < row["rho"] < row["ci_high"]


def test_a_correlation_that_only_length_makes_turns_its_sign(rng):
    size = 40
    frame = pd.concat(
        [
            pd.DataFrame({"text_id": f"t{t}", "length": rng.permutation(size).astype(float)})
            for t in range(12)
        ],
        ignore_index=True,
    )
    extra = rng.normal(size=len(frame))
    frame = frame.assign(
        fixation=-frame["length"] + 8 * extra,
        human=3 * frame["length"] + 12 * extra + rng.normal(size=len(frame)),
        log_frequency=rng.normal(size=len(frame)),
        surprisal_bits=np.nan,
        model="m", instance_of="", causal=True, oov=False, spoken=True,
    )  # fmt: skip
    table, _ = correlations(frame, resamples=200)
    table = table.set_index("predictor")
    assert table.loc["model fixation", "ci_high"] < 0 < table.loc[PARTIAL, "ci_low"]
    said = _correlation(SimpleNamespace(correlations=table.reset_index(), words=frame), "m", "M")
    assert " With length and frequency held constant it is 0." in said
    assert said.endswith(
        "]: the sign turns, so the correlation itself says what these words are, not what fixations add."
    )


def test_texts_that_are_short_or_constant_are_left_out():
    frame = pd.DataFrame(
        {
            "text_id": ["a"] * 4 + ["b"] * 5 + ["c"] * 6,
            "x": [1.0, 2, 3, 4] + [1.0] * 5 + [3.0, 1, 2, 5, 4, np.nan],
            "y": [1.0, 2, 3, 4] + [1.0, 2, 3, 4, 5] + [3.0, 1, 2, 5, 4, 9],
        }
    )
    found = rank_correlations(frame, "x", "y").set_index("text_id")
    assert found["rho"].isna().tolist() == [True, True, False]
    assert found.loc["c", "rho"] == pytest.approx(1.0)
    assert found.loc["c", "n_words"] == 5


def test_few_texts_get_fishers_interval(corpus):
    words = model_words(human_times(corpus).words.assign(length=1.0, log_frequency=1.0), as_scores(corpus))
    few = words[words["text_id"].isin(["t1"])]
    means, by_text = correlations(few, resamples=100)
    row, n = means.iloc[0], int(by_text["n_words"].iloc[0])
    half = 1.959964 * np.sqrt((1 + row["rho"] ** 2 / 2) / (n - 3))
    z = np.arctanh(row["rho"])
    assert row["interval"] == FISHER
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([np.tanh(z - half), np.tanh(z + half)])
    assert fisher_interval(np.array([1.0, 1.0]), np.array([9.0, 9.0]))[1] < 1


def test_instances_are_averaged_beside_single_ones(corpus):
    both = pd.concat([as_scores(corpus, f"fgp-x/{k}", k) for k in (1, 2)], ignore_index=True)
    words = model_words(human_times(corpus).words, both)
    assert list(dict.fromkeys(words["model"])) == ["fgp-x", "fgp-x/1", "fgp-x/2"]
    mean = words.loc[words["model"] == "fgp-x", "fixation"].to_numpy()
    wide = both.pivot(index=["text_id", "word_id"], columns="model", values="n_active").mean(axis=1)
    keys = pd.MultiIndex.from_frame(words.loc[words["model"] == "fgp-x", ["text_id", "word_id"]])
    np.testing.assert_allclose(mean, wide.reindex(keys))


# mixed models ----------------------------------------------------------------------------------------------
def test_gains_are_those_of_two_fits_to_the_same_rows(corpus, study):
    gains = study.fits.gains.set_index(["beyond", "structure"])
    assert [b for b, s in gains.index if s == "intercepts"] == [
        "length, frequency",
        "length, frequency, its surprisal",
        "length, frequency, its surprisal, surprisal of other",
    ]
    words = corpus.words.assign(length=corpus.words["word"].str.len())
    words["log_frequency"] = log_frequency(words["word"])
    words["fixation"] = as_scores(corpus)["n_active"].mask(as_scores(corpus)["oov"])
    surprisal = {"own": as_scores(corpus), "second": as_scores(corpus, "other", 9)}
    for name, scores in surprisal.items():
        words[name] = scores["surprisal_bits"].mask(scores["oov"])
    columns = ["length", "log_frequency", "own", "second", "fixation"]
    before = words.groupby("text_id")[columns].shift(1).add_suffix("_1")
    words = words.join(before).assign(position=words["word_id"])
    rows = corpus.reading.merge(words.drop(columns=["word", "sentence_id"]), on=["text_id", "word_id"])
    rows = rows[rows[TIME].notna() & rows[TIME].between(80, 3000) & ~rows["word_id"].isin([1, 14])]
    rows = rows.dropna().assign(token=rows["text_id"] + ":" + rows["word_id"].astype(str))
    assert gains["n_obs"].unique().tolist() == [len(rows)]
    predictors = [*columns, *(f"{c}_1" for c in columns), "position"]
    rows[predictors] = (rows[predictors] - rows[predictors].mean()) / rows[predictors].std()
    base = f"{TIME} ~ position + length + length_1 + log_frequency + log_frequency_1 + own + own_1 + second + second_1"
    random = " + (1 | subject) + (1 | token)"
    small = fit(rows, base + random, reml=False)
    large = fit(rows, f"{base} + fixation + fixation_1{random}", reml=False)
    row = gains.loc[("length, frequency, its surprisal, surprisal of other", "intercepts")]
    assert row["delta_loglik"] == pytest.approx(large.loglik - small.loglik, abs=1e-5)
    assert row["p"] == pytest.approx(stats.chi2.sf(2 * row["delta_loglik"], 2))


def test_averages_get_a_linear_model(corpus):
    means = corpus.reading.groupby(["text_id", "word_id", "word"], as_index=False, sort=False)[TIME].mean()
    means = means.assign(corpus="invented", subject="average", skipped=means[TIME].isna())
    averaged = Corpus(
        "invented", corpus.words, means.astype({"corpus": "str", "subject": "str"}), averaged=True
    )
    found = analyse_fixations(averaged, as_scores(corpus), QUICK)
    assert found.fits.gains["structure"].tolist() == ["intercepts"] * 2
    assert not any("|" in f for f in found.fits.formulas.values())
    assert found.fits.notes == (
        "The times are means over readers: the models generalise over words, not over readers.",
        "Word frequencies are those of English: nobody said in which language the corpus invented is. Choose wordfreq's "
        "list of another one with --language, such as de.",
    )


def test_what_cannot_be_fitted_leaves_the_rest(corpus):
    settings = dataclasses.replace(QUICK, study=StudySettings(shortest=5000))
    found = analyse_fixations(corpus, as_scores(corpus), settings)
    assert found.fits.gains.empty
    assert found.fits.notes[0].startswith("No mixed models: No row is left to analyse. Left out: ")
    assert len(found.correlations)


# spread, words of low frequency ----------------------------------------------------------------------------
def test_variances_by_hand(study):
    own = study.words[study.words["spoken"] & study.words["human"].notna()]
    relative = [(own[c] / own[c].mean()).var(ddof=1) for c in ("fixation", "human")]
    row = study.spread[(study.spread["words"] == "all")].set_index("scale")
    assert row.loc["relative to the mean", "variance_ratio"] == pytest.approx(relative[0] / relative[1])
    levels = pd.qcut(own["human"], 12, labels=False)
    assert row.loc["12 levels", "human_variance"] == pytest.approx(levels.var(ddof=1), rel=0.02)
    assert (row["ci_low"] < row["variance_ratio"]).all()


def test_words_of_low_frequency_by_hand(study):
    own = study.words[study.words["spoken"] & study.words["human"].notna()]
    rare = own["log_frequency"] < 4
    table = study.rare_words[study.rare_words["words"] == "all"].set_index("source")
    for source, column in (("model", "fixation"), ("human", "human")):
        difference = own.loc[rare, column].mean() - own.loc[~rare, column].mean()
        assert table.loc[source, "difference"] == pytest.approx(difference)
        assert table.loc[source, "difference_sd"] == pytest.approx(difference / own[column].std())
        assert table.loc[source, "mean_unknown"] == pytest.approx(own.loc[own["oov"], column].mean())
    assert table["n_low"].tolist() == [int(rare.sum())] * 2


# sentences, figure, folder ---------------------------------------------------------------------------------
def test_the_figure_draws_the_words_in_order_models_above_people(study):
    table = study.plotted
    assert list(dict.fromkeys(table["source"])) == ["m", HUMAN]
    first = table[table["text_id"] == table["text_id"].iloc[0]]
    assert first.loc[first["source"] == "m", "word_id"].tolist() == list(range(1, 15))
    low, high = np.nanquantile(study.words.loc[study.words["spoken"], "fixation"], [0.05, 0.95])
    own = table[table["source"] == "m"]
    np.testing.assert_allclose(own["shade"], ((own["value"] - low) / (high - low)).clip(0, 1))
    assert own.loc[own["word"] == "--", "shade"].isna().all()


def test_sentences_can_be_named_and_unknown_ones_are_refused(study):
    chosen = choose_sentences(study.words, ["t3:1", "t2"])
    assert chosen["text_id"].tolist() == ["t3", "t2"]
    with pytest.raises(DataError) as raised:
        choose_sentences(study.words, ["t99"])
    assert str(raised.value) == (
        "There is no sentence 't99'; give TEXT:SENTENCE, such as 't1:1', or TEXT for the first sentence of a text (texts: "
        "t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, ...)."
    )


def test_the_folder_holds_tables_figure_and_report(study, tmp_path):
    names = {p.name for p in study.save(tmp_path / "out")}
    tables = ["correlations", "gains", "effects", "spread", "rare_words", "sentences_plotted", "words"]
    assert {f"{t}.csv" for t in tables} | {
        "sentences.pdf",
        "sentences.png",
        "sentences.html",
        "report.html",
    } <= names
    sidecar = json.loads((tmp_path / "out/provenance.json").read_text(encoding="utf-8"))
    assert sidecar["settings"]["resamples"] == 200
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "http" not in page.split("<h2>References")[0]
    assert NOT_CAUSAL not in page
    assert (tmp_path / "out/sentences.pdf").read_bytes() == pdf_bytes(study.figure), "the same figure again"


# real networks ---------------------------------------------------------------------------------------------
def test_networks_read_and_those_that_look_ahead_are_labelled(corpus, tmp_path, gated_checkpoint_writer):
    causal = gated_checkpoint_writer(tmp_path / "fgp", "fgp-lstm", components=3)
    ahead = gated_checkpoint_writer(tmp_path / "chunk", "fgp-lstm", components=3, normalisation="chunk")
    layered = gated_checkpoint_writer(tmp_path / "fgl", "fgl-lstm", layers=2)
    settings = dataclasses.replace(QUICK, mixed_models=False)
    found = fixations(corpus, [causal, ahead, layered], settings, out=tmp_path / "out")
    assert found.not_causal == [str(ahead)]
    units = found.words.groupby("model", sort=False)[["measure", "unit"]].first()
    assert units.loc[str(layered)].tolist() == ["layers_active", "layers"]
    assert units.loc[str(causal)].tolist() == ["n_active", "components"]
    for name in ("correlations", "spread", "rare_words", "sentences_plotted"):
        table = pd.read_csv(tmp_path / "out" / f"{name}.csv")
        own = table.iloc[:, table.columns.get_loc("source" if name == "sentences_plotted" else "model")]
        assert (table["causal"] == (own != str(ahead))).all(), name
    label = f"{Path(ahead).parent.name}/chunk (not causal)"
    for name in ("report.html", "sentences.html"):
        page = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert label in page
        assert NOT_CAUSAL in page
    drawn = " ".join(t.get_text() for t in found.figure.axes[0].texts)
    assert "(not causal)" in drawn or "…" in drawn


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (0.001, "The longest total reading time of the corpus 'invented' is "),
        (1e6, "The corpus 'invented' has a total reading time of "),
    ],
)
def test_times_that_are_no_milliseconds_are_refused(corpus, factor, message):
    reading = corpus.reading.assign(**{TIME: corpus.reading[TIME] * factor})
    with pytest.raises(DataError) as caught:
        human_times(dataclasses.replace(corpus, reading=reading))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("value", "shown"), [(-1.0, "-1"), (12.5, "12.5")])
def test_fixations_that_no_model_can_have_are_refused(corpus, value, shown):
    scores = as_scores(corpus)
    scores.loc[2, "n_active"] = value
    with pytest.raises(DataError) as caught:
        model_words(human_times(corpus).words, scores)
    assert str(caught.value) == (
        f"The scores of m have a n_active of {shown} at text t1, word 3; a model fixation is a number of components from "
        "0 to 12."
    )


def test_one_word_has_no_variance(corpus):
    """Nor have times that are all alike, whatever rounding leaves of it."""
    words = human_times(corpus).words.assign(length=3, log_frequency=5.0)
    table = model_words(words, as_scores(corpus))
    one = spread(table[table["word_id"] == 1].iloc[:1])
    assert one[["model_variance", "human_variance", "variance_ratio"]].isna().all(axis=None)
    alike = spread(table.assign(human=198.3))
    assert (alike["human_variance"].iloc[0], alike["variance_ratio"].isna().all()) == (0.0, True)


def test_a_wrong_formula_is_not_passed_over(corpus):
    study = StudySettings(spillover=1, random_effects="((")
    with pytest.raises(FormulaError):
        analyse_fixations(corpus, as_scores(corpus), dataclasses.replace(QUICK, study=study))
