"""How many weights a gated model has, and how wide it must be to have a given number.

With R(i, h) = i h + h^2 + 2h for one set of projections, g sets per cell (SRN 1, GRU 3, LSTM 4), n = K d or, for FGL,
L d, and predictor width q:

    head(n)      = n E + E + V
    plain, FGL   = g R(E, d) + (L-1) g R(d, d) + head(n)
    FGP          = K g R(E, d) + (L-1) (K g R(d, d) + K d^2 + d) + head(n)
    predictor    = g R(E, q) + (L-1) g R(q, q) + q E + E + E + 1                    (adaptive models)
    ELSTM        L T_s d more

The embedding is not counted, nor the output layer that shares it. "released" counts the V output biases, as the
released program of the fixation-guided models does; "core" does not.
"""

from __future__ import annotations

from dataclasses import replace

from psymem.errors import ModelError
from psymem.models.gated.cells import BLOCKS
from psymem.models.gated.settings import GatedSettings

COUNTS = ("released", "core")
WIDEST = 1 << 20


def count_parameters(settings: GatedSettings, count: str = "released") -> int:
    """Return the number of weights without the embedding.

    Parameters
    ----------
    settings
        The model. Words vectors and network of a fixed predictor are not counted: it is not trained along.
    count
        "released" with the V output biases, "core" without.
    """
    if count not in COUNTS:
        raise ModelError(f"count={count!r} is not known; expected one of {', '.join(COUNTS)}.")
    s, sets = settings, BLOCKS[settings.cell]
    n_layers, k, d, e = s.layers or 1, s.components or 1, s.width, s.embedding_width
    cells = k * sets * _set(e, d) + (n_layers - 1) * k * sets * _set(d, d)
    if s.guided == "components":
        cells += (n_layers - 1) * (k * d * d + d)
    if s.cell == "elstm":
        cells += n_layers * s.time_steps * d
    n = n_layers * d if s.guided == "layers" else k * d
    head = n * e + e + (s.vocabulary_size if count == "released" else 0)
    untied = 0 if s.tied else s.vocabulary_size * e
    return cells + head + untied + (_predictor(s, sets) if s.adaptive else 0)


def fit_width(
    settings: GatedSettings, n_parameters: int, count: str = "released"
) -> tuple[GatedSettings, int]:
    """Return the settings with the width that comes nearest to a number of weights, and their number.

    Parameters
    ----------
    settings
        The model, its width aside.
    n_parameters
        The number wanted, such as 4_000_000.
    count
        See `count_parameters`.

    Raises
    ------
    ModelError
        If even width 1 has more.
    """

    def number(width: int) -> int:
        return count_parameters(replace(settings, width=width), count)

    if number(1) > n_parameters:
        raise ModelError(
            f"A model of kind {settings.family} with {settings.vocabulary_size:,} words has at least {number(1):,} "
            f"parameters (counted as {count!r}); {n_parameters:,} is too few."
        )
    low, high = 1, WIDEST  # number(low) <= wanted < number(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number(middle) <= n_parameters else (low, middle)
    width = min((low, high), key=lambda w: abs(number(w) - n_parameters))
    return replace(settings, width=width), number(width)


def _set(i: int, h: int) -> int:
    """One set of projections with two biases."""
    return i * h + h * h + 2 * h


def _predictor(settings: GatedSettings, sets: int) -> int:
    """Weights of the adaptive predictor."""
    q, e = settings.predictor_width, settings.embedding_width
    inner = ((settings.layers or 1) - 1) * sets * _set(q, q)
    return sets * _set(e, q) + inner + q * e + e + e + 1
