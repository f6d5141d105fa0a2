"""Layers of gated cells on top of each other: plain, fixation-guided in parallel (FGP) or by layer (FGL)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from psymem.models.gated.cells import GatedLayer, Guided, RecurrentState, StepRecord


@dataclass(frozen=True)
class BlockOutput:
    """What a block made of T inputs.

    Attributes
    ----------
    output
        (B, T, n): the K states of the last layer, component by component (n = K d); FGL: h of all layers (L
        d).
    state
        What to go on from.
    records
        Of each layer, if asked for.
    """

    output: Tensor
    state: RecurrentState
    records: tuple[StepRecord, ...] = ()


class GatedBlock(nn.Module):
    """L layers of gated cells; see `psymem.models.gated.cells`.

    Parameters
    ----------
    cell, n_inputs, width
        Kind of cell, size of the input, d.
    layers, components
        L and K.
    guided
        What a freeze gate acts on: "components" (FGP), "layers" (FGL, whose K is 1), or None (no gate).
    dropout
        Of every layer's output, in training.
    **cell_settings
        `time_steps`, `reset_after`, `forget_bias` of :class:`~psymem.models.gated.cells.GatedLayer`.
    """

    def __init__(
        self,
        cell: str,
        n_inputs: int,
        width: int,
        *,
        layers: int = 1,
        components: int = 1,
        guided: Guided | None = None,
        dropout: float = 0.25,
        **cell_settings: float | bool,
    ) -> None:
        super().__init__()
        self.guided = guided
        self.layers = nn.ModuleList(
            GatedLayer(
                cell,
                n_inputs if layer == 0 else width,
                width,
                components,
                freezes_hidden=guided == "layers",
                **cell_settings,  # type: ignore[arg-type]
            )
            for layer in range(layers)
        )
        between = layers - 1 if guided == "components" else 0
        self.project = nn.ModuleList(nn.Linear(components * width, width) for _ in range(between))
        self.dropout = nn.Dropout(dropout)
        self.n_outputs = (layers if guided == "layers" else components) * width

    def forward(
        self,
        inputs: Tensor,
        state: RecurrentState | None = None,
        freeze: Tensor | None = None,
        *,
        record: bool = False,
        compute: torch.dtype | None = None,
    ) -> BlockOutput:
        """Read T inputs (B, T, n_inputs) with freeze gates (B, T, U), U = K or L; see `GatedLayer.forward`."""
        start = 0 if state is None else state.t
        outputs, finals, records = [], [], []
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, GatedLayer)
            before = None if state is None else _of_layer(state, number)
            gate = freeze if freeze is None or self.guided != "layers" else freeze[..., number : number + 1]
            if record:
                steps, final = layer.steps(inputs, before, gate, start=start)
                hidden = steps.hidden
                records.append(steps)
            else:
                hidden, final = layer(inputs, before, gate, start=start, compute=compute)
            finals.append(final)
            outputs.append(self.dropout(hidden.flatten(2)))  # (B, T, K d)
            inputs = self.project[number](outputs[-1]) if number < len(self.project) else outputs[-1]
        output = torch.cat(outputs, -1) if self.guided == "layers" else outputs[-1]
        after = RecurrentState(
            torch.stack([h for h, _ in finals]),
            torch.stack([c for _, c in finals if c is not None]) if finals[0][1] is not None else None,
            start + hidden.shape[1],
        )
        return BlockOutput(output, after, tuple(records))


def _of_layer(state: RecurrentState, number: int) -> tuple[Tensor, Tensor | None]:
    """(B, K, d) h and c of one layer."""
    return state.hidden[number], None if state.cell is None else state.cell[number]
