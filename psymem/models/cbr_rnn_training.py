"""The recurrence of the CBR-RNN with a hand-written backward pass, for training.

The same function as :meth:`CueBasedRNN.forward` (a test compares values and gradients), arranged so that each step
costs three matrix products and nothing grows:

- the parts of W_q and W_z that act on e_i are one product for all steps; those that act on h_{i-1} are merged
- keys and values lie in buffers that are written once per step; the backward pass needs no growing concatenation
- weight gradients are one product over all B T rows at the end

Every sentence starts with BOS, as in training; the batch is laid out time first, (T, B, ...).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from psymem.errors import ModelError
from psymem.models.cbr_rnn import CueBasedRNN


def hidden_states(
    model: CueBasedRNN, tokens: Tensor, compute: torch.dtype = torch.float32, *, sparse: bool = False
) -> Tensor:
    """Return h_i for every input, (T, B, d) in `compute` precision, with gradients to all weights.

    Parameters
    ----------
    model
        A CBR-RNN with softmax attention; its dropout applies if it is in training mode.
    tokens
        (B, T) ids; the first of each row is BOS.
    compute
        Precision of the products and the stored activations (bfloat16 where the processor has it).
    sparse
        Whether the embedding's gradient is to be rows alone. Where the output layer shares the embedding's weights and
        gives the whole matrix, they are added to that and there is no second one.

    Raises
    ------
    ModelError
        If the model is an ablation (train that with the plain forward pass) or a row lacks BOS.
    """
    settings = model.settings
    if settings.attention != "softmax" or settings.sharpness != 1.0:
        raise ModelError("The training recurrence is for softmax attention with sharpness 1.")
    if not bool((tokens[:, 0] == settings.bos_id).all()):
        raise ModelError("The training recurrence needs BOS as first input of every sentence.")
    rate = settings.dropout if model.training else 0.0
    embedded = torch.nn.functional.embedding(tokens.T, model.embedding.weight, sparse=sparse)  # (T, B, d)
    blocks = [
        p
        for linear, norm in (
            (model.query, model.query_norm),
            (model.mix, model.mix_norm),
            (model.write, model.write_norm),
        )
        for p in (linear.weight, linear.bias, norm.weight, norm.bias)
    ]
    return _Recurrence.apply(rate, compute, embedded, *blocks)


def _norm_tanh(
    x: Tensor, gain: Tensor, bias: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Tanh LN(x), dropped out; also the tanh before dropout and LayerNorm's mean and 1/sd, for the way back."""
    normed, mean, rstd = torch.native_layer_norm(x, [x.shape[-1]], gain, bias, 1e-5)
    y = normed.tanh_()
    return (y if mask is None else y * mask), y, mean, rstd


def _dropout(mask: Tensor, rate: float) -> Tensor:
    """Fill a mask with 1 / (1 - rate) where a unit stays and 0 where it does not, by 16 random bits a unit."""
    if mask.device.type != "cpu":
        return mask.bernoulli_(1 - rate).div_(1 - rate)
    seed = int(torch.randint(1 << 62, ()))  # the state of torch's generator decides, as for every other draw
    bits = np.random.SFC64(seed).random_raw(-(-mask.numel() // 4)).view(np.uint16)[: mask.numel()]
    stays = torch.from_numpy(bits < round((1 - rate) * 65_536))
    return mask.copy_(stays.view(mask.shape)).div_(1 - rate)


class _Recurrence(torch.autograd.Function):
    """Forward and backward of the recurrence; see the module docstring."""

    @staticmethod
    def forward(ctx: Any, rate: float, compute: torch.dtype, embedded: Tensor, *blocks: Tensor) -> Tensor:  # noqa: PLR0915 - read beside the equations, in their order
        wq, bq, wz, bz, wf, bf = (blocks[i].to(compute) for i in (0, 1, 4, 5, 8, 9))
        gq, cq, gz, cz, gf, cf = (
            blocks[i] for i in (2, 3, 6, 7, 10, 11)
        )  # LayerNorm keeps its own in float32
        t_max, b, d = embedded.shape
        e = embedded.to(compute)
        from_embedding = torch.cat([wq[:, :d], wz[:, :d]])  # (5d, d)
        from_hidden = torch.cat([wq[:, d:], wz[:, 3 * d :]])  # (5d, d)
        from_retrieval = wz[:, d : 3 * d].contiguous()  # (4d, 2d)
        hoisted = torch.addmm(torch.cat([bq, bz]), e.view(-1, d), from_embedding.T).view(t_max, b, 5 * d)
        new = lambda *shape: torch.empty(*shape, dtype=compute, device=e.device)  # noqa: E731
        masks = None if rate == 0.0 else _dropout(new(t_max, b, 8 * d), rate)
        pre_q, pre_z, pre_f = new(t_max, b, d), new(t_max, b, 4 * d), new(t_max, b, 3 * d)
        y_q, y_z, y_f = new(t_max, b, d), new(t_max, b, 4 * d), new(t_max, b, 3 * d)
        qa = new(t_max, b, 2 * d)  # [q_i; a_i], after dropout
        written = new(t_max, b, 3 * d)  # [k_i; v_i; h_i], after dropout
        z_kept = new(t_max, b, 4 * d)
        keys, values = new(b, t_max, d), new(b, t_max, d)
        weights = new(b, t_max, t_max).zero_()
        stats = [torch.empty(t_max, 2, b, 1, device=e.device) for _ in range(3)]
        hidden = new(b, d).zero_()
        for i in range(t_max):
            mask = None if masks is None else masks[i]
            pre = torch.addmm(hoisted[i], hidden, from_hidden.T)
            pre_q[i] = pre[:, :d]
            q, y_q[i], *s = _norm_tanh(pre_q[i], gq, cq, None if mask is None else mask[:, :d])
            stats[0][i, 0], stats[0][i, 1] = s
            qa[i, :, :d] = q
            first = _first_visible(i)
            if i == 0:
                qa[i, :, d:] = 0
            else:
                scores = torch.bmm(keys[:, first:i], q.unsqueeze(2)).squeeze(2).float()
                w = torch.softmax(scores / math.sqrt(d), -1).to(compute)
                weights[:, i, first:i] = w
                qa[i, :, d:] = torch.bmm(w.unsqueeze(1), values[:, first:i]).squeeze(1)
            torch.addmm(pre[:, d:], qa[i], from_retrieval.T, out=pre_z[i])
            z, y_z[i], *s = _norm_tanh(pre_z[i], gz, cz, None if mask is None else mask[:, d : 5 * d])
            stats[1][i, 0], stats[1][i, 1] = s
            z_kept[i] = z
            torch.addmm(bf, z, wf.T, out=pre_f[i])
            f, y_f[i], *s = _norm_tanh(pre_f[i], gf, cf, None if mask is None else mask[:, 5 * d :])
            stats[2][i, 0], stats[2][i, 1] = s
            written[i] = f
            keys[:, i], values[:, i], hidden = f[:, :d], f[:, d : 2 * d], f[:, 2 * d :]
        ctx.saved = (
            e, from_embedding, from_hidden, from_retrieval, wf, (gq, cq), (gz, cz), (gf, cf), masks, pre_q, pre_z, pre_f,
            y_q, y_z, y_f, qa, written, z_kept, keys, values, weights, stats,
        )  # fmt: skip
        return written[..., 2 * d :]

    @staticmethod
    def backward(ctx: Any, grad_hidden: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        (
            e, _, from_hidden, from_retrieval, wf, norm_q, norm_z, norm_f, masks, pre_q, pre_z, pre_f,
            y_q, y_z, y_f, qa, _, _, keys, values, weights, stats,
        ) = ctx.saved  # fmt: skip
        t_max, b, d = e.shape
        compute = e.dtype
        grad_hidden = grad_hidden.to(compute)
        queries = qa[..., :d].transpose(0, 1)  # (B, T, d)
        d_scores = torch.zeros_like(weights)
        d_retrieved = e.new_zeros(b, t_max, d)
        d_hoisted = e.new_empty(t_max, b, 5 * d)
        d_pre_f = e.new_empty(t_max, b, 3 * d)
        d_normed = [torch.empty_like(y) for y in (y_q, y_z, y_f)]
        d_next = e.new_zeros(b, d)
        d_written = e.new_zeros(b, 3 * d)
        for i in reversed(range(t_max)):
            mask = None if masks is None else masks[i]
            later = _later_viewers(i)
            if later < t_max:
                from_later = d_scores[:, later:, i].unsqueeze(1), weights[:, later:, i].unsqueeze(1)
                d_written[:, :d] = torch.bmm(from_later[0], queries[:, later:]).squeeze(1)
                d_written[:, d : 2 * d] = torch.bmm(from_later[1], d_retrieved[:, later:]).squeeze(1)
            else:
                d_written[:, : 2 * d] = 0
            torch.add(grad_hidden[i], d_next, out=d_written[:, 2 * d :])
            d_pre_f[i] = _undo(
                d_written,
                None if mask is None else mask[:, 5 * d :],
                y_f[i],
                pre_f[i],
                stats[2][i],
                norm=norm_f,
                d_normed=d_normed[2][i],
            )
            d_z = d_pre_f[i] @ wf
            d_hoisted[i, :, d:] = _undo(
                d_z,
                None if mask is None else mask[:, d : 5 * d],
                y_z[i],
                pre_z[i],
                stats[1][i],
                norm=norm_z,
                d_normed=d_normed[1][i],
            )
            d_qa = d_hoisted[i, :, d:] @ from_retrieval
            d_q = d_qa[:, :d]
            first = _first_visible(i)
            if i > 0:
                d_retrieved[:, i] = d_qa[:, d:]
                w = weights[:, i, first:i].float()
                d_w = torch.bmm(values[:, first:i], d_qa[:, d:].unsqueeze(2)).squeeze(2).float()
                d_s = (w * (d_w - (w * d_w).sum(-1, keepdim=True)) / math.sqrt(d)).to(compute)
                d_scores[:, i, first:i] = d_s
                d_q = d_q + torch.bmm(d_s.unsqueeze(1), keys[:, first:i]).squeeze(1)
            d_hoisted[i, :, :d] = _undo(
                d_q,
                None if mask is None else mask[:, :d],
                y_q[i],
                pre_q[i],
                stats[0][i],
                norm=norm_q,
                d_normed=d_normed[0][i],
            )
            d_next = d_hoisted[i] @ from_hidden
        return (None, None, *_weight_gradients(ctx.saved, d_hoisted, d_pre_f, d_normed))


def _first_visible(i: int) -> int:
    """First memory that input i may retrieve: BOS (0) for input 1, the first word afterwards."""
    return 0 if i < 2 else 1


def _later_viewers(j: int) -> int:
    """First input from which on memory j is visible; BOS is visible to input 1 alone (its later weights are 0)."""
    return j + 1


def _undo(
    d_out: Tensor,
    mask: Tensor | None,
    y: Tensor,
    pre: Tensor,
    stats: Tensor,
    *,
    norm: tuple[Tensor, Tensor],
    d_normed: Tensor,
) -> Tensor:
    """Gradient at a projection, given that after its dropout; also stores the gradient at LayerNorm's output."""
    d_y = d_out if mask is None else d_out * mask
    torch.ops.aten.tanh_backward.grad_input(d_y, y, grad_input=d_normed)
    return torch.ops.aten.native_layer_norm_backward(
        d_normed, pre, [pre.shape[-1]], stats[0], stats[1], norm[0], norm[1], [True, False, False]
    )[0]


def _weight_gradients(
    saved: tuple, d_hoisted: Tensor, d_pre_f: Tensor, d_normed: list[Tensor]
) -> tuple[Tensor, ...]:
    """Gradients of the embedded input and of all twelve weights, each one product over the B T rows."""
    (
        e, from_embedding, _, _, _, _, _, _, _, pre_q, pre_z, pre_f, _, _, _, qa, written, z_kept, _, _, _, stats,
    ) = saved  # fmt: skip
    t_max, b, d = e.shape
    rows = d_hoisted.view(-1, 5 * d)
    d_embedded = (rows @ from_embedding).float().view(t_max, b, d)
    by_embedding = (rows.T @ e.view(-1, d)).float()
    previous = written[:-1, :, 2 * d :].reshape(-1, d)  # h_{i-1}; zero before the first input
    by_hidden = (d_hoisted[1:].reshape(-1, 5 * d).T @ previous).float()
    by_retrieval = (rows[:, d:].T @ qa.view(-1, 2 * d)).float()
    d_wq = torch.cat([by_embedding[:d], by_hidden[:d]], 1)
    d_wz = torch.cat([by_embedding[d:], by_retrieval, by_hidden[d:]], 1)
    d_wf = (d_pre_f.view(-1, 3 * d).T @ z_kept.view(-1, 4 * d)).float()
    bias = rows.sum(0, dtype=torch.float32)
    norms = [_norm_gradients(n, p, s) for n, p, s in zip(d_normed, (pre_q, pre_z, pre_f), stats, strict=True)]
    return (
        d_embedded,
        *(d_wq, bias[:d], *norms[0]),
        *(d_wz, bias[d:], *norms[1]),
        *(d_wf, d_pre_f.sum((0, 1), dtype=torch.float32), *norms[2]),
    )


def _norm_gradients(d_normed: Tensor, pre: Tensor, stats: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of LayerNorm's gain and bias over all steps."""
    centred = (pre - stats[:, 0]) * stats[:, 1]
    return (d_normed * centred).sum((0, 1), dtype=torch.float32), d_normed.sum((0, 1), dtype=torch.float32)
