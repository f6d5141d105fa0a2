"""Names of results folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

RESULTS = Path("results")


def results_folder(kind: str, models: Sequence[str], about: str = "") -> Path:
    """Return where results go unless the user says otherwise: ``results/KIND/MODEL+MODEL``.

    `about` is a name or file to tell apart what one model can be run on: ``results/KIND/MODEL-on-NAME``.
    """
    name = "+".join(folder_name(name) for name in dict.fromkeys(models))
    return RESULTS / kind / (f"{name}-on-{Path(about).stem}" if about else name)


def folder_name(model: str) -> str:
    """Name of a results folder for a model: "cbr-rnn-1" for "cbr-rnn/1", the last part of a path."""
    path = Path(model)
    return path.resolve().name if path.is_dir() else model.strip("/").replace("/", "-")
