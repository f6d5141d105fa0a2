"""The training loop of all our models: steps, schedule, validation, checkpoints, resume.

A model is trained by giving the loop a :class:`Task`. Everything random in a step depends on (seed, step) alone, so
that a run that was killed and resumed from its last checkpoint ends with the same weights as one that was not.
Under ``torchrun`` each process takes its part of every batch; see :mod:`psymem.train.loop.processes`.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import torch

from psymem.errors import TrainingError
from psymem.train.loop import checkpointing, processes
from psymem.train.loop.progress import Progress
from psymem.train.loop.schedule import PlateauSchedule, Schedule, make_schedule
from psymem.train.loop.settings import LoopSettings, Position
from psymem.train.text.batching import Batch

MOST_NATS = 700.0
"""Mean surprisal above which a network is beyond use; the perplexity of more is no number."""


class Task(Protocol):
    """What the loop needs of a model and its data; a torch module whose parameters are trained.

    The loss of a part of a batch is the mean over the part's own targets; the loop weighs it by `Batch.share`.
    """

    def to(self, device: torch.device) -> Any:
        """Move the parameters to a device, as a torch module does."""

    def plan(self, epoch: int) -> list[Any]:
        """Return a handle for each batch of an epoch, in order."""

    def batch(self, handle: Any) -> Batch:
        """Return the batch of a handle."""

    def __call__(self, batch: Batch, step: int) -> tuple[torch.Tensor, float]:
        """Return the loss to minimise and the mean surprisal (nats) to show."""

    def validate(self) -> float:
        """Return the mean surprisal (nats) of held-out text, exact."""


def train(
    task: Task, settings: LoopSettings, out: Path, fingerprint: dict[str, Any], progress: Progress
) -> Position:
    """Train `task` until `settings` say stop; resume if `out` holds a checkpoint of the same run.

    Parameters
    ----------
    out
        Folder of this run; ``out/checkpoints`` is ours.
    fingerprint
        Facts that have to be equal for a resume (data, model settings).
    progress
        Shows and logs loss, perplexity, tokens/s, memory and time left.

    Raises
    ------
    TrainingError
        On a loss that is not finite (the last good checkpoint is kept), or if `out` holds another run.
    """
    return _Run(task, settings, Path(out), whole_fingerprint(fingerprint, settings), progress).go()


def train_to_best(
    task: Task, settings: LoopSettings, out: Path, fingerprint: dict[str, Any], *, quiet: bool
) -> Position:
    """Train `task` as in `train`, and leave it with the weights that did best on held-out text."""
    progress = Progress(out, settings.max_tokens, settings.log_every, quiet)
    at = train(task, settings, out, fingerprint, progress)
    checkpointing.load_best(out, task)
    return at


def whole_fingerprint(fingerprint: dict[str, Any], settings: LoopSettings) -> dict[str, Any]:
    """Return what is compared on resume: facts about data and model, and the settings of the loop."""
    return {**fingerprint, "loop": asdict(settings)}


class _Run:
    def __init__(
        self, task: Task, settings: LoopSettings, out: Path, fingerprint: dict[str, Any], progress: Progress
    ) -> None:
        here = processes.state()
        self.device, self.world, self.rank = here.device, here.num_processes, here.process_index
        self.settings, self.out, self.fingerprint, self.progress = settings, out, fingerprint, progress
        self.task: Any = task
        self.task.to(self.device)
        self.optimizer = make_optimizer(settings, task)
        self.schedule: Schedule = make_schedule(settings)
        self.position = Position(next_validation=settings.validate_every)
        checkpointing.resume(out, fingerprint, task, self.optimizer, self.schedule, at=self.position)
        self.started = time.monotonic() - self.position.seconds

    def go(self) -> Position:
        at = self.position
        self.progress.start(at)
        while not at.finished:
            plan = self.task.plan(at.epoch)
            if not plan:
                raise TrainingError("There is no sentence to train on.")
            while at.batch < len(plan) and not at.finished:
                whole = self.task.batch(plan[at.batch])
                self._step(whole.part(self.rank, self.world).to(self.device))
                at.batch += 1
                self._after_step()
            if not at.finished:
                at.epoch, at.batch = at.epoch + 1, 0
        return at

    def _step(self, batch: Batch) -> None:
        at = self.position
        rate = self.schedule.rate(at.step, at.tokens)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        torch.manual_seed((self.settings.seed * 1_000_003 + at.step) * 64 + self.rank)
        loss, nats = self.task(batch, at.step)
        own = nats * batch.n_targets if math.isfinite(nats) and math.isfinite(loss.item()) else math.nan
        sums = processes.sum_over([own, batch.n_targets, peak_memory_mib()])
        if not math.isfinite(sums[0]):
            raise TrainingError(
                f"The loss is not finite at step {at.step} (epoch {at.epoch}, batch {at.batch}). "
                f"{checkpointing.what_is_left(self.out)}"
            )
        self.optimizer.zero_grad(set_to_none=True)
        (loss * batch.share).backward()
        processes.add_gradients(self.parameters())
        clip(self.parameters(), self.settings.clip)
        self.optimizer.step()
        seen = int(sums[1])
        at.step, at.tokens = at.step + 1, at.tokens + seen
        at.seconds = time.monotonic() - self.started
        self.progress.step(at.step, at.tokens, sums[0] / seen, seen, rate=rate, memory=sums[2])

    def parameters(self) -> list[torch.nn.Parameter]:
        return [p for g in self.optimizer.param_groups for p in g["params"]]

    def _after_step(self) -> None:
        at, settings = self.position, self.settings
        at.finished = at.tokens >= settings.max_tokens
        if at.tokens >= at.next_validation or at.finished:
            at.next_validation = (at.tokens // settings.validate_every + 1) * settings.validate_every
            self._validate()
        if at.step % settings.checkpoint_every == 0 or at.finished:
            at.unlogged_nats, at.unlogged_words = self.progress.nats, self.progress.words
            processes.by_main(
                lambda: checkpointing.save(
                    self.out, self.fingerprint, self.task, self.optimizer, self.schedule, at=at
                )
            )

    def _validate(self) -> None:
        at = self.position
        nats = processes.by_main(self.task.validate)
        if not nats < MOST_NATS:
            raise TrainingError(
                f"After step {at.step} the held-out loss is {nats:.4g}: training has diverged. "
                f"{checkpointing.what_is_left(self.out)}"
            )
        if nats < at.best_nats:
            at.best_nats, at.validations_without_gain = nats, 0
            processes.by_main(lambda: checkpointing.save_best(self.out, self.task))
        else:
            at.validations_without_gain += 1
            at.finished = at.finished or at.validations_without_gain >= self.settings.stop_after
        if isinstance(self.schedule, PlateauSchedule):
            self.schedule.observe(nats)
        memory = processes.sum_over([peak_memory_mib()])[0]
        self.progress.validation(at.step, at.tokens, nats, memory=memory)


def clip(parameters: list[torch.nn.Parameter], bound: float) -> None:
    """Scale gradients down to a norm of `bound`; gradients below it are not touched (a pass over all weights less)."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients)
    if not norm + 1e-6 <= bound:
        torch.nn.utils.clip_grads_with_norm_(parameters, bound, norm)


def peak_memory_mib() -> float:
    """Most memory this process has held so far, in MiB."""
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1024 * 1024 if sys.platform == "darwin" else 1024)


def make_optimizer(settings: LoopSettings, task: Any) -> torch.optim.Optimizer:
    """Return Adam, or the released SGD recipe."""
    parameters = [p for p in task.parameters() if p.requires_grad]
    if settings.optimizer == "sgd":
        return torch.optim.SGD(parameters, settings.learning_rate, momentum=0.9, nesterov=True)
    return torch.optim.Adam(parameters, settings.learning_rate, betas=(0.9, settings.beta2), fused=True)
