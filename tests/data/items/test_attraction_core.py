"""The bundled items have the structure their card describes, mechanically checked; nothing here scores them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from wordfreq import zipf_frequency

from psymem.data.items.attraction_design import CONDITIONS
from psymem.data.items.latin_square import latin_square
from psymem.data.items.stimuli import ItemSet, read_item_set

THIRD_PERSON = {"cry": "cries", "study": "studies"}
IRREGULAR = {"baby": "babies", "child": "children", "shelf": "shelves"}


@pytest.fixture(scope="module")
def core() -> ItemSet:
    return read_item_set("attraction-core")


@pytest.fixture(scope="module")
def roles(core) -> pd.DataFrame:
    """One row per text with its target, attractor and critical word."""
    return by_role(core.words)


def by_role(words: pd.DataFrame) -> pd.DataFrame:
    marked = words[words["role"].isin(["target", "attractor", "critical"])]
    wide = marked.pivot(index=["item", "condition", "pair", "target_number"], columns="role", values="word")
    return wide.reset_index().set_index(["item", "condition"])


def with_s(word: str, irregular: dict[str, str]) -> str:
    return irregular.get(word, word + ("es" if word.endswith(("s", "sh", "ch", "x", "echo")) else "s"))


def column(roles: pd.DataFrame, role: str, condition: str) -> list[str]:
    return roles.xs(condition, level="condition")[role].tolist()


def test_48_items_in_8_conditions(core):
    assert len(core.items) == 48
    assert core.conditions == list(CONDITIONS)
    assert len(core.sentences) == 384
    assert core.notes == []
    assert core.sentences["sentence"].is_unique
    assert (core.card["design"], core.card["items"], core.card["licence"]) == ("attraction", 48, "CC BY 4.0")


def test_only_the_attractor_and_the_verb_differ_within_an_item(core):
    words = core.words.copy()
    words["frame"] = words["word"].where(~words["role"].isin(["attractor", "critical"]), words["role"])
    frames = words.groupby(["item", "condition"])["frame"].agg(tuple).groupby("item").nunique()
    assert (frames == 1).all()


def test_every_sentence_has_three_clean_spillover_words_right_after_the_verb(core):
    for _, text in core.words.groupby("text_id"):
        critical = text.loc[text["role"] == "critical", "word_id"].item()
        spillover = text[text["role"] == "spillover"]
        assert spillover["word_id"].tolist() == [critical + 1, critical + 2, critical + 3]
        assert spillover["region"].tolist() == ["spillover_1", "spillover_2", "spillover_3"]
        assert text["word"].str.isalpha().tolist() == [True] * (len(text) - 1) + [False]
        assert text["word"].iloc[-1].endswith(".")


@pytest.mark.parametrize(
    ("first", "second"),
    [("A", "C"), ("C", "E"), ("B", "H"), ("D", "G")],
)
def test_conditions_that_share_an_attractor(roles, first, second):
    assert column(roles, "attractor", first) == column(roles, "attractor", second)


@pytest.mark.parametrize(("first", "second"), [("A", "B"), ("C", "D"), ("E", "F"), ("E", "G"), ("E", "H")])
def test_conditions_that_share_a_verb(roles, first, second):
    assert column(roles, "critical", first) == column(roles, "critical", second)


def test_number_of_attractor_and_verb(roles):
    """The attractor's number differs from the target's in B, F, H; the verb's in all but C and D."""
    for item, texts in roles.groupby("item"):
        texts = texts.droplevel("item")
        singular_target = texts["target_number"].iloc[0] == "singular"
        nouns = {
            "neutral": (texts.attractor["A"], texts.attractor["B"]),
            "semantic": (texts.attractor["G"], texts.attractor["F"]),
        }
        for same, other in nouns.values():
            singular, plural = (same, other) if singular_target else (other, same)
            assert plural == with_s(singular, IRREGULAR), item
        matching, mismatching = texts.critical["C"], texts.critical["E"]
        bare, third = (mismatching, matching) if singular_target else (matching, mismatching)
        assert third == with_s(bare, THIRD_PERSON), item


def test_pairs_mirror_each_other(roles):
    """The target of one item is the semantic attractor of its partner, and their verbs change places."""
    for pair, texts in roles.groupby("pair"):
        first, second = (t.droplevel("item") for _, t in texts.groupby("item", sort=False))
        assert {first.target_number.iloc[0], second.target_number.iloc[0]} == {"singular", "plural"}, pair
        assert second.target["A"] in {first.attractor["F"], first.attractor["G"]}, pair
        assert first.target["A"] in {second.attractor["F"], second.attractor["G"]}, pair
        assert first.critical["C"] == second.critical["A"], pair
        assert second.critical["C"] == first.critical["A"], pair


def test_half_of_the_targets_are_singular(roles):
    numbers = roles.xs("A", level="condition")["target_number"]
    assert numbers.value_counts().to_dict() == {"singular": 24, "plural": 24}


def test_the_verb_forms_of_grammatical_and_semantic_violations_are_the_same(roles):
    assert sorted(column(roles, "critical", "A")) == sorted(column(roles, "critical", "C"))
    assert len(set(column(roles, "critical", "C") + column(roles, "critical", "E"))) == 96


def test_nouns_are_used_once_as_target_and_once_as_neutral_attractor(roles):
    assert len(set(column(roles, "target", "A"))) == 48
    assert len(set(column(roles, "attractor", "A"))) == 48


def test_past_tenses_differ_from_the_verb_forms(roles):
    """No verb whose bare form is also its past tense, which would be grammatical with any subject."""
    same = set(
        "bet burst cast cost cut hit hurt let put quit read rid set shed shut split spread thrust upset".split()
    )
    assert same.isdisjoint(roles["critical"])


def test_controls_have_the_other_form_of_the_grammatical_verb(core, roles):
    assert core.controls is not None
    controls = by_role(core.controls)
    assert controls[["target", "attractor"]].equals(roles[["target", "attractor"]])
    for item, texts in controls.groupby("item"):
        wrong, right = roles.critical[item, "A"], texts["critical"].unique()
        assert len(right) == 1
        singular = roles.target_number[item, "A"] == "singular"
        bare, third = (wrong, right[0]) if singular else (right[0], wrong)
        assert third == with_s(bare, THIRD_PERSON)
    others = [w[~w["role"].isin(["critical"])]["word"].tolist() for w in (core.words, core.controls)]
    assert others[0] == others[1]


def test_the_frequency_table_of_the_card_is_right(core, roles):
    table = core.card["frequency"]
    for role in ("attractor", "critical"):
        for condition in CONDITIONS:
            zipf = [zipf_frequency(w, "en") for w in column(roles, role, condition)]
            assert table[role][condition] == f"{np.mean(zipf):.2f} ({np.std(zipf, ddof=1):.2f})", (
                role,
                condition,
            )
    zipf = [zipf_frequency(w, "en") for w in column(roles, "target", "A")]
    assert table["target"] == f"{np.mean(zipf):.2f} ({np.std(zipf, ddof=1):.2f}) in every condition"


def test_every_word_is_in_every_bundled_vocabulary(core):
    tokenizers = sorted(Path(str(files("psymem.weights"))).glob("cbr-rnn/*/tokenizer.json"))
    if not tokenizers:
        pytest.skip("no weights are bundled")
    assert core.controls is not None
    words = {w.lower().rstrip(".") for frame in (core.words, core.controls) for w in frame["word"]}
    for path in tokenizers:
        vocabulary = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
        assert sorted(words - set(vocabulary)) == [], path


@pytest.mark.shared
def test_no_noun_meets_the_verb_of_a_published_item(roles, shared):
    folder = shared / "data" / "stimuli" / "laurinavichyute_malsburg_2022_exp3"
    published = read_item_set(folder / "exp3_no_compounds.csv").words
    stem = {
        r: published[published["role"] == r].set_index("text_id")["word"].str[:4]
        for r in ("target", "attractor", "critical")
    }
    theirs = {(n, v) for r in ("target", "attractor") for n, v in zip(stem[r], stem["critical"], strict=True)}
    ours = {
        (n[:4], v[:4])
        for r in ("target", "attractor")
        for n, v in zip(roles[r], roles["critical"], strict=True)
    }
    assert ours & theirs == set()


def test_lists_for_participants(core):
    lists = latin_square(core)
    assert lists.groupby(["list", "condition"]).size().eq(6).all()
