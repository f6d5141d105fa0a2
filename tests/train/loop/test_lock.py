"""Two runs in one folder, a full disk, and what killed runs leave behind."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from psymem.errors import OutputError, TrainingError
from psymem.train.loop.lock import held
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.tasks.gated_run import Length, train_gated
from psymem.train.tasks.gpt2 import GPT2Settings, train_gpt2

OBJECTIVE = GatedObjective(
    "lstm", width=3, embedding_width=4, sampled_words=0, batch_tokens=40, precision="fp32"
)
LOOP = LoopSettings(checkpoint_every=2, validate_every=40, stop_after=100)
HOLDER = """
import sys, time
from pathlib import Path
from psymem.train.loop.lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def train(text: Path, out: Path, **options) -> Path:
    return train_gated(DataSettings((text,)), OBJECTIVE, LOOP, out, length=Length(200), quiet=True, **options)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("A dog barks at the cat .\nThe cat sleeps .\nA bird sings .\n" * 8, encoding="utf-8")
    return path


@pytest.fixture
def other(tmp_path):
    """Another process that holds the folder of a run."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_folder_in_use_is_refused_until_its_owner_is_dead(text, tmp_path, other):
    out = tmp_path / "run"
    with pytest.raises(TrainingError) as caught:
        train(text, out)
    message = (
        rf"{re.escape(str(out))} is in use by process {other.pid} on {re.escape(socket.gethostname())}, begun "
        rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d \(-c {re.escape(str(out))}\)\. Wait until it has ended, or give another "
        r"--out\."
    )
    assert re.fullmatch(message, str(caught.value))
    assert [p.name for p in out.iterdir()] == ["in_use.lock"]
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert (out / "in_use.lock").exists()
    assert train(text, out) == out / "model"
    assert not (out / "in_use.lock").exists()


def test_text_is_not_encoded_into_the_folder_of_another_run(text, tmp_path, other):
    with pytest.raises(TrainingError, match=f"^{re.escape(str(tmp_path / 'run'))} is in use by process"):
        train(text, tmp_path / "mine", cache=tmp_path / "run")


def test_nothing_is_left_of_a_lock(tmp_path):
    with pytest.raises(ValueError, match=r"^stopped$"), held(tmp_path / "a"):
        raise ValueError("stopped")
    assert not (tmp_path / "a").exists()


def test_files_of_killed_runs_are_removed_and_no_others(tmp_path):
    leftovers = [
        "checkpoints/.partial-123/weights.safetensors",
        ".best-ab_12xyz.safetensors",
        ".corpus-abcdefgh.npz",
        "model/.model-abcdefgh.safetensors",
        ".model-abcdefgh/config.json",
    ]
    kept = [".best.safetensors", ".gitignore", "best.safetensors", "checkpoints/step-00000001/position.json"]
    for name in (*leftovers, *kept):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with held(tmp_path):
        pass
    found = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert found == set(kept)


@pytest.fixture
def full_disk(monkeypatch):
    """Give a function: from now on, files of this name cannot be written to their end."""
    write = Path.write_bytes

    def fill(pattern: str) -> None:
        def write_bytes(path: Path, content: bytes) -> int:
            if re.search(pattern, str(path)):
                write(path, content[: len(content) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(path, content)

        monkeypatch.setattr(Path, "write_bytes", write_bytes)

    yield fill
    monkeypatch.undo()


@pytest.mark.parametrize("which", ["weights", "optimizer", "position", "best"])
def test_a_full_disk_is_one_message_and_nothing_is_lost(text, tmp_path, full_disk, monkeypatch, which):
    whole, out = train(text, tmp_path / "whole"), tmp_path / "run"
    full_disk(r"\.best-" if which == "best" else rf"\.partial-\d+/{which}")
    with pytest.raises(TrainingError) as caught:
        train(text, out)
    what = (
        f"The best weights so far, {out / 'best.safetensors'},"
        if which == "best"
        else f"The checkpoint {out / 'checkpoints' / 'step-00000002'}"
    )
    assert str(caught.value) == (
        f"{what} could not be written: No space left on device. What was written earlier is intact: free some space and "
        "give the same command again to go on from the last checkpoint."
    )
    assert list(out.rglob(".*")) == []
    monkeypatch.undo()
    before, after = (load_file(f / "model.safetensors") for f in (whole, train(text, out)))
    assert all(np.array_equal(before[k], after[k]) for k in before)


def test_a_full_disk_under_the_model_of_a_gpt2(text, tmp_path, monkeypatch):
    from safetensors import SafetensorError
    from transformers import PreTrainedModel

    def fails(*_, **__):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(PreTrainedModel, "save_pretrained", fails)
    settings = GPT2Settings(layers=1, heads=1, width=4, batch_tokens=100)
    out = tmp_path / "run"
    with pytest.raises(OutputError) as caught:
        train_gpt2(DataSettings((text,)), settings, LoopSettings(max_tokens=100), out, quiet=True)
    assert str(caught.value) == (
        f"Could not write the results into {out / 'model'}: I/O error: No space left on device (os error 28). None of them "
        "was kept; what was there before is unchanged. Free some space or choose another folder with --out."
    )
