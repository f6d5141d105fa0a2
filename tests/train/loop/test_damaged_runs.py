"""Runs whose files were damaged or whose text has changed: one message with what to do, and no wrong network."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from psymem.checkpoints import describe
from psymem.errors import CheckpointError, TrainingError
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.tasks.gated_run import Length, train_gated

OBJECTIVE = GatedObjective(
    "lstm", width=3, embedding_width=4, sampled_words=0, batch_tokens=40, precision="fp32"
)
LOOP = LoopSettings(checkpoint_every=2, validate_every=40, stop_after=100)


def train(text: Path, out: Path) -> Path:
    return train_gated(DataSettings((text,)), OBJECTIVE, LOOP, out, length=Length(200), quiet=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    text = folder / "text.txt"
    text.write_text("A dog barks at the cat .\nThe cat sleeps .\nA bird sings .\n" * 8, encoding="utf-8")
    train(text, folder / "run")
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    """The text and the run, to be damaged."""
    shutil.copytree(finished / "run", tmp_path / "run")
    return finished / "text.txt", tmp_path / "run"


def steps(run: Path) -> list[Path]:
    return sorted((run / "checkpoints").glob("step-*"))


@pytest.mark.parametrize("name", ["weights.safetensors", "optimizer.pt", "position.json"])
def test_a_damaged_checkpoint(copy, name):
    text, run = copy
    older, newest = steps(run)
    (newest / name).write_bytes(b"{")
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value).startswith(f"{newest} is damaged and cannot be read (")
    assert str(caught.value).endswith(f"). Delete it to go on from {older.name}.")
    before = load_file(run / "model" / "model.safetensors")
    shutil.rmtree(newest)
    after = load_file(train(text, run) / "model.safetensors")
    assert all(np.array_equal(before[k], after[k]) for k in before)


def test_the_only_checkpoint_is_damaged(copy):
    text, run = copy
    older, newest = steps(run)
    shutil.rmtree(older)
    (newest / "position.json").unlink()
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value).endswith("Delete it to train again from the start.")


def test_damaged_best_weights(copy):
    text, run = copy
    (run / "best.safetensors").write_bytes(b"\0" * 9)
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value).startswith(f"{run / 'best.safetensors'} is damaged and cannot be read (")
    assert str(caught.value).endswith(f"). Delete {run / 'checkpoints'} to train again from the start.")


@pytest.mark.parametrize("name", ["data.json", "corpus.npz", "tokenizer.json"])
def test_damaged_encoded_text(copy, name):
    text, run = copy
    (run / name).write_bytes(b"{")
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value).startswith("The encoded text in ")
    assert str(caught.value).endswith(f"Delete {run / 'data.json'} to have the text encoded again.")
    (run / "data.json").unlink()
    assert train(text, run) == run / "model"


def test_text_that_has_changed(copy, tmp_path):
    """The folder holds the words of the old text; a network of them would pass for one of the new text."""
    text, run = tmp_path / "text.txt", tmp_path / "new"
    text.write_text(copy[0].read_text(encoding="utf-8"), encoding="utf-8")
    train(text, run)
    text.write_text("Quite another story is told here .\n" * 9, encoding="utf-8")
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value) == (
        f"{text} has changed since {run} was begun, which holds its text as it was then. Give another folder, or delete "
        f"{run} to begin anew."
    )
    text.unlink()
    assert train(text, run) == run / "model"  # text that is gone has not changed


def test_the_folder_of_a_run_is_not_that_of_its_model(copy):
    with pytest.raises(CheckpointError) as caught:
        _ = describe(copy[1]).architecture
    assert str(caught.value) == (
        f"The model folder {copy[1]} lacks config.json. The model of this run is in {copy[1] / 'model'}; give that folder."
    )
