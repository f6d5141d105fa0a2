"""Item sets that declare the agreement design, and what is said when they break it."""

from __future__ import annotations

import pytest

from psymem.data.items.stimuli import examine, read_item_set

GOOD = """item,condition,sentence,target,attractor,critical,target_number,attractor_number,verb_number
1,a,The key is old,key,-,is,singular,none,singular
1,b,The key are old,key,-,are,singular,none,plural
1,c,The key to the cabinets is old,key,cabinets,is,singular,plural,singular
1,d,The key to the cabinets are old,key,cabinets,are,singular,plural,plural
"""


@pytest.fixture
def save(tmp_path):
    def write(text: str = GOOD, card: str = 'design = "agreement"\n'):
        (tmp_path / "card.toml").write_text(card, encoding="utf-8")
        (tmp_path / "items.csv").write_text(text, encoding="utf-8")
        return tmp_path / "items.csv"

    return write


def test_agreement_follows_from_the_numbers(save):
    items = read_item_set(save())
    assert items.design == "agreement"
    assert items.factors == ["target_number", "attractor_number", "verb_number", "agreement"]
    assert items.conditions == ["a", "b", "c", "d"]
    assert items.sentences["agreement"].tolist() == ["grammatical", "ungrammatical"] * 2


def test_own_factors_come_after_those_of_the_design(save):
    lines = GOOD.splitlines()
    text = "\n".join([f"frame,{lines[0]}", *(f"x,{line}" for line in lines[1:])])
    assert read_item_set(save(text)).factors[-2:] == ["agreement", "frame"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "attractor_number",
            "attractors",
            ["items.csv, row 1: there is no column 'attractor_number'; the agreement design needs target_number, "
             "attractor_number, verb_number."],
        ),
        (
            "singular,none,plural",
            "singular,none,plurl",
            ["items.csv, row 3, column 'verb_number': 'plurl' is not a level of verb_number, which has singular, plural."],
        ),
        (
            "key,-,is,singular,none",
            "-,-,is,singular,none",
            ["items.csv, row 2, column 'target': the agreement design needs the subject in every sentence."],
        ),
        (
            "key,cabinets,is,singular,plural",
            "key,-,is,singular,plural",
            ["items.csv, row 4, column 'attractor': the sentence has no attractor, but attractor_number is 'plural'."],
        ),
        (
            "key,cabinets,is,singular,plural",
            "key,cabinets,is,singular,none",
            ["items.csv, row 4, column 'attractor': the sentence has an attractor, but attractor_number is 'none'."],
        ),
        (
            "1,b,The key are old,key,-,are,singular,none,plural\n",
            "",
            ["items.csv, row 2, column 'verb_number': item '1' lacks the plural verb after 'The key'."],
        ),
    ],
)  # fmt: skip
def test_breaches_are_named_with_row_and_column(save, old, new, expected):
    assert GOOD.count(old) == 1
    assert examine(save(GOOD.replace(old, new))).messages == expected


def test_a_column_agreement_has_to_be_right(save):
    lines = GOOD.splitlines()
    said = ["agreement", "grammatical", "grammatical", "grammatical", "ungrammatical"]
    text = "\n".join(f"{line},{cell}" for line, cell in zip(lines, said, strict=True))
    assert examine(save(text)).messages == [
        "items.csv, row 3, column 'agreement': 'grammatical', but a singular subject and a plural verb are "
        "'ungrammatical'."
    ]


def test_a_design_column_cannot_contradict_the_card_or_itself(save):
    lines = GOOD.splitlines()
    text = "\n".join([f"{lines[0]},design", *(f"{line},agreement" for line in lines[1:])])
    assert read_item_set(save(text, card="")).design == "agreement"
    assert examine(save(text, card='design = "attraction"\n')).messages[0] == (
        "items.csv, row 2, column 'design': 'agreement', but the card says 'attraction'."
    )
    mixed = text.replace("plural,agreement", "plural,attraction", 1)
    assert examine(save(mixed, card="")).messages == [
        "items.csv, row 3, column 'design': 'attraction', but earlier rows say 'agreement'."
    ]


def test_without_the_declaration_nothing_is_held_to_the_design(save):
    items = read_item_set(save(card=""))
    assert items.design is None
    assert items.factors == ["target_number", "attractor_number", "verb_number"]
