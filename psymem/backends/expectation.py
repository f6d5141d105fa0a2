"""From states of a language model to what it expects next: exact, in float32, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from psymem.backends.batching import ROWS, whole_rows

LOGITS_AT_ONCE = 1 << 21
"""Numbers in one block of logits (8 MiB in float32): as quick as larger ones, and small enough for memory to be
used again instead of being asked for anew."""


@dataclass(frozen=True)
class Expectation:
    """What is expected in S states, and how probable N tokens were.

    Attributes
    ----------
    logprob
        (N,) float64 nats: log-probability of each token in its state; NaN where it has none.
    entropy
        (S,) float64 nats, or None.
    beginning
        (S,) float64 nats: log-probability that a word begins, or None.
    """

    logprob: np.ndarray
    entropy: np.ndarray | None
    beginning: np.ndarray | None


def expect(
    states: Tensor,
    logits_of: Callable[[Tensor], Tensor],
    vocabulary_size: int,
    state: np.ndarray,
    token: np.ndarray,
    *,
    entropy: bool = False,
    beginnings: Tensor | None = None,
) -> Expectation:
    """Turn states into probabilities.

    Parameters
    ----------
    states
        (S, d) hidden states.
    logits_of
        Hidden states to (n, V) logits.
    vocabulary_size
        V.
    state, token
        (N,) int: state in which each token was met (-1 for none) and its id.
    entropy
        Whether to compute entropies.
    beginnings
        (V,) float32: 1 for tokens that begin a word, or None.
    """
    logprob = np.full(len(state), np.nan)
    entropies, begin = (np.empty(len(states)) if want else None for want in (entropy, beginnings is not None))
    step = max(ROWS, LOGITS_AT_ONCE // vocabulary_size // ROWS * ROWS)
    order = np.argsort(state, kind="stable")
    bounds = np.searchsorted(state[order], np.arange(0, len(states) + step, step))
    for block, first in enumerate(range(0, len(states), step)):
        here = order[bounds[block] : bounds[block + 1]]
        logits = _logits(states[first : first + step], logits_of)
        top = logits.amax(-1, keepdim=True)
        row, column = torch.from_numpy(state[here] - first), torch.from_numpy(token[here])
        chosen = (logits[row, column] - top[row, 0]).double()
        shifted = logits.sub_(top)
        odds = shifted.exp() if entropy else shifted.exp_()  # entropy needs both
        total = odds.sum(-1).double()
        normaliser = total.log()
        logprob[here] = (chosen - normaliser[row]).cpu().numpy()
        if entropies is not None:
            mean = torch.linalg.vecdot(odds, shifted.clamp_min_(-1e4)).double() / total
            entropies[first : first + step] = (normaliser - mean).cpu().numpy()
        if begin is not None and beginnings is not None:
            begin[first : first + step] = ((odds @ beginnings).double().log() - normaliser).cpu().numpy()
    return Expectation(np.minimum(logprob, 0.0), entropies, begin)


def _logits(states: Tensor, logits_of: Callable[[Tensor], Tensor]) -> Tensor:
    """Return (n, V) float32 logits, computed with a whole number of `ROWS`: the last state is repeated."""
    n = len(states)
    numbers = torch.arange(whole_rows(n), device=states.device).clamp_max_(n - 1)
    return logits_of(states if len(numbers) == n else states[numbers]).float()[:n]
