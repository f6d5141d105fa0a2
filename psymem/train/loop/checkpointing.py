"""Checkpoints of a training run: whole or absent, whenever the process dies.

``OUT/checkpoints/step-N/`` holds ``weights.safetensors``, ``optimizer.pt`` (tensors only) and ``position.json``; the
folder is written under another name and renamed, and the last two are kept. ``OUT/best.safetensors`` holds the
weights with the lowest held-out surprisal.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_model, save_model

from psymem.errors import TrainingError
from psymem.io.outputs import write_atomically
from psymem.train.loop.schedule import Schedule
from psymem.train.loop.settings import Position

KEPT = 2


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
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        save_model(task, str(partial / "weights.safetensors"))
        torch.save(optimizer.state_dict(), partial / "optimizer.pt")
        content = {"position": asdict(at), "schedule": schedule.state(), "fingerprint": fingerprint}
        (partial / "position.json").write_text(json.dumps(content, default=str), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise TrainingError(
            f"The checkpoint {target} could not be written: {error}. Earlier ones are intact."
        ) from error
    for old in sorted(folder.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def what_is_left(out: Path) -> str:
    """Say where the last good checkpoint of a run that came to grief is, and what to do."""
    found = sorted((out / "checkpoints").glob("step-*"))
    kept = f"The last good checkpoint is {found[-1]}." if found else "No checkpoint had been written yet."
    return f"{kept} Lower --learning-rate, and give another --out."


def save_best(out: Path, task: Any) -> None:
    """Write the weights with the lowest held-out surprisal so far."""
    write_atomically(out / "best.safetensors", lambda p: save_model(task, str(p)))


def load_best(out: Path, task: Any) -> None:
    """Load the weights with the lowest held-out surprisal into `task`."""
    best = out / "best.safetensors"
    with _readable(best, f"Delete {out / 'checkpoints'} to train again from the start."):
        load_model(task, str(best))


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
        load_model(task, str(folder / "weights.safetensors"))
        optimizer.load_state_dict(torch.load(folder / "optimizer.pt", weights_only=True))
    schedule.load(content["schedule"])
    for name, value in content["position"].items():
        setattr(at, name, float("inf") if value is None else value)
    return True


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
        content = json.loads((found[-1] / "position.json").read_text(encoding="utf-8"))
        theirs = content["fingerprint"]
    ours = json.loads(json.dumps(fingerprint, default=str))
    if ours != theirs:
        raise TrainingError(
            f"{out} holds a run with other settings ({'; '.join(_differences(theirs, ours))}). "
            "Give the same settings to resume it, or another --out."
        )
    return found[-1], content


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


def _differences(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for key in sorted({*old, *new}):
        a, b = old.get(key), new.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            found += _differences(a, b, f"{prefix}{key}.")
        elif a != b:
            found.append(f"{prefix}{key}: {a} then, {b} now")
    return found
