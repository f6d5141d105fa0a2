"""A progress bar on standard error, where there is someone to see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress_bar(quiet: bool, unit: str) -> Iterator[Callable[[str, int, int], None] | None]:
    """Give a function to call with what is being done, how much is done and how much there is.

    None if `quiet`, or if standard error is no terminal.
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        tasks: dict[str, int] = {}

        def advance(what: str, done: int, total: int) -> None:
            task = tasks.get(what)
            if task is None:
                task = tasks[what] = bar.add_task(what, total=total)
            bar.update(task, completed=done)  # type: ignore[arg-type]

        yield advance


def counter(
    advance: Callable[[str, int, int], None] | None, what: str, total: int
) -> Callable[[int], None] | None:
    """Turn `advance` into a function that is called with the number of steps done since its last call."""
    if advance is None:
        return None
    done = 0

    def count(steps: int) -> None:
        nonlocal done
        done += steps
        advance(what, done, total)

    return count
