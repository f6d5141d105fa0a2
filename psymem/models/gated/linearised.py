"""A tanh layer around the states it went through: what of its memory a change of an input would reach.

With ``m_t = tanh(W h_(t-1) + u_t + b)`` and ``h_t = (1 - a) m_t + a h_(t-1)``, a small change of h_(t-1) becomes
``(D_t W + a)`` times it, ``D_t = (1 - a) diag(1 - m_t^2)``, and one of what the input brings, u_t, ``D_t`` times it
(`psymem.measures.memory_response_linearised`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from psymem.models.gated.cells import GatedLayer, StepRecord

LINEARISED = frozenset({"memory_slope", "memory_drive", "memory_recurrence", "memory_carry"})


def linearisation(
    layer: GatedLayer, inputs: Tensor, record: StepRecord, freeze: Tensor | None
) -> dict[str, Tensor]:
    """Return what `LinearisedMemoryResponse` needs of a layer of kind "srn".

    Parameters
    ----------
    layer
        The layer.
    inputs
        (B, T, n) what it read.
    record
        What happened then.
    freeze
        (B, T, K) a_t, or None for 0.

    Returns
    -------
    dict
        ``memory_slope`` (B, T, K d), the diagonal of D_t; ``memory_drive`` (B, T, K d), u_t without biases;
        ``memory_recurrence`` (B, T, K, d, d), W, the same at every step and held once; with gates
        ``memory_carry`` (B, T, K d), a.
    """
    before = torch.cat([record.initial[:, None], record.hidden[:, :-1]], 1)  # (B, T, K, d)
    drive = torch.einsum("bti,kid->btkd", inputs, layer.input_weight)
    moved = torch.einsum("btkd,kde->btke", before, layer.recurrent_weight)
    slope = 1 - torch.tanh(drive + moved + layer.input_bias + layer.recurrent_bias) ** 2
    weights = layer.recurrent_weight.transpose(1, 2)  # rows are units: W h, not h W
    found = {
        "memory_drive": drive.flatten(2),
        "memory_recurrence": weights.expand(*drive.shape[:2], *weights.shape),
    }
    if freeze is None:
        return {**found, "memory_slope": slope.flatten(2)}
    a = freeze[..., None].expand_as(slope)
    return {**found, "memory_slope": ((1 - a) * slope).flatten(2), "memory_carry": a.flatten(2)}
