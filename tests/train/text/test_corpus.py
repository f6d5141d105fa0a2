"""Encoding, vocabulary and batching: nothing lost, nothing doubled, the same order for one seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from psymem.errors import DataError, TrainingError
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID, SPECIAL_TOKENS, build_tokenizer
from psymem.train.run import DataSettings, prepare
from psymem.train.text.batching import make_batch, plan_epoch
from psymem.train.text.corpus import NO_TAG, choose_tags, encode_sentences, encode_tagged, read_tagged
from psymem.train.text.vocabulary import VocabularyRule, choose_vocabulary

WORDS = ["the", "key", ",", "was", "old", ".", "do", "n't"]


@pytest.fixture
def tokenizer():
    return build_tokenizer(WORDS)


def words(tokenizer, ids):
    return [tokenizer.id_to_token(int(i)) for i in ids]


def test_sentences_are_encoded_one_after_the_other(tokenizer):
    text = encode_sentences(["The key was OLD.", "", "Don't, unknown"], tokenizer, 63)
    assert len(text) == 2
    assert words(tokenizer, text.sentence(0)) == ["the", "key", "was", "old", "."]
    assert words(tokenizer, text.sentence(1)) == ["do", "n't", ",", "<unk>"]
    assert text.complete.all()


def test_long_sentences_are_cut_at_clause_ends_without_loss(tokenizer):
    sentence = "the key was old , " * 5 + "the key ."
    text = encode_sentences([sentence], tokenizer, 12)
    assert max(text.lengths) <= 12
    assert " ".join(words(tokenizer, text.ids)) == sentence
    assert [words(tokenizer, text.sentence(i))[-1] for i in range(len(text))] == [",", ",", "."]
    assert text.complete.tolist() == [False, False, True]


def test_a_sentence_without_clause_end_is_cut_at_the_limit(tokenizer):
    text = encode_sentences(["key " * 25], tokenizer, 10)
    assert text.lengths.tolist() == [10, 10, 5]


def test_tags_belong_to_the_last_token_of_their_word(tmp_path, tokenizer):
    path = tmp_path / "tagged.tsv"
    path.write_text("The\tNP/N\nkey\tN\n\nDon't\tX\nwas\t\n", encoding="utf-8")
    sentences = read_tagged(path)
    tags = choose_tags(sentences, minimum_count=1)
    assert tags == ["N", "NP/N", "X"]
    text = encode_tagged(sentences, tags, tokenizer, 63)
    assert words(tokenizer, text.sentence(1)) == ["do", "n't", "was"]
    assert text.tags.tolist() == [1, 0, NO_TAG, 2, NO_TAG]


def test_a_bad_tagged_line_is_named(tmp_path):
    path = tmp_path / "tagged.tsv"
    path.write_text("The\tNP/N\nkey N\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_tagged(path)
    assert str(caught.value) == f"{path}, line 2: expected `word TAB tag` or a blank line, found 'key N'."


def test_an_epoch_visits_every_sentence_once_within_the_bound():
    lengths = np.random.default_rng(0).integers(1, 64, 5000)
    batches = plan_epoch(lengths, 1000, seed=3, epoch=1)
    assert sorted(np.concatenate(batches)) == list(range(5000))
    assert all(len(b) * (lengths[b].max() + 1) <= 1000 for b in batches)
    padded = sum(len(b) * (lengths[b].max() + 1) for b in batches)
    assert padded / (lengths + 1).sum() < 1.1
    again = plan_epoch(lengths, 1000, seed=3, epoch=1)
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))
    assert any(
        (a != b).any()
        for a, b in zip(batches, plan_epoch(lengths, 1000, 3, 2), strict=False)
        if len(a) == len(b)
    )


def test_a_batch_is_bos_words_and_the_words_to_predict(tokenizer):
    text = encode_sentences(["the key .", "key"], tokenizer, 63)
    batch = make_batch(text, np.array([0, 1]))
    the, key, stop = (tokenizer.token_to_id(w) for w in ("the", "key", "."))
    assert batch.inputs.tolist() == [[BOS_ID, the, key, stop], [BOS_ID, key, PAD_ID, PAD_ID]]
    assert batch.targets.tolist() == [[the, key, stop, EOS_ID], [key, EOS_ID, PAD_ID, PAD_ID]]
    assert batch.n_targets == 6


def test_vocabulary_is_the_union_of_both_rules(tmp_path):
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("the key the key the door computer " * 3, encoding="utf-8")
    new.write_text("computer computer radio the", encoding="utf-8")
    rule = VocabularyRule(size=2, also_from=(new,), also_minimum_count=2)
    vocabulary = choose_vocabulary([old, new], rule).get_vocab()
    assert sorted(vocabulary.keys() - set(SPECIAL_TOKENS)) == ["computer", "key", "the"]


def test_a_vocabulary_without_words_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one two", encoding="utf-8")
    with pytest.raises(TrainingError) as caught:
        choose_vocabulary([path], VocabularyRule(minimum_count=2))
    assert str(caught.value) == f"No word occurs at least 2 times in {path}; lower --minimum-count."


def test_text_read_again_adds_its_sentences_and_no_word(tmp_path):
    old, new, held_out = (tmp_path / f"{n}.txt" for n in ("old", "new", "held_out"))
    old.write_text("The key was old.\nThe door was shut.\n", encoding="utf-8")
    new.write_text("The phone rang and rang.\n", encoding="utf-8")
    held_out.write_text("The key rang.\n", encoding="utf-8")
    once = DataSettings(text=(old, new), held_out=(held_out,))
    thrice = replace(once, again=(new, new))
    sizes, sentences = [], []
    for number, data in enumerate((once, thrice)):
        tokenizer, texts, _ = prepare(data, tmp_path / str(number), seed=1)
        sizes.append(tokenizer.get_vocab())
        sentences.append([words(tokenizer, texts["plain"].sentence(i)) for i in range(len(texts["plain"]))])
    phone = ["the", "phone", "rang", "and", "rang", "."]
    assert sentences[1] == [*sentences[0], phone, phone]
    assert sizes[0] == sizes[1]


def test_text_read_again_needs_validation_text_of_its_own(tmp_path):
    with pytest.raises(TrainingError) as error:
        DataSettings(text=(tmp_path,), again=(tmp_path,))
    assert str(error.value) == (
        "--again needs --held-out: without it validation draws sentences from --text, and they would be trained on "
        "through --again."
    )
