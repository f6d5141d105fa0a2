"""Text encoded once serves other runs, with the vocabulary of another model if wanted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from psymem.errors import CheckpointError, TrainingError
from psymem.models.word_tokenizer import build_tokenizer
from psymem.train.run import DataSettings
from psymem.train.text.prepared import prepared_text
from psymem.train.text.vocabulary import VocabularyRule


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(f"the {w} opens ." for w in ["key", "door"] * 20), encoding="utf-8")
    return path


@pytest.fixture
def model(tmp_path):
    """A folder with a model's tokenizer, which is all that is read of it."""
    folder = tmp_path / "model"
    folder.mkdir()
    build_tokenizer(["the", "key"]).save(str(folder / "tokenizer.json"))
    return folder


def test_another_run_is_given_the_same_text_without_naming_it(text, tmp_path):
    data = DataSettings((text,), vocabulary=VocabularyRule(6))
    first = prepared_text(data, tmp_path / "one", 3)
    text.unlink()
    again = prepared_text(DataSettings(()), tmp_path / "two", 4, cache=tmp_path / "one")
    assert again.data == data
    assert again.tokenizer.get_vocab() == first.tokenizer.get_vocab()
    for name, part in first.texts.items():
        np.testing.assert_array_equal(again.texts[name].ids, part.ids)
    assert not (tmp_path / "two").exists(), "nothing is encoded twice"


def test_the_vocabulary_of_a_model(text, model, tmp_path):
    found = prepared_text(DataSettings((text,)), tmp_path / "run", 1, vocabulary_from=str(model))
    assert found.tokenizer.get_vocab_size() == 7
    assert set(found.texts["plain"].ids) == {1, 5, 6}, "door, opens and the full stop are unknown"


def test_a_cache_with_other_text_is_refused(text, tmp_path):
    prepared_text(DataSettings((text,)), tmp_path, 1, cache=tmp_path / "cache")
    with pytest.raises(TrainingError) as caught:
        prepared_text(DataSettings((text,), longest=9), tmp_path, 1, cache=tmp_path / "cache")
    assert str(caught.value) == (
        f"{tmp_path / 'cache'} holds text that was prepared with another longest. Leave --text out to use that text as "
        "it is, or name another --corpus-cache."
    )


def test_a_cache_with_another_vocabulary_is_refused(text, model, tmp_path):
    prepared_text(DataSettings((text,)), tmp_path, 1, cache=tmp_path / "cache")
    with pytest.raises(TrainingError) as caught:
        prepared_text(DataSettings(()), tmp_path, 1, cache=tmp_path / "cache", vocabulary_from=str(model))
    assert str(caught.value) == (
        f"The text in {tmp_path / 'cache'} has another vocabulary (10 words) than {model} (7); name another "
        "--corpus-cache, or leave --vocabulary-from out."
    )


def test_no_text_at_all(tmp_path):
    with pytest.raises(TrainingError) as caught:
        prepared_text(DataSettings(()), tmp_path, 1)
    assert str(caught.value) == "There is no text to train on: give --text, or --corpus-cache FOLDER."
    with pytest.raises(TrainingError) as caught:
        prepared_text(DataSettings(()), tmp_path, 1, cache=tmp_path / "cache")
    assert str(caught.value) == (
        f"There is no text to train on: give --text, since {tmp_path / 'cache'} holds none yet."
    )


def test_a_cache_that_lost_its_text(text, tmp_path):
    prepared_text(DataSettings((text,)), tmp_path, 1, cache=tmp_path / "cache")
    (tmp_path / "cache" / "corpus.npz").unlink()
    with pytest.raises(TrainingError) as caught:
        prepared_text(DataSettings(()), tmp_path, 1, cache=tmp_path / "cache")
    assert str(caught.value) == (
        f"{tmp_path / 'cache'} lacks the encoded text that data.json speaks of; name another folder."
    )


def test_a_vocabulary_that_is_not_ours(text, model, tmp_path):
    content = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["vocab"] = {"<pad>": 0, "<unk>": 1, "the": 2}
    content["added_tokens"] = []
    (model / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CheckpointError) as caught:
        prepared_text(DataSettings((text,)), tmp_path, 1, vocabulary_from=str(model))
    assert str(caught.value) == (
        f"{model / 'tokenizer.json'} gives <s> the number None, expected 2: only the vocabulary of a word-level model "
        "of psymem can be taken over."
    )


def test_text_read_again_is_part_of_what_is_shared(text, tmp_path):
    data = DataSettings((text,), again=(text,), held_out=(text,))
    first = prepared_text(data, tmp_path, 1, cache=tmp_path / "cache")
    again = prepared_text(DataSettings(()), tmp_path, 1, cache=tmp_path / "cache")
    assert again.data == data
    assert len(again.texts["plain"]) == len(first.texts["plain"]) == 80


def test_a_folder_of_an_older_version_serves_too(text, tmp_path):
    prepared_text(DataSettings((text,)), tmp_path, 1, cache=tmp_path / "cache")
    stamp = tmp_path / "cache" / "data.json"
    content = json.loads(stamp.read_text(encoding="utf-8"))
    del content["again"]
    stamp.write_text(json.dumps(content), encoding="utf-8")
    assert prepared_text(DataSettings((text,)), tmp_path, 1, cache=tmp_path / "cache").data == DataSettings(
        (text,)
    )
