"""Tasks spread over processes of this machine by joblib."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

RESTARTED = "A worker stopped while some jobs were given to the executor"


def in_processes(tasks: Iterable[Any], n_jobs: int) -> Iterator[Any]:
    """Yield the results of joblib's delayed `tasks` in order, as they come.

    A worker that has been idle for long, or whose memory has grown by the weights of a model, is stopped by joblib and
    replaced, and the work goes on. Its warning of that means nothing to users, and where warnings are errors it would end
    the thread that hands out the work, after which nobody would ever get a result; so it is not given.
    """
    from joblib import Parallel

    warnings.filterwarnings("ignore", message=RESTARTED, category=UserWarning)
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
