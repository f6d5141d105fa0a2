"""CBR-RNN as a stored model: its entries in config.json and what it shows while reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from psymem.errors import CheckpointError
from psymem.models.architecture import Architecture
from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNOutput, CueBasedRNNSettings

MODEL_TYPE = "psymem-cbr-rnn"


def config_of(network: CueBasedRNN) -> dict[str, Any]:
    """Entries of config.json that define `network`; sizes under the names transformers uses."""
    settings = network.settings
    return {
        "vocab_size": settings.vocabulary_size,
        "hidden_size": settings.width,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "attention": settings.attention,
        "n_supertags": settings.n_supertags,
        "tie_word_embeddings": settings.tied,
        "bos_token_id": settings.bos_id,
        "dropout": settings.dropout,
        "sharpness": settings.sharpness,
    }


def settings_of(config: Mapping[str, Any]) -> CueBasedRNNSettings:
    """Read the settings back; raises CheckpointError if an entry is missing."""
    try:
        return CueBasedRNNSettings(
            vocabulary_size=config["vocab_size"],
            width=config["hidden_size"],
            attention=config.get("attention", "softmax"),
            n_supertags=config.get("n_supertags", 0),
            tied=config.get("tie_word_embeddings", True),
            bos_id=config["bos_token_id"],
            dropout=config.get("dropout", 0.0),
            sharpness=config.get("sharpness", 1.0),
        )
    except KeyError as error:
        raise CheckpointError(f"The config of this CBR-RNN lacks {error.args[0]!r}.") from error


def provides(config: Mapping[str, Any]) -> frozenset[str]:
    """Attention unless the ablation took it away; next-word probabilities and their entropy always."""
    return frozenset({"logprob", "entropy"} | ({"attention"} if config.get("attention") != "none" else set()))


def observe(output: CueBasedRNNOutput) -> dict[str, Tensor]:
    """Return retrieval weights, where there are any."""
    return {} if output.attention is None else {"attention": output.attention}


ARCHITECTURE = Architecture(
    model_type=MODEL_TYPE,
    transformers_class="CueBasedRNNForCausalLM",
    network_class=CueBasedRNN,
    config_of=config_of,
    build=lambda config: CueBasedRNN(settings_of(config)),
    provides=provides,
    observe=observe,
    example=lambda words: CueBasedRNN(CueBasedRNNSettings(words, width=8)),
)
