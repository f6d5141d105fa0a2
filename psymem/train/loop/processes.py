"""Several processes that train one model together: ``torchrun --nproc-per-node N -m psymem train ...``.

Every batch of the plan is divided among the processes by sentences, and the gradients are added up, so that a run has
the same batches, steps and counts on any number of processes. Its weights are the same up to dropout and rounding:
gradients add up in another order, and Adam amplifies what that changes. Without dropout the weights of a CBR-RNN on two
processes differ from those on one by 1e-3 at most after 22 steps. The main process alone reads the text first,
validates and writes; the others wait for it, and end quietly where it fails. One process needs none of this and pays
nothing for it.

All machines of a run have to see the same output folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from accelerate import PartialState

from psymem.errors import PsymemError

FAILED = 2
"""Exit code of a process that ends since the main one failed: that of the error, which the main one explains."""


def state() -> PartialState:
    """Return what accelerate knows: rank, number of processes and device; joins the others on the first call."""
    return PartialState(cpu=not torch.cuda.is_available())


def several() -> bool:
    """Whether this process is one of several."""
    return bool(state().num_processes > 1)


def is_main() -> bool:
    """Whether this is the only process or the one that writes."""
    return bool(state().is_main_process)


def by_main(work: Callable[[], float | None]) -> float:
    """Let the main process do `work` while the others wait; return its number (0 for None) in all of them.

    Raises
    ------
    PsymemError
        In the main process, what `work` raises; the others exit with code 2 and no message.
    """
    if not several():
        return work() or 0.0
    failure: PsymemError | None = None
    answer = [0.0, 0.0]  # failed, number
    if is_main():
        try:
            answer[1] = work() or 0.0
        except PsymemError as error:
            failure, answer[0] = error, 1.0
    failed, number = sum_over(answer)
    if failure is not None:
        raise failure
    if failed:
        raise SystemExit(FAILED)
    return number


def sum_over(values: Sequence[float]) -> list[float]:
    """Return the sums of some numbers over all processes."""
    if not several():
        return list(values)
    total = torch.tensor(values, dtype=torch.float64, device=state().device)
    torch.distributed.all_reduce(total)
    return [float(v) for v in total]


def add_gradients(parameters: Iterable[torch.nn.Parameter]) -> None:
    """Replace each gradient by its sum over the processes; what has none here has to have none in the others."""
    if not several():
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    for work in [torch.distributed.all_reduce(g, async_op=True) for g in gradients]:
        work.wait()


def leave() -> None:
    """Take leave of the others at the end of a run."""
    if several():
        state().destroy_process_group()
