"""Learning-rate schedules with a state that can be saved."""

from __future__ import annotations

import math
from typing import Any, Protocol

from psymem.errors import TrainingError
from psymem.train.loop.settings import LoopSettings


class Schedule(Protocol):
    """Gives the learning rate of a step."""

    def rate(self, step: int, tokens: int) -> float:
        """Learning rate of step `step` (0-based) after `tokens` tokens."""

    def state(self) -> dict[str, Any]:
        """What has to be saved."""

    def load(self, state: dict[str, Any]) -> None:
        """Take up a saved state."""


class LinearSchedule:
    """Linear warm-up over `warmup_steps`, then linearly to 0 at `max_tokens`."""

    def __init__(self, peak: float, warmup_steps: int, max_tokens: int) -> None:
        self.peak, self.warmup_steps, self.max_tokens = peak, warmup_steps, max_tokens

    def rate(self, step: int, tokens: int) -> float:
        """See :class:`Schedule`."""
        warm = min(1.0, (step + 1) / max(1, self.warmup_steps))
        return self.peak * warm * max(0.0, 1 - tokens / self.max_tokens)

    def state(self) -> dict[str, Any]:
        """See :class:`Schedule`."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """See :class:`Schedule`."""


class PlateauSchedule:
    """Multiply the rate by `factor` when held-out surprisal did not improve for more than `patience` validations."""

    def __init__(self, peak: float, factor: float, patience: int) -> None:
        self.current, self.factor, self.patience = peak, factor, patience
        self.best, self.waited = math.inf, 0

    def rate(self, step: int, tokens: int) -> float:
        """See :class:`Schedule`."""
        return self.current

    def observe(self, nats: float) -> None:
        """Take note of a validation."""
        if nats < self.best:
            self.best, self.waited = nats, 0
            return
        self.waited += 1
        if self.waited > self.patience:
            self.current, self.waited = self.current * self.factor, 0

    def state(self) -> dict[str, Any]:
        """See :class:`Schedule`."""
        return {"current": self.current, "best": self.best, "waited": self.waited}

    def load(self, state: dict[str, Any]) -> None:
        """See :class:`Schedule`."""
        self.current, self.best, self.waited = state["current"], state["best"], state["waited"]


def make_schedule(settings: LoopSettings) -> Schedule:
    """Return the schedule that `settings` name.

    Raises
    ------
    TrainingError
        If there is no such schedule.
    """
    if settings.schedule == "linear":
        return LinearSchedule(settings.learning_rate, settings.warmup_steps, settings.max_tokens)
    if settings.schedule == "plateau":
        return PlateauSchedule(settings.learning_rate, settings.plateau_factor, settings.plateau_patience)
    raise TrainingError(f"--schedule {settings.schedule!r} is not known; expected linear or plateau.")
