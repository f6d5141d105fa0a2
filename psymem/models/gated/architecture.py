"""SRN, LSTM, GRU, ELSTM, FGP and FGL as stored models: entries in config.json, and what they show while reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from psymem.errors import CheckpointError
from psymem.models.architecture import Architecture
from psymem.models.gated.cells import StepRecord
from psymem.models.gated.drawn_levels import drawn_levels
from psymem.models.gated.language_model import GatedLanguageModel, GatedOutput
from psymem.models.gated.linearised import LINEARISED, linearisation
from psymem.models.gated.settings import GatedSettings

MODEL_TYPE = "psymem-gated-rnn"
NAMES = {
    "vocabulary_size": "vocab_size",
    "width": "hidden_size",
    "layers": "num_hidden_layers",
    "embedding_width": "embedding_size",
    "tied": "tie_word_embeddings",
    "pad_id": "pad_token_id",
    "bos_id": "bos_token_id",
    "eos_id": "eos_token_id",
}
"""Settings that transformers calls by other names."""


def config_of(network: GatedLanguageModel) -> dict[str, Any]:
    """Entries of config.json that define `network`; sizes under the names transformers uses."""
    settings = network.settings
    entries = {NAMES.get(f.name, f.name): getattr(settings, f.name) for f in fields(settings)}
    return {**entries, "causal": settings.causal}


def settings_of(config: Mapping[str, Any]) -> GatedSettings:
    """Read the settings back; raises CheckpointError if an entry is missing."""
    for name in ("vocab_size", "family", "hidden_size"):
        if name not in config:
            raise CheckpointError(f"The config of this gated recurrent model lacks {name!r}.")
    named = {f.name: NAMES.get(f.name, f.name) for f in fields(GatedSettings)}
    return GatedSettings(**{ours: config[theirs] for ours, theirs in named.items() if theirs in config})


def provides(config: Mapping[str, Any]) -> frozenset[str]:
    """Next-word probabilities and their entropy; what happens to memory; fixations of a guided model."""
    settings = settings_of(config)
    found = {"logprob", "entropy", "update_norm"}
    if settings.guided:
        found |= {"fixations", "duration_level"}
    if settings.guided == "layers":
        found |= {"layer_fixations"}
    if settings.units > 1:
        found |= {"update_frac"}
    if settings.cell != "srn":
        found |= {"memory_retain", "memory_write"}
    else:
        found |= LINEARISED if settings.guided else LINEARISED - {"memory_carry"}
    return frozenset(found)


def draw(network: GatedLanguageModel, tokens: Tensor, seed: int) -> Tensor | None:
    """Return (B, T) levels for a network that was trained with random ones."""
    if network.settings.guided is None or network.settings.durations != "given":
        return None
    return drawn_levels(tokens, network.settings.bos_id, seed)


def read(
    network: GatedLanguageModel,
    tokens: Tensor,
    wanted: frozenset[str],
    state: Any = None,
    durations: Tensor | None = None,
) -> GatedOutput:
    """Read (B, T) ids, with their levels where the network has none of its own, and keep what is wanted."""
    output = network(tokens, state, durations, observe=wanted)
    more = {}
    if network.settings.guided == "layers" and output.freeze is not None:
        more["layer_fixations"] = output.freeze
    if network.settings.cell == "srn" and not LINEARISED.isdisjoint(wanted):
        more |= _linearised(network, tokens, output)
    return replace(output, more=more)


def _linearised(network: GatedLanguageModel, tokens: Tensor, output: GatedOutput) -> dict[str, Tensor]:
    """Return what a small change would reach in the last layer; see `psymem.models.gated.linearised`."""
    block, freeze = network.block, output.freeze
    if len(output.records) == 1:
        inputs = network.embedding(tokens)
    else:
        inputs = output.records[-2].hidden.flatten(2)
        inputs = block.project[-1](inputs) if len(block.project) else inputs
    if freeze is not None and block.guided == "layers":
        freeze = freeze[..., -1:]
    return linearisation(block.layers[-1], inputs, output.records[-1], freeze)  # type: ignore[arg-type]


def observe(output: GatedOutput) -> dict[str, Tensor]:
    """Return what there is of it, by name.

    fixations (B, T, U)
        Freeze gates a, 1 where a component or layer keeps its old state.
    duration_level (B, T)
        Duration on the scale of 12 levels.
    update_norm (B, T)
        ||m_t - m_{t-1}|| / sqrt(n) of the memory m (c of an LSTM, else h) of the last layer, of all layers of an
        FGL; n is its size.
    update_frac (B, T)
        Share of components after the first, or of layers above the first, in the squared change; NaN without
        change.
    memory_retain, memory_write (B, T, N)
        F and I of m_t = F_t m_{t-1} + I_t, of the N cells of the last layer.
    layer_fixations (B, T, L)
        Freeze gates of an FGL.
    memory_slope, memory_drive, memory_recurrence, memory_carry
        Of the last layer of tanh units; see `psymem.models.gated.linearised`.
    """
    found: dict[str, Tensor] = dict(output.more)
    if output.freeze is not None and output.duration_level is not None:
        found |= {"fixations": output.freeze, "duration_level": output.duration_level}
    if not output.records:
        return found
    last = output.records[-1]
    layered = output.block.shape[-1] > last.hidden[0, 0].numel()  # FGL: the output has every layer's h
    change = _squared_change(output.records if layered else (last,))  # (B, T, U)
    size = sum(r.memory[0, 0].numel() for r in (output.records if layered else (last,)))
    found["update_norm"] = (change.sum(-1) / size).sqrt()
    found["update_frac"] = change[..., 1:].sum(-1) / change.sum(-1)
    if last.retain is not None and last.write is not None:
        found |= {"memory_retain": last.retain.flatten(2), "memory_write": last.write.flatten(2)}
    return found


def _squared_change(records: tuple[StepRecord, ...]) -> Tensor:
    """(B, T, units): squared change of the memory of each component of each layer."""
    changes = []
    for record in records:
        before = torch.cat([record.initial[:, None], record.memory[:, :-1]], 1)
        changes.append((record.memory - before).square().sum(-1))
    return torch.cat(changes, -1)


ARCHITECTURE = Architecture(
    model_type=MODEL_TYPE,
    transformers_class="GatedForCausalLM",
    network_class=GatedLanguageModel,
    config_of=config_of,
    build=lambda config: GatedLanguageModel(settings_of(config)),
    provides=provides,
    observe=observe,
    example=lambda words: GatedLanguageModel(GatedSettings(words, "lstm", width=8, embedding_width=12)),
    read=read,
    carries_state=True,
    draw=draw,
)
