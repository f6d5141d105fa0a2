"""What a person sees of a training run, and the log that stays: one CSV line per interval."""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import IO

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
        self.nats, self.words, self.speed = 0.0, 0, 0.0
        self.began = self.since = time.monotonic()

    def start(self, tokens: int) -> None:
        """Begin, or go on after `tokens`."""
        self.began = self.since = time.monotonic()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            self._append(dict.fromkeys(self.columns), header=True)
        if tokens:
            self._say(f"resumed after {tokens:,} tokens")

    def step(self, step: int, tokens: int, nats: float, words: int, rate: float) -> None:
        """Count one step; every so many, write a line."""
        self.nats, self.words = self.nats + nats * words, self.words + words
        if step % self.every:
            return
        now = time.monotonic()
        self.speed = self.words / (now - self.since)
        self._interval(step, tokens, self.nats / self.words, rate)
        self.nats, self.words, self.since = 0.0, 0, now

    def _interval(self, step: int, tokens: int, mean: float, rate: float) -> None:
        """Write the line of an interval with this mean loss."""
        left = max(0, self.max_tokens - tokens) / self.speed / 60
        self._append(
            {
                "step": step,
                "tokens": tokens,
                "train_nats": round(mean, 4),
                "train_perplexity": round(perplexity(min(mean, 50)), 2),
                "tokens_per_second": round(self.speed),
                "learning_rate": rate,
                "minutes": round((time.monotonic() - self.began) / 60, 2),
            }
        )
        self._say(
            f"step {step:,}  {tokens / 1e6:.2f} of {self.max_tokens / 1e6:.2f} M tokens  loss {mean:.3f} nats  "
            f"perplexity {perplexity(min(mean, 50)):.1f}  {self.speed:,.0f} tokens/s  {left:.0f} min left"
        )

    def validation(self, step: int, tokens: int, nats: float, ppl: float, memory: float) -> None:
        """Write a line about held-out text."""
        self._append(
            {
                "step": step,
                "tokens": tokens,
                "validation_nats": round(nats, 5),
                "validation_perplexity": round(ppl, 3),
                "peak_memory_mib": round(memory),
                "minutes": round((time.monotonic() - self.began) / 60, 2),
            }
        )
        self._say(f"step {step:,}  held-out perplexity {ppl:.2f}  peak memory {memory:,.0f} MiB")

    def _append(self, row: dict, header: bool = False) -> None:
        with self.path.open("a", encoding="utf-8", newline="") as file:
            writer: csv.DictWriter = csv.DictWriter(file, self.columns, lineterminator="\n")
            if header:
                writer.writeheader()
            else:
                writer.writerow(row)

    def _say(self, message: str, stream: IO[str] | None = None) -> None:
        if not self.quiet:
            print(f"psymem train: {message}", file=stream or sys.stderr, flush=True)
