"""The way back through one step of LSTM components with freeze gates and the scales of an ELSTM."""

from __future__ import annotations

import torch
from torch import Tensor

tanh_backward, sigmoid_backward = torch.ops.aten.tanh_backward, torch.ops.aten.sigmoid_backward


def slope_of_gate(gradient: Tensor, towards: Tensor) -> Tensor:
    """(B, K): gradient of a gate, given that at what it mixes (K, B, d) and the difference it makes."""
    return (gradient * towards).sum(-1).T


class LongShortStep:
    """The way back through one step of LSTM components.

    Parameters
    ----------
    gates, squash
        i, f, g, o (4, K, B, d), and tanh of c_t, or of m_t if h is frozen too.
    before
        c_{t-1} and h_{t-1}, (K, B, d) each.
    a, s
        Freeze gate (K, B, 1) and scale (K, 1, d), or None.
    freezes_hidden
        Whether h is frozen too.
    """

    def __init__(
        self,
        gates: Tensor,
        before: tuple[Tensor, Tensor],
        squash: Tensor,
        a: Tensor | None,
        s: Tensor | None,
        *,
        freezes_hidden: bool,
    ) -> None:
        self.gates, self.squash, self.a, self.s = gates, squash, a, s
        self.cell, self.hidden, self.freezes_hidden = *before, freezes_hidden

    def backward(self, d_hidden: Tensor, d_cell: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return gradients at the products and at c_{t-1}, and what reaches h_{t-1} around the cell."""
        (i, f, g, o), a = self.gates, self.a
        d_new, around = d_hidden, None
        if self.freezes_hidden and a is not None:
            d_new, around = d_hidden * (1 - a), d_hidden * a
        through = tanh_backward(d_new * o, self.squash)
        if not self.freezes_hidden:
            d_cell = d_cell + through
        d_update = d_cell if a is None else d_cell * (1 - a)  # at m_t
        if self.freezes_hidden:
            d_update = d_update + through
        d_write = d_update if self.s is None else d_update * self.s
        at = torch.empty_like(self.gates)
        sigmoid_backward.grad_input(d_write * g, i, grad_input=at[0])
        sigmoid_backward.grad_input(d_update * self.cell, f, grad_input=at[1])
        tanh_backward.grad_input(d_write * i, g, grad_input=at[2])
        sigmoid_backward.grad_input(d_new * self.squash, o, grad_input=at[3])
        self.d_hidden, self.d_cell, self.d_update = d_hidden, d_cell, d_update
        d_before = d_update * f
        return at, (d_before if a is None else d_before.addcmul_(d_cell, a)), around

    def d_gate(self) -> Tensor:
        """(B, K): gradient at a_t, after `backward`."""
        i, f, g, o = self.gates
        update = torch.addcmul(f * self.cell, i if self.s is None else i * self.s, g)
        slope = slope_of_gate(self.d_cell, self.cell - update)
        if self.freezes_hidden:
            slope = slope + slope_of_gate(self.d_hidden, self.hidden - o * self.squash)
        return slope

    def d_scale(self) -> Tensor:
        """(K, d): gradient at s_t, after `backward`."""
        return (self.d_update * self.gates[0] * self.gates[2]).sum(1)
