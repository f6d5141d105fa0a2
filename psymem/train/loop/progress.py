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

from psymem.errors import TrainingError
from psymem.io.outputs import write_text
from psymem.train.loop import processes
from psymem.train.loop.settings import Position
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

    def start(self, at: Position) -> None:
        """Begin, or go on at `at`: the log has the lines up to there and no others."""
        self.since = time.monotonic()
        self.began = self.since - at.seconds
        self.nats, self.words = at.unlogged_nats, at.unlogged_words
        if processes.is_main():
            self._write_log(self._lines_until(at.step))
        if at.tokens:
            self.say(f"resumed after {at.tokens:,} tokens")

    def _lines_until(self, step: int) -> list[str]:
        """Return the lines of the log up to `step`, header first; a run that was killed may have written more."""
        header, kept = ",".join(self.columns), []
        if step and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines()[1:]:
                number = line.split(",")[0]
                if line.count(",") == len(self.columns) - 1 and number.isdigit() and int(number) <= step:
                    kept.append(line)
        return [header, *kept]

    def _write_log(self, lines: list[str]) -> None:
        write_text(self.path, "".join(f"{line}\n" for line in lines))

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

    def _append(self, row: dict) -> None:
        if not processes.is_main():
            return
        try:
            with self.path.open("a", encoding="utf-8", newline="") as file:
                csv.DictWriter(file, self.columns, lineterminator="\n").writerow(row)
        except OSError as error:
            raise TrainingError(
                f"{self.path} could not be written: {error.strerror or error}. Free some space and give the same command "
                "again to go on from the last checkpoint."
            ) from error

    def say(self, message: str, stream: IO[str] | None = None) -> None:
        """Write a line to stderr, or to `stream`."""
        if not self.quiet and processes.is_main():
            print(f"psymem train: {message}", file=stream or sys.stderr, flush=True)
