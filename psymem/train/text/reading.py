"""What a person sees while text is read: how far it is, and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

EVERY = 10.0
"""Seconds between lines where standard error is no terminal."""
MEBIBYTE = 1 << 20


class Watch:
    """Counts the bytes of text that have been read, and shows them; used by one thread.

    Parameters
    ----------
    what
        What is being done.
    total
        Bytes of all files.
    bar
        Where to show it; None for lines on standard error.
    """

    def __init__(self, what: str, total: int, bar: Progress | None) -> None:
        self.what, self.total, self.bar = what, total, bar
        self.done = 0.0
        self.began = self.shown = time.monotonic()
        self.task = None if bar is None else bar.add_task(f"psymem train: {what}", total=total)

    def advance(self, n_bytes: float) -> None:
        """Count bytes that have been read."""
        self.done += n_bytes
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=self.done)
        elif time.monotonic() - self.shown >= EVERY:
            self.shown = time.monotonic()
            left = (self.total - self.done) / self.done * (self.shown - self.began) if self.done else 0.0
            print(
                f"psymem train: {self.what}, {self.done / MEBIBYTE:,.1f} of {self.total / MEBIBYTE:,.1f} MiB, "
                f"{max(0.0, left) / 60:.1f} min left",
                file=sys.stderr,
                flush=True,
            )


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(what: str, files: Sequence[Path], quiet: bool) -> Iterator[None]:
    """Show how far the reading of `files` is while the block reads them; nothing if `quiet`."""
    if quiet:
        yield
        return
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(True), TimeRemainingColumn())
    total = sum(path.stat().st_size for path in files)
    bar = Progress(*columns, console=console) if console.is_terminal else None
    with bar or _nothing():
        token = _watch.set(Watch(what, total, bar))
        try:
            yield
        finally:
            _watch.reset(token)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def counted(lines: Sequence[str], path: Path) -> Iterator[str]:
    """Yield the lines of a file; as they go, its bytes count as read."""
    watch = _watch.get()
    if watch is None:
        yield from lines
        return
    step = max(1, len(lines) // 100)
    share = path.stat().st_size / max(1, len(lines))
    for number, line in enumerate(lines, 1):
        yield line
        if number % step == 0:
            watch.advance(step * share)
    watch.advance(len(lines) % step * share)
