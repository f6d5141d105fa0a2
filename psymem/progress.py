"""One way for everything that takes time to say how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done (a model's name, a corpus), how much of it is done and how much there is."""

Steps: TypeAlias = Callable[[int, int], None]
"""The same of one thing: called with how much is done and how much there is."""


def labelled(progress: Progress | None, name: str) -> Progress | None:
    """Progress that says which part of a larger whole it is about."""
    return None if progress is None else lambda what, done, total: progress(f"{name}: {what}", done, total)


def shifted(progress: Progress | None, what: str, before: int, total: int) -> Steps | None:
    """Turn the steps within a part into progress over all of it."""
    return None if progress is None else lambda done, _: progress(what, before + done, total)
