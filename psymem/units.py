"""Units and their conversion: the only place that knows a logarithm's base or a sampling rate."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

Number = TypeVar("Number", float, np.ndarray)

NATS_PER_BIT = math.log(2.0)


def nats_to_bits(nats: Number) -> Number:
    """Convert natural-logarithm information (nats) to bits; any shape."""
    return nats / NATS_PER_BIT


def bits_to_nats(bits: Number) -> Number:
    """Convert bits to nats; any shape."""
    return bits * NATS_PER_BIT


def perplexity(mean_nats: float) -> float:
    """Perplexity of a mean surprisal in nats: ``exp(mean)``, so a uniform model over V words gives V."""
    return math.exp(mean_nats)


def samples_to_ms(samples: Number, hertz: float) -> Number:
    """Convert a count of samples taken at `hertz` per second to milliseconds; any shape."""
    return samples * (1000.0 / hertz)
