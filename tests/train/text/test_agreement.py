"""Choosing sentences in which agreement can be learnt; the parses are made up, so that no parser is needed."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest

from psymem.data.words.agreement import AgreeingVerb, AgreementSentence
from psymem.errors import TrainingError
from psymem.train.text import agreement
from psymem.train.text.agreement import AgreementChoice, candidates, write_agreement_sentences
from psymem.train.text.corpus import read_tagged

NUMBERS = {"dog": "singular", "dogs": "plural", "cat": "singular", "cats": "plural"}


def parse(sentences, pipeline):
    """Take the first noun for the subject of "is" or "are"."""
    for sentence in sentences:
        words = sentence.split()
        verb = next(i for i, w in enumerate(words) if w in ("is", "are"))
        nouns = [i for i, w in enumerate(words[:verb]) if w in NUMBERS]
        between = tuple(NUMBERS[words[i]] for i in nouns[1:])
        yield AgreementSentence(
            sentence, tuple(words), (AgreeingVerb(verb, nouns[0], NUMBERS[words[nouns[0]]], between),)
        )


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.setattr(agreement, "parse_agreement", parse)
    lines = [f"The dog of the cats is number {i} ." for i in range(3)]
    lines += [f"The dogs of the cat are number {i} ." for i in range(5)]
    lines += [f"The dog of the cat is number {i} ." for i in range(9)]
    lines += [f"The dogs of the cats are number {i} ." for i in range(4)]
    lines += [f"The dog is number {i} ." for i in range(6)] + [f"The dogs are number {i} ." for i in range(8)]
    lines += ["The dog is number 1 .", "He laughed ."]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def kinds(path):
    found = Counter()
    for sentence in read_tagged(path):
        words = [w for w, _ in sentence]
        verb = next(i for i, (_, mark) in enumerate(sentence) if mark)
        nouns = [w for w in words[:verb] if w in NUMBERS]
        others = {NUMBERS[w] for w in nouns[1:]}
        kind = "none" if not others else "same" if others == {NUMBERS[nouns[0]]} else "other"
        found[f"{kind}, {NUMBERS[nouns[0]]}"] += 1
    return dict(found)


def test_all_with_another_number_and_as_many_singular_as_plural_of_the_others(text, tmp_path):
    out = tmp_path / "chosen.tsv"
    counts = write_agreement_sentences(AgreementChoice(text=(text,), each=5), out)
    expected = {
        "none, plural": 5,
        "none, singular": 5,
        "other, plural": 5,
        "other, singular": 3,
        "same, plural": 4,
        "same, singular": 4,
    }
    assert counts == expected
    assert kinds(out) == expected


def test_one_seed_gives_the_same_bytes(text, tmp_path):
    files = [tmp_path / f"{i}.tsv.gz" for i in range(3)]
    for path, seed in zip(files, (1, 1, 2), strict=True):
        write_agreement_sentences(AgreementChoice(text=(text,), each=5, seed=seed), path)
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    assert "The\t\ndog\t\n" in gzip.decompress(files[0].read_bytes()).decode()


def test_a_sentence_that_occurs_twice_is_parsed_once(text):
    found = list(candidates(AgreementChoice(text=(text,))))
    assert len(found) == len(set(found)) == 35
    assert "He laughed ." not in found


def test_progress_ends_at_the_total(text, tmp_path):
    seen = []
    write_agreement_sentences(
        AgreementChoice(text=(text,)),
        tmp_path / "out.tsv",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(0, 35), (35, 35)]


def test_text_without_agreement_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(agreement, "parse_agreement", parse)
    path = tmp_path / "text.txt"
    path.write_text("He laughed .\n", encoding="utf-8")
    with pytest.raises(TrainingError) as refused:
        write_agreement_sentences(AgreementChoice(text=(path,)), tmp_path / "out.tsv")
    assert str(refused.value) == f"No sentence of {path} has a verb that agrees with a noun before it."
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"text": ()}, "There is no text to choose from: give --text or --verbs-too."),
        ({"text": ("a.txt",), "each": 0}, "--each has to be at least 1, not 0."),
    ],
)
def test_a_choice_of_nothing_is_refused(settings, message):
    with pytest.raises(TrainingError) as refused:
        AgreementChoice(**settings)
    assert str(refused.value) == message
