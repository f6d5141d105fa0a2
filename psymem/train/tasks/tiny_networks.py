"""Many tiny recurrent networks read and learn side by side: SRN, LSTM, ELSTM and GRU cells in numpy.

For networks of a unit or two, whose arithmetic is nothing beside the cost of starting an operation: R networks with
weights of their own go through every step together, and gradients are written out. Arrays are (T, R, B, features): step,
network, string, feature. Equations as in `psymem.models.gated.cells`, with one bias; a GRU's reset gate acts on the state
before the weights (Cho et al., 2014; Su, 2019).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np


@dataclass
class Record:
    """What happened at every step, each (T, R, B, N).

    Attributes
    ----------
    hidden, memory
        h_t, and c_t of an LSTM (h_t of the others).
    retain, write
        F_t and I_t of ``memory_t = F_t memory_(t-1) + I_t``; None for an SRN.
    gates
        Further activations that the way back needs.
    """

    hidden: np.ndarray
    memory: np.ndarray
    retain: np.ndarray | None = None
    write: np.ndarray | None = None
    gates: tuple[np.ndarray, ...] = ()


@dataclass
class Gradients:
    """Of the loss: by the inputs (T, R, B, G N), the recurrent weights (R, N, G N) and the scales (T, R, N)."""

    inputs: np.ndarray
    recurrent: np.ndarray
    scales: np.ndarray | None = None


class Cell(ABC):
    """One kind of cell; G is the number of blocks of its weights."""

    blocks: int

    @abstractmethod
    def read(self, inputs: np.ndarray, recurrent: np.ndarray, scales: np.ndarray) -> Record:
        """Read from an empty state.

        Parameters
        ----------
        inputs
            (T, R, B, G N): ``W x + b``.
        recurrent
            (R, N, G N): U.
        scales
            (T, R, N): s of an ELSTM, 1 for other cells, which do not look at it.
        """

    @abstractmethod
    def back(
        self, record: Record, recurrent: np.ndarray, scales: np.ndarray, wanted: np.ndarray
    ) -> Gradients:
        """Return gradients, given those by h_t that come from outside (`wanted`, (T, R, B, N))."""


class SRN(Cell):
    """``h = tanh(W x + U h + b)``."""

    blocks = 1

    def read(self, inputs: np.ndarray, recurrent: np.ndarray, scales: np.ndarray) -> Record:
        """See `Cell.read`."""
        hidden = np.empty_like(inputs)
        before = np.zeros_like(inputs[0])
        for t in range(len(inputs)):
            before = np.tanh(inputs[t] + before @ recurrent, out=hidden[t])
        return Record(hidden, hidden)

    def back(
        self, record: Record, recurrent: np.ndarray, scales: np.ndarray, wanted: np.ndarray
    ) -> Gradients:
        """See `Cell.back`."""
        slope = 1 - record.hidden**2
        inner, turned = np.empty_like(slope), recurrent.swapaxes(-1, -2)
        by_hidden = np.zeros_like(slope[0])
        for t in reversed(range(len(slope))):
            by_hidden = np.multiply(by_hidden + wanted[t], slope[t], out=inner[t]) @ turned
        return Gradients(inner, _by_weights(_shifted(record.hidden), inner))


class LSTM(Cell):
    """``c = f c + s i g``, ``h = o tanh(c)``; blocks i, f, g, o. With s of its own it is an ELSTM."""

    blocks = 4

    def read(self, inputs: np.ndarray, recurrent: np.ndarray, scales: np.ndarray) -> Record:
        """See `Cell.read`."""
        n = recurrent.shape[1]
        # sigmoid(x) = (1 + tanh(x / 2)) / 2, so that one call does all four blocks
        half = np.repeat([0.5, 0.5, 1.0, 0.5], n)
        shift = np.repeat([0.5, 0.5, 0.0, 0.5], n)
        hidden, memory, retain, write = (np.empty((*inputs.shape[:-1], n)) for _ in range(4))
        squashed = np.empty_like(memory)
        gates = np.empty_like(inputs)
        h = c = np.zeros_like(memory[0])
        for t in range(len(inputs)):
            gate = np.tanh((inputs[t] + h @ recurrent) * half, out=gates[t])
            gate *= half
            gate += shift
            retain[t] = gate[..., n : 2 * n]
            np.multiply(gate[..., :n] * scales[t][:, None], gate[..., 2 * n : 3 * n], out=write[t])
            c = np.add(retain[t] * c, write[t], out=memory[t])
            h = np.multiply(np.tanh(c, out=squashed[t]), gate[..., 3 * n :], out=hidden[t])
        return Record(hidden, memory, retain, write, (gates, squashed))

    def back(
        self, record: Record, recurrent: np.ndarray, scales: np.ndarray, wanted: np.ndarray
    ) -> Gradients:
        """See `Cell.back`."""
        gates, squashed = record.gates
        i, f, g, o = np.split(gates, 4, -1)
        scale = scales[:, :, None]
        by_cell = np.stack(  # what c_t owes to the inner values of i, f and g: (T, R, B, 3, N)
            [scale * g * i * (1 - i), _shifted(record.memory) * f * (1 - f), scale * i * (1 - g**2)], -2
        )
        through, by_output = o * (1 - squashed**2), squashed * o * (1 - o)
        n, turned = recurrent.shape[1], recurrent.swapaxes(-1, -2)
        inner, cells = np.empty_like(gates), np.empty_like(squashed)
        h = c = np.zeros_like(squashed[0])
        for t in reversed(range(len(gates))):
            h = h + wanted[t]
            c = np.add(c, h * through[t], out=cells[t])
            inner[t, ..., : 3 * n] = (c[..., None, :] * by_cell[t]).reshape(*c.shape[:-1], 3 * n)
            inner[t, ..., 3 * n :] = h * by_output[t]
            h, c = inner[t] @ turned, c * f[t]
        return Gradients(inner, _by_weights(_shifted(record.hidden), inner), (cells * i * g).sum(2))


class GRU(Cell):
    """``h = z h + (1 - z) tanh(W x + U (r h) + b)``; blocks r, z, n."""

    blocks = 3

    def read(self, inputs: np.ndarray, recurrent: np.ndarray, scales: np.ndarray) -> Record:
        """See `Cell.read`."""
        n = recurrent.shape[1]
        gating, proposing = recurrent[..., : 2 * n], recurrent[..., 2 * n :]
        hidden, retain, write, proposals = (np.empty((*inputs.shape[:-1], n)) for _ in range(4))
        both = np.empty_like(inputs[..., : 2 * n])
        h = np.zeros_like(hidden[0])
        for t in range(len(inputs)):
            gate = np.tanh(0.5 * (inputs[t, ..., : 2 * n] + h @ gating), out=both[t])
            gate *= 0.5
            gate += 0.5
            retain[t] = gate[..., n:]
            proposal = np.tanh(inputs[t, ..., 2 * n :] + (gate[..., :n] * h) @ proposing, out=proposals[t])
            np.multiply(1 - retain[t], proposal, out=write[t])
            h = np.add(retain[t] * h, write[t], out=hidden[t])
        return Record(hidden, hidden, retain, write, (both, proposals))

    def back(
        self, record: Record, recurrent: np.ndarray, scales: np.ndarray, wanted: np.ndarray
    ) -> Gradients:
        """See `Cell.back`."""
        both, proposal = record.gates
        n = recurrent.shape[1]
        r, z = both[..., :n], both[..., n:]
        before = _shifted(record.hidden)
        by_z, by_n = (before - proposal) * z * (1 - z), (1 - z) * (1 - proposal**2)
        by_r = before * r * (1 - r)
        gating, proposing = recurrent[..., : 2 * n].swapaxes(-1, -2), recurrent[..., 2 * n :].swapaxes(-1, -2)
        inner = np.empty((*z.shape[:-1], 3 * n))
        h = np.zeros_like(z[0])
        for t in reversed(range(len(z))):
            h = h + wanted[t]
            reset = np.multiply(h, by_n[t], out=inner[t, ..., 2 * n :]) @ proposing
            np.multiply(reset, by_r[t], out=inner[t, ..., :n])
            np.multiply(h, by_z[t], out=inner[t, ..., n : 2 * n])
            h = h * z[t] + inner[t, ..., : 2 * n] @ gating + reset * r[t]
        weights = [
            _by_weights(before, inner[..., : 2 * n]),
            _by_weights(r * before, inner[..., 2 * n :]),
        ]
        return Gradients(inner, np.concatenate(weights, -1))


CELLS: dict[str, Cell] = {"srn": SRN(), "lstm": LSTM(), "gru": GRU(), "elstm": LSTM()}


def _shifted(states: np.ndarray) -> np.ndarray:
    """States one step earlier, 0 before the first."""
    earlier = np.zeros_like(states)
    earlier[1:] = states[:-1]
    return earlier


def _by_weights(states: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """(R, N, G N): sum over steps and strings of the outer products of two (T, R, B, .) arrays."""
    left, right = (np.moveaxis(a, 0, 1).reshape(a.shape[1], -1, a.shape[-1]) for a in (states, inner))
    return left.swapaxes(-1, -2) @ right
