"""One training run a folder: a lock that names its owner and that the operating system takes back when it dies."""

from __future__ import annotations

import fcntl
import functools
import inspect
import os
import re
import shlex
import shutil
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from psymem.errors import PsymemWarning, TrainingError
from psymem.io.outputs import check_writable
from psymem.train.loop import processes

LOCK = "in_use.lock"
LEFTOVER = re.compile(
    r"\.partial-\d+|\.(best|corpus|tokenizer|tokenizer_config|data|model|config|card|word_counts\.tsv)-[a-z0-9_]{8}(\..+)?"
)
"""Names of what a run that was killed while it wrote leaves behind."""


def alone(train: Callable[..., Any]) -> Callable[..., Any]:
    """Let a training function with a parameter `out` run only while no other run is in that folder."""

    @functools.wraps(train)
    def locked(*args: Any, **options: Any) -> Any:
        out = Path(inspect.signature(train).bind(*args, **options).arguments["out"])
        with held(out):
            return train(*args, **options)

    return locked


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold the lock of a run's folder, of which nothing is left afterwards; clears up after killed runs.

    Raises
    ------
    TrainingError
        If another process holds it; the message names it.
    """
    locks: list[int] = []
    existed = out.exists()
    processes.by_main(lambda: locks.append(_taken(out)))
    try:
        if locks:
            _remove_leftovers(out)
        yield
    finally:
        for lock in locks:
            (out / LOCK).unlink(missing_ok=True)
            os.close(lock)
            if not existed and not any(out.iterdir()):
                out.rmdir()


def _taken(out: Path) -> int:
    """Return the open file of the lock, which is ours."""
    check_writable(out)
    out.mkdir(parents=True, exist_ok=True)
    path = out / LOCK
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(lock, 4096).decode("utf-8", "replace").strip() or "another training run"
            os.close(lock)
            raise TrainingError(
                f"{out} is in use by {owner}. Wait until it has ended, or give another --out."
            ) from None
        except OSError as error:
            warnings.warn(
                f"{out} is on a file system without locks ({error.strerror}): make sure that no other run writes there.",
                PsymemWarning,
                stacklevel=2,
            )
        if _is_at(lock, path):  # not one that its last owner has just removed
            break
        os.close(lock)
    os.ftruncate(lock, 0)
    os.write(lock, _owner().encode("utf-8"))
    return lock


def _is_at(lock: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False


def _owner() -> str:
    """Say who we are, as the message to another run has it."""
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return f"process {os.getpid()} on {socket.gethostname()}, begun {time.strftime('%Y-%m-%d %H:%M:%S')} ({command[:500]})"


def _remove_leftovers(out: Path) -> None:
    """Delete half-written files of runs that were killed; whoever holds the lock is the only one that writes."""
    for folder in (out, out / "checkpoints", out / "model"):
        for path in folder.iterdir() if folder.is_dir() else ():
            if not LEFTOVER.fullmatch(path.name):
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
