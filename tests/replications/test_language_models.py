"""Published tables of language models: trained on toy text, resumed, compared, and judged by hand-made numbers."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pandas as pd
import pytest
import typer
from scipy import stats
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.cli.training import train
from psymem.errors import TrainingError, UnknownNameError
from psymem.replications.language_model_orderings import mean_interval, ordering_table, row_table, verdict
from psymem.replications.language_model_recipe import recipe
from psymem.replications.language_model_report import orderings_as_text, summarise
from psymem.replications.language_model_runs import (
    RunSettings,
    _options,
    chosen_rows,
    finished_runs,
    seeds_from,
    train_rows,
)
from psymem.replications.language_models import Ordering, TableRow, load_table, table_names

TINY = {
    "max_tokens": 600,
    "embedding_width": 6,
    "components": 3,
    "batch_tokens": 400,
    "sampled_words": 0,
    "precision": "fp32",
}
A_AND_B = Ordering("a", "b", "16M", (70.0, 80.0))


def runs_of(**nats: list[float]) -> pd.DataFrame:
    """Runs of models with these mean surprisals, one for each seed."""
    return pd.DataFrame(
        [
            {"model": m, "seed": i, "nats": x, "parameters": 1000, "width": 5}
            for m, values in nats.items()
            for i, x in enumerate(values, start=1)
        ]
    )


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Training, held-out and test text: nouns that decide their verbs."""
    rng = np.random.default_rng(3)
    verbs = {"key": "opens", "keys": "open", "dog": "barks", "dogs": "bark"}
    folder = tmp_path_factory.mktemp("text")
    for name, n in (("train", 120), ("held_out", 12), ("test", 12)):
        nouns = rng.choice(list(verbs), n)
        (folder / f"{name}.txt").write_text("\n".join(f"the {w} {verbs[w]} ." for w in nouns), "utf-8")
    return folder


def register_train() -> typer.Typer:
    """An application with ``psymem train`` alone."""
    app = typer.Typer()
    train.register(app)
    return app


def settings_for(texts, **changes) -> RunSettings:
    files = {k: (texts / f"{k}.txt",) for k in ("held_out", "test")}
    given = {"text": (texts / "train.txt",), **files, "parameters": "1500", "options": TINY, "threads": 1}
    return RunSettings(**(given | changes))


@pytest.fixture(scope="module")
def finished(texts, tmp_path_factory):
    """Two models of Table 3, one seed each, in a folder."""
    out = tmp_path_factory.mktemp("out")
    rows = chosen_rows(load_table("fgp-table3"), ["fgp-lstm-random", "lstm"])
    return out, rows, train_rows(rows, settings_for(texts), [1], out)


# tables ----------------------------------------------------------------------------------------------------
def test_the_tables_of_the_paper():
    assert table_names() == ["fgp-table1", "fgp-table3"]
    for name in table_names():
        table = load_table(name)
        known = {row.name for row in table.rows}
        assert len(known) == len(table.rows)
        assert all(o.better in known and o.worse in known for o in table.orderings)
        assert all(o.published[0] < o.published[1] for o in table.orderings)


def test_rows_that_tables_share_are_the_same_models():
    first, third = ({r.name: r for r in load_table(n).rows} for n in ("fgp-table1", "fgp-table3"))
    shared = set(first) & set(third)
    assert shared == {"lstm", "fgp-lstm-adaptive"}
    for name in shared:
        a, b = first[name], third[name]
        assert (a.family, a.layers, a.fixations, a.multi_task) == (
            b.family,
            b.layers,
            b.fixations,
            b.multi_task,
        )
        assert a.published["16M"] == b.published["16M"]


def test_an_ordering_is_turned_as_published_and_names_the_sizes_where_it_was_not():
    table = load_table("fgp-table1")
    (ordering,) = (
        o for o in table.orderings if {o.better, o.worse} == {"lstm-3-layers", "fgl-lstm-adaptive"}
    )
    assert (ordering.better, ordering.published) == ("lstm-3-layers", (76.0, 79.1))
    assert ordering.otherwise == ("1M",)


def test_the_most_important_rows_come_first():
    ranks = [row.rank for row in chosen_rows(load_table("fgp-table1"), [])]
    assert ranks == sorted(ranks)


def test_an_unknown_row():
    with pytest.raises(UnknownNameError) as error:
        chosen_rows(load_table("fgp-table3"), ["fgp-lstm-fulll"])
    assert "fgp-lstm-full" in str(error.value)


# verdicts --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([4.00, 4.01, 4.02], [4.20, 4.21, 4.22], "holds"),
        ([4.20, 4.21, 4.22], [4.00, 4.01, 4.02], "does not hold"),
        ([4.00, 4.20, 4.10], [4.11, 4.15, 4.13], "undecided"),
        ([4.00], [5.00, 5.01, 5.02], "undecided"),
        ([], [5.00, 5.01], "undecided"),
    ],
)
def test_verdict_of_an_ordering(a, b, expected):
    (row,) = ordering_table([A_AND_B], runs_of(a=a, b=b)).to_dict("records")
    assert (row["verdict"], row["n_better"], row["n_worse"]) == (expected, len(a), len(b))


def test_the_interval_of_an_ordering_is_welchs():
    a, b = [4.00, 4.03, 4.01], [4.02, 4.10, 4.20, 4.05]
    (row,) = ordering_table([A_AND_B], runs_of(a=a, b=b)).to_dict("records")
    found = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert row["ratio"] == pytest.approx(np.exp(np.mean(a) - np.mean(b)))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((np.exp(found.low), np.exp(found.high)))


def test_an_interval_that_touches_zero_is_undecided():
    assert [verdict(*i) for i in ((-1.0, 0.0), (0.0, 1.0), (np.nan, np.nan))] == ["undecided"] * 3


def test_the_interval_of_a_mean_is_students():
    values = np.array([4.1, 4.3, 4.2])
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values) == pytest.approx((4.2, expected.low, expected.high))


def test_rows_beat_the_trigram_only_if_every_seed_does():
    models = [TableRow(n, n.upper(), "lstm", published={"1M": 80.0}) for n in ("a", "b", "c")]
    found = row_table(models, runs_of(a=[4.0, 4.1], b=[4.0, 5.0]), np.exp(4.5)).set_index("model")
    assert found["beats_trigram"].tolist() == [True, False, None]
    assert found["n_seeds"].tolist() == [2, 2, 0]
    assert found.loc["a", "perplexity"] == pytest.approx(np.exp(4.05))
    assert found.loc["c", ["perplexity", "ci_low"]].isna().all()
    assert (found["published_1M"] == 80.0).all()


# runs ------------------------------------------------------------------------------------------------------
def test_runs_have_the_size_asked_for(finished):
    _, _, runs = finished
    assert runs["model"].tolist() == ["fgp-lstm-random", "lstm"]
    assert (abs(runs["parameters"] - 1500) < 250).all()
    assert (runs["tokens_seen"] >= 600).all()
    assert runs["perplexity"].to_numpy() == pytest.approx(np.exp(runs["nats"].to_numpy()))
    assert runs["n_predictions"].tolist() == [12 * 5] * 2, "four words and an end for each of 12 sentences"


def test_every_option_of_training_has_a_value(texts):
    group = next(g.typer_instance for g in register_train().registered_groups if g.name == "train")
    command = next(c.callback for c in group.registered_commands if c.name == "fgp-lstm")
    given = set(_options(load_table("fgp-table1").rows[0], settings_for(texts))) | {
        "seed",
        "out",
        "corpus_cache",
    }
    assert set(inspect.signature(command).parameters) <= given


def test_finished_runs_are_not_trained_again(finished, texts, monkeypatch):
    out, rows, runs = finished
    monkeypatch.setattr(
        "psymem.train.tasks.gated_options.run_from_options", lambda *a: pytest.fail("trained again")
    )
    again = train_rows(rows, settings_for(texts, threads=2), [1], out)
    pd.testing.assert_frame_equal(again, runs)


def test_a_run_that_was_cut_off_goes_on(finished, texts, monkeypatch):
    out, rows, runs = finished
    file = out / "runs/lstm/seed-1/result.json"
    kept = file.read_text(encoding="utf-8")
    file.unlink()
    assert finished_runs(rows, [1], out)["model"].tolist() == ["fgp-lstm-random"]
    again = train_rows(rows, settings_for(texts), [1], out)
    pd.testing.assert_frame_equal(again, runs)
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(kept)


def test_finished_runs_with_other_settings_are_refused(finished, texts):
    out, rows, _ = finished
    with pytest.raises(TrainingError) as error:
        train_rows(rows, settings_for(texts, options=TINY | {"max_tokens": 700}), [1], out)
    assert str(error.value) == (
        f"{out / 'runs/fgp-lstm-random/seed-1'} holds a finished run with other settings (max_tokens: 600 then, 700 "
        "now). Give the same settings, or another --out."
    )


def test_seeds_run_before_less_important_rows(texts, tmp_path, monkeypatch):
    order = []
    rows = [TableRow("x", "X", "lstm"), TableRow("y", "Y", "lstm", rank=2), TableRow("z", "Z", "lstm")]
    monkeypatch.setattr(
        "psymem.replications.language_model_runs._finish",
        lambda row, s, seed, *a: order.append((row.name, seed)),
    )
    train_rows(rows, settings_for(texts), [1, 2], tmp_path)
    assert order == [("x", 1), ("z", 1), ("x", 2), ("z", 2), ("y", 1), ("y", 2)]


def test_models_that_need_more_are_left_out_and_named(texts):
    rows = {row.name: row for row in load_table("fgp-table1").rows}
    settings = settings_for(texts)
    assert settings.why_not(rows["lstm"]) == ""
    assert settings.why_not(rows["fgp-lstm-fixed"]) == (
        "it needs --predictor, from `psymem train fixation-predictor`"
    )
    assert settings.why_not(rows["fgp-lstm-adaptive-multi-task"]) == (
        "it needs --fixation-corpus and --fixation-data"
    )


def test_the_report(finished, texts):
    out, _, runs = finished
    result = summarise(load_table("fgp-table3"), settings_for(texts), [1], runs, out)
    table, orderings, listed, text = result.save(out)
    assert pd.read_csv(table)["n_seeds"].tolist() == [1, 0, 0, 0, 0, 1]
    assert set(pd.read_csv(orderings)["verdict"]) == {"undecided"}
    assert len(pd.read_csv(listed)) == 2
    words = text.read_text(encoding="utf-8")
    assert "2 of 6 models with 1 seed(s) each; 1500 weights asked for" in words
    assert f"has perplexity {result.trigram['perplexity']:.2f}." in words
    assert "- Full: not trained (not reached)." in words
    assert (
        "Full | Random (each token) |  |  | 0.943 (16M) | undecided (too few seeds) |"
        in orderings_as_text(result)
    )
    assert json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))["study"] == "fgp-table3"


def test_the_trigram_predicts_the_same_words(finished, texts):
    out, _, runs = finished
    result = summarise(load_table("fgp-table3"), settings_for(texts), [1], runs, out)
    assert result.trigram["n_predictions"] == runs["n_predictions"].iloc[0]
    assert 4 ** (1 / 5) < result.trigram["perplexity"] < 1.6, "four nouns in five predictions: 1.32 at best"


def test_the_report_says_how_models_were_trained(texts, tmp_path, monkeypatch):
    facts = {"test_l1": 1.5, "test_mse": 4.25, "test_l1_of_mean_level": 3.0, "test_mse_of_mean_level": 12.0}
    card = {"title": "Predictor", "trained_on": "toy readers", **facts}
    (tmp_path / "card.toml").write_text("\n".join(f"{k} = {v!r}" for k, v in card.items()), encoding="utf-8")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    settings = settings_for(
        texts, predictor=tmp_path, fixation_corpus="geco", fixation_data=tmp_path / "reading"
    )
    assert recipe(settings, load_table("fgp-table1")).splitlines() == [
        "- Text: `train.txt` for training; `held_out.txt` held out, to choose the best weights; `test.txt` for the test.",
        "- Vocabulary: the 50,000 most frequent words at most, that occur 1 time(s) or more; others are one unknown word, "
        "which is predicted too.",
        "- Networks: embeddings 6 wide, random first values; 3 components (FGP); dropout 0 of embeddings, 0 of layers.",
        "- Reading: each sentence by itself; the exact softmax.",
        "- Training: 600 words; Adam with a rate of 0.0025, rising over 200 steps, then falling to 0.",
        "- Fixed predictor: Predictor, trained on toy readers; on its test sentences its error is 1.50 (absolute) and 4.25 "
        "(squared) of 12 levels; the mean level alone has 3.00 and 12.00.",
        "- Multi-task: fixations of the corpus reading (format geco), their loss weighted 0.3.",
    ]
    streamed = settings_for(texts, preset="paper", options={"rows": 64, "piece_length": 100, "max_tokens": 0})
    said = recipe(streamed, load_table("fgp-table3"))
    assert (
        "- Reading: one stream in 64 rows, gradients going back 100 words on average; the exact softmax."
        in said
    )
    assert "- Training: 50 passes; Adam with a rate of 0.001, halved whenever a pass brings no gain." in said


# bad input -------------------------------------------------------------------------------------------------
def test_text_that_serves_twice(texts):
    with pytest.raises(TrainingError) as error:
        settings_for(texts, test=(texts / "train.txt",))
    assert str(error.value) == (
        "--test names text that --text or --held-out names too; give text of its own."
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("1-3", (1, 2, 3)), ("1,4", (1, 4)), ("2", (2,)), ("3,1-3", (3, 1, 2))]
)
def test_seeds(text, expected):
    assert seeds_from(text) == expected


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-", "-2", "1;2"])
def test_seeds_that_are_none(text):
    with pytest.raises(TrainingError) as error:
        seeds_from(text)
    assert str(error.value) == f"--seeds {text!r} is not understood; expected numbers such as 1-3 or 1,4."


def test_the_command_writes_tables_of_what_is_finished(finished, texts, tmp_path):
    out, _, _ = finished
    files = [f"--{k.replace('_', '-')}={texts / k}.txt" for k in ("held_out", "test")]
    arguments = [
        "fgp-table3",
        f"--text={texts / 'train.txt'}",
        *files,
        "--seeds=1",
        "--no-train",
        "--json",
        "--quiet",
    ]
    done = CliRunner().invoke(build(), [*arguments, f"--out={out}"])
    assert done.exit_code == 0, done.output
    assert [r["n_seeds"] for r in json.loads(done.stdout)["rows"]] == [1, 0, 0, 0, 0, 1]
    empty = CliRunner().invoke(build(), [*arguments, f"--out={tmp_path}"])
    assert str(empty.exception) == f"There is no finished run in {tmp_path / 'runs'}; train some first."
