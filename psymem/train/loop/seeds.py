"""Which instances of a model a command trains: seeds as an array, each with a weight of the supertag loss.

``--seeds 1-15 --alpha 0,1,5`` is the design of Timkey & Linzen (2023): fifteen instances, the first five trained
without supertags, the next five with a weight of 1, the last five with 5. A cluster splits the array by
``--part 2/3`` (the second of three equal parts) or by giving each job seeds of its own.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from psymem.errors import TrainingError

MOST = 10_000
"""Seeds that one command may name."""


@dataclass(frozen=True)
class Instance:
    """One model to train.

    Attributes
    ----------
    seed
        Decides initial weights, order and dropout.
    alpha
        Weight of its supertag loss.
    out
        Folder of its run.
    """

    seed: int
    alpha: float
    out: Path


def plan_instances(seed: int | None, seeds: str, part: str, alpha: str, out: Path) -> list[Instance]:
    """Return the instances that the options of a training command ask for, in order.

    Parameters
    ----------
    seed
        ``--seed``, one instance in `out` itself; None if it was not given, which means 1.
    seeds
        ``--seeds``, such as "1-15" or "1-3,7": instances in ``out/1``, ``out/2``, ...; "" if it was not given.
    part
        ``--part``, such as "2/3"; "" for the whole array.
    alpha
        ``--alpha``: one weight for all, or several, which divide the seeds into equal groups in their order.
    out
        ``--out``.

    Raises
    ------
    TrainingError
        If an option cannot be read or they contradict each other.
    """
    weights = parse_weights(alpha)
    if not seeds:
        if part:
            raise TrainingError("--part divides the seeds of --seeds; give --seeds, or leave --part out.")
        if len(weights) > 1:
            raise TrainingError(
                f"--alpha {alpha} names {len(weights)} weights for one instance; give one, or several seeds: "
                f"--seeds 1-{len(weights)}."
            )
        return [Instance(1 if seed is None else seed, weights[0], out)]
    if seed is not None:
        raise TrainingError("--seed and --seeds were both given; expected one of them.")
    numbers = parse_seeds(seeds)
    if len(numbers) % len(weights):
        raise TrainingError(
            f"--alpha {alpha} names {len(weights)} weights, and --seeds {seeds} {len(numbers)} seed(s), which cannot "
            f"be divided equally among them; expected a multiple of {len(weights)}."
        )
    each = len(numbers) // len(weights)
    instances = [Instance(n, weights[i // each], out / str(n)) for i, n in enumerate(numbers)]
    return _part(instances, part)


def parse_seeds(text: str) -> list[int]:
    """Read seeds such as "3", "1-15" or "1-3,7".

    Raises
    ------
    TrainingError
        If `text` is something else, runs backwards, or names a seed twice.
    """
    numbers: list[int] = []
    for piece in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", piece)
        if match is None:
            raise TrainingError(
                f"--seeds {text!r}: {piece.strip()!r} is not a seed; expected whole numbers and ranges, such as 1-15 or "
                "1-3,7."
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise TrainingError(f"--seeds {text!r}: {piece.strip()} runs backwards; expected {last}-{first}.")
        if last - first >= MOST:
            raise TrainingError(f"--seeds {text!r} names more than {MOST:,} seeds.")
        numbers += range(first, last + 1)
    twice = sorted({n for n in numbers if numbers.count(n) > 1})
    if twice:
        raise TrainingError(f"--seeds {text!r} names {twice[0]} twice; expected each seed once.")
    return numbers


def parse_weights(text: str) -> list[float]:
    """Read weights of the supertag loss such as "1" or "0,1,5".

    Raises
    ------
    TrainingError
        If one is no number of at least 0.
    """
    weights = []
    for piece in text.split(","):
        try:
            weight = float(piece)
        except ValueError:
            weight = math.nan
        if not 0 <= weight < math.inf:
            raise TrainingError(
                f"--alpha {text!r}: {piece.strip()!r} is not a weight; expected a number of at least 0, or several "
                "separated by commas, such as 0,1,5."
            )
        weights.append(weight)
    return weights


def _part(instances: list[Instance], part: str) -> list[Instance]:
    if not part:
        return instances
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", part.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise TrainingError(f"--part {part!r} is not a part; expected NUMBER/PARTS, such as 2/3.")
    number, parts = int(match[1]), int(match[2])
    if parts > len(instances):
        raise TrainingError(
            f"--part {part}: {len(instances)} seed(s) cannot be divided into {parts} parts; expected at most "
            f"{len(instances)}."
        )
    return instances[len(instances) * (number - 1) // parts : len(instances) * number // parts]
