"""Runs whose files were damaged or whose text has changed: one message with what to do, and no wrong network."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from psymem.checkpoints import describe
from psymem.errors import CheckpointError, TrainingError
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.tasks.gated_run import Length, train_gated

OBJECTIVE = GatedObjective(
    "lstm", width=3, embedding_width=4, sampled_words=0, batch_tokens=40, precision="fp32"
)
LOOP = LoopSettings(checkpoint_every=2, validate_every=40, stop_after=100, log_every=3)


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


@pytest.mark.parametrize("name", ["weights.safetensors", "optimizer.pt", "position.json"])
def test_one_flipped_bit_in_a_checkpoint(copy, name):
    text, run = copy
    older, newest = steps(run)
    flip(newest / name)
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value) == (
        f"{newest} is damaged and cannot be read ({name}: it is not what was written, as its checksum shows). Delete it to "
        f"go on from {older.name}."
    )


def test_one_flipped_bit_in_the_best_weights(copy):
    text, run = copy
    flip(run / "best.safetensors")
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value) == (
        f"{run / 'best.safetensors'} is damaged and cannot be read (it is not what was written, as its checksum shows). "
        f"Delete {run / 'checkpoints'} to train again from the start."
    )


@pytest.mark.parametrize("name", ["corpus.npz", "tokenizer.json"])
def test_one_flipped_bit_in_the_encoded_text(copy, name):
    text, run = copy
    flip(run / name)
    with pytest.raises(TrainingError) as caught:
        train(text, run)
    assert str(caught.value) == (
        f"The encoded text in {run} is damaged and cannot be read ({name} is not what was written, as its checksum "
        f"shows). Delete {run / 'data.json'} to have the text encoded again."
    )


def flip(path: Path) -> None:
    """Change one bit two thirds into a file, where no reader would notice."""
    content = bytearray(path.read_bytes())
    content[len(content) * 2 // 3] ^= 1
    path.write_bytes(content)


def test_runs_of_earlier_versions_go_on(copy):
    """They have no checksums, and positions without what came since the last line of the log."""
    text, run = copy
    before = load_file(run / "model" / "model.safetensors")
    shutil.rmtree(steps(run)[-1])
    (newest,) = steps(run)
    (newest / "sha256.json").unlink()
    position = json.loads((newest / "position.json").read_text(encoding="utf-8"))
    for name in ("unlogged_nats", "unlogged_words"):
        del position["position"][name]
    del position["fingerprint"]["data"]["emphasised"]
    (newest / "position.json").write_text(json.dumps(position), encoding="utf-8")
    for path in (run / "best.safetensors", newest / "weights.safetensors"):
        save_file(load_file(path), path, metadata={"format": "pt"})
    stamp = json.loads((run / "data.json").read_text(encoding="utf-8"))
    del stamp["encoded_sha256"], stamp["emphasised"]
    (run / "data.json").write_text(json.dumps(stamp), encoding="utf-8")
    encoded = (run / "corpus.npz").stat().st_mtime_ns
    after = load_file(train(text, run) / "model.safetensors")
    assert all(np.array_equal(before[k], after[k]) for k in before)
    assert (run / "corpus.npz").stat().st_mtime_ns == encoded


def test_the_log_has_each_line_once(copy):
    """A run that was killed after its last checkpoint has written lines that the resumed one writes again."""
    text, run = copy
    path = run / "training_log.csv"
    before = path.read_text(encoding="utf-8").splitlines()
    assert {line.split(",")[0] for line in before} == {
        "step",
        "3",
        "4",
        "6",
    }  # the checkpoint of 4 is in an interval
    shutil.rmtree(steps(run)[-1])
    path.write_text("\n".join([*before, "99,12"]), encoding="utf-8")
    train(text, run)
    after = path.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[:6] for line in after] == [line.split(",")[:6] for line in before]


def test_a_run_with_other_text_leaves_the_encoded_text_alone(copy, tmp_path):
    text, run = copy
    other = tmp_path / "other.txt"
    other.write_text("Quite another story is told here .\n" * 9, encoding="utf-8")
    before = (run / "corpus.npz").read_bytes()
    with pytest.raises(TrainingError) as caught:
        train(other, run)
    assert str(caught.value) == (
        f"{run} holds a run with other settings (text: ['{text}'] then, ['{other}'] now). Give the same settings to resume "
        "it, or another --out."
    )
    assert (run / "corpus.npz").read_bytes() == before


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
