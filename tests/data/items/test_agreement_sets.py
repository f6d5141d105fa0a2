"""The bundled sets that cross subject's, attractor's and verb's number; nothing here scores them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest

from psymem.data.items.stimuli import ItemSet, read_item_set

NAMES = ["agreement-development", "attraction-number", "attraction-relative-clause"]
SIZE = {
    "agreement-development": (40, 48),
    "attraction-number": (32, 16),
    "attraction-relative-clause": (32, 20),
}
IRREGULAR = {
    "child": "children",
    "gentleman": "gentlemen",
    "shelf": "shelves",
    "thief": "thieves",
    "woman": "women",
}
VERBS = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go", "carries": "carry"}
NUMBERS = ["target_number", "attractor_number", "verb_number"]


@pytest.fixture(scope="module")
def sets() -> dict[str, ItemSet]:
    return {name: read_item_set(name) for name in NAMES}


def texts_of(items: ItemSet) -> pd.DataFrame:
    """One row per text: factors, and the words of the roles."""
    marked = items.words[items.words["role"].isin(["target", "attractor", "critical"])]
    roles = marked.pivot(index="text_id", columns="role", values="word")
    return items.sentences.merge(roles.reset_index(), on="text_id", validate="one_to_one")


def plural(noun: str) -> str:
    if noun in IRREGULAR:
        return IRREGULAR[noun]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "sh", "ch", "x")) else "s")


def nouns(items: ItemSet) -> set[str]:
    singular = texts_of(items)
    subjects = singular.loc[singular["target_number"] == "singular", "target"]
    attractors = singular.loc[singular["attractor_number"] == "singular", "attractor"]
    return {*subjects, *attractors}


def predicates(items: ItemSet) -> set[str]:
    """Return what follows the critical word, of every text."""
    at = items.words[items.words["role"] == "critical"].set_index("text_id")["word_id"]
    late = items.words[items.words["word_id"] > items.words["text_id"].map(at)]
    return set(late.groupby("text_id")["word"].agg(" ".join))


@pytest.mark.parametrize("name", NAMES)
def test_every_item_is_in_every_condition(sets, name):
    items, conditions = SIZE[name]
    assert (len(sets[name].items), len(sets[name].conditions)) == (items, conditions)
    assert len(sets[name].sentences) == items * conditions
    assert sets[name].notes == []
    assert sets[name].sentences["sentence"].is_unique
    assert (sets[name].design, sets[name].card["items"]) == ("agreement", items)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_crossed_within_items_and_frames(sets, name):
    texts = texts_of(sets[name])
    extra = ["verb"] if "verb" in texts.columns else []
    cells = texts.groupby(["item", "frame", *extra])[NUMBERS].agg(lambda c: sorted(set(c)))
    counts = texts.groupby(["item", "frame", *extra]).size()
    for key, levels in cells.iterrows():
        attracted = levels["attractor_number"] != ["none"]
        assert list(levels) == [
            ["plural", "singular"],
            ["plural", "singular"] if attracted else ["none"],
            ["plural", "singular"],
        ], key
        assert counts[key] == (8 if attracted else 4), key
    assert not texts.duplicated(["item", "frame", *extra, *NUMBERS]).any()


@pytest.mark.parametrize("name", NAMES)
def test_number_is_marked_on_nouns_and_verbs(sets, name):
    texts = texts_of(sets[name])
    for role in ("target", "attractor"):
        with_noun = texts[texts[role].notna()]
        forms = with_noun.pivot_table(index="item", columns=f"{role}_number", values=role, aggfunc=set)
        for item, pair in forms.iterrows():
            assert len(pair["singular"]) == len(pair["plural"]) == 1, item
            assert pair["plural"] == {plural(next(iter(pair["singular"])))}, item
    for (_, frame), both in texts.groupby(["item", "frame"]):
        forms = both.groupby("verb_number")["critical"].agg(set)
        assert {VERBS.get(v, v[:-1]) for v in forms["singular"]} == forms["plural"], frame


@pytest.mark.parametrize("name", NAMES)
def test_sentences_of_a_cell_differ_in_the_verb_alone(sets, name):
    words = sets[name].words
    rest = words.assign(word=words["word"].where(words["role"] != "critical", "VERB"))
    rest = rest.groupby(["item", "condition"], sort=False).agg(
        text=("word", " ".join), verb_number=("verb_number", "first")
    )
    singular, others = (set(rest[rest["verb_number"] == n].reset_index()[["item", "text"]].apply(tuple, axis=1))
                        for n in ("singular", "plural"))  # fmt: skip
    assert singular == others


@pytest.mark.parametrize("name", NAMES)
def test_three_words_of_spillover_follow_every_verb(sets, name):
    for _, text in sets[name].words.groupby("text_id"):
        critical = text.loc[text["role"] == "critical", "word_id"].item()
        spillover = text.loc[text["role"] == "spillover", "word_id"]
        assert spillover.tolist() == [critical + 1, critical + 2, critical + 3]
        assert text["word"].iloc[-1].endswith(".")
        assert text["word"].str.isalpha().tolist() == [True] * (len(text) - 1) + [False]


@pytest.mark.parametrize("name", NAMES)
def test_items_share_no_noun(sets, name):
    assert len(nouns(sets[name])) == 2 * SIZE[name][0]


@pytest.mark.parametrize("name", ["attraction-core", *NAMES[1:]])
def test_the_set_for_choosing_settings_shares_nothing_with_the_sets_that_are_reported(sets, name):
    development = sets["agreement-development"]
    other = read_item_set(name)
    if name == "attraction-core":
        marked = other.words[other.words["role"].isin(["target", "attractor"])]
        theirs = set(marked["word"])
    else:
        theirs = nouns(other) | {plural(n) for n in nouns(other)}
    ours = nouns(development) | {plural(n) for n in nouns(development)}
    assert ours & theirs == set()
    assert predicates(development) & predicates(other) == set()


def test_half_of_the_number_items_have_auxiliaries(sets):
    words = sets["attraction-number"].words
    kinds = words.groupby("item")["verb_type"].agg(set)
    assert kinds.map(len).eq(1).all()
    verbs = words[(words["role"] == "critical") & (words["verb_number"] == "singular")]
    counts = verbs.groupby("item")[["word", "verb_type"]].first()
    auxiliary = counts[counts["verb_type"] == "auxiliary"]["word"]
    assert auxiliary.value_counts().to_dict() == {"is": 4, "was": 4, "has": 4, "does": 4}
    lexical = counts[counts["verb_type"] == "lexical"]["word"]
    assert (len(lexical), lexical.nunique()) == (16, 16)


def test_the_attractor_is_the_noun_before_the_main_verb_or_the_head_of_the_clause(sets):
    words = sets["attraction-relative-clause"].words
    for _, text in words.groupby("text_id"):
        at = text.set_index("role")["word_id"]
        frame = text["frame"].iloc[0]
        if frame == "subject_relative":
            assert at["target"] == 2
            assert at["critical"] == at["attractor"] + 1
        elif frame == "object_relative":
            assert at["attractor"] == 2
            assert at["critical"] == at["target"] + 1
        else:
            assert "attractor" not in at.index
            assert at["critical"] == at["target"] + 1
            continue
        assert text["word"].iloc[2] in {"who", "that"}


def test_verbs_of_the_relative_clause_that_are_not_critical_agree(sets):
    texts = texts_of(sets["attraction-relative-clause"])
    inside = texts[texts["frame"] == "object_relative"]
    forms = inside.groupby(["item", "verb_number"])["critical"].first()
    outside = texts[texts["frame"] == "subject_relative"]
    for _, text in outside.iterrows():
        assert text["sentence"].split()[3] == forms[text["item"], text["target_number"]]
    assert forms.xs("plural", level="verb_number").value_counts().max() == 2


@pytest.mark.parametrize("name", NAMES)
def test_every_word_is_in_every_bundled_vocabulary(sets, name):
    tokenizers = sorted(Path(str(files("psymem.weights"))).glob("cbr-rnn/*/tokenizer.json"))
    if not tokenizers:
        pytest.skip("no weights are bundled")
    words = {w.lower().rstrip(".") for w in sets[name].words["word"]}
    for path in tokenizers:
        vocabulary = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
        assert sorted(words - set(vocabulary)) == [], path
