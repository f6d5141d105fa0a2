"""Quick ways through a layer of gated cells: torch's fused modules, and a recurrence with its own backward pass.

The same functions as :meth:`psymem.models.gated.GatedLayer.steps` (tests compare values and gradients), without a
record of what happens inside. What makes the recurrence of K components quick:

- W x_t + b of all steps is one product before the first step; a step is one batched product over components
- activations take the place of the projections, so that a step allocates nothing
- the backward pass puts the gradients at the projections in their place, and makes every weight gradient as one
  product over all steps after the last

Arrays are laid out (K, T, B, ...): a component's rows of all steps are one matrix.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

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
        Precision of products and stored activations.

    Returns
    -------
    tuple
        (B, T, K, d) h_t in the precision of the inputs, and the last state.
    """
    hidden, cell = (None if s is None else s.transpose(0, 1).to(compute) for s in state)
    gate = None if freeze is None else freeze.permute(2, 1, 0)[..., None].to(compute)  # (K, T, B, 1)
    given = (
        inputs.transpose(0, 1).to(compute),  # (T, B, n_inputs)
        weights[0].to(compute),
        (weights[2] + weights[3]).to(compute),
        weights[1].to(compute),
        hidden,
        gate,
    )
    if cell is None:
        states = _SimpleRecurrence.apply(*given)
        last_cell = None
    else:
        s = None if scales is None else scales[:, :, None].to(compute)
        states, last_cell = _LongShortRecurrence.apply(*given, cell, s, freezes_hidden)
        last_cell = last_cell.to(inputs.dtype).transpose(0, 1)
    out = states.permute(2, 1, 0, 3).to(inputs.dtype)  # (B, T, K, d)
    return out, (out[:, -1], last_cell)


def _project(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """W x_t + b for all steps: (K, T, B, blocks d)."""
    t_max, b, n = x.shape
    rows = x.reshape(1, t_max * b, n).expand(len(weight), -1, -1)
    return torch.baddbmm(bias[:, None], rows, weight).view(len(weight), t_max, b, -1)


def _weight_gradients(
    x: Tensor, weight: Tensor, states: Tensor, d_projected: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of x_t, W, b and U, each in one product over the T B rows; `states` is h_{t-1}."""
    k, t_max, b, size = d_projected.shape
    rows = d_projected.view(k, t_max * b, size)
    flat = x.reshape(t_max * b, -1)
    d_x = torch.zeros_like(flat)
    for component in range(k):
        d_x.addmm_(rows[component], weight[component].T)
    d_weight = torch.matmul(flat.T, rows)
    d_recurrent = torch.bmm(states.reshape(k, t_max * b, -1).transpose(1, 2), rows)
    return d_x.view(x.shape), d_weight, rows.sum(1), d_recurrent


class _SimpleRecurrence(torch.autograd.Function):
    """h_t = (1-a) tanh(W x_t + U h_{t-1} + b) + a h_{t-1}."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor,
        recurrent: Tensor,
        hidden: Tensor,
        gate: Tensor | None,
    ) -> Tensor:
        update = _project(x, weight, bias)  # becomes m_t
        k, t_max, b, d = update.shape
        states = update.new_empty(k, t_max + 1, b, d)
        states[:, 0] = hidden
        for t in range(t_max):
            m = update[:, t]
            m.baddbmm_(states[:, t], recurrent).tanh_()
            if gate is None:
                states[:, t + 1] = m
            else:
                torch.lerp(m, states[:, t], gate[:, t], out=states[:, t + 1])
        ctx.kept = (x, weight, recurrent, gate, update, states)
        return states[:, 1:]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, weight, recurrent, gate, update, states = ctx.kept
        d_projected, back = torch.empty_like(update), recurrent.transpose(1, 2).contiguous()
        d_gate = torch.empty_like(gate) if gate is not None and ctx.needs_input_grad[5] else None
        d_hidden = torch.zeros_like(states[:, 0])
        for t in reversed(range(update.shape[1])):
            d_hidden = d_hidden + grad[:, t]
            d_update = d_hidden
            if gate is not None:
                d_update = d_hidden * (1 - gate[:, t])
                if d_gate is not None:
                    d_gate[:, t] = (d_hidden * (states[:, t] - update[:, t])).sum(-1, keepdim=True)
            torch.ops.aten.tanh_backward.grad_input(d_update, update[:, t], grad_input=d_projected[:, t])
            kept = 0 if gate is None else gate[:, t] * d_hidden
            d_hidden = torch.bmm(d_projected[:, t], back).add_(kept)
        d_x, d_w, d_b, d_u = _weight_gradients(x, weight, states[:, :-1], d_projected)
        return d_x, d_w, d_b, d_u, d_hidden, d_gate


class _LongShortRecurrence(torch.autograd.Function):
    """LSTM components with freeze gates and the scales of an ELSTM."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor,
        recurrent: Tensor,
        hidden: Tensor,
        gate: Tensor | None,
        cell: Tensor,
        scales: Tensor | None,
        freezes_hidden: bool,
    ) -> tuple[Tensor, Tensor]:
        gates = _project(x, weight, bias)  # becomes [i, f, g, o]
        k, t_max, b, size = gates.shape
        d = size // 4
        states, cells = gates.new_empty(k, t_max + 1, b, d), gates.new_empty(k, t_max + 1, b, d)
        squashed = gates.new_empty(k, t_max, b, d)  # tanh of c_t, or of m_t if h is frozen too
        states[:, 0], cells[:, 0] = hidden, cell
        for t in range(t_max):
            now, before, memory, squash = gates[:, t], cells[:, t], cells[:, t + 1], squashed[:, t]
            now.baddbmm_(states[:, t], recurrent)
            i_f, g, o = (
                now[..., : 2 * d].sigmoid_(),
                now[..., 2 * d : 3 * d].tanh_(),
                now[..., 3 * d :].sigmoid_(),
            )
            torch.mul(i_f[..., d:], before, out=memory)
            if scales is None:
                memory.addcmul_(i_f[..., :d], g)
            else:
                memory.addcmul_(i_f[..., :d] * scales[:, t], g)
            if freezes_hidden:
                torch.tanh(memory, out=squash)
            if gate is not None:
                memory.lerp_(before, gate[:, t])
            if not freezes_hidden:
                torch.tanh(memory, out=squash)
            torch.mul(o, squash, out=states[:, t + 1])
            if freezes_hidden and gate is not None:
                states[:, t + 1].lerp_(states[:, t], gate[:, t])
        ctx.kept = (x, weight, recurrent, gate, scales, gates, states, cells, squashed)
        ctx.freezes_hidden = freezes_hidden
        return states[:, 1:], cells[:, -1].clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, weight, recurrent, gate, scales, gates, states, cells, squashed = ctx.kept
        d = states.shape[-1]
        d_projected, back = torch.empty_like(gates), recurrent.transpose(1, 2).contiguous()
        d_gate = torch.empty_like(gate) if gate is not None and ctx.needs_input_grad[5] else None
        d_scales = torch.empty_like(scales) if scales is not None else None
        d_hidden, d_cell = torch.zeros_like(states[:, 0]), d_last.clone()
        for t in reversed(range(gates.shape[1])):
            i, f, g, o = gates[:, t].split(d, -1)
            a, before, squash = None if gate is None else gate[:, t], cells[:, t], squashed[:, t]
            out = d_projected[:, t]
            d_hidden.add_(grad[:, t])
            d_new = d_hidden  # at o tanh(.)
            kept: Tensor | float = 0.0  # what reaches h_{t-1} around the cell
            if ctx.freezes_hidden and a is not None:
                d_new, kept = d_hidden * (1 - a), d_hidden * a
                if d_gate is not None:
                    d_gate[:, t] = (d_hidden * (states[:, t] - o * squash)).sum(-1, keepdim=True)
            torch.ops.aten.sigmoid_backward.grad_input(d_new * squash, o, grad_input=out[..., 3 * d :])
            through = torch.ops.aten.tanh_backward(d_new * o, squash)
            if not ctx.freezes_hidden:
                d_cell.add_(through)
            if a is None:
                d_update = d_cell
            else:
                d_update = d_cell * (1 - a)
                if d_gate is not None:
                    written = i * g if scales is None else i * g * scales[:, t]
                    slope = (d_cell * (before - (f * before).add_(written))).sum(-1, keepdim=True)
                    d_gate[:, t] = d_gate[:, t] + slope if ctx.freezes_hidden else slope
            if ctx.freezes_hidden:
                d_update = d_update + through
            d_write = d_update if scales is None else d_update * scales[:, t]
            if d_scales is not None:
                d_scales[:, t] = (d_update * i * g).sum(1, keepdim=True)
            torch.ops.aten.sigmoid_backward.grad_input(d_write * g, i, grad_input=out[..., :d])
            torch.ops.aten.sigmoid_backward.grad_input(d_update * before, f, grad_input=out[..., d : 2 * d])
            torch.ops.aten.tanh_backward.grad_input(d_write * i, g, grad_input=out[..., 2 * d : 3 * d])
            d_cell = d_update * f if a is None else (d_update * f).addcmul_(d_cell, a)
            d_hidden = torch.bmm(out, back).add_(kept)
        d_x, d_w, d_b, d_u = _weight_gradients(x, weight, states[:, :-1], d_projected)
        return d_x, d_w, d_b, d_u, d_hidden, d_gate, d_cell, d_scales, None
