"""The pieces of a scoring run on several processes of this machine, or on the machines of a Dask cluster.

A piece is the same whole texts, read by the same model in the same batches, wherever it is computed, so the numbers
are those of one process. Each worker loads a model's weights once, when it gets its first piece.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pandas as pd

from psymem.errors import PsymemError
from psymem.parallel import in_processes
from psymem.progress import Progress
from psymem.scoring.score import Run

_RUNS: dict[str, Run] = {}
"""In a worker: the run whose pieces it computes, with the weights that it has loaded."""


@dataclass(frozen=True)
class Workers:
    """Who computes.

    Parameters
    ----------
    jobs
        Processes of this machine; -1 for all cores.
    dask
        Address of the scheduler of a Dask cluster, "tcp://HOST:PORT"; its workers need psymem installed and see the
        model folders under the same paths.
    """

    jobs: int = 1
    dask: str = ""

    def __post_init__(self) -> None:
        if self.jobs == 0 or self.jobs < -1:
            raise PsymemError(
                f"--jobs is {self.jobs}; it is a number of processes from 1 up, or -1 for all cores."
            )
        if self.dask and self.jobs != 1:
            raise PsymemError("Give --jobs (this machine) or --dask (a cluster), not both.")

    @property
    def alone(self) -> bool:
        """Whether this process computes everything itself."""
        return self.jobs == 1 and not self.dask

    @property
    def n_jobs(self) -> int:
        """Number of jobs for joblib; a cluster takes all there are."""
        return -1 if self.dask else self.jobs

    def active(self) -> AbstractContextManager[Any]:
        """Return a context in which joblib sends its jobs to these workers.

        Raises
        ------
        PsymemError
            If Dask is not installed, or nothing answers at the address.
        """
        if self.alone:
            return nullcontext()
        if self.dask:
            return _cluster(self.dask)
        from joblib import parallel_config

        return parallel_config(backend="loky", n_jobs=self.jobs, inner_max_num_threads=1)


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    try:
        from distributed import Client
    except ImportError:
        raise PsymemError(
            "--dask needs the package distributed, which is not installed: pip install 'psymem[dask]', here and on the "
            "machines of the cluster."
        ) from None
    from joblib import parallel_config

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        raise PsymemError(
            f"No Dask scheduler answers at {address!r}. Start one with 'dask scheduler', workers with "
            "'dask worker ADDRESS', and give the address that the scheduler prints, as in tcp://10.0.0.5:8786."
        ) from error
    with client, parallel_config(backend="dask"):
        yield


def compute_parts(
    run: Run,
    numbers: Sequence[int] | None = None,
    *,
    workers: Workers = Workers(),
    words_at_once: int | None = None,
    progress: Progress | None = None,
) -> Iterator[pd.DataFrame]:
    """Yield the pieces of `Run.parts` in order, computed by `workers`.

    Parameters
    ----------
    run
        The run.
    numbers
        Which pieces, counted from 0; all of them if not given.
    workers
        Who computes.
    words_at_once
        Words of a piece, as in `Run.parts`. A single model's work is divided only if there are several pieces.
    progress
        Called with "pieces", the number of pieces that are there and of all.

    Raises
    ------
    PsymemError
        As `Workers.active`, and what the models raise.
    """
    if workers.alone:
        parts = run.parts(words_at_once, progress)
        yield from (parts[n]() for n in (range(len(parts)) if numbers is None else numbers))
        return
    from joblib import delayed

    wanted = list(range(len(run.parts(words_at_once)))) if numbers is None else list(numbers)
    content = pickle.dumps(run)
    name = sha256(content).hexdigest()
    with workers.active():
        tasks = (delayed(_part)(name, content, words_at_once, number) for number in wanted)
        for count, (frame, notes) in enumerate(in_processes(tasks, workers.n_jobs), start=1):
            run.add_notes(notes)
            if progress is not None:
                progress("pieces", count, len(wanted))
            yield frame


def _part(
    name: str, content: bytes, words_at_once: int | None, number: int
) -> tuple[pd.DataFrame, list[str]]:
    """Compute one piece in a worker; also return what the models found odd about the words."""
    if name not in _RUNS:
        _RUNS.clear()  # one run at a time: weights are large
        _RUNS[name] = pickle.loads(content)
    run = _RUNS[name]
    return run.parts(words_at_once)[number](), run.notes()
