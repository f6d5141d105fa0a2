"""Random fixation durations for reading, as a function of the words: the control that was trained with random ones.

In training every word of the text gets a level of its own, 0 to 11. A word that is read later has none, so its level
is drawn from a seed, itself and the words before it in what is read. The same beginning gets the same levels, alone or
in a batch, in one piece or in several, and no word's level depends on later words.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from psymem.models.gated.fixation_predictor import LEVELS

MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
STEP = np.uint64(0x9E3779B97F4A7C15)
"""Constants of the generator SplitMix64 (Steele, Lea & Flood, 2014)."""


def drawn_levels(ids: Tensor, bos_id: int, seed: int = 1) -> Tensor:
    """Draw levels for words.

    Parameters
    ----------
    ids
        (B, T) word ids of whole sentences or texts; what follows a word does not matter.
    bos_id
        Opens a sentence and gets level 0, as in training.
    seed
        Another seed, other levels.

    Returns
    -------
    torch.Tensor
        (B, T) levels 0 to 11, all equally likely.
    """
    words = ids.cpu().numpy().astype(np.uint64)
    levels = np.empty(words.shape, np.int64)
    state = _mixed(np.full(len(words), seed, np.uint64))
    for t in range(words.shape[1]):
        state = _mixed(state ^ words[:, t])
        levels[:, t] = state % np.uint64(LEVELS)
    levels[words == bos_id] = 0
    return torch.from_numpy(levels).to(ids.device)


def _mixed(state: np.ndarray) -> np.ndarray:
    """One step of SplitMix64 (arithmetic modulo 2^64)."""
    state = state + STEP
    for shift, multiplier in zip(SHIFTS, MULTIPLIERS, strict=False):
        state = (state ^ (state >> shift)) * multiplier
    return state ^ (state >> SHIFTS[-1])
