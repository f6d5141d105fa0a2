"""How texts are grouped for reading, and which states have to be turned into probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from psymem.alignment import Alignment


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


def expected_tokens(batch: Sequence[Alignment], bos: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the states after which something is expected, one for all sentences that began alike.

    Returns
    -------
    tuple
        (S, 2) row and input position of each distinct state in the batch; (N,) which state each of the
        batch's N tokens was expected in (-1 for a first word without BOS); (N,) its id.
    """
    states: dict[tuple[int, int], int] = {}
    where: list[tuple[int, int]] = []
    expected_in: list[int] = []
    for row, alignment in enumerate(batch):
        state = -1
        ids = alignment.ids.tolist()
        for position in range(len(ids)):
            if bos or position:
                came = (state, ids[position - 1] if position else -1)
                if came not in states:
                    states[came] = len(where)
                    where.append((row, position - 1 + bos))
                state = states[came]
            expected_in.append(state)
    target = np.concatenate([a.ids for a in batch]) if batch else np.zeros(0, dtype=np.int64)
    return np.array(where, dtype=np.int64).reshape(-1, 2), np.array(expected_in, dtype=np.int64), target


def wanted_heads(needs: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Return the (layer, head) pairs asked for as "attention LAYER:HEAD", sorted."""
    pairs = (n.removeprefix("attention ").split(":") for n in needs if n.startswith("attention "))
    return tuple(sorted((int(layer), int(head)) for layer, head in pairs))
