"""How a model is trained, and where its training stands."""

from __future__ import annotations

import math
from dataclasses import dataclass

from psymem.errors import TrainingError


@dataclass(frozen=True)
class LoopSettings:
    """How to train; every field is written into the checkpoint and compared on resume.

    Parameters
    ----------
    max_tokens
        Stop after this many words and sentence ends (all processes together).
    optimizer
        "adam", or "sgd": Nesterov momentum 0.9, as in the released code of Timkey & Linzen.
    learning_rate, clip
        Peak learning rate; bound on the gradient's norm.
    beta2
        Adam's decay of squared gradients.
    schedule
        "linear" (warm-up, then linearly to 0 at `max_tokens`) or "plateau" (times `plateau_factor` when held-out
        surprisal did not improve for more than `plateau_patience` validations).
    warmup_steps
        Steps over which the learning rate rises, "linear" only.
    stop_after
        Validations without improvement after which training stops.
    validate_every, checkpoint_every, log_every
        Tokens between validations; steps between checkpoints; steps between lines of the log.
    seed
        Decides initial weights, order, dropout and sampling.
    """

    max_tokens: int = 30_000_000
    optimizer: str = "adam"
    learning_rate: float = 2e-3
    beta2: float = 0.98
    clip: float = 1.0
    schedule: str = "linear"
    warmup_steps: int = 200
    plateau_factor: float = 0.5
    plateau_patience: int = 0
    stop_after: int = 5
    validate_every: int = 1_000_000
    checkpoint_every: int = 500
    log_every: int = 50
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse settings that cannot work, in words."""
        if self.optimizer not in ("adam", "sgd"):
            raise TrainingError(f"--optimizer {self.optimizer!r} is not known; expected adam or sgd.")
        least = {"max_tokens": 1, "validate_every": 1, "checkpoint_every": 1, "log_every": 1}
        least |= {"stop_after": 1, "warmup_steps": 0, "seed": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise TrainingError(f"{_option(name)} has to be at least {bound}, not {getattr(self, name)}.")
        if not 0 < self.learning_rate < math.inf:
            raise TrainingError(f"--learning-rate has to be above 0 and finite, not {self.learning_rate}.")
        if not self.clip > 0:  # a negative bound turns the gradient around
            raise TrainingError(f"--clip has to be above 0 (inf for no bound), not {self.clip}.")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


@dataclass
class Position:
    """Where training stands; saved with every checkpoint.

    `unlogged_nats` and `unlogged_words` are summed since the last line of the log about training, which a resumed run
    goes on with.
    """

    step: int = 0
    tokens: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_nats: float = math.inf
    validations_without_gain: int = 0
    next_validation: int = 0
    finished: bool = False
    unlogged_nats: float = 0.0
    unlogged_words: int = 0
