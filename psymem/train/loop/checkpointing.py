"""Checkpoints of a training run: whole or absent, whenever the process dies.

``OUT/checkpoints/step-N/`` holds ``weights.safetensors``, ``optimizer.pt`` (tensors only), ``position.json`` and, in
``sha256.json``, their checksums; the folder is written under another name and renamed, and the last two are kept.
``OUT/best.safetensors`` holds the weights with the lowest held-out surprisal, a checksum in its header.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, load_model
from safetensors.torch import save as serialised

from psymem.errors import OutputError, TrainingError
from psymem.io.outputs import write_atomically
from psymem.train.loop.schedule import Schedule
from psymem.train.loop.settings import Position

KEPT = 2
WEIGHTS, OPTIMIZER, POSITION, CHECKSUMS = (
    "weights.safetensors",
    "optimizer.pt",
    "position.json",
    "sha256.json",
)
BEST = "best.safetensors"
CHECKSUM = "sha256"
"""Entry of a weights file's header."""
ADDED_LATER = {"data.emphasised": [], "objective.emphasis": 1.0, "objective.emphasised_passes": 1}
"""Settings that runs of earlier versions lack, with what they stand for there."""
CHANGED = "it is not what was written, as its checksum shows"


def save(
    out: Path,
    fingerprint: dict[str, Any],
    task: Any,
    optimizer: torch.optim.Optimizer,
    schedule: Schedule,
    *,
    at: Position,
) -> None:
    """Write ``checkpoints/step-N`` and delete all but the newest two."""
    if not all(bool(torch.isfinite(p).all()) for p in task.parameters()):
        raise TrainingError(f"The weights are not finite after step {at.step}. {what_is_left(out)}")
    folder = out / "checkpoints"
    target = folder / f"step-{at.step:08d}"
    partial = folder / f".partial-{os.getpid()}"
    state = BytesIO()
    torch.save(optimizer.state_dict(), state)
    position = {"position": asdict(at), "schedule": schedule.state(), "fingerprint": fingerprint}
    content = {
        WEIGHTS: _weights(task),
        OPTIMIZER: state.getvalue(),
        POSITION: json.dumps(position, default=str).encode("utf-8"),
    }
    content[CHECKSUMS] = json.dumps({name: sha256(c).hexdigest() for name, c in content.items()}).encode()
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, what in content.items():
            (partial / name).write_bytes(what)
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise TrainingError(_not_written(f"The checkpoint {target}", error)) from error
    for old in sorted(folder.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def _weights(task: Any) -> bytes:
    """Return a safetensors file of the weights, shared ones once, with a checksum of its tensors in its header.

    It is made in memory: what writes straight into a file tells of a full disk in errors of its own.
    """
    tensors: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    for name, tensor in task.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            tensors[name] = tensor.detach().to("cpu").contiguous()
        seen.add(id(tensor))
    return serialised(tensors, metadata={"format": "pt", CHECKSUM: _checksum(tensors)})


def _checksum(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return the SHA-256 of named tensors."""
    total = sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()


def _not_written(what: str, error: OSError) -> str:
    return (
        f"{what} could not be written: {error.strerror or error}. What was written earlier is intact: free some space and "
        "give the same command again to go on from the last checkpoint."
    )


def what_is_left(out: Path) -> str:
    """Say where the last good checkpoint of a run that came to grief is, and what to do."""
    found = sorted((out / "checkpoints").glob("step-*"))
    kept = f"The last good checkpoint is {found[-1]}." if found else "No checkpoint had been written yet."
    return f"{kept} Lower --learning-rate, and give another --out."


def save_best(out: Path, task: Any) -> None:
    """Write the weights with the lowest held-out surprisal so far."""
    content = _weights(task)
    try:
        write_atomically(out / BEST, lambda p: p.write_bytes(content))
    except OutputError as error:
        cause = error.__cause__
        assert isinstance(cause, OSError)
        raise TrainingError(_not_written(f"The best weights so far, {out / BEST},", cause)) from error


def load_best(out: Path, task: Any) -> None:
    """Load the weights with the lowest held-out surprisal into `task`."""
    best = out / BEST
    with _readable(best, f"Delete {out / 'checkpoints'} to train again from the start."):
        _load(task, best)


def _load(task: Any, path: Path) -> None:
    """Load weights; files of earlier versions have no checksum."""
    with safe_open(path, "pt") as file:
        expected = (file.metadata() or {}).get(CHECKSUM)
    if expected is not None and _checksum(load_file(path)) != expected:
        raise ValueError(CHANGED)
    load_model(task, str(path))


def resume(
    out: Path,
    fingerprint: dict[str, Any],
    task: Any,
    optimizer: torch.optim.Optimizer,
    schedule: Schedule,
    *,
    at: Position,
) -> bool:
    """Load the newest checkpoint of `out` into the arguments; return whether there was one.

    Raises
    ------
    TrainingError
        If the folder belongs to a run with other settings or data; the differences are named.
    """
    found = newest(out, fingerprint)
    if found is None:
        return False
    folder, content = found
    with _readable(folder, _without(folder)):
        _load(task, folder / WEIGHTS)
        optimizer.load_state_dict(torch.load(folder / OPTIMIZER, weights_only=True))
    schedule.load(content["schedule"])
    for name, value in content["position"].items():
        setattr(at, name, float("inf") if value is None else value)
    return True


def exist(out: Path) -> bool:
    """Whether training in `out` has come to a checkpoint."""
    return any((out / "checkpoints").glob("step-*"))


def newest(out: Path, fingerprint: dict[str, Any]) -> tuple[Path, dict[str, Any]] | None:
    """Return folder and ``position.json`` of the newest checkpoint of `out`; None if there is none.

    Raises
    ------
    TrainingError
        See :func:`resume`.
    """
    found = sorted((out / "checkpoints").glob("step-*"))
    if not found:
        return None
    with _readable(found[-1], _without(found[-1])):
        _check(found[-1])
        content = json.loads((found[-1] / POSITION).read_text(encoding="utf-8"))
        theirs = content["fingerprint"]
    refuse_other_settings(out, theirs, json.loads(json.dumps(fingerprint, default=str)))
    return found[-1], content


def _check(folder: Path) -> None:
    """Raise ValueError if a file is not the one that was written; checkpoints of earlier versions have no checksums."""
    if not (folder / CHECKSUMS).exists():
        return
    for name, expected in json.loads((folder / CHECKSUMS).read_text(encoding="utf-8")).items():
        if sha256((folder / name).read_bytes()).hexdigest() != expected:
            raise ValueError(f"{name}: {CHANGED}")


@contextmanager
def _readable(what: Path, advice: str) -> Iterator[None]:
    """Turn the many errors of reading damaged files into one that says what to do."""
    try:
        yield
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RuntimeError,
        EOFError,
        UnpicklingError,
        SafetensorError,
    ) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise TrainingError(f"{what} is damaged and cannot be read ({reason}). {advice}") from error


def _without(folder: Path) -> str:
    """What to do about a damaged checkpoint."""
    others = sorted(p for p in folder.parent.glob("step-*") if p < folder)
    return (
        f"Delete it to go on from {others[-1].name}."
        if others
        else "Delete it to train again from the start."
    )


def refuse_other_settings(out: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raise TrainingError, naming the differences, unless the settings of the run in `out` are ours."""
    differences = _differences(theirs, ours)
    if differences:
        raise TrainingError(
            f"{out} holds a run with other settings ({'; '.join(differences)}). "
            "Give the same settings to resume it, or another --out."
        )


def _differences(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for key in sorted({*old, *new}):
        a, b = old.get(key, ADDED_LATER.get(f"{prefix}{key}")), new.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            found += _differences(a, b, f"{prefix}{key}.")
        elif a != b:
            found.append(f"{prefix}{key}: {a} then, {b} now")
    return found
