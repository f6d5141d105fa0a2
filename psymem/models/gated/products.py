"""The matrix products of a recurrence of K components, forwards and backwards, in whichever precision is quick."""

from __future__ import annotations

import torch
from torch import Tensor


class RecurrentProducts:
    """The products of a recurrence: [x_t; 1; h_{t-1}] times [W; b; U], and back.

    Parameters
    ----------
    x, packed, hidden
        (B, T, n) inputs, (K, n + 1 + d, blocks d) weights, (B, K, d) first h.
    compute
        Precision.
    keeps
        Whether there will be a way back, which needs every step's factors.
    """

    def __init__(self, x: Tensor, packed: Tensor, hidden: Tensor, compute: torch.dtype, keeps: bool) -> None:
        self.x, self.weight, self.keeps = x, packed.to(compute), keeps
        self.n, self.shape = x.shape[2], (*x.shape[:2], *hidden.shape[1:])  # B, T, K, d
        slots = x.shape[1] + 1 if keeps else 1
        self.factors = self.weight.new_ones(len(packed), slots, len(x), packed.shape[1])
        if keeps:
            self.factors[:, :-1, :, : self.n] = x.transpose(0, 1)
        self.put(-1, hidden.transpose(0, 1))

    def put(self, t: int, hidden: Tensor) -> None:
        """Take h_t (K, B, d) for the next step."""
        self.factors[:, t + 1 if self.keeps else 0, :, self.n + 1 :] = hidden

    def forward(self, t: int, weight: Tensor) -> Tensor:
        """Return W x_t + b + U h_{t-1}: (blocks, K, B, d)."""
        if not self.keeps:
            self.factors[:, 0, :, : self.n] = self.x[:, t]
        product = torch.bmm(self.factors[:, t if self.keeps else 0], weight)
        return product.unflatten(-1, (-1, self.shape[-1])).permute(2, 0, 1, 3)

    def way_back(self, needs_x: bool) -> None:
        """Make room for the gradients."""
        b, t_max, k, _ = self.shape
        self.transposed = self.weight.transpose(1, 2).contiguous()
        self.d_products = self.weight.new_empty(k, t_max, b, self.weight.shape[2])
        self.d_x = torch.empty_like(self.x) if needs_x else None

    def backward(self, t: int, gradient: Tensor) -> Tensor:
        """Return the gradient of h_{t-1} (K, B, d), given that at the product (blocks, K, B, d)."""
        at = self.d_products[:, t]
        at.unflatten(-1, (-1, self.shape[-1])).copy_(gradient.permute(1, 2, 0, 3))
        d_factors = torch.bmm(at, self.transposed)
        if self.d_x is not None:
            torch.sum(d_factors[..., : self.n], 0, dtype=self.x.dtype, out=self.d_x[:, t])
        return d_factors[..., self.n + 1 :]

    def weight_gradient(self, like: Tensor) -> Tensor:
        """Return the gradient of [W; b; U], one product over the rows of all steps."""
        rows = self.factors[:, :-1].flatten(1, 2)
        return torch.bmm(rows.transpose(1, 2), self.d_products.flatten(1, 2)).to(like.dtype)


def tanh_(x: Tensor) -> Tensor:
    """Tanh in place as 2 sigma(2x) - 1, of which processors make quicker work."""
    return x.mul_(2).sigmoid_().mul_(2).sub_(1)
