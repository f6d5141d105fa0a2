"""Which word of a sentence has which role."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psymem.data.items.stimuli import read_item_set


def one(folder: Path, sentence: str, critical: str, **columns: str) -> pd.DataFrame:
    names = {"item": "1", "condition": "a", "sentence": sentence, "critical": critical, **columns}
    path = folder / "one.csv"
    pd.DataFrame([names]).to_csv(path, index=False)
    return read_item_set(path).words


@pytest.mark.parametrize(
    ("sentence", "critical", "position"),
    [
        ("Dogs, cats and men bark.", "dogs", 1),
        ("He said: \"Bark!\"", "bark", 3),
        ("They bark and they bark.", "bark#2", 5),
        ("They bark and they bark.", "bark#1", 2),
        ("Shops go bankrupt soon", "go bankrupt", 2),
        ("We use C# often", "C#", 3),
        ("Go #2 now", "#2", 2),
        ("It costs -- nothing", "--", 3),
    ],
)  # fmt: skip
def test_the_critical_word_is_found(tmp_path, sentence, critical, position):
    words = one(tmp_path, sentence, critical)
    assert words.loc[words["role"] == "critical", "word_id"].tolist() == [position]


def test_heads_of_several_words_are_the_last(tmp_path):
    words = one(
        tmp_path,
        "The coffee machine by the front door hums",
        "hums",
        target="coffee machine",
        attractor="front door",
    )
    assert words.loc[words["role"] == "target", "word"].tolist() == ["machine"]
    assert words.loc[words["role"] == "attractor", "word"].tolist() == ["door"]
    assert words["region"].tolist() == ["", "target", "target", "", "", "attractor", "attractor", "critical"]


def test_spillover_can_be_named(tmp_path):
    words = one(tmp_path, "The dog barks at the old man in town.", "barks", spillover="at the old man")
    assert words.loc[words["role"] == "spillover", "word"].tolist() == ["at", "the", "old", "man"]
    words = one(tmp_path, "The dog barks at the old man in town.", "barks", spillover="-")
    assert "spillover" not in words["role"].tolist()


def test_spillover_ignores_capitals_and_punctuation(tmp_path):
    words = one(tmp_path, "Dogs bark at Men.", "bark", spillover="at men")
    assert words.loc[words["role"] == "spillover", "word"].tolist() == ["at", "Men."]


def test_a_sentence_without_an_attractor_says_so(tmp_path):
    assert one(tmp_path, "The dog barks.", "barks", attractor="-")["role"].tolist() == ["", "", "critical"]


word = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8)


@given(st.lists(word, min_size=1, max_size=9), st.data())
def test_the_words_joined_give_back_the_sentence(tmp_path_factory, words, data):
    from psymem.data.items.format import clean_text
    from psymem.data.items.roles import bare

    sentence = clean_text(" ".join(words))
    kept = sentence.split()
    if not kept:
        return
    position = data.draw(st.integers(0, len(kept) - 1))
    nth = [bare(w) for w in kept[: position + 1]].count(bare(kept[position]))
    repeated = [bare(w) for w in kept].count(bare(kept[position])) > 1
    critical = f"{kept[position]}#{nth}" if repeated else kept[position]
    if not repeated and kept[position] in {"-"}:
        return
    path = tmp_path_factory.mktemp("items") / "a.csv"
    row = {"item": "1", "condition": "x", "sentence": sentence, "critical": critical}
    pd.DataFrame([row]).to_csv(path, index=False)
    found = read_item_set(path)
    assert " ".join(found.words["word"]) == sentence
    assert found.words["word_id"].tolist() == list(range(1, len(kept) + 1))
    assert found.words.loc[found.words["role"] == "critical", "word_id"].tolist() == [position + 1]
