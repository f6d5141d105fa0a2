"""SyntaxGym suites in and out."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psymem.data.items.syntaxgym import read_suite, read_suites, suite_content, write_suite
from psymem.errors import DataError, PsymemError, SuiteError, UnknownNameError
from psymem.tables import STIMULI, check


def sentence(name: str, *contents: str) -> dict:
    return {
        "condition_name": name,
        "regions": [{"region_number": n, "content": c} for n, c in enumerate(contents, start=1)],
    }


SUITE = {
    "meta": {"name": "agreement", "metric": "sum", "author": "X"},
    "region_meta": {"1": "subject", "2": "pause", "3": "verb", "4": "end"},
    "predictions": [{"type": "formula", "formula": "(3;%match%) < (3;%mismatch%)"}],
    "items": [
        {
            "item_number": 1,
            "conditions": [
                sentence("match", "The keys", "", "are", "rusty ."),
                sentence("mismatch", "The keys", "", "is", "rusty ."),
            ],
        },
        {
            "item_number": 2,
            "conditions": [
                sentence("match", " Dogs", ", well ,", "don't  chase", ", NA !"),
                sentence("mismatch", " Dogs", ", well ,", "doesn't chase", ", NA !"),
            ],
        },
    ],
}


@pytest.fixture
def content():
    return copy.deepcopy(SUITE)


@pytest.fixture
def file(tmp_path):
    def write(content, name: str = "suite.json"):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_every_word_belongs_to_one_region(file):
    words = check(read_suite(file(SUITE)).words, STIMULI)
    text = words[words["text_id"] == "agreement-2-match"]
    assert text["word"].tolist() == ["Dogs", ",", "well", ",", "don't", "chase", ",", "NA", "!"]
    assert text["region_number"].tolist() == [1, 2, 2, 2, 3, 3, 4, 4, 4]
    assert text["region"].tolist() == ["subject", *["pause"] * 3, *["verb"] * 2, *["end"] * 3]
    assert text["word_id"].tolist() == list(range(1, 10))
    assert text["sentence_id"].unique().tolist() == [1]
    assert words["region_number"][words["text_id"] == "agreement-1-match"].tolist() == [1, 1, 3, 4, 4]


def test_blanks_around_regions_are_noted(file):
    suite = read_suite(file(SUITE))
    assert suite.notes == (
        "agreement: blanks around 2 region(s) were dropped, the first is item 2, condition 'match', region 1.",
    )


def test_what_goes_out_is_what_came_in(file, tmp_path):
    suite = read_suite(file(SUITE))
    assert suite_content(suite) == SUITE
    again = read_suite(write_suite(suite, tmp_path / "new folder" / "again.json"))
    assert suite_content(again) == SUITE


def test_values_go_out_under_the_suites_metric(file):
    suite = read_suite(file(SUITE))
    values = {
        (str(i.number), c.name, n): float(n) for i in suite.items for c in i.conditions for n in c.regions
    }
    item = suite_content(suite, values)["items"][0]
    assert item["conditions"][0]["regions"][2] == {
        "region_number": 3,
        "content": "are",
        "metric_value": {"sum": 3.0},
    }


def test_a_folder_is_read_in_the_order_of_names(file, tmp_path, content):
    file(SUITE, "b.json")
    content["meta"]["name"] = "other"
    file(content, "a.json")
    file("not a suite", "c.txt")
    assert [s.name for s in read_suites(tmp_path)] == ["other", "agreement"]
    assert [s.name for s in read_suites(tmp_path / "b.json")] == ["agreement"]


def test_a_folder_needs_suites_of_different_names(file, tmp_path):
    with pytest.raises(DataError) as caught:
        read_suites(tmp_path)
    assert str(caught.value) == (
        f"The folder {tmp_path} has no .json file; a SyntaxGym suite was expected in it."
    )
    first, second = file(SUITE, "a.json"), file(SUITE, "b.json")
    with pytest.raises(SuiteError) as caught:
        read_suites(tmp_path)
    assert str(caught.value) == (
        f"{first} and {second} are both called 'agreement'. Change 'name' in the 'meta' of one of them."
    )


def edited(path: str, value: object):
    """Give a function that sets one place of a suite, keys with dots between; None takes it away."""

    def edit(content):
        *way, last = path.split(".")
        for key in way:
            content = content[int(key) if isinstance(content, list) else key]
        last = int(last) if isinstance(content, list) else last
        if value is None:
            del content[last]
        else:
            content[last] = value

    return edit


FORMULA = "predictions.0.formula"
REGIONS = "items.1.conditions.0.regions"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (edited("predictions", None), ": there is no 'predictions'; it has 'meta', 'region_meta', 'items'."),
        (edited("items", []), ": the suite has no items."),
        (edited("items", {}), ": 'items' has to be a list, but it is an object."),
        (edited("meta.name", " "), ", 'meta': the suite's name is empty."),
        (edited("meta.metric", None), ", 'meta': there is no 'metric'; it has 'name', 'author'."),
        (edited("region_meta.one", "x"), ", 'region_meta': 'one' is not a region number such as '1'."),
        (edited("region_meta.01", "x"), ", 'region_meta': '01' is not a region number such as '1'."),
        (
            edited("predictions.0", {"type": "formula", "formla": "x"}),
            ", prediction 1: there is no 'formula'; it has 'type', 'formla'. Did you mean 'formula' where it says "
            "'formla'?",
        ),
        (
            edited("predictions.0.type", "ranking"),
            ", prediction 1: its type is 'ranking'; only 'formula' is known.",
        ),
        (
            edited(FORMULA, "(3;%match%) <"),
            ", prediction 1: The formula does not parse at character 14: the formula ends where a region, a number "
            "or a group was expected.\n    (3;%match%) <\n                 ^",
        ),
        (edited("items.1.item_number", 1), ": there are two items called '1'; each name may occur once."),
        (
            edited("items.1.item_number", True),
            ", entry 2 of 'items': 'item_number' has to be a whole number or a text, but it is true or false.",
        ),
        (
            edited("items.1", "x"),
            ", entry 2 of 'items': a text was found where an object with 'item_number' was expected.",
        ),
        (edited("items.1.conditions", []), ", item 2: it has no conditions."),
        (
            edited("items.1.conditions.1.condition_name", "match"),
            ", item 2: there are two conditions called 'match'; each name may occur once.",
        ),
        (
            edited("items.1.conditions.1.condition_name", "other"),
            ", item 2: its conditions are not those of item 1: 'mismatch' is in one of them only. Every item "
            "needs every condition.",
        ),
        (
            edited(f"{REGIONS}.0.content", None),
            ", item 2, condition 'match', entry 1 of 'regions': there is no 'content'; it has 'region_number'.",
        ),
        (
            edited(f"{REGIONS}.0.content", 3),
            ", item 2, condition 'match', entry 1 of 'regions': 'content' has to be a text, but it is a whole "
            "number.",
        ),
        (
            edited(f"{REGIONS}.0.content", "a\ud800"),
            ", item 2, condition 'match', entry 1 of 'regions': 'content' has half a character (a lone surrogate): "
            "'a\\ud800'.",
        ),
        (edited(f"{REGIONS}.1.region_number", 1), ", item 2, condition 'match': region 1 occurs twice."),
        (
            edited(f"{REGIONS}.1.region_number", 9),
            ", item 2, condition 'match': region 9 is not in 'region_meta', which has 1, 2, 3, 4.",
        ),
        (edited(REGIONS, []), ", item 2, condition 'match': none of its regions has a word."),
    ],
)
def test_what_breaks_the_format_is_named_with_its_place(file, content, edit, message):
    edit(content)
    path = file(content)
    with pytest.raises(SuiteError) as caught:
        read_suite(path)
    assert str(caught.value) == f"{path}{message}"


def test_an_unknown_condition_in_a_formula_gets_near_names(file, content):
    content["predictions"][0]["formula"] = "(3;%match%) < (3;%mismtach%)"
    path = file(content)
    with pytest.raises(UnknownNameError) as caught:
        read_suite(path)
    assert str(caught.value) == (
        "There is no condition called 'mismtach'. Did you mean 'mismatch' or 'match'? Known: match, mismatch. "
        f"(character 15 of {path}, prediction 1: (3;%match%) < (3;%mismtach%))"
    )


def test_a_region_of_a_formula_has_to_exist_in_every_item(file, content):
    content["predictions"][0]["formula"] = "(5;%match%) < (3;%mismatch%)"
    path = file(content)
    with pytest.raises(SuiteError) as caught:
        read_suite(path)
    assert str(caught.value) == (
        "There is no region 5 in item 1, condition 'match'; it has 1, 2, 3, 4. "
        f"(character 1 of {path}, prediction 1: (5;%match%) < (3;%mismatch%))"
    )


def test_an_unknown_metric_is_refused(file, content):
    content["meta"]["metric"] = "average"
    path = file(content)
    with pytest.raises(UnknownNameError) as caught:
        read_suite(path)
    assert str(caught.value) == (
        "There is no metric called 'average'. Did you mean 'range'? Known: max, mean, median, min, range, sum. "
        f"(in 'meta' of {path})"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"meta": }',
            "{path}, line 1, column 10: this is not JSON (Expecting value). Expected a SyntaxGym suite: an object "
            "with 'meta', 'region_meta', 'predictions' and 'items'.",
        ),
        ("[]", "{path}: a list was found where an object with 'meta' was expected."),
        (" \n", "{path} is empty. Expected a SyntaxGym suite in JSON."),
        ("[" * 100000, "{path}: the JSON is nested too deeply for a SyntaxGym suite."),
    ],
)
def test_a_file_that_holds_something_else_is_refused(file, text, message):
    path = file(text)
    with pytest.raises(SuiteError) as caught:
        read_suite(path)
    assert str(caught.value) == message.replace("{path}", str(path))


def places(node) -> list[tuple]:
    """Return the ways to every place in a suite."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [way for key, value in inside for way in [(key,), *((key, *rest) for rest in places(value))]]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


@given(st.sampled_from(places(SUITE)), ANYTHING)
def test_whatever_stands_in_a_suite_it_is_read_or_refused_in_words(tmp_path_factory, way, value):
    content = copy.deepcopy(SUITE)
    node = content
    for key in way[:-1]:
        node = node[key]
    node[way[-1]] = value
    path = tmp_path_factory.mktemp("suites") / "suite.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        suite = read_suite(path)
    except PsymemError:
        return
    assert suite_content(suite) == content
    assert len(suite.words)


@pytest.mark.shared
def test_every_published_suite_is_read_and_goes_out_unchanged(shared):
    suites = read_suites(shared / "data" / "stimuli" / "syntaxgym")
    assert len(suites) == 17
    for suite in suites:
        assert suite_content(suite) == json.loads(suite.path.read_text(encoding="utf-8"))
        joined = [" ".join(c.regions.values()).split() for item in suite.items for c in item.conditions]
        texts = suite.words.groupby("text_id", sort=False)["word"].agg(list)
        assert texts.tolist() == joined
