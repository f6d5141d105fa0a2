"""Quick ways through a layer of gated cells: torch's fused modules, and a recurrence with its own backward pass.

The same functions as :meth:`psymem.models.gated.cells.GatedLayer.steps` (tests compare values and gradients), without a
record of what happens inside. What makes the recurrence of K components quick:

- a step is one product, [x_t; 1; h_{t-1}] times [W; b; U], of all components at once; in bfloat16 where the processor
  has it, everything else in single precision
- what a step makes is written where it stays, each gate in one piece
- the backward pass makes the gradient of [W; b; U] as one product over all steps after the last

A layer that is not trained keeps one step only.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from psymem.models.gated.long_short_gradient import LongShortStep, slope_of_gate
from psymem.models.gated.products import RecurrentProducts, tanh_

State = tuple[Tensor, Tensor | None]
Weights = tuple[Tensor, Tensor, Tensor, Tensor]


def fused_states(
    cell: str, inputs: Tensor, state: State, weights: Weights, compute: torch.dtype = torch.float32
) -> tuple[Tensor, State]:
    """Run one ordinary layer (K = 1) by torch's own nn.RNN, nn.LSTM or nn.GRU.

    Parameters
    ----------
    cell
        "srn", "lstm" or "gru" (with the reset gate after the product).
    inputs, state
        (B, T, n_inputs), and h and c (B, 1, d).
    weights
        W (1, n_inputs, blocks d), U (1, d, blocks d), and the two biases (1, blocks d).
    compute
        Precision of the whole computation.

    Returns
    -------
    tuple
        (B, T, 1, d) h_t in the precision of the inputs, and the last state.
    """
    kind = inputs.dtype
    hidden, memory = (
        None if s is None else s.transpose(0, 1).to(compute).contiguous() for s in state
    )  # (1, B, d)
    assert hidden is not None
    inputs = inputs.to(compute)
    flat = _in_one_piece(
        [w.to(compute) for w in (weights[0][0].T, weights[1][0].T, weights[2][0], weights[3][0])]
    )
    shared = (
        flat,
        True,
        1,
        0.0,
        False,
        False,
        True,
    )  # biases, layers, dropout, training, directions, batch first
    if memory is not None:
        out, last, last_memory = torch.lstm(inputs, (hidden, memory), *shared)
        return out[:, :, None].to(kind), (last.transpose(0, 1).to(kind), last_memory.transpose(0, 1).to(kind))
    out, last = (torch.gru if cell == "gru" else torch.rnn_tanh)(inputs, hidden, *shared)
    return out[:, :, None].to(kind), (last.transpose(0, 1).to(kind), None)


def _in_one_piece(weights: list[Tensor]) -> list[Tensor]:
    """Copy weights behind each other, as a GPU's library wants them."""
    piece = torch.cat([w.reshape(-1) for w in weights])
    parts = piece.split([w.numel() for w in weights])
    return [p.view(w.shape) for p, w in zip(parts, weights, strict=True)]


def recurrent_states(
    inputs: Tensor,
    state: State,
    freeze: Tensor | None,
    weights: Weights,
    scales: Tensor | None = None,
    *,
    freezes_hidden: bool = False,
    compute: torch.dtype = torch.float32,
) -> tuple[Tensor, State]:
    """Run a layer of SRN (state without c) or LSTM components with the hand-written backward pass.

    Parameters
    ----------
    inputs, state, weights
        As for `fused_states`, with K components.
    freeze
        (B, T, K) a_t, or None.
    scales
        (K, T, d) s_t of an ELSTM, or None.
    freezes_hidden
        Whether an LSTM's h is frozen too.
    compute
        Precision of the products; everything else is in that of the inputs.

    Returns
    -------
    tuple
        (B, T, K, d) h_t, and the last state.
    """
    packed = torch.cat([weights[0], (weights[2] + weights[3])[:, None], weights[1]], 1)  # [W; b; U]
    hidden, cell = state
    keeps = torch.is_grad_enabled()
    if cell is None:
        out = _SimpleRecurrence.apply(inputs, packed, hidden, freeze, compute, keeps)
        return out, (out[:, -1], None)
    out, last = _LongShortRecurrence.apply(
        inputs, packed, hidden, cell, freeze, scales, freezes_hidden, compute, keeps
    )
    return out, (out[:, -1], last)


def _gate_at(gate: Tensor | None, t: int) -> Tensor | None:
    """(K, B, 1): a_t."""
    return None if gate is None else gate[:, t].T[..., None]


class _SimpleRecurrence(torch.autograd.Function):
    """h_t = (1-a) tanh(W x_t + U h_{t-1} + b) + a h_{t-1}."""

    @staticmethod
    def forward(  # noqa: PLR0917 - torch passes them by position
        ctx: Any,
        x: Tensor,
        packed: Tensor,
        hidden: Tensor,
        gate: Tensor | None,
        compute: torch.dtype,
        keeps: bool,
    ) -> Tensor:
        products = RecurrentProducts(x, packed, hidden, compute, keeps)
        b, t_max, k, d = products.shape
        updates = x.new_empty(t_max if keeps else 1, k, b, d)
        out = x.new_empty(b, t_max, k, d)
        before = hidden.transpose(0, 1)
        for t in range(t_max):
            update, now = updates[t if keeps else 0], out[:, t].transpose(0, 1)
            tanh_(update.copy_(products.forward(t, products.weight)[0]))
            a = _gate_at(gate, t)
            now.copy_(update if a is None else torch.lerp(update, before, a))
            products.put(t, now)
            before = now
        ctx.kept = (packed, hidden, gate, products, updates, out.detach())
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        packed, hidden, gate, products, updates, out = ctx.kept
        products.way_back(ctx.needs_input_grad[0])
        d_gate = torch.empty_like(gate) if ctx.needs_input_grad[3] else None
        d_hidden = torch.zeros_like(updates[0])
        for t in reversed(range(out.shape[1])):
            d_hidden = d_hidden + grad[:, t].transpose(0, 1)
            a, d_update = _gate_at(gate, t), d_hidden
            if a is not None:
                d_update = d_hidden * (1 - a)
                if d_gate is not None:
                    before = (hidden if t == 0 else out[:, t - 1]).transpose(0, 1)
                    d_gate[:, t] = slope_of_gate(d_hidden, before - updates[t])
            back = products.backward(t, torch.ops.aten.tanh_backward(d_update, updates[t])[None])
            d_hidden = back if a is None else torch.addcmul(back.to(a.dtype), d_hidden, a)
        d_hidden = d_hidden.to(grad.dtype).transpose(0, 1)
        return products.d_x, products.weight_gradient(packed), d_hidden, d_gate, None, None


class _LongShortRecurrence(torch.autograd.Function):
    """LSTM components with freeze gates and the scales of an ELSTM."""

    @staticmethod
    def forward(  # noqa: PLR0917 - torch passes them by position
        ctx: Any,
        x: Tensor,
        packed: Tensor,
        hidden: Tensor,
        cell: Tensor,
        gate: Tensor | None,
        scales: Tensor | None,
        freezes_hidden: bool,
        compute: torch.dtype,
        keeps: bool,
    ) -> tuple[Tensor, Tensor]:
        products = RecurrentProducts(x, packed, hidden, compute, keeps)
        b, t_max, k, d = products.shape
        doubled = products.weight.clone()  # for tanh(g) = 2 sigma(2g) - 1
        doubled[..., 2 * d : 3 * d] *= 2
        rows = t_max if keeps else 1
        gates = x.new_empty(rows, 4, k, b, d)
        squashed = x.new_empty(rows, k, b, d)  # tanh of c_t, or of m_t if h is frozen too
        cells = x.new_empty(rows + 1, k, b, d)
        cells[0] = cell.transpose(0, 1)
        out = x.new_empty(b, t_max, k, d)
        before = hidden.transpose(0, 1)
        for t in range(t_max):
            at = t if keeps else 0
            a, now = _gate_at(gate, t), out[:, t].transpose(0, 1)
            i, f, g, o = gates[at].copy_(products.forward(t, doubled)).sigmoid_()
            g.mul_(2).sub_(1)
            memory, squash = cells[at + 1], squashed[at]
            torch.mul(f, cells[at], out=memory)
            memory.addcmul_(i if scales is None else i * scales[:, t, None], g)
            if freezes_hidden:
                tanh_(squash.copy_(memory))
            if a is not None:
                memory.lerp_(cells[at], a)
            if not freezes_hidden:
                tanh_(squash.copy_(memory))
            torch.mul(o, squash, out=now)
            if freezes_hidden and a is not None:
                now.lerp_(before, a)
            products.put(t, now)
            before = now
            if not keeps:
                cells[0] = memory
        ctx.kept = (packed, hidden, gate, scales, products, gates, cells, squashed, out.detach())
        ctx.freezes_hidden = freezes_hidden
        return out, cells[-1].transpose(0, 1).clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        packed, hidden, gate, scales, products, gates, cells, squashed, out = ctx.kept
        products.way_back(ctx.needs_input_grad[0])
        d_gate = torch.empty_like(gate) if ctx.needs_input_grad[4] else None
        d_scales = torch.empty_like(scales) if scales is not None else None
        d_hidden, d_cell = torch.zeros_like(cells[0]), d_last.transpose(0, 1)
        for t in reversed(range(out.shape[1])):
            before = (hidden if t == 0 else out[:, t - 1]).transpose(0, 1)
            d_hidden = d_hidden + grad[:, t].transpose(0, 1)
            step = LongShortStep(
                gates[t],
                (cells[t], before),
                squashed[t],
                _gate_at(gate, t),
                None if scales is None else scales[:, t, None],
                freezes_hidden=ctx.freezes_hidden,
            )
            d_products, d_cell, around = step.backward(d_hidden, d_cell)
            if d_gate is not None:
                d_gate[:, t] = step.d_gate()
            if d_scales is not None:
                d_scales[:, t] = step.d_scale()
            back = products.backward(t, d_products)
            d_hidden = back if around is None else back + around
        d_hidden, d_cell = (d.to(grad.dtype).transpose(0, 1) for d in (d_hidden, d_cell))
        d_packed = products.weight_gradient(packed)
        return products.d_x, d_packed, d_hidden, d_cell, d_gate, d_scales, None, None, None
