"""A language model around the gated cells: SRN, LSTM, GRU, ELSTM, FGP and FGL.

    embedding (V, E) -> dropout -> layers of gated cells -> Linear(n, E) -> tanh -> Linear(E, V)

The last layer shares the embedding's weights and has a bias of its own, so the width of the cells is free of E.
Dropout is 0.5 after the embedding and 0.25 after each layer of cells.

Interface::

    network = GatedLanguageModel(GatedSettings(vocabulary_size, "fgp-lstm", width=220))
    out = network(ids, state=None, durations=None)          # ids (B, T), padding on the right
    logits = network.output(out.hidden)                     # (B, T, V): the word after each input
    out = network(more, state=out.state.detach())           # goes on where it stopped

A guided model (FGP, FGL) reads word t with a freeze gate made from a duration, which comes from

    "adaptive"  a predictor inside that shares the embedding and is trained along (soft gate)
    "fixed"     a predictor inside that was trained on people's fixations (hard gate), `network.fixed_predictor`
    "by-word"   a table with one level per word of the vocabulary (hard gate), `network.level_of_word`
    "full"      nothing: every unit is always active
    "given"     the caller, (B, T) levels 0 to 11 aligned with `ids` (hard gate)

``durations=`` given to the call goes before any of them. For multi-task training ``network.predict_durations(ids)``
reads other text with the adaptive predictor alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from psymem.errors import ModelError
from psymem.models.gated.block import GatedBlock
from psymem.models.gated.cells import RecurrentState, StepRecord
from psymem.models.gated.fixation_predictor import (
    LEVELS,
    DurationScale,
    FixationPredictor,
    FixedFixationPredictor,
    hard_gate,
    soft_gate,
)
from psymem.models.gated.linearised import LINEARISED
from psymem.models.gated.settings import GatedSettings

INSIDE = frozenset({"update_norm", "update_frac", "memory_retain", "memory_write", *LINEARISED})
"""What can be observed only step by step."""


@dataclass(frozen=True)
class GatedOutput:
    """What the network computed for B rows of T inputs.

    Attributes
    ----------
    hidden
        (B, T, E): what `network.output` turns into logits.
    state
        What to go on from.
    block
        (B, T, n): output of the last layer of cells.
    freeze
        (B, T, U) freeze gates a; None without guidance.
    duration_raw
        (B, T) what a predictor gives; None without one.
    duration_level
        (B, T) on the scale of 12, not limited to it where the gate is soft; None without guidance.
    records
        What happened at every step of each layer, if asked for.
    more
        Further arrays to be observed, by name.
    """

    hidden: Tensor
    state: RecurrentState
    block: Tensor
    freeze: Tensor | None = None
    duration_raw: Tensor | None = None
    duration_level: Tensor | None = None
    records: tuple[StepRecord, ...] = ()
    more: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class _Durations:
    """Raw durations, levels, gates, and state of the predictor."""

    raw: Tensor | None = None
    level: Tensor | None = None
    freeze: Tensor | None = None
    state: RecurrentState | None = None


class GatedLanguageModel(nn.Module):
    """The network of the module docstring."""

    level_of_word: Tensor

    def __init__(self, settings: GatedSettings) -> None:
        super().__init__()
        self.settings = s = settings
        self.embedding = nn.Embedding(s.vocabulary_size, s.embedding_width)
        self.block = GatedBlock(
            s.cell,
            s.embedding_width,
            s.width,
            layers=s.layers or 1,
            components=s.components or 1,
            guided=s.guided,
            dropout=s.dropout,
            time_steps=s.time_steps,
            reset_after=s.reset_after,
            forget_bias=s.forget_bias or 0.0,
        )
        self.predictor: FixationPredictor | None = None
        self.scale: DurationScale | None = None
        self.fixed_predictor: FixedFixationPredictor | None = None
        if s.adaptive:
            self.predictor = FixationPredictor(
                s.cell, s.embedding_width, s.predictor_width, s.layers or 1, dropout=s.embedding_dropout
            )
            self.scale = DurationScale(s.normalisation)
        elif s.guided and s.durations == "fixed":
            self.fixed_predictor = FixedFixationPredictor(
                s.vocabulary_size,
                width=s.fixed_predictor_width,
                embedding_width=s.fixed_predictor_embedding_width,
                boundary_ids=(s.bos_id, s.eos_id),
            ).requires_grad_(False)
        elif s.guided and s.durations == "by-word":
            self.register_buffer("level_of_word", torch.full((s.vocabulary_size,), float(LEVELS - 1)))
        self.head = nn.Linear(self.block.n_outputs, s.embedding_width)
        self.output = nn.Linear(s.embedding_width, s.vocabulary_size)
        if s.tied:
            self.output.weight = self.embedding.weight
        self.dropout = nn.Dropout(s.embedding_dropout)

    def forward(
        self,
        ids: Tensor,
        state: RecurrentState | None = None,
        durations: Tensor | None = None,
        *,
        observe: Collection[str] = (),
        compute: torch.dtype | None = None,
    ) -> GatedOutput:
        """Read B rows of T inputs.

        Parameters
        ----------
        ids
            (B, T) word ids; padding, if any, on the right (what follows a word cannot reach it).
        state
            What an earlier call returned, to go on from; zero by default. It belongs to the last input, padding
            or not.
        durations
            (B, T) levels from 0 to 11 of the same words, instead of the model's own.
        observe
            Names of what will be looked at; those of `INSIDE` have `records` kept, which takes time and memory.
        compute
            Precision of the recurrence in training (bfloat16 where the processor has it); everything else is in
            the precision of the weights.

        Raises
        ------
        ModelError
            If durations are missing, out of range or given to a model without gates.
        """
        embedded = self.embedding(ids)  # (B, T, E)
        found = self._durations(ids, embedded, None if state is None else state.predictor, durations)
        block = self.block(
            self.dropout(embedded),
            state,
            found.freeze,
            record=not INSIDE.isdisjoint(observe),
            compute=compute,
        )
        return GatedOutput(
            torch.tanh(self.head(block.output)),
            replace(block.state, predictor=found.state),
            block.output,
            found.freeze,
            found.raw,
            found.level,
            block.records,
        )

    def predict_durations(
        self, ids: Tensor, state: RecurrentState | None = None
    ) -> tuple[Tensor, RecurrentState]:
        """Return (B, T) raw durations from the adaptive predictor, and its state; no language modelling."""
        if self.predictor is None:
            raise ModelError(
                f"This {self.settings.family} has no predictor of fixation durations that is trained along; "
                "use durations='adaptive'."
            )
        return self.predictor(self.embedding(ids), state)

    def _durations(
        self, ids: Tensor, embedded: Tensor, state: RecurrentState | None, given: Tensor | None
    ) -> _Durations:
        """Find out how long each word is looked at, and which units that activates."""
        s = self.settings
        if s.guided is None:
            if given is not None:
                raise ModelError(f"A model of kind {s.family} takes no durations.")
            return _Durations()
        if given is not None or self.predictor is None:
            raw = None
            if given is not None:
                levels = _checked(given, ids)
            elif self.fixed_predictor is not None:
                levels, raw, state = self.fixed_predictor.levels(ids, state)
            elif s.durations == "by-word":
                levels = self.level_of_word[ids]
            elif s.durations == "full":
                levels = torch.full_like(ids, LEVELS - 1)
            else:
                raise ModelError(
                    f"This {s.family} has no durations of its own (it was trained with --fixations random): give "
                    f"durations=, (B, T) levels from 0 to {LEVELS - 1}; psymem score draws them."
                )
            levels = levels.to(embedded.dtype)
            return _Durations(raw, levels, hard_gate(levels, s.units), state)
        raw, state = self.predictor(embedded, state)
        assert self.scale is not None
        levels = self.scale(raw, ids != s.pad_id)
        offset = 0.5 if s.guided == "components" else 0.0
        gate = soft_gate(levels, s.units, spec=s.spec, sharpness=s.sharpness, offset=offset)
        return _Durations(raw, levels, gate, state)

    def n_parameters(self) -> int:
        """Number of weights, shared ones once; `psymem.models.gated.parameter_count` has the closed forms."""
        return sum(p.numel() for p in self.parameters())


def _checked(durations: Tensor, ids: Tensor) -> Tensor:
    """Return given durations if they are what they should be."""
    if durations.shape != ids.shape:
        raise ModelError(
            f"Durations have shape {tuple(durations.shape)}, the words {tuple(ids.shape)}; expected one level per word."
        )
    wrong = ~((durations >= 0) & (durations < LEVELS))
    if bool(wrong.any()):
        row, column = (int(n) for n in wrong.nonzero()[0])
        raise ModelError(
            f"The duration of word {column + 1} in row {row + 1} is {float(durations[row, column]):g}; expected a level "
            f"from 0 to {LEVELS - 1}."
        )
    return durations
