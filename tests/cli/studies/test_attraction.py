"""``psymem attraction`` as a user runs it, on the toy model and items of the test's own."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

import psymem
from psymem.backends.load import load_backend
from psymem.cli.folders import results_folder
from psymem.cli.studies.effects_table import effects_table
from psymem.measures.attention import RelativeAttention


@pytest.fixture(scope="module")
def finished(stimuli, tmp_path_factory, invoke):
    out = tmp_path_factory.mktemp("out") / "toy"
    return invoke("--model", "toy", "--stimuli", stimuli, "--out", out, "--seed", 7), out


def test_the_terminal_shows_effects_in_rows_and_measures_in_columns(finished):
    printed = finished[0]
    for words in (
        "toy",
        "Effect",
        "People",
        "Surprisal",
        "Relative",
        "Agreement (B-A)",
        "Additivity (F-G-H+E)",
    ):
        assert words in printed
    assert printed.count("  by-item slopes  ") == 2
    assert "tems by instances" not in printed
    assert re.search(r"\n   published networks +-0\.668 +-0\.072 *\n", printed)
    assert "toy: one instance, by-item slopes only for differences of differences." in printed
    assert "Items: all 5 analysed." in printed
    assert f"Report: {finished[1] / 'report.html'}" in printed
    assert max(map(len, printed.splitlines())) <= 110


def test_scores_hold_every_word(finished, items):
    scores = pd.read_csv(finished[1] / "scores.csv", keep_default_na=False)
    assert len(scores) == sum(len(s.split()) for s in items["sentence"])
    assert {"surprisal_bits", "relative_attention", "attention_entropy_bits", "oov", "analysed"} <= set(
        scores
    )


def test_means_at_the_spillover_regions(finished):
    means = pd.read_csv(finished[1] / "condition_means.csv")
    assert list(means["region"].unique()) == ["critical", "spillover_1", "spillover_2"]


def test_sidecar_names_items_model_and_seed(finished, stimuli):
    about = json.loads((finished[1] / "effects.json").read_text(encoding="utf-8"))
    assert about["item_set"]["path"] == str(stimuli)
    assert len(about["item_set"]["sha256"]) == 64
    assert about["models"][0]["model"] == "toy"
    assert about["seed"] == 7


def test_json_and_one_measure(stimuli, tmp_path, invoke):
    out = tmp_path / "out"
    printed = invoke(
        "-m", "toy", "--stimuli", stimuli, "--measure", "surprisal", "--json", "--quiet", "--out", out
    )
    content = json.loads(printed)
    assert {row["measure"] for row in content["effects"]} == {"surprisal_bits"}
    assert content["items_analysed"] == 5
    assert content["out"] == str(out)
    assert content["effects"][1]["estimate"] is None


def test_default_folder_is_named_after_the_model(stimuli, tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    assert invoke("-m", "toy", "--stimuli", stimuli, "--measure", "surprisal", "--quiet") == ""
    assert (tmp_path / "results" / "attraction" / f"toy-on-{stimuli.stem}" / "report.html").is_file()


def test_another_design_with_formula_levels_and_contrasts(tmp_path, items, invoke):
    two = items[lambda f: f["condition"].isin(["A", "B", "C", "D"])].drop(columns="design")
    two = two.assign(attractor_type=["a", "b"] * 10, verb_type=["x", "x", "y", "y"] * 5)
    path = tmp_path / "two.csv"
    two.drop(columns=["attraction", "violation"]).to_csv(path, index=False)
    printed = invoke(
        *("-m", "toy", "--stimuli", path, "--measure", "attention-entropy", "--out", tmp_path / "o"),
        *("--formula", "y ~ attractor_type * verb_type", "--levels", "attractor_type=b,a"),
        *("--contrasts", "verb_type=sum"),
    )
    effects = pd.read_csv(tmp_path / "o" / "effects.csv")
    assert set(effects["effect"]) == {"attractor_typea", "verb_type1", "attractor_typea:verb_type1"}
    assert "attractor_typea" in printed
    assert "People" not in printed
    assert (
        "Factors were coded thus: attractor_type by treatment coding (levels b, a); "
        "verb_type by sum coding (levels x, y); others by treatment coding."
    ) in (tmp_path / "o" / "report.html").read_text(encoding="utf-8")


# chosen heads ------------------------------------------------------------------------------------------------
def test_each_head_has_a_block_of_its_own(stimuli, tmp_path, small_pretrained, invoke):
    folder = small_pretrained("gpt2")
    printed = invoke("-m", folder, "--stimuli", stimuli, "--heads", "1:0,0:1", "--out", tmp_path / "o")
    titles = [
        line.strip()
        for line in printed.splitlines()
        if line.startswith(str(folder)) and ":" not in line[len(str(folder)) : len(str(folder)) + 1]
    ]
    assert titles == [str(folder), f"{folder}, head 1:0", f"{folder}, head 0:1"]
    effects = pd.read_csv(tmp_path / "o" / "effects.csv")
    columns = [
        "surprisal_bits",
        "relative_attention_L1H0",
        "relative_attention_L0H1",
        "attention_entropy_L1H0_bits",
        "attention_entropy_L0H1_bits",
    ]
    assert list(effects["measure"].unique()) == columns
    relative = effects[effects["measure"] == "relative_attention_L1H0"]
    assert relative["consistent"].notna().any(), "attraction lowers relative attention, as in people"
    report = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "Relative attention, head 1:0" in report
    assert "of layer 1, head 0" in report
    scores = pd.read_csv(tmp_path / "o" / "scores.csv")
    words = psymem.load_stimuli(str(stimuli))
    again = psymem.score(words, str(folder), RelativeAttention(heads=((1, 0), (0, 1))))
    for column in columns[1:3]:
        assert scores[column].tolist() == pytest.approx(again[column].tolist(), abs=1e-5, nan_ok=True)


def test_case_beginning_and_query_row_reach_the_model(stimuli, tmp_path, small_pretrained, invoke):
    folder = small_pretrained("gpt2")
    options = ("--no-bos", "--lower-case", "--query", "last", "--measure", "relative-attention")
    invoke("-m", folder, "--stimuli", stimuli, *options, "--out", tmp_path / "o", "--quiet")
    scores = pd.read_csv(tmp_path / "o" / "scores.csv")
    words = psymem.load_stimuli(str(stimuli))
    lowered = words.assign(word=words["word"].str.lower())
    backend = load_backend(folder, bos=False)
    expected = psymem.score(lowered, backend, RelativeAttention(query="last"))["relative_attention"]
    assert scores["relative_attention"].tolist() == pytest.approx(expected.tolist(), abs=1e-5, nan_ok=True)
    assert scores["word"].tolist() == words["word"].tolist()
    sidecar = json.loads((tmp_path / "o" / "scores.json").read_text(encoding="utf-8"))
    assert sidecar["lower_case"] is True
    assert sidecar["models"][0]["settings"]["bos"] is False


def test_table_without_p_values_fits_eighty_columns(finished):
    from rich.console import Console

    effects = pd.read_csv(finished[1] / "effects.csv")
    console = Console(width=80, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    console.print(effects_table(effects, with_p=False))
    printed = console.export_text()
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_people_s_own_trials(stimuli, tmp_path, items, invoke):
    trials = items[["item", "condition"]].merge(pd.DataFrame({"subject": ["s1", "s2", "s3"]}), how="cross")
    number = pd.Series(range(len(trials)))
    trials["rt_ms"] = 500 + 37 * (number % 11) - 60 * trials["condition"].isin(["B", "D", "F"])
    trials.to_csv(tmp_path / "trials.csv", index=False)
    out = tmp_path / "out"
    printed = invoke(
        "-m",
        "toy",
        "--stimuli",
        stimuli,
        "--measure",
        "surprisal",
        "--human",
        tmp_path / "trials.csv",
        "--out",
        out,
    )
    assert "humans: ms\n" in printed
    assert "humans, predicted by: ms per standard deviation" in printed
    assert "Your trials: 120 of 120 analysed, 3 subjects, 5 items." in printed
    effects = pd.read_csv(out / "human_effects.csv")
    means = trials.groupby("condition")["rt_ms"].mean()
    assert effects["estimate"][0] == pytest.approx(means["B"] - means["A"])
    about = json.loads((out / "human_predictors.json").read_text(encoding="utf-8"))
    assert about["human"]["path"] == str(tmp_path / "trials.csv")
    assert about["rows"] == 1
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "People's responses" in report
    assert "The responses of 3 subjects to 5 items, 120 trials, were response times (ms)." in report
    assert "judged implausible" not in report
    plotted = pd.read_csv(out / "attraction_plotted.csv")
    assert set(plotted.loc[plotted["panel"] == "humans", "measure"]) == {"mean_rt_ms"}


def test_judgements_without_a_binomial_engine_are_labelled_everywhere(stimuli, tmp_path, items, invoke):
    trials = items[["item", "condition"]].merge(pd.DataFrame({"subject": ["s1", "s2", "s3"]}), how="cross")
    trials["judgement"] = [int(i * 7 % 5 > 1) for i in range(len(trials))]
    trials.to_csv(tmp_path / "trials.csv", index=False)
    out = tmp_path / "out"
    printed = invoke(
        "-m",
        "toy",
        "--stimuli",
        stimuli,
        "--measure",
        "surprisal",
        "--human",
        tmp_path / "trials.csv",
        "--out",
        out,
    )
    label = "proportion (linear probability model, an approximation)"
    warned = "Judgements were fitted by a linear probability model, an approximation"
    assert label in printed
    assert warned in printed
    for name in ("human_effects", "human_predictors"):
        assert set(pd.read_csv(out / f"{name}.csv")["scale"]) == {label}
    report = (out / "report.html").read_text(encoding="utf-8")
    assert label in report
    assert warned in report


def test_the_supertag_weight_selects_instances(stimuli, small_checkpoint_writer, tmp_path, invoke, message):
    folder = small_checkpoint_writer(tmp_path / "plain")
    card = folder / "card.toml"
    card.write_text(card.read_text(encoding="utf-8") + "\n[objective]\nalpha = 0.0\n", encoding="utf-8")
    common = (
        "--model",
        folder,
        "--stimuli",
        stimuli,
        "--measure",
        "surprisal",
        "--keep-oov",
        "--out",
        tmp_path / "out",
    )
    printed = invoke(*common, "--alpha", 0, "--json")
    assert json.loads(printed)["models"] == [str(folder)]
    assert message(*common, "--supertag-weight", 5) == (
        f"No model was trained with the supertag weight 5 ({folder}: 0)."
    )


@pytest.mark.parametrize(
    ("models", "about", "name"),
    [
        (["cbr-rnn"], "", "cbr-rnn"),
        (["cbr-rnn/1", "toy"], "", "cbr-rnn-1+toy"),
        (["cbr-rnn"], "lvdm2022-exp3", "cbr-rnn-on-lvdm2022-exp3"),
        (["cbr-rnn"], "my/items.csv", "cbr-rnn-on-items"),
    ],
)
def test_results_of_other_items_go_to_a_folder_of_their_own(models, about, name):
    assert results_folder("attraction", models, about) == Path("results/attraction") / name
