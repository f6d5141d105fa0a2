"""What a person sees of a training run, and the log that stays: one CSV line per interval or validation.

Every line has the tokens per second since the line before, checkpoints and validation included, and the most memory
held so far, of all processes together. The main process alone writes.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import IO

from psymem.train.loop import processes
from psymem.units import perplexity

COLUMNS = (
    "step",
    "tokens",
    "train_nats",
    "train_perplexity",
    "validation_nats",
    "validation_perplexity",
    "tokens_per_second",
    "learning_rate",
    "peak_memory_mib",
    "minutes",
)


class Progress:
    """Writes ``training_log.csv`` and a line to stderr with loss, perplexity, tokens/s and time left.

    Parameters
    ----------
    out
        Folder of the run.
    max_tokens
        Where training ends, for the estimate.
    every
        Steps between lines.
    quiet
        Whether to keep stderr silent.
    """

    columns: tuple[str, ...] = COLUMNS

    def __init__(self, out: Path, max_tokens: int, every: int, quiet: bool = False) -> None:
        self.path, self.max_tokens, self.every, self.quiet = (
            out / "training_log.csv",
            max_tokens,
            every,
            quiet,
        )
        self.nats, self.words, self.unwritten, self.speed = 0.0, 0, 0, 0.0
        self.began = self.since = time.monotonic()

    def start(self, tokens: int) -> None:
        """Begin, or go on after `tokens`."""
        self.began = self.since = time.monotonic()
        if processes.is_main():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                self._append(dict.fromkeys(self.columns), header=True)
        if tokens:
            self.say(f"resumed after {tokens:,} tokens")

    def step(self, step: int, tokens: int, nats: float, words: int, *, rate: float, memory: float) -> None:
        """Count one step; every so many, write a line."""
        self.nats, self.words, self.unwritten = (
            self.nats + nats * words,
            self.words + words,
            self.unwritten + words,
        )
        if step % self.every:
            return
        self._speed()
        self._interval(step, tokens, self.nats / self.words, rate=rate, memory=memory)
        self.nats, self.words = 0.0, 0

    def _interval(self, step: int, tokens: int, mean: float, *, rate: float, memory: float) -> None:
        """Write the line of an interval with this mean loss."""
        speed = self.speed
        left = max(0, self.max_tokens - tokens) / speed / 60
        self._append(
            {
                "step": step,
                "tokens": tokens,
                "train_nats": round(mean, 4),
                "train_perplexity": round(perplexity(min(mean, 50)), 2),
                "learning_rate": rate,
                **self._machine(speed, memory),
            }
        )
        self.say(
            f"step {step:,}  {tokens / 1e6:.2f} of {self.max_tokens / 1e6:.2f} M tokens  loss {mean:.3f} nats  "
            f"perplexity {perplexity(min(mean, 50)):.1f}  {speed:,.0f} tokens/s  "
            f"peak memory {memory:,.0f} MiB  {left:.0f} min left"
        )

    def validation(self, step: int, tokens: int, nats: float, *, memory: float) -> None:
        """Write a line about held-out text."""
        speed = self._speed()
        self._append(
            {
                "step": step,
                "tokens": tokens,
                "validation_nats": round(nats, 5),
                "validation_perplexity": round(perplexity(min(nats, 50)), 3),
                **self._machine(speed, memory),
            }
        )
        self.say(
            f"step {step:,}  held-out perplexity {perplexity(min(nats, 50)):.2f}  {speed:,.0f} tokens/s  "
            f"peak memory {memory:,.0f} MiB"
        )

    def _speed(self) -> float:
        """Words per second since the line before; that of the line before if there was none in between."""
        now = time.monotonic()
        if self.unwritten:
            self.speed = self.unwritten / (now - self.since)
            self.unwritten, self.since = 0, now
        return self.speed

    def _machine(self, speed: float, memory: float) -> dict[str, float]:
        minutes = (time.monotonic() - self.began) / 60
        return {
            "tokens_per_second": round(speed),
            "peak_memory_mib": round(memory),
            "minutes": round(minutes, 2),
        }

    def _append(self, row: dict, header: bool = False) -> None:
        if not processes.is_main():
            return
        with self.path.open("a", encoding="utf-8", newline="") as file:
            writer: csv.DictWriter = csv.DictWriter(file, self.columns, lineterminator="\n")
            if header:
                writer.writeheader()
            else:
                writer.writerow(row)

    def say(self, message: str, stream: IO[str] | None = None) -> None:
        """Write a line to stderr, or to `stream`."""
        if not self.quiet and processes.is_main():
            print(f"psymem train: {message}", file=stream or sys.stderr, flush=True)
