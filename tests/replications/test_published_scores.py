from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from psymem.data.items.attraction_design import CONDITIONS
from psymem.errors import DataError, UnknownNameError
from psymem.fitting.multiplicity import adjust
from psymem.replications.published_report import effects_as_text, markdown, save
from psymem.replications.published_scores import load_study, read_scores, recompute, study_names
from psymem.studies.attraction import significance
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.common.structures import AS_PUBLISHED, BY_ITEM_SLOPES, STRUCTURES

HEADS = ("gpt2_4_3", "gpt2_3_6", "gpt2_6_0", "gpt2_2_9")


@pytest.fixture(scope="module")
def scores(shared) -> Path:
    return shared / "data/stimuli/laurinavichyute_malsburg_2022_exp3/exp3_results.csv"


@pytest.fixture(scope="module")
def table6(scores):
    return recompute(load_study("timkey2023-table6"), scores)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory) -> Path:
    """Invented scores in the layout of the released GPT-2 file: a row for each head, surprisal repeated."""
    rng = np.random.default_rng(9)
    rows = []
    for item in range(1, 13):
        shift = rng.normal(0, 1)
        for condition, (attraction, violation) in CONDITIONS.items():
            surprisal = 10 + shift - 0.8 * (attraction != "none") + rng.normal(0, 0.5)
            for head in HEADS:
                target, attractor = rng.uniform(0.1, 0.5), rng.uniform(0.05, 0.4)
                rows.append(
                    (
                        item,
                        condition.lower(),
                        attraction,
                        violation,
                        head,
                        "gpt2",
                        "gpt2",
                        surprisal,
                        target,
                        attractor,
                        1.0,
                    )
                )
    names = "item,condition,attraction,violation,model,model_type,model_arch,surp,target_attn,dist_attn,attn_entropy"
    path = tmp_path_factory.mktemp("scores") / "exp3_results_gpt2.csv"
    pd.DataFrame(rows, columns=names.split(",")).to_csv(path)
    return path


def test_every_study_names_its_scores_and_measures():
    assert study_names() == ["timkey2023-table6", "timkey2023-table7"]
    for name in study_names():
        study = load_study(name)
        assert study.url.endswith(study.file)
        assert len(study.sha256) == 64
        assert files("psymem.analyses").joinpath(name.replace("-", "_") + ".toml").is_file()
        assert {p.effect for p in study.printed} <= {e.name for e in ATTRACTION_EFFECTS}
        assert {p.measure for p in study.printed} <= {m.name for m in study.measures}


@pytest.mark.shared
def test_every_cell_equals_lme4_on_the_released_scores(published_lme4, table6):
    published = table6.effects[table6.effects.structure == AS_PUBLISHED]
    assert len(published) == 14
    for row in published.to_dict("records"):
        lme4 = published_lme4(row["effect"], row["measure"])
        assert row["term"] == lme4.term
        assert row["n_obs"] == lme4.n
        assert row["estimate"] == pytest.approx(lme4.est, rel=1e-6)
        assert row["se"] == pytest.approx(lme4.se, rel=1e-4)
        assert row["df"] == pytest.approx(lme4.df, rel=0.01)
        assert row["p"] == pytest.approx(lme4.p, rel=1e-3)
        assert row["singular"] == lme4.singular


@pytest.mark.shared
def test_with_by_item_slopes_semantic_attention_is_not_significant(table6):
    slopes = table6.effects[table6.effects.structure == BY_ITEM_SLOPES].set_index(["measure", "effect"])
    assert len(slopes) == 14
    assert slopes.estimate.notna().all()
    assert slopes.loc[("relative_attention", "semantic-attraction"), "p"] == pytest.approx(0.12, abs=0.005)
    assert slopes.loc[("relative_attention", "agreement-attraction"), "p"] < 0.001


@pytest.mark.shared
@pytest.mark.r
@pytest.mark.slow
def test_by_item_slopes_equal_lme4(rscript, scores, table6, monkeypatch):
    monkeypatch.setattr(significance, "STRUCTURES", STRUCTURES[:2])  # the third takes lme4 minutes
    theirs = recompute(load_study("timkey2023-table6"), scores, engine="lme4").effects
    theirs = theirs[theirs.structure.isin(STRUCTURES[:2])]
    ours = table6.effects[table6.effects.structure.isin(STRUCTURES[:2])]
    np.testing.assert_allclose(ours.estimate, theirs.estimate, rtol=1e-5)
    np.testing.assert_allclose(ours.se, theirs.se, rtol=2e-3)
    np.testing.assert_allclose(ours.df, theirs.df, rtol=0.01)


@pytest.mark.shared
def test_p_is_corrected_within_a_measure_and_a_structure(table6):
    for _, part in table6.effects.groupby(["measure", "structure"]):
        np.testing.assert_allclose(part.p_holm, adjust(part.p.to_numpy()))


@pytest.mark.shared
def test_the_report_says_where_the_printed_table_and_the_data_disagree(table6):
    assert table6.disagreements == (
        "relative_attention, semantic-attraction (D - C): the sign is printed as +, the scores give - (-0.0256). The "
        "paper's text also says that attention to the subject goes down.",
        "relative_attention, semantic-in-double (G - E): the sign is printed as +, the scores give - (-0.0454). The "
        "paper's text also says that attention to the subject goes down.",
        "relative_attention, additivity (F - G - H + E): p is printed as .053, the scores give .011. With the "
        "recomputed p the effect is significant, so it no longer counts as consistent with the human null.",
    )
    report = markdown(table6)
    for sentence in table6.disagreements:
        assert f"- {sentence}" in report
    assert (
        "- relative_attention, semantic-attraction: p < .001 as published, p .124 with by-item slopes (not significant)."
        in report
    )
    assert "A text about such networks should cite the first of these tests" in report
    assert "| no reliable effect (paper: negative) | against people |" in report
    assert "in nats, although the axes of the paper's figures say bits" in report


@pytest.mark.shared
def test_saving_writes_table_sidecar_and_report(table6, tmp_path):
    written = save(table6, tmp_path, seed=0)
    assert [p.name for p in written] == ["effects.csv", "report.md"]
    table = pd.read_csv(tmp_path / "effects.csv")
    assert len(table) == 56
    sidecar = json.loads((tmp_path / "effects.json").read_text(encoding="utf-8"))
    assert sidecar["scores_sha256"] == "1a769c3658d827104658bb4468d296429ea39a326583011d5936d2f20a7a24a6"
    assert sidecar["disagreements"] == list(table6.disagreements)


def test_table7_uses_each_head_and_the_surprisal_once(gpt2):
    rows = read_scores(load_study("timkey2023-table7"), gpt2)
    assert len(rows) == 12 * 8
    raw = pd.read_csv(gpt2, index_col=0)
    head = raw[raw.model == "gpt2_6_0"].assign(
        item=lambda t: t.item.astype(str), condition=lambda t: t.condition.str.upper()
    )
    both = rows.merge(head, on=["item", "condition"], validate="one_to_one")
    np.testing.assert_allclose(
        both.relative_attention_head_6_0, both.target_attn / (both.target_attn + both.dist_attn)
    )
    np.testing.assert_allclose(both.surprisal_nats, both.surp)


def test_one_model_has_random_intercepts_of_items_only(gpt2):
    result = recompute(load_study("timkey2023-table7"), gpt2)
    assert list(dict.fromkeys(result.effects.measure)) == [
        "surprisal_nats",
        "relative_attention_head_4_3",
        "relative_attention_head_3_6",
        "relative_attention_head_6_0",
        "relative_attention_head_2_9",
    ]
    published = result.effects[result.effects.structure == AS_PUBLISHED]
    assert set(published.random_effects) == {"(1|item)"}
    raw = pd.read_csv(gpt2, index_col=0)
    wide = raw[raw.model == HEADS[0]].pivot(index="item", columns="condition", values="surp")
    row = published.set_index(["measure", "effect"]).loc[("surprisal_nats", "agreement-attraction")]
    assert row.estimate == pytest.approx((wide.b - wide.a).mean())
    assert not result.disagreements
    assert result.notes[0].startswith("exp3_results_gpt2.csv is not the released file: its sha256 is ")
    assert "not estimable" in effects_as_text(result.effects, "surprisal_nats")
    assert "The printed values of this table are not on record in psymem, so none was compared." in markdown(
        result
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "item,model\n1,x\n",
            "{path} lacks condition, attraction, violation, model_arch, surp, target_attn, dist_attn; "
            "its columns are item, model.",
        ),
        (
            "item,condition,attraction,violation,model,model_arch,surp,target_attn,dist_attn\n1,a,none,double,m,lstm,1,1,1\n",
            "{path} has no rows with 'cbrnn' in the column 'model_arch'.",
        ),
        (
            "item,condition,attraction,violation,model,model_arch,surp,target_attn,dist_attn\n1,a,none,double,m,cbrnn,high,1,1\n",
            "{path}: the column 'surp' has cells that are not numbers.",
        ),
    ],
    ids=["columns", "architecture", "text"],
)
def test_scores_of_another_kind(tmp_path, content, message):
    path = tmp_path / "scores.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_scores(load_study("timkey2023-table6"), path)
    assert str(error.value) == message.format(path=path)


def test_an_unknown_study():
    with pytest.raises(UnknownNameError) as error:
        load_study("timkey2023-table8")
    assert str(error.value) == (
        "There is no published table called 'timkey2023-table8'. Did you mean 'timkey2023-table7' or "
        "'timkey2023-table6'? Known: timkey2023-table6, timkey2023-table7."
    )
