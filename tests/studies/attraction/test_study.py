"""From scores to a folder of results."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from psymem.errors import DataError, OutputError
from psymem.studies.attraction import folder as factorial_folder
from psymem.studies.attraction import published_networks, significance
from psymem.studies.attraction.effects import HUMAN_PERCENTAGES, contrasts_of
from psymem.studies.attraction.plotted import plotted_means
from psymem.studies.attraction.study import analyse
from psymem.studies.common import results_folder
from psymem.studies.common.structures import STRUCTURES

FACTORS = ["attraction", "violation"]
MEASURES = ["surprisal_bits", "relative_attention"]
ABOUT = {
    "item_set": {"name": "own items", "sha256": "0" * 64, "notes": []},
    "models": [{"model": "toy"}],
    "seed": 1,
}


def run(scores, **settings):
    return analyse(scores, FACTORS, attraction=True, measures=MEASURES, about=ABOUT, **settings)


def unknown_in_item_3(scores):
    return scores.assign(oov=scores["item"].eq("3") & scores["condition"].eq("A"))


@pytest.fixture(scope="module")
def saved(make_scores, tmp_path_factory):
    """A result of two instances with one item left out, and the folder it was saved in."""
    result = run(unknown_in_item_3(make_scores(models=("cbr-rnn/1", "cbr-rnn/2"))))
    folder = tmp_path_factory.mktemp("results") / "a" / "b"
    return result, folder, result.save(folder)


@pytest.fixture(scope="module")
def report(saved):
    return (saved[1] / "report.html").read_text(encoding="utf-8")


def test_an_item_with_an_unknown_word_is_left_out_and_named(saved):
    result = saved[0]
    assert result.items_left_out == ["3"]
    assert result.n_items == 11
    assert set(result.effects["n_obs"].dropna()) == {22, 44, 88}
    assert set(result.means["n_items"]) == {11}
    assert len(result.scores) == 12 * 8 * 2
    assert set(result.scores.loc[~result.scores["analysed"], "item"]) == {"3"}


def test_keep_oov(two_instances):
    result = run(unknown_in_item_3(two_instances), keep_oov=True)
    assert result.items_left_out == []
    assert result.n_items == 12
    assert list(result.left_out["item"]) == ["3"]


def test_human_panel_has_the_published_numbers_and_says_other_items(toy_scores):
    plotted = run(toy_scores).plotted
    people = plotted[plotted["model"] == "humans"]
    assert set(people["title"]) == {"humans, other items"}
    shown = people.set_index("condition")[["mean", "ci_low", "ci_high"]]
    assert {c: tuple(shown.loc[c]) for c in shown.index} == dict(HUMAN_PERCENTAGES)


def test_human_panel_of_the_published_items(toy_scores):
    about = {**ABOUT, "item_set": {"name": "lvdm2022-exp3"}}
    result = analyse(toy_scores, FACTORS, attraction=True, measures=MEASURES, about=about)
    assert "humans" in set(result.plotted["title"])


def test_plotted_numbers_are_those_of_the_condition_means(saved):
    result = saved[0]
    keys = ["model", "measure", "condition"]
    both = result.plotted.merge(result.means, on=keys, suffixes=("", "_table"), validate="one_to_one")
    assert len(both) == 16
    for column in ("mean", "ci_low", "ci_high"):
        assert (both[column] == both[f"{column}_table"]).all()


def test_the_figure_shows_the_plotted_numbers(saved):
    result = saved[0]
    drawn = {}
    for ax in result.figure.axes:
        for container in ax.containers:
            line, _, (bars,) = container.lines
            for x, y, ends in zip(*line.get_data(), bars.get_segments(), strict=True):
                drawn[ax.get_title(), ax.get_ylabel(), float(x)] = (
                    float(y),
                    float(ends[0][1]),
                    float(ends[1][1]),
                )
    assert len(drawn) == len(result.plotted) == 24
    table = sorted(result.plotted[["mean", "ci_low", "ci_high"]].itertuples(index=False, name=None))
    assert sorted(drawn.values()) == [pytest.approx(row) for row in table]


EXPECTED_FILES = {
    *(f"{t}.csv" for t in ("scores", "condition_means", "effects", "items_left_out", "manipulation_checks")),
    *(f"attraction_{t}.csv" for t in ("plotted", "by_item_plotted", "by_item_means")),
    *(f"attraction{t}.{e}" for t in ("", "_column", "_by_item") for e in ("pdf", "png")),
    "provenance.json",
    "report.html",
}


def test_folder(saved):
    result, folder, written = saved
    assert {p.name for p in written} == EXPECTED_FILES
    assert {p.name for p in folder.iterdir()} == EXPECTED_FILES
    assert [p.name for p in folder.parent.iterdir()] == ["b"]
    effects = pd.read_csv(folder / "effects.csv")
    assert [c for c in effects if c not in published_networks.COLUMNS] == list(significance.EFFECT_COLUMNS)
    assert effects["published_estimate"].isna().all(), "own items are not the published ones"
    assert effects["estimate"].to_numpy() == pytest.approx(result.effects["estimate"].to_numpy(), nan_ok=True)
    about = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    assert about["items_left_out"] == ["3"]
    assert about["settings"]["alpha"] == 0.05
    assert about["item_set"]["name"] == "own items"
    assert about["files"]["effects.csv"]["rows"] == len(effects)
    assert set(about["files"]) == EXPECTED_FILES - {"provenance.json"}
    assert about["settings"]["smallest_effects"] == {"surprisal_bits": 0.25, "relative_attention": 0.013}


@pytest.fixture
def without_figures(monkeypatch):
    """Leave out the figures, which take most of the time."""
    monkeypatch.setattr(factorial_folder, "figures", lambda result: {})


@pytest.mark.usefixtures("without_figures")
def test_a_second_run_replaces_its_files_and_keeps_others(toy_scores, tmp_path):
    result = run(toy_scores)
    result.save(tmp_path)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    before = (tmp_path / "condition_means.csv").read_bytes()
    run(toy_scores, tests=significance.Tests(alpha=0.01)).save(tmp_path)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert json.loads((tmp_path / "provenance.json").read_text(encoding="utf-8"))["settings"]["alpha"] == 0.01
    assert (tmp_path / "condition_means.csv").read_bytes() == before


@pytest.mark.slow
def test_the_same_run_gives_the_same_figures(toy_scores, tmp_path):
    result = run(toy_scores)
    for name in ("one", "two"):
        result.save(tmp_path / name)
    for file in ("attraction.pdf", "attraction.png", "attraction_by_item.pdf"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.usefixtures("without_figures")
def test_full_disk_leaves_nothing(toy_scores, tmp_path, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results_folder, "write_text", full)
    with pytest.raises(OutputError) as error:
        run(toy_scores).save(tmp_path / "new" / "out")
    assert str(error.value) == (
        f"Could not write the results into {tmp_path / 'new' / 'out'}: No space left on device. None of them "
        "was kept; what was there before is unchanged. Free some space or choose another folder with --out."
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("without_figures")
def test_interruption_leaves_earlier_results_unchanged(toy_scores, tmp_path, monkeypatch):
    run(toy_scores).save(tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}

    def interrupted(path, text):
        raise KeyboardInterrupt

    monkeypatch.setattr(results_folder, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(toy_scores, tests=significance.Tests(alpha=0.01)).save(tmp_path / "out")
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_report_loads_nothing(report):
    assert not re.search(r"""(src|href)\s*=\s*(?!"data:)""", report)
    assert not re.search(r"url\(|@import|<script|<link|<iframe", report)
    assert report.count('src="data:image/png;base64,') == 2


def test_report_says_what_it_must(report):
    for heading in (
        "What was run",
        "Items left out",
        "Effects at the critical word",
        "Figures",
        "Manipulation checks",
        "All tests",
        "Which test to cite",
        "Methods paragraph",
        "Results in words",
        "Condition means",
        "What the fits say",
        "References",
    ):
        assert f"<h2>{heading}</h2>" in report
    assert "1 of 12 items have a target, attractor or critical word outside the vocabulary" in report
    assert "Timkey, W., &amp; Linzen, T. (2023)." in report
    assert "Laurinavichyute, A., &amp; von der Malsburg, T. (2022)." in report
    assert "We analysed 11 items of own items in 8 conditions" in report
    assert "cbr-rnn (2 trained instances)" in report
    assert "Cite the first test, with items and instances crossed" in report
    assert "No grammatical controls were read: effects are differences between violating sentences" in report


def test_report_has_every_effect_with_all_tests(report):
    for subtraction in ("B − A", "D − C", "(D − C) − (B − A)", "F − E", "H − E", "G − E", "F − G − H + E"):
        assert report.count(f", {subtraction}</td>") == (1 + 4) * len(MEASURES)
    for test in ("items and instances crossed", *STRUCTURES):
        assert report.count(f"<td>{test}</td>") == 7 * len(MEASURES)


def test_report_states_every_finding_with_its_direction(saved, report):
    cited = saved[0].first.query("measure == 'surprisal_bits'").iloc[0]
    number = f"{cited['estimate']:.3f}".replace("-", "−")
    assert f"<li>Agreement attraction, B − A: {number} bits, 95% CI [" in report
    assert "people show attraction: as people." in report


@pytest.mark.usefixtures("without_figures")
def test_report_of_one_instance_advises_otherwise(toy_scores, tmp_path):
    run(toy_scores).save(tmp_path)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the first test is the t-test over items" in report
    assert "Cite the first test, with items and instances crossed" not in report


def other_design(scores):
    """A two-by-two design of other names and conditions."""
    two = scores[scores["condition"].isin(list("ABCD"))]
    names = {"A": "long-high", "B": "long-low", "C": "short-high", "D": "short-low"}
    condition = two["condition"].map(names).astype("str")
    parts = condition.str.split("-", expand=True)
    return two.drop(columns=FACTORS).assign(condition=condition, length=parts[0], attachment=parts[1])


def test_another_factorial_design(two_instances, tmp_path):
    scores = other_design(two_instances)
    result = analyse(
        scores, ["length", "attachment"], attraction=False, measures=["surprisal_bits"], about=ABOUT
    )
    assert list(result.effects["effect"].unique()) == [
        "lengthshort",
        "attachmentlow",
        "lengthshort:attachmentlow",
    ]
    assert result.effects["human_direction"].isna().all()
    assert "humans" not in set(result.plotted["model"])
    assert list(result.by_item["effect"].unique()) == ["length", "attachment", "length × attachment"]
    assert {p.name for p in result.save(tmp_path)} >= {
        "conditions.pdf",
        "conditions_by_item.png",
        "report.html",
    }
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Timkey" not in report
    assert "surprisal_bits ~ length * attachment + (1|item) + (1|model)" in report


def test_weights_of_main_effects_and_interaction(two_instances):
    weights = contrasts_of(other_design(two_instances), ["length", "attachment"], attraction=False)
    assert weights["length"] == {"long-high": -0.5, "long-low": -0.5, "short-high": 0.5, "short-low": 0.5}
    assert weights["length × attachment"] == {
        "long-high": 1.0,
        "long-low": -1.0,
        "short-high": -1.0,
        "short-low": 1.0,
    }


def test_models_of_different_names_are_separate_blocks(make_scores):
    result = run(make_scores(models=("cbr-rnn/1", "cbr-rnn/2", "other")))
    assert result.models == ["cbr-rnn", "other"]
    assert result.effects.groupby("model")["n_models"].first().to_dict() == {"cbr-rnn": 2, "other": 1}
    assert result.plotted["panel"].nunique() == 5


def test_a_formula_can_name_other_columns_of_the_items(two_instances):
    scores = two_instances[two_instances["condition"].isin(["A", "B"])]
    scores = scores.assign(log_frequency=scores["item"].astype(int).add(0.5).astype(str).astype("str"))
    tests = significance.Tests(formula="y ~ attraction + log_frequency")
    result = analyse(scores, FACTORS, attraction=True, measures=["surprisal_bits"], tests=tests)
    assert list(result.effects["effect"].unique()) == ["attractiongrammatical", "log_frequency"]
    assert not result.attraction


def test_items_without_factors_are_compared_by_condition(two_instances):
    result = analyse(two_instances, [], attraction=False, measures=["surprisal_bits"], about=ABOUT)
    assert list(result.effects["effect"].unique()) == [f"condition{c}" for c in "BCDEFGH"]


@pytest.mark.parametrize("name", ["my factor", "1st"])
def test_a_factor_whose_name_is_no_plain_word(two_instances, name):
    scores = other_design(two_instances)
    plain = analyse(scores, ["length", "attachment"], attraction=False, measures=["surprisal_bits"])
    other = analyse(
        scores.rename(columns={"length": name}),
        [name, "attachment"],
        attraction=False,
        measures=["surprisal_bits"],
    )
    assert list(other.effects["effect"].unique()) == [
        f"`{name}`short",
        "attachmentlow",
        f"`{name}`short:attachmentlow",
    ]
    columns = ["estimate", "se", "df", "p"]
    pd.testing.assert_frame_equal(other.effects[columns], plain.effects[columns])


@pytest.mark.parametrize("name", ["surprisal_bits", "measure", "value", "analysed", "mean"])
def test_a_factor_called_like_a_column_of_the_results(two_instances, name):
    with pytest.raises(DataError) as raised:
        analyse(two_instances, [name], attraction=False, measures=["surprisal_bits"])
    assert str(raised.value) == (
        f"The items have a factor called {name!r}, a name that the tables of results use themselves. "
        "Rename this column of the items file."
    )


def test_one_item_left(make_scores):
    scores = make_scores()
    scores = scores[scores["item"].isin(["1", "2"])]
    two = scores.assign(oov=scores["item"].eq("2") & scores["condition"].eq("A"))
    with pytest.raises(DataError) as raised:
        run(two)
    assert str(raised.value) == (
        "There is one item to analyse ('1'); effects are tested over items, so at least two are needed. 1 left out "
        "for words outside the vocabulary: were. Keep such items with --keep-oov, or use other words."
    )
    with pytest.raises(DataError) as raised:
        run(scores[scores["item"] == "1"])
    assert str(raised.value) == (
        "There is one item to analyse ('1'); effects are tested over items, so at least two are needed."
    )


def test_a_figure_has_the_order_of_the_levels_given_and_of_the_conditions_otherwise():
    means = pd.DataFrame({"condition": list("abcd"), "number": ["sg", "pl"] * 2, "distance": list("nnff")})
    means = means.assign(region="critical", model="toy", measure="surprisal_bits", interval="", mean=1.0)
    means = means.assign(ci_low=0.0, ci_high=2.0)
    factors = ["number", "distance"]
    plain = plotted_means(means, factors, attraction=False)
    assert plain["condition"].tolist() == ["a", "c", "b", "d"]
    levels = {"number": ("pl", "sg"), "distance": ("f", "n")}
    given = plotted_means(means, factors, attraction=False, levels=levels)
    assert given["condition"].tolist() == ["d", "b", "c", "a"]
    assert plotted_means(means, [], attraction=False)["condition"].tolist() == list("abcd")
