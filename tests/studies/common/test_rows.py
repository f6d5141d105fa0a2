from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import DataError
from psymem.studies.common.rows import (
    has_role,
    leave_out_items,
    model_family,
    out_of_vocabulary,
    region_rows,
    regions_of,
)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("cbr-rnn/1", "cbr-rnn"),
        ("cbr-rnn/12", "cbr-rnn"),
        ("gpt2", "gpt2"),
        ("org/model", "org/model"),
        ("a/b/1", "a/b/1"),
    ],
)
def test_model_family(name, family):
    assert model_family(name) == family


def sentences() -> pd.DataFrame:
    """Two items in two conditions, four words each, one measure."""
    rows = []
    for item in "12":
        for condition in "AB":
            words = [
                ("keys", "target", "subject"),
                ("cabinet", "attractor", "pp"),
                ("were", "critical", "verb"),
            ]
            for i, (word, role, region) in enumerate([*words, ("rusty", "spillover", "spillover_1")]):
                rows.append(
                    {
                        "model": "toy",
                        "text_id": f"{item}-{condition}",
                        "item": item,
                        "condition": condition,
                        "size": "big" if condition == "A" else "small",
                        "word": word,
                        "role": role,
                        "region": region,
                        "oov": False,
                        "surprisal_bits": float(i),
                        "relative_attention": i / 10,
                    }
                )
    return pd.DataFrame(rows)


def test_items_with_an_unknown_target_are_left_out_in_all_conditions_and_models():
    scores = pd.concat([sentences(), sentences().assign(model="other")])
    unknown = (scores["item"] == "2") & (scores["condition"] == "A") & (scores["role"] == "target")
    scores["oov"] = unknown & (scores["model"] == "other")
    kept, left_out = leave_out_items(scores)
    assert set(kept["item"]) == {"1"}
    assert set(kept["model"]) == {"toy", "other"}
    expected = {"item": "2", "role": "target", "word": "keys", "conditions": "A", "models": "other"}
    assert left_out.to_dict("records") == [expected]


def test_an_unknown_spillover_word_leaves_nothing_out():
    scores = sentences()
    scores["oov"] = scores["role"] == "spillover"
    assert out_of_vocabulary(scores).empty


def test_no_item_left():
    scores = sentences()
    scores["oov"] = scores["role"] == "critical"
    with pytest.raises(DataError) as error:
        leave_out_items(scores)
    assert str(error.value) == (
        "All 2 items have a target, attractor or critical word outside the vocabulary of the model (were), "
        "so nothing is left to analyse. Use other items or another model, or keep them with --keep-oov."
    )


def test_rows_per_region_are_the_words_of_that_region():
    rows = region_rows(sentences(), ["surprisal_bits", "relative_attention"], ["size"])
    assert regions_of(rows) == ["critical", "spillover_1"]
    assert len(rows) == 8
    critical = rows[rows["region"] == "critical"]
    assert set(critical["surprisal_bits"]) == {2.0}
    assert set(rows.loc[rows["region"] == "spillover_1", "relative_attention"]) == {0.3}


def test_surprisal_of_a_region_of_two_words_is_their_sum_and_attention_their_mean():
    scores = sentences()
    scores.loc[scores["role"] == "spillover", "role"] = "critical"
    rows = region_rows(scores, ["surprisal_bits", "relative_attention"], ["size"])
    assert set(rows["surprisal_bits"]) == {5.0}
    assert rows["relative_attention"].to_numpy() == pytest.approx([0.25] * 4)


def test_a_missing_value_stays_missing():
    scores = sentences()
    scores.loc[scores["role"].eq("critical") & scores["item"].eq("1"), "surprisal_bits"] = np.nan
    rows = region_rows(scores, ["surprisal_bits"], ["size"])
    critical = rows[rows["region"] == "critical"].set_index("item")["surprisal_bits"]
    assert critical.loc["1"].isna().all()
    assert critical.loc["2"].notna().all()


def test_text_without_critical_word():
    scores = sentences()
    scores.loc[scores["text_id"] == "1-B", "role"] = ""
    with pytest.raises(DataError) as error:
        region_rows(scores, ["surprisal_bits"], ["size"])
    assert str(error.value) == (
        "1 text(s) have no word with the role 'critical', the first is '1-B'. "
        "Mark the word at which the measures are read."
    )


def test_a_cell_can_hold_several_roles():
    words = pd.DataFrame({"role": ["target critical", "", "spillover"]})
    assert has_role(words, "critical").tolist() == [True, False, False]
