"""What psymem has to know about one kind of model to store it, load it and read with it.

A new kind of model is its own file with the maths, one `Architecture` beside it, and a row in
``psymem.registry.ARCHITECTURES`` under its ``model_type``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True)
class Architecture:
    """One kind of model.

    Attributes
    ----------
    model_type
        Its name in config.json and in transformers.
    transformers_class
        Name of the class that transformers builds, for ``architectures`` in config.json.
    network_class
        The network's class.
    config_of
        Network to the entries of config.json that define it.
    build
        Entries of config.json to a network with fresh weights. Calling the network with (B, T) ids gives an
        output with ``hidden`` (B, T, d); its module ``output`` turns hidden states into logits.
    provides
        Entries of config.json to what Traces of the model contain.
    observe
        Output of the network to further arrays for the Trace, each (B, T, ...), by name; "attention" is (B,
        T, T).
    example
        Size of a vocabulary to a small network with fresh weights, which the contract tests run on.
    read
        Network, (B, T) ids, names of the arrays that will be looked at, and the state of an earlier call (or
        None) to the output. By default everything is computed in any case and there is no state.
    carries_state
        Whether an output has a ``state`` from which reading can go on.
    draw
        Network, (B, T) ids of all that is read and a seed to what has to be drawn at random for each of them (B, T),
        which `read` then gets as ``durations=``; None for networks that read without.
    """

    model_type: str
    transformers_class: str
    network_class: type[nn.Module]
    config_of: Callable[[Any], dict[str, Any]]
    build: Callable[[Mapping[str, Any]], nn.Module]
    provides: Callable[[Mapping[str, Any]], frozenset[str]]
    observe: Callable[[Any], dict[str, Tensor]]
    example: Callable[[int], nn.Module]
    read: Callable[..., Any] = lambda network, tokens, _, __: network(tokens)
    carries_state: bool = False
    draw: Callable[[Any, Tensor, int], Tensor | None] = lambda network, tokens, seed: None
