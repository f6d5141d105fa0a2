"""Counts of word forms: those of a plain count over the text, whatever the model."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest

from psymem import checkpoints
from psymem.errors import CheckpointError
from psymem.models.word_tokenizer import build_tokenizer
from psymem.train.loop.loop import LoopSettings
from psymem.train.run import DataSettings, train_cbr_rnn
from psymem.train.tasks.cbr_rnn import ObjectiveSettings
from psymem.train.text.byte_pairs import learn_byte_pairs
from psymem.train.text.corpus import encode_sentences
from psymem.train.text.vocabulary import VocabularyRule
from psymem.train.text.word_counts import add_word_counts, word_counts

SENTENCES = ["The dogs bark .", "The dog doesn't bark at 12 cats .", "Dogs bark ."]
SPLIT = "the dogs bark . the dog does n't bark at <num> cats . dogs bark .".split()


def test_counts_of_words_and_of_those_outside_the_vocabulary():
    tokenizer = build_tokenizer(["the", "dogs", "dog", "bark", "n't", "unread"])
    counts = word_counts(tokenizer, {"plain": encode_sentences(SENTENCES, tokenizer, 63)})
    known = {"the": 2, "dogs": 2, "dog": 1, "bark": 3, "n't": 1, "unread": 0, "<num>": 1}
    assert counts == {**known, "<unk>": len(SPLIT) - sum(known.values())}


def test_tagged_text_counts_as_often_as_a_pass_reads_it():
    tokenizer = build_tokenizer(["bark", "dogs"])
    texts = {name: encode_sentences(["dogs bark"], tokenizer, 63) for name in ("plain", "tagged")}
    assert word_counts(tokenizer, texts, {"tagged": 3}) == {"dogs": 4, "bark": 4, "<unk>": 0, "<num>": 0}


def test_pieces_of_words_are_counted_as_words(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(SENTENCES), encoding="utf-8")
    tokenizer = learn_byte_pairs([text], VocabularyRule(270))
    plain = encode_sentences(SENTENCES, tokenizer, 63)
    assert len(plain.ids) > len(SPLIT)
    assert word_counts(tokenizer, {"plain": plain}) == Counter(SPLIT)


@pytest.fixture
def run(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(SENTENCES * 10), encoding="utf-8")
    data = DataSettings((text,), held_out=(text,), again=(text,))
    objective = ObjectiveSettings(width=4, batch_tokens=100, sampled_words=0, precision="fp32")
    return train_cbr_rnn(data, objective, LoopSettings(max_tokens=100), tmp_path / "run", quiet=True)


def test_a_trained_model_carries_the_counts_of_its_text(run):
    expected = {word: 20 * n for word, n in Counter(SPLIT).items()}
    assert checkpoints.word_counts(run) == {**expected, "<unk>": 0}
    assert checkpoints.verify(checkpoints.describe(run))["word_counts.tsv.gz"] == "intact"


def test_counts_can_be_added_later(run):
    written = (run / "word_counts.tsv.gz").read_bytes()
    (run / "word_counts.tsv.gz").unlink()
    card = run / "card.toml"
    card.write_text("".join(line for line in card.open(encoding="utf-8") if "word_counts" not in line))
    assert checkpoints.word_counts(run) is None
    checkpoints.verify(checkpoints.describe(run))
    assert add_word_counts(run, run.parent).read_bytes() == written
    assert checkpoints.verify(checkpoints.describe(run))["word_counts.tsv.gz"] == "intact"


def test_counts_of_another_vocabulary_are_refused(run, small_checkpoint):
    with pytest.raises(CheckpointError) as caught:
        add_word_counts(small_checkpoint, run.parent)
    assert str(caught.value) == (
        f"The model {small_checkpoint} has another vocabulary than the text in {run.parent}; give the folder of its own "
        "run."
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"word\tcount\n", "Not a gzipped file (b'wo')"),
        (gzip.compress(b"x\ty", mtime=0), "it does not have the lines that psymem writes"),
    ],
)
def test_a_damaged_file_of_counts(run, content, why):
    path = run / "word_counts.tsv.gz"
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        checkpoints.word_counts(run)
    assert str(caught.value) == f"{path} cannot be read: {why}. Copy or download the model again."
