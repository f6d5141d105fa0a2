"""The bundled items have the structure their card describes, mechanically checked; nothing here scores them."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from wordfreq import zipf_frequency

from psymem.data.items.attraction_design import CONDITIONS
from psymem.data.items.latin_square import latin_square
from psymem.data.items.stimuli import ItemSet, read_item_set

FOLDER = Path(str(files("psymem.stimuli") / "attraction-core"))
THIRD_PERSON = {"apply": "applies", "imply": "implies"}
IRREGULAR = {"knife": "knives", "pony": "ponies", "wolf": "wolves"}
MIXED_ANIMACY = 37
SAME_FORMS = {
    *("bet burst cast cost cut hit hurt let put quit read rid set shed shut split spread".split()),
    *("thrust upset beat become come run overcome".split()),
}
"""Verbs whose bare form is a past tense or participle as well."""


@pytest.fixture(scope="module")
def core() -> ItemSet:
    return read_item_set("attraction-core")


@pytest.fixture(scope="module")
def roles(core) -> pd.DataFrame:
    """One row per text with its target, attractor and critical word."""
    return by_role(core.words)


@pytest.fixture(scope="module")
def other_subject() -> ItemSet:
    return read_item_set(FOLDER / "controls_subject.csv")


@pytest.fixture(scope="module")
def no_attractor() -> ItemSet:
    return read_item_set(FOLDER / "no_attractor.csv")


def by_role(words: pd.DataFrame) -> pd.DataFrame:
    marked = words[words["role"].isin(["target", "attractor", "critical"])]
    return marked.pivot(index=["item", "condition"], columns="role", values="word")


def with_s(word: str, irregular: dict[str, str]) -> str:
    return irregular.get(word, word + ("es" if word.endswith(("s", "sh", "ch", "x")) else "s"))


def column(roles: pd.DataFrame, role: str, condition: str) -> list[str]:
    return roles.xs(condition, level="condition")[role].tolist()


def after_the_verb(words: pd.DataFrame) -> pd.Series:
    """Return what follows the critical word, by text."""
    at = words[words["role"] == "critical"].set_index("text_id")["word_id"]
    late = words[words["word_id"] > words["text_id"].map(at)]
    return late.groupby("text_id")["word"].agg(" ".join)


def test_48_items_in_8_conditions(core):
    assert len(core.items) == 48
    assert core.conditions == list(CONDITIONS)
    assert len(core.sentences) == 384
    assert core.notes == []
    assert core.sentences["sentence"].is_unique
    assert (core.card["design"], core.card["items"], core.card["licence"]) == ("attraction", 48, "CC BY 4.0")
    assert "within" not in core.card


def test_only_the_attractor_and_the_verb_differ_within_an_item(core):
    words = core.words.copy()
    words["frame"] = words["word"].where(~words["role"].isin(["attractor", "critical"]), words["role"])
    frames = words.groupby(["item", "condition"])["frame"].agg(tuple).groupby("item").nunique()
    assert (frames == 1).all()


@pytest.mark.parametrize("name", ["items", "controls", "controls_subject", "no_attractor"])
def test_every_sentence_has_three_clean_spillover_words_right_after_the_verb(name):
    for _, text in read_item_set(FOLDER / f"{name}.csv").words.groupby("text_id"):
        critical = text.loc[text["role"] == "critical", "word_id"].item()
        spillover = text[text["role"] == "spillover"]
        assert spillover["word_id"].tolist() == [critical + 1, critical + 2, critical + 3]
        assert spillover["region"].tolist() == ["spillover_1", "spillover_2", "spillover_3"]
        assert len(text) > critical + 3
        assert text["word"].str.isalpha().tolist() == [True] * (len(text) - 1) + [False]
        assert text["word"].iloc[-1].endswith(".")


@pytest.mark.parametrize(("first", "second"), [("A", "C"), ("C", "E"), ("B", "H"), ("D", "G")])
def test_conditions_that_share_an_attractor(roles, first, second):
    assert column(roles, "attractor", first) == column(roles, "attractor", second)


@pytest.mark.parametrize(("first", "second"), [("A", "B"), ("C", "D"), ("E", "F"), ("E", "G"), ("E", "H")])
def test_conditions_that_share_a_verb(roles, first, second):
    assert column(roles, "critical", first) == column(roles, "critical", second)


def test_number_of_attractor_and_verb(roles):
    """All targets are singular; the attractor is plural in B, F, H, the verb in all but C and D."""
    for item, texts in roles.groupby("item"):
        texts = texts.droplevel("item")
        assert texts.attractor["B"] == with_s(texts.attractor["A"], IRREGULAR), item
        assert texts.attractor["F"] == with_s(texts.attractor["G"], IRREGULAR), item
        assert texts.critical["C"] == with_s(texts.critical["E"], THIRD_PERSON), item
        assert texts.critical["A"] not in {texts.critical["C"], texts.critical["E"]}, item


def test_the_adverb_stands_between_attractor_and_verb(core):
    for _, text in core.words.groupby("text_id"):
        at = text.set_index("role")["word_id"]
        assert at["critical"] == at["attractor"] + 2
        adverb = text["word"].iloc[at["critical"] - 2]
        assert adverb in {"usually", "often", "always", "rarely", "sometimes", "never"}


def test_items_share_no_noun(roles):
    nouns = [
        n for c, r in [("A", "target"), ("A", "attractor"), ("D", "attractor")] for n in column(roles, r, c)
    ]
    assert len(set(nouns)) == 3 * 48


def test_a_verb_is_used_at_most_twice_in_a_role(roles):
    for condition in ("A", "E"):
        assert max(Counter(column(roles, "critical", condition)).values()) == 2
    assert len({*column(roles, "critical", "A"), *column(roles, "critical", "E")}) == 43


def test_both_attractors_of_an_item_are_alike_in_animacy(core):
    """One column for both attractors; the card gives the counts."""
    items = core.words.groupby("item")[["target_animacy", "attractor_animacy"]]
    assert (items.nunique() == 1).all(axis=None)
    first = items.first()
    assert first.value_counts().to_dict() == {
        ("inanimate", "animate"): 27,
        ("inanimate", "inanimate"): 11,
        ("animate", "inanimate"): 10,
    }
    assert (first["target_animacy"] != first["attractor_animacy"]).sum() == MIXED_ANIMACY


def test_past_tenses_differ_from_the_verb_forms(roles):
    """No verb whose bare form is also its past tense, which would be grammatical with any subject."""
    assert SAME_FORMS.isdisjoint(roles["critical"])


def test_controls_have_the_verb_that_agrees_and_fits(core, roles):
    assert core.controls is not None
    controls = by_role(core.controls)
    assert controls[["target", "attractor"]].equals(roles[["target", "attractor"]])
    for item, texts in controls.groupby("item"):
        assert set(texts["critical"]) == {with_s(roles.critical[item, "A"], THIRD_PERSON)}, item
    others = [w[w["role"] != "critical"]["word"].tolist() for w in (core.words, core.controls)]
    assert others[0] == others[1]


def test_controls_of_the_subject_differ_in_the_subject_alone(core, roles, other_subject):
    controls = by_role(other_subject.words)
    assert other_subject.conditions == list("CDEFGH")
    kept = roles.loc[controls.index]
    assert controls[["attractor", "critical"]].equals(kept[["attractor", "critical"]])
    after = after_the_verb(core.words)
    assert after_the_verb(other_subject.words).equals(after[after.index.str[-1] > "B"])
    assert (controls["target"].groupby("item").nunique() == 1).all()
    assert (controls["target"] != kept["target"]).all()
    assert (controls["target"] != controls["attractor"]).all()


def test_the_sentences_without_attractor(core, roles, no_attractor):
    texts = by_role(no_attractor.words)
    frames = ["next", "adverb"]
    violations = {"correct": ("C", "control"), "grammatical": ("A", "item"), "semantic": ("C", "item")}
    violations["double"] = ("E", "item")
    assert no_attractor.conditions == [f"{f}-{v}" for f in frames for v in violations]
    assert core.controls is not None
    sources = {"item": roles, "control": by_role(core.controls)}
    for violation, (condition, source) in violations.items():
        for frame in frames:
            assert column(texts, "critical", f"{frame}-{violation}") == column(
                sources[source], "critical", condition
            )
    assert column(texts, "target", "next-correct") == column(roles, "target", "A")
    after = after_the_verb(core.words)
    for text, rest in after_the_verb(no_attractor.words).items():
        assert rest == after[f"{str(text).split('-')[0]}-A"]


def shown(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ({np.std(values, ddof=1):.2f})"


def zipf(words: list[str]) -> list[float]:
    return [zipf_frequency(w, "en") for w in words]


def test_the_frequency_table_of_the_card_is_right(core, roles):
    table = core.card["frequency"]
    for role in ("attractor", "critical"):
        for condition in CONDITIONS:
            assert table[role][condition] == shown(zipf(column(roles, role, condition))), (role, condition)
    assert table["target"] == f"{shown(zipf(column(roles, 'target', 'A')))} in every condition"


def test_neutral_and_semantic_attractors_do_not_differ_in_frequency(core, roles):
    said = core.card["frequency"]["tests"]
    for names, (first, second) in {"C-D and E-G": ("C", "D"), "H-F": ("H", "F")}.items():
        test = ttest_rel(zipf(column(roles, "attractor", first)), zipf(column(roles, "attractor", second)))
        assert test.pvalue > 0.1
        assert f"{names} t(47) = {test.statistic:.2f}, p = {test.pvalue:.2f}" in (
            said.replace("p = .", "p = 0.")
        )


def test_every_word_is_in_every_bundled_vocabulary(core, other_subject, no_attractor):
    tokenizers = sorted(Path(str(files("psymem.weights"))).glob("cbr-rnn/*/tokenizer.json"))
    if not tokenizers:
        pytest.skip("no weights are bundled")
    frames = (core.words, core.controls, other_subject.words, no_attractor.words)
    words = {w.lower().rstrip(".") for frame in frames for w in frame["word"]}
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
