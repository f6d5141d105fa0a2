"""Latin-square lists: every item once per list, every condition equally often, every text in one list."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from psymem.data.items.latin_square import latin_square
from psymem.data.items.stimuli import read_item_set
from psymem.errors import StimuliError


def save(folder: Path, n_items: int, conditions: str = "abc") -> Path:
    rows = [f"{i},{c},Dog{i} {c} barks loud,barks" for i in range(n_items) for c in conditions]
    path = folder / "items.csv"
    path.write_text("\n".join(["item,condition,sentence,critical", *rows]), encoding="utf-8")
    return path


def test_a_small_square_by_hand(tmp_path):
    lists = latin_square(read_item_set(save(tmp_path, 3)))
    expected = [("0-a", "1-b", "2-c"), ("0-b", "1-c", "2-a"), ("0-c", "1-a", "2-b")]
    assert lists.groupby("list")["text_id"].agg(tuple).tolist() == expected
    assert lists.columns.tolist() == ["list", "position", "text_id", "item", "condition", "sentence"]
    assert lists.loc[4, "sentence"] == "Dog1 c barks loud"


def test_a_seed_shuffles_the_order_and_nothing_else(tmp_path):
    item_set = read_item_set(save(tmp_path, 9))
    plain, shuffled = latin_square(item_set), latin_square(item_set, seed=1)
    pd.testing.assert_frame_equal(shuffled, latin_square(item_set, seed=1))
    keys = ["list", "text_id"]
    assert not plain["text_id"].equals(shuffled["text_id"])
    pd.testing.assert_frame_equal(
        plain[keys].sort_values(keys, ignore_index=True), shuffled[keys].sort_values(keys, ignore_index=True)
    )
    assert shuffled.groupby("list")["position"].agg(list).tolist() == [list(range(1, 10))] * 3


def test_an_incomplete_item_is_refused(tmp_path):
    path = save(tmp_path, 3)
    path.write_text(
        path.read_text(encoding="utf-8").replace("1,b,Dog1 b barks loud,barks\n", ""), encoding="utf-8"
    )
    with pytest.raises(StimuliError) as caught:
        latin_square(read_item_set(path))
    assert str(caught.value) == (
        "items.csv: item '1' lacks condition b. Latin-square lists need every item in every condition."
    )
