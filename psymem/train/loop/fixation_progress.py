"""Progress of a run whose loss is a squared error, not a surprisal."""

from __future__ import annotations

from psymem.train.loop.progress import Progress


class ErrorProgress(Progress):
    """As :class:`~psymem.train.loop.progress.Progress`, with mean squared errors in ``training_log.csv``."""

    columns = (
        "step",
        "tokens",
        "train_squared_error",
        "validation_squared_error",
        "tokens_per_second",
        "learning_rate",
        "peak_memory_mib",
        "minutes",
    )

    def _interval(self, step: int, tokens: int, mean: float, *, rate: float, memory: float) -> None:
        self._append(
            {
                "step": step,
                "tokens": tokens,
                "train_squared_error": round(mean, 4),
                "learning_rate": rate,
                **self._machine(self.speed, memory),
            }
        )
        self.say(
            f"step {step:,}  squared error {mean:.3f}  {self.speed:,.0f} tokens/s  peak memory {memory:,.0f} MiB"
        )

    def validation(self, step: int, tokens: int, nats: float, *, memory: float) -> None:
        """Write a line about held-out sentences; `nats` is their mean squared error."""
        speed = self._speed()
        self._append(
            {
                "step": step,
                "tokens": tokens,
                "validation_squared_error": round(nats, 5),
                **self._machine(speed, memory),
            }
        )
        self.say(
            f"step {step:,}  held-out squared error {nats:.3f}  {speed:,.0f} tokens/s  peak memory {memory:,.0f} MiB"
        )
