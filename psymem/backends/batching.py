"""How texts are grouped for reading, and which states of a batch have to be turned into probabilities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

ROWS = 4
"""Rows of a matrix product come in multiples of this.

Libraries multiply one to three rows another way than many, with sums in another order; in 32 bits that moves a
log-probability by up to 0.00003 bits, so that a sentence alone would differ from the same sentence in a batch.
"""

LAST_LAYER = "attention last"
"""What a measure asks for that reads every head of the last layer."""


@dataclass(frozen=True)
class Window:
    """Tokens read at once.

    Attributes
    ----------
    text
        Number of the text they are from.
    start
        Where in the text they start.
    scored_from
        Where in the window scoring begins; what is before is context only.
    ids
        (n,) token ids.
    """

    text: int
    start: int
    scored_from: int
    ids: np.ndarray


def whole_rows(n: int) -> int:
    """Return the smallest multiple of `ROWS` that is at least `n`."""
    return -(-n // ROWS) * ROWS


def cut_windows(ids: np.ndarray, text: int, room: int | None) -> list[Window]:
    """Cut a text into windows of at most `room` tokens that overlap by half.

    Each token is scored in one of them, the first window's first half aside with at least half a window
    before it.
    """
    n = len(ids)
    if room is None or n <= room:
        return [Window(text, 0, 0, ids)]
    ends = [*range(room, n, room - room // 2), n]
    counted_from = [0, *ends[:-1]]
    return [
        Window(text, end - room, first - (end - room), ids[end - room : end])
        for end, first in zip(ends, counted_from, strict=True)
    ]


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield indices of texts, sorted by length, so that count times longest stays within `batch_tokens`.

    A single text may exceed the limit and is then alone.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * (lengths[number] + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def shared_states(
    batch: Sequence[np.ndarray], bos: bool, *, apart: bool = False
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Number the states a model is in while it reads a batch; texts that begin alike share them.

    Parameters
    ----------
    batch
        Token ids of each text, (n,) each.
    bos
        Whether a beginning-of-sentence token is put before each.
    apart
        Whether texts share nothing, since states depend on later tokens too.

    Returns
    -------
    tuple
        (S, 2) text and input position at which each distinct state can be found; for each text the (n + 1,)
        state after its first 0, 1, ... n tokens (-1 before anything was read).
    """
    known: dict[tuple[int, int, int], int] = {}
    where: list[tuple[int, int]] = []
    states = []
    for row, ids in enumerate(batch):
        state = -1
        own = []
        for position, token in enumerate([-1, *ids.tolist()]):
            if bos or position:
                came = (row if apart else 0, state, token)
                if came not in known:
                    known[came] = len(where)
                    where.append((row, position - 1 + bos))
                state = known[came]
            own.append(state)
        states.append(np.array(own, dtype=np.int64))
    return np.array(where, dtype=np.int64).reshape(-1, 2), states


def wanted_heads(needs: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Return the (layer, head) pairs asked for as "attention LAYER:HEAD", sorted."""
    pairs = (n.removeprefix("attention ").split(":") for n in needs if re.match(r"attention \d", n))
    return tuple(sorted((int(layer), int(head)) for layer, head in pairs))
