"""Names of results folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

RESULTS = Path("results")


def results_folder(kind: str, models: Sequence[str]) -> Path:
    """Return where results go unless the user says otherwise: ``results/KIND/MODEL+MODEL``."""
    return RESULTS / kind / "+".join(folder_name(name) for name in dict.fromkeys(models))


def folder_name(model: str) -> str:
    """Name of a results folder for a model: "cbr-rnn-1" for "cbr-rnn/1", the last part of a path."""
    path = Path(model)
    return path.resolve().name if path.is_dir() else model.strip("/").replace("/", "-")
