"""Sets that declare the attraction design are held to its conditions A-H; others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from psymem.data.items.attraction_design import CONDITIONS
from psymem.data.items.stimuli import examine, read_item_set
from psymem.errors import StimuliError

HEADER = "item,condition,sentence,target,attractor,critical"
ROWS = {
    "A": "The bell near the box often ring today.,bell,box,ring",
    "B": "The bell near the boxes often ring today.,bell,boxes,ring",
    "C": "The bell near the box often sleeps today.,bell,box,sleeps",
    "D": "The bell near the cat often sleeps today.,bell,cat,sleeps",
    "E": "The bell near the box often sleep today.,bell,box,sleep",
    "F": "The bell near the cats often sleep today.,bell,cats,sleep",
    "G": "The bell near the cat often sleep today.,bell,cat,sleep",
    "H": "The bell near the boxes often sleep today.,bell,boxes,sleep",
}


def save(
    folder: Path, *, header: str = HEADER, card: str = 'design = "attraction"\n', more: str = "", **rows: str
) -> Path:
    path = folder / "items.csv"
    lines = [f"1,{c},{row}{more}" for c, row in {**ROWS, **rows}.items() if row]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    if card:
        (folder / "card.toml").write_text(card, encoding="utf-8")
    return path


def test_conditions_give_the_factors(tmp_path):
    found = read_item_set(save(tmp_path))
    assert (found.design, found.factors) == ("attraction", ["attraction", "violation"])
    levels = found.sentences.set_index("condition")[["attraction", "violation"]]
    assert {c: tuple(row) for c, row in zip(levels.index, levels.to_numpy(), strict=True)} == CONDITIONS


def test_a_design_column_declares_the_design_too(tmp_path):
    path = save(tmp_path, header=f"{HEADER},design", card="", more=",attraction")
    assert read_item_set(path).design == "attraction"
    named = path.rename(tmp_path / "mine.csv")
    named.write_text(
        named.read_text(encoding="utf-8").replace(",attraction", ",").replace(",design", ",comment"),
        encoding="utf-8",
    )
    assert read_item_set(named).design is None
    (tmp_path / "mine.toml").write_text('design = "attraction"\n', encoding="utf-8")
    assert read_item_set(named).design == "attraction"


def test_without_a_declaration_any_conditions_will_do(tmp_path):
    rows = {**dict.fromkeys("BCDEFGH", ""), "Q": ROWS["B"]}
    found = read_item_set(save(tmp_path, card="", **rows))
    assert (found.design, found.factors, found.conditions) == (None, [], ["A", "Q"])


def test_small_letters_are_read_as_capitals(tmp_path):
    path = save(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("1,A,", "1,a,"), encoding="utf-8")
    found = read_item_set(path)
    assert found.conditions == list("ABCDEFGH")
    assert found.notes == ["Conditions in small letters were read as A-H in 1 row(s) of items.csv."]


def test_conditions_are_sorted_whatever_the_order_of_the_rows(tmp_path):
    path = save(tmp_path)
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, *reversed(rows)]), encoding="utf-8")
    assert read_item_set(path).conditions == list("ABCDEFGH")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"A": "", "Q": ROWS["A"]},
            ["items.csv, row 9, column 'condition': 'Q' is not a condition of the attraction design, which has "
             "A, B, C, D, E, F, G, H."],
        ),
        ({"F": "", "G": ""}, ["items.csv, row 2, column 'condition': item '1' lacks conditions F, G."]),
        (
            {"D": "The bell near the cat often sleeps today.,bell,-,sleeps"},
            ["items.csv, row 5, column 'attractor': the attraction design needs this role in every sentence."],
        ),
        (
            {"a": ROWS["A"]},
            ["items.csv, row 10, column 'condition': item '1' in condition 'A' is already in row 2."],
        ),
    ],
)  # fmt: skip
def test_breaches_of_the_design(tmp_path, changes, expected):
    assert examine(save(tmp_path, **changes)).messages == expected


def test_factor_columns_have_to_agree_with_the_condition(tmp_path):
    path = save(tmp_path, header=f"{HEADER},violation", more=",double")
    assert examine(path).messages[0] == (
        "items.csv, row 2, column 'violation': 'double', but condition A of the attraction design is 'grammatical'."
    )
    assert len(examine(path).messages) == 4


def test_an_unknown_design_is_refused(tmp_path):
    with pytest.raises(StimuliError) as caught:
        read_item_set(save(tmp_path, card='design = "atraction"\n'))
    assert str(caught.value) == (
        "items.csv: the card declares the design 'atraction'; psymem knows 'attraction' or 'agreement', or leave it out."
    )
    path = save(tmp_path, header=f"{HEADER},design", card="", more=",attraction")
    (tmp_path / "card.toml").unlink()
    path.write_text(
        path.read_text(encoding="utf-8").replace("ring,attraction", "ring,atraction", 1), encoding="utf-8"
    )
    assert examine(path).messages == [
        "items.csv, row 2, column 'design': 'atraction' is not a design that psymem knows; "
        "write 'attraction' or 'agreement' or leave the column out."
    ]


def test_controls_need_the_same_items_and_conditions(tmp_path):
    path = save(tmp_path)
    text = (
        path.read_text(encoding="utf-8")
        .replace("sleeps", "rings")
        .replace("sleep", "rings")
        .replace("ring ", "rings ")
    )
    controls = tmp_path / "controls.csv"
    controls.write_text(text.replace(",ring\n", ",rings\n"), encoding="utf-8")
    found = read_item_set(path)
    assert found.controls is not None
    assert found.controls["text_id"].equals(found.words["text_id"])
    controls.write_text(controls.read_text(encoding="utf-8").replace("1,", "2,"), encoding="utf-8")
    with pytest.raises(StimuliError) as caught:
        read_item_set(path)
    assert str(caught.value) == "controls.csv lacks item '1' in condition 'A'; both files need the same."
