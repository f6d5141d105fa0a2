"""One gated recurrent core: SRN, LSTM, GRU and ELSTM, and the fixation-guided FGP and FGL built from them.

A layer has K components of width d with recurrences of their own; all read the same input x_t. A freeze gate a_t
(one number per component, 1 = keep the old state) says how much of each is updated. With m_t for a cell's update:

    SRN    m_t = tanh( W x_t + U h_{t-1} + b )                                  h_t = (1-a) m_t + a h_{t-1}
    LSTM   i, f, o = sigma(.), g = tanh(.) of W x_t + U h_{t-1} + b
           m_t = f c_{t-1} + s i g          c_t = (1-a) m_t + a c_{t-1}         h_t = o tanh(c_t)
    GRU    r, z = sigma(.), n = tanh( W x_t + r (U h_{t-1} + b) )
           m_t = z h_{t-1} + (1-z) n                                            h_t = (1-a) m_t + a h_{t-1}

- FGP (fixation-guided, parallel): K components, one number a^k each. Only an LSTM's cell is frozen; its h_t is made
  anew from o_t. The output is [h^1; ...; h^K]; with more layers, the next one reads a projection of it to d.
- FGL (fixation-guided, layered): K = 1, one number a^l per layer, and an LSTM's h_t is frozen like its cell: h_t =
  (1-a) o tanh(m_t) + a h_{t-1}. The output is [h^(1); ...; h^(L)].
- ELSTM: s = S[t mod T_s], a trained vector for each step of a cycle that starts with the sentence. s = 1 is LSTM.
- K = 1, a = 0 and s = 1 are the ordinary cells.

"Longer Fixations, More Computation: Gaze-Guided Recurrent Neural Networks", Findings of EMNLP 2023, Eqs. 1-18; Su
(2019), Eqs. 2.3-2.19, 3.19-3.25. In all of them but the SRN what is remembered is x_t = F_t x_{t-1} + I_t (c of an
LSTM, h of a GRU) with F = (1-a) f + a and I = (1-a) s i g, or f = z and i g = (1-z) n: `StepRecord`.

`GatedLayer` states the equations step by step. What is trained or scored without looking inside takes one of two
quicker ways to the same numbers: torch's own modules for the ordinary cells, `psymem.models.gated.recurrence` for
the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from psymem.errors import ModelError
from psymem.models.gated.recurrence import fused_states, recurrent_states

BLOCKS = {"srn": 1, "lstm": 4, "elstm": 4, "gru": 3}
"""Width of a cell's projections in multiples of d: (m), (i, f, g, o), (r, z, n); torch's order."""
Guided = Literal["components", "layers"]


@dataclass(frozen=True)
class RecurrentState:
    """What is carried from one call to the next.

    Attributes
    ----------
    hidden, cell
        (L, B, K, d) h and c of every layer; `cell` is None for cells without one.
    t
        Steps since the state was zero; the ELSTM's place in its cycle.
    predictor
        State of a fixation predictor that reads along.
    """

    hidden: Tensor
    cell: Tensor | None
    t: int = 0
    predictor: RecurrentState | None = None

    def detach(self) -> RecurrentState:
        """Return the same numbers, cut off from their history (truncated backpropagation through time)."""
        return RecurrentState(
            self.hidden.detach(),
            None if self.cell is None else self.cell.detach(),
            self.t,
            None if self.predictor is None else self.predictor.detach(),
        )


@dataclass(frozen=True)
class StepRecord:
    """What happened inside one layer at every step, each (B, T, K, d).

    Attributes
    ----------
    hidden, cell
        h_t and c_t (None without a cell).
    retain, write
        F_t and I_t: memory m_t = F_t m_{t-1} + I_t, exactly; None for the SRN, which has no such form.
    initial
        (B, K, d): c_0, or h_0 of a cell without c.
    """

    hidden: Tensor
    cell: Tensor | None
    retain: Tensor | None
    write: Tensor | None
    initial: Tensor

    @property
    def memory(self) -> Tensor:
        """(B, T, K, d): c_t, or h_t of a cell without c."""
        return self.hidden if self.cell is None else self.cell


class GatedLayer(nn.Module):
    """K components of one kind of cell.

    Parameters
    ----------
    cell
        "srn", "lstm", "elstm" or "gru".
    n_inputs, width, components
        Size of x_t; d; K.
    freezes_hidden
        Whether the gate freezes an LSTM's h as well as its c (FGL), not c alone (FGP).
    time_steps
        T_s, length of an ELSTM's cycle.
    reset_after
        Whether a GRU's r acts on U h + b (as in torch) or on h before it (Cho et al., Su).
    forget_bias
        What a forget gate's bias starts with, beside noise.
    """

    def __init__(
        self,
        cell: str,
        n_inputs: int,
        width: int,
        components: int = 1,
        *,
        freezes_hidden: bool = False,
        time_steps: int = 3,
        reset_after: bool = True,
        forget_bias: float = 0.0,
    ) -> None:
        super().__init__()
        if cell not in BLOCKS:
            raise ModelError(f"cell={cell!r} is not known; expected one of {', '.join(BLOCKS)}.")
        self.cell, self.width, self.components = cell, width, components
        self.freezes_hidden, self.reset_after, self.forget_bias = freezes_hidden, reset_after, forget_bias
        size = BLOCKS[cell] * width
        self.input_weight = nn.Parameter(torch.empty(components, n_inputs, size))
        self.recurrent_weight = nn.Parameter(torch.empty(components, width, size))
        self.input_bias = nn.Parameter(torch.empty(components, size))
        self.recurrent_bias = nn.Parameter(torch.empty(components, size))  # two, so that counts match torch's
        self.time_scale = (
            nn.Parameter(torch.empty(components, time_steps, width)) if cell == "elstm" else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all from U(-1/sqrt d, 1/sqrt d), as torch does; S starts at 1."""
        bound = 1 / math.sqrt(self.width)
        for weight in (self.input_weight, self.recurrent_weight, self.input_bias, self.recurrent_bias):
            nn.init.uniform_(weight, -bound, bound)
        if self.time_scale is not None:
            nn.init.ones_(self.time_scale)
        if self.forget_bias:
            with torch.no_grad():
                self.input_bias[:, self.width : 2 * self.width] += self.forget_bias

    @property
    def has_cell(self) -> bool:
        """Whether there is a c beside h."""
        return self.cell in ("lstm", "elstm")

    def zero_state(self, batch: int) -> tuple[Tensor, Tensor | None]:
        """(B, K, d) each."""
        zero = self.input_weight.new_zeros(batch, self.components, self.width)
        return zero, (zero if self.has_cell else None)

    def scales(self, start: int, length: int) -> Tensor | None:
        """(K, T, d): s of each step, the first of which is number `start` (from 0) since the state was zero."""
        if self.time_scale is None:
            return None
        steps = torch.arange(start, start + length, device=self.time_scale.device)
        return self.time_scale[:, steps % self.time_scale.shape[1]]

    def forward(
        self,
        inputs: Tensor,
        state: tuple[Tensor, Tensor | None] | None = None,
        freeze: Tensor | None = None,
        *,
        start: int = 0,
        compute: torch.dtype | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor | None]]:
        """Read T inputs the quickest way there is.

        Parameters
        ----------
        inputs
            (B, T, n_inputs).
        state
            h and c (B, K, d) to start from; zero by default.
        freeze
            (B, T, K) a_t; None for 0.
        start
            Steps since the state was zero.
        compute
            Precision of the products, where the layer's own backward pass is used; that of the weights by
            default.

        Returns
        -------
        tuple
            (B, T, K, d) h_t, and the state after the last step.
        """
        state = self.zero_state(len(inputs)) if state is None else state
        weights = (self.input_weight, self.recurrent_weight, self.input_bias, self.recurrent_bias)
        if self.components == 1 and freeze is None and self._is_torchs():
            return fused_states(self.cell, inputs, state, weights, compute or inputs.dtype)
        if self.cell != "gru":
            return recurrent_states(
                inputs,
                state,
                freeze,
                weights,
                self.scales(start, inputs.shape[1]),
                freezes_hidden=self.freezes_hidden,
                compute=compute or inputs.dtype,
            )
        record, state = self.steps(inputs, state, freeze, start=start)
        return record.hidden, state

    def _is_torchs(self) -> bool:
        return self.cell in ("srn", "lstm") or (self.cell == "gru" and self.reset_after)

    def steps(
        self,
        inputs: Tensor,
        state: tuple[Tensor, Tensor | None] | None = None,
        freeze: Tensor | None = None,
        *,
        start: int = 0,
    ) -> tuple[StepRecord, tuple[Tensor, Tensor | None]]:
        """Read T inputs step by step, as in the module docstring, and keep everything; see `forward`."""
        hidden, cell = self.zero_state(len(inputs)) if state is None else state
        hidden = hidden.transpose(0, 1)  # (K, B, d)
        cell = None if cell is None else cell.transpose(0, 1)
        initial = hidden if cell is None else cell
        projected = torch.einsum("bti,kig->tkbg", inputs, self.input_weight) + self.input_bias[:, None]
        scales = self.scales(start, inputs.shape[1])
        rows = []
        for t in range(inputs.shape[1]):
            a = 0.0 if freeze is None else freeze[:, t].T[..., None]  # (K, B, 1)
            s = 1.0 if scales is None else scales[:, t, None]  # (K, 1, d)
            if self.cell == "srn":
                hidden, retain, write = self._srn_step(projected[t], hidden, a), None, None
            elif self.cell == "gru":
                hidden, retain, write = self._gru_step(projected[t], hidden, a)
            else:
                assert cell is not None
                hidden, cell, retain, write = self._lstm_step(projected[t], hidden, cell, a, s)
            rows.append((hidden, cell, retain, write))
        h, c, retained, written = (_stack(column) for column in zip(*rows, strict=True))
        assert h is not None
        final = hidden.transpose(0, 1), None if cell is None else cell.transpose(0, 1)
        return StepRecord(h, c, retained, written, initial.transpose(0, 1)), final

    def _recur(self, hidden: Tensor) -> Tensor:
        """U h + b: (K, B, blocks d)."""
        return torch.baddbmm(self.recurrent_bias[:, None], hidden, self.recurrent_weight)

    def _srn_step(self, projected: Tensor, hidden: Tensor, a: Tensor | float) -> Tensor:
        update = torch.tanh(projected + self._recur(hidden))
        return (1 - a) * update + a * hidden

    def _lstm_step(
        self, projected: Tensor, hidden: Tensor, cell: Tensor, a: Tensor | float, s: Tensor | float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return h, c, F and I."""
        i, f, g, o = (projected + self._recur(hidden)).chunk(4, -1)  # (K, B, d) each
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        retain, write = (1 - a) * f + a, (1 - a) * s * i * g
        new_cell = retain * cell + write
        if not self.freezes_hidden:
            return o * new_cell.tanh(), new_cell, retain, write
        update = f * cell + s * i * g
        return (1 - a) * o * update.tanh() + a * hidden, new_cell, retain, write

    def _gru_step(
        self, projected: Tensor, hidden: Tensor, a: Tensor | float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return h, F and I."""
        d = self.width
        recurrent = self._recur(hidden)
        r, z = (projected + recurrent)[..., : 2 * d].sigmoid().chunk(2, -1)
        if self.reset_after:
            n = torch.tanh(projected[..., 2 * d :] + r * recurrent[..., 2 * d :])
        else:
            bias, weight = self.recurrent_bias[:, None, 2 * d :], self.recurrent_weight[..., 2 * d :]
            n = torch.tanh(projected[..., 2 * d :] + torch.baddbmm(bias, r * hidden, weight))
        retain, write = (1 - a) * z + a, (1 - a) * (1 - z) * n
        return retain * hidden + write, retain, write


def _stack(steps: tuple[Tensor | None, ...]) -> Tensor | None:
    """Stack T arrays (K, B, d) to (B, T, K, d)."""
    if steps[0] is None:
        return None
    return torch.stack([s for s in steps if s is not None], 2).permute(1, 2, 0, 3)
