"""Item sets as suites."""

from __future__ import annotations

import pandas as pd
import pytest

import psymem
from psymem.data.items.suite_of_items import suite_of_items
from psymem.data.items.syntaxgym import read_suite, suite_content, write_suite
from psymem.errors import SuiteError, UnknownNameError

LONG = [
    ("The", ""),
    ("key", "subject"),
    ("near", ""),
    ("it", "noun"),
    ("is", "verb"),
    ("very", ""),
    ("old.", ""),
]
SHORT = [("The", ""), ("key", "subject"), ("is", "verb"), ("old.", "")]


def words(*sentences) -> pd.DataFrame:
    """Return an item set of one item; each sentence is a list of word and region."""
    rows = [
        {
            "text_id": f"1-{c}",
            "sentence_id": 1,
            "word_id": n,
            "word": w,
            "item": "1",
            "condition": c,
            "region": r,
        }
        for c, sentence in zip("ABC", sentences, strict=False)
        for n, (w, r) in enumerate(sentence, start=1)
    ]
    return pd.DataFrame(rows)


def test_regions_are_numbered_alike_in_all_sentences():
    suite = suite_of_items(words(SHORT, LONG), "mine", ["(5;%A%) < (5;%B%)"])
    assert suite.region_names == {
        1: "start",
        2: "subject",
        3: "after subject",
        4: "noun",
        5: "verb",
        6: "after verb",
    }
    contents = [list(c.regions.values()) for c in suite.items[0].conditions]
    assert contents == [
        ["The", "key", "", "", "is", "old."],
        ["The", "key", "near", "it", "is", "very old."],
    ]


def test_the_bundled_items_make_a_suite_that_reads_back(tmp_path):
    items = psymem.load_stimuli("attraction-core")
    suite = suite_of_items(items, "attraction-core")
    number = {name: n for n, name in suite.region_names.items()}["critical"]
    suite = suite_of_items(items, "attraction-core", [f"({number};%A%) < ({number};%B%)"])
    again = read_suite(write_suite(suite, tmp_path / "suite.json"))
    assert suite_content(again) == suite_content(suite)
    assert again.words["word"].tolist() == items["word"].tolist()
    critical = again.words["region"] == "critical"
    assert again.words["word"][critical].tolist() == items["word"][items["role"] == "critical"].tolist()


def test_regions_that_cannot_be_numbered_are_refused():
    with pytest.raises(SuiteError) as caught:
        suite_of_items(words([("a", "x"), ("b", "y"), ("c", "x")]), "mine")
    assert str(caught.value) == (
        "Region 'x' occurs twice in text '1-A', with other regions between. A suite needs regions that occur once "
        "in a sentence."
    )
    with pytest.raises(SuiteError) as caught:
        suite_of_items(words([("a", "x"), ("b", "y")], [("b", "y"), ("a", "x")]), "mine")
    assert str(caught.value) == (
        "Regions 'x' and 'y' come in different orders in different sentences, so they cannot be numbered. Give "
        "them other names where the order differs."
    )


def test_formulas_are_checked():
    with pytest.raises(UnknownNameError) as caught:
        suite_of_items(words(SHORT), "mine", ["(1;%A%) < (1;%D%)"])
    assert str(caught.value) == (
        "There is no condition called 'D'. Known: A. (character 11 of mine, prediction 1: (1;%A%) < (1;%D%))"
    )
