"""Training objectives: next word (exact or with sampled competitors) and CCG supertag.

The sampled objective replaces the sum over the vocabulary in the softmax by a Horvitz-Thompson estimate: each word
w is a competitor with probability pi_w and then counts 1/pi_w times; the frequent words, which carry most of the
sum, have pi_w = 1. The target's own term is always exact. Evaluation never samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

ROWS_AT_ONCE = 1024
"""Rows of logits held in memory at a time."""


@dataclass(frozen=True)
class Competitors:
    """Words that stand for the vocabulary in one step.

    Attributes
    ----------
    ids
        (m,) int64, distinct.
    log_inclusion
        (m,) float32: log pi_w of each.
    """

    ids: Tensor
    log_inclusion: Tensor


class CompetitorSampler:
    """Draws competitors with probability proportional to count ** 0.75, capped at 1.

    Parameters
    ----------
    counts
        (V,) occurrences of each word in the training text; a word with count 0 still counts once.
    size
        Expected number of competitors m.
    never
        Ids that are never predicted (padding, BOS).
    """

    def __init__(self, counts: np.ndarray, size: int, never: tuple[int, ...] = ()) -> None:
        self.inclusion = inclusion_probabilities(np.maximum(counts, 1.0) ** 0.75, size, never)

    def draw(self, seed: tuple[int, ...]) -> Competitors:
        """Draw one set by systematic sampling in random order; the seed alone decides it."""
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(self.inclusion))
        steps = np.floor(np.cumsum(self.inclusion[order]) + rng.random())
        chosen = np.sort(order[np.diff(steps, prepend=0) > 0])
        log_inclusion = np.log(self.inclusion[chosen]).astype(np.float32)
        return Competitors(torch.from_numpy(chosen), torch.from_numpy(log_inclusion))


def inclusion_probabilities(weights: np.ndarray, size: int, never: tuple[int, ...]) -> np.ndarray:
    """Return (V,) pi_w = min(1, kappa weight_w) with sum `size` (all 1 where `size` is at least V)."""
    weights = weights.astype(float).copy()
    weights[list(never)] = 0
    positive = weights > 0
    if size >= positive.sum():
        return positive.astype(float)
    certain = np.zeros(len(weights), bool)
    while True:
        kappa = (size - certain.sum()) / weights[~certain].sum()
        grown = certain | (kappa * weights >= 1)
        if (grown == certain).all():
            return np.where(certain, 1.0, kappa * weights)
        certain = grown


def next_word_loss(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, competitors: Competitors | None = None
) -> Tensor:
    """Mean surprisal (nats) of the targets, exact or with sampled competitors.

    Parameters
    ----------
    hidden
        (N, d) states that predict; their precision is that of the products.
    weight, bias
        (V, d) and (V,) output layer.
    targets
        (N,) int64 words that came next.
    competitors
        None for the exact softmax over all V words.
    """
    if competitors is None:
        competitors = Competitors(torch.arange(len(bias)), torch.zeros(len(bias)))
    return _CompetitorLoss.apply(hidden, weight, bias, targets, competitors)


class _CompetitorLoss(torch.autograd.Function):
    """Loss and gradient in one sweep over blocks of rows, so that N x m logits never exist at once.

    The gradient of the (V, d) weights has rows for targets and competitors alone: they are kept apart until the way
    back, when their scale is known, and the rest is zeroed once and never multiplied.
    """

    @staticmethod
    def forward(  # noqa: PLR0917 - torch passes them by position
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, competitors: Competitors
    ) -> Tensor:
        ids = competitors.ids.to(hidden.device)
        w = weight[ids].to(hidden.dtype)  # (m, d)
        b = bias[ids].float() - competitors.log_inclusion.to(hidden.device)
        column = torch.full((len(bias),), -1, dtype=torch.int64, device=hidden.device)
        column[ids] = torch.arange(len(ids), device=hidden.device)
        n = len(targets)
        d_hidden = torch.empty_like(hidden)
        d_w = torch.zeros(w.shape, dtype=torch.float32, device=hidden.device)
        d_b = torch.zeros(len(ids), device=hidden.device)
        d_own = torch.empty(n, device=hidden.device)
        total = torch.zeros((), dtype=torch.float64, device=hidden.device)
        for start in range(0, n, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            h, y = hidden[rows], targets[rows]
            own_weight = weight[y].to(hidden.dtype)
            own = (h.float() * own_weight.float()).sum(-1) + bias[y]
            logits = (h @ w.T).float().add_(b)
            seen = column[y] >= 0
            logits[seen.nonzero().squeeze(1), column[y][seen]] = -torch.inf  # the target's own term is `own`
            log_z = torch.logaddexp(own, torch.logsumexp(logits, -1))
            total += (log_z - own).sum(dtype=torch.float64)
            p = logits.sub_(log_z.unsqueeze(1)).exp_()
            d_own[rows] = torch.exp(own - log_z) - 1
            p_half = p.to(hidden.dtype)
            d_hidden[rows] = p_half @ w + d_own[rows].unsqueeze(1).to(hidden.dtype) * own_weight
            d_w += p_half.T @ h
            d_b += p.sum(0)
        ctx.sizes = weight.shape, weight.dtype
        ctx.gradients = (hidden, targets, ids, d_hidden, d_own, d_w, d_b)
        return (total / n).float()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        hidden, targets, ids, d_hidden, d_own, d_w, d_b = ctx.gradients
        (vocabulary, width), dtype = ctx.sizes
        scale = (grad / len(targets)).item()
        d_own = d_own * scale
        d_weight = torch.zeros(vocabulary, width, dtype=dtype, device=hidden.device)
        d_bias = torch.zeros(vocabulary, dtype=dtype, device=hidden.device)
        d_weight.index_add_(0, targets, d_own.unsqueeze(1) * hidden.float())
        d_weight.index_add_(0, ids, d_w * scale)
        d_bias.index_add_(0, targets, d_own)
        d_bias.index_add_(0, ids, d_b * scale)
        return d_hidden * scale, d_weight, d_bias, None, None


def joint_loss(language: Tensor, supertag: Tensor | None, alpha: float, normalised: bool) -> Tensor:
    """L_LM + alpha L_CCG (published), or that over 1 + alpha (the released code); L_LM alone without tags."""
    if supertag is None:
        return language
    return (language + alpha * supertag) / ((1 + alpha) if normalised else 1)
