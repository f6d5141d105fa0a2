"""Our models as transformers classes: ``import psymem.models.hf`` registers them with the Auto classes.

After it, ``AutoModelForCausalLM.from_pretrained(DIRECTORY)`` and everything built on that (minicons,
surprisal, lm-eval) read a checkpoint of ours as it is. psymem itself scores without transformers
(`psymem.models.storage`).
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
)

from psymem.models.architecture import Architecture
from psymem.models.cbr_rnn import CueBasedRNN
from psymem.models.cbr_rnn_architecture import ARCHITECTURE, provides
from psymem.models.gated.hf import GatedConfig, GatedForCausalLM
from psymem.models.hf_base import NetworkForCausalLM
from psymem.models.storage import MAX_TOKENS, load_checkpoint, save_checkpoint
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID
from psymem.registry import ARCHITECTURES

__all__ = [
    "CueBasedRNNConfig",
    "CueBasedRNNForCausalLM",
    "GatedConfig",
    "GatedForCausalLM",
    "load_checkpoint",
    "register",
    "save_checkpoint",
]


class CueBasedRNNConfig(PreTrainedConfig):
    """Settings of a CBR-RNN (see `psymem.models.cbr_rnn`) under the names transformers uses."""

    model_type = ARCHITECTURE.model_type

    def __init__(
        self,
        *,
        vocab_size: int = 50_000,
        hidden_size: int = 256,
        attention: str = "softmax",
        n_supertags: int = 0,
        dropout: float = 0.2,
        sharpness: float = 1.0,
        unpredictable_ids: tuple[int, ...] = (PAD_ID, BOS_ID),
        max_position_embeddings: int = MAX_TOKENS,
        tie_word_embeddings: bool = True,
        bos_token_id: int = BOS_ID,
        eos_token_id: int = EOS_ID,
        pad_token_id: int = PAD_ID,
        **others: Any,
    ) -> None:
        self.vocab_size, self.hidden_size, self.attention = vocab_size, hidden_size, attention
        self.n_supertags, self.dropout, self.sharpness = n_supertags, dropout, sharpness
        self.unpredictable_ids = list(unpredictable_ids)
        self.max_position_embeddings = max_position_embeddings
        self.num_hidden_layers, self.num_attention_heads = 1, 1
        others = {
            k: v
            for k, v in others.items()
            if k not in ("num_hidden_layers", "num_attention_heads", "provides")
        }
        self.provides = sorted(provides({"attention": attention}))
        super().__init__(  # type: ignore[call-arg]  # transformers makes its configs dataclasses
            tie_word_embeddings=tie_word_embeddings,
            bos_token_id=bos_token_id,
            eos_token_id=eos_token_id,
            pad_token_id=pad_token_id,
            **others,
        )


class CueBasedRNNForCausalLM(NetworkForCausalLM):
    """CBR-RNN as a causal language model of transformers; the network itself is ``.model``."""

    config_class = CueBasedRNNConfig
    architecture = ARCHITECTURE
    model: CueBasedRNN

    def _init_weights(self, module: nn.Module) -> None:
        """Draw fresh weights as the network does: U(-0.1, 0.1) for words, torch's own for the rest."""
        if module is self.model.embedding or module is self.model.output:
            nn.init.uniform_(module.weight, -0.1, 0.1)
            if module is self.model.output:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.Linear, nn.LayerNorm)):
            module.reset_parameters()

    def read(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return hidden states and retrieval weights."""
        out = self.model(ids)
        return out.hidden, out.attention


OWN_CLASSES: tuple[tuple[Any, Any], ...] = (
    (CueBasedRNNConfig, CueBasedRNNForCausalLM),
    (GatedConfig, GatedForCausalLM),
)
"""Classes of architectures that say more about themselves to transformers than their registry row does."""


def _classes_of(architecture: Architecture) -> tuple[Any, Any]:
    """Make the transformers classes of an architecture that has none of its own."""
    config = type(
        f"{architecture.network_class.__name__}Config",
        (PreTrainedConfig,),
        {"model_type": architecture.model_type},
    )
    about = {"config_class": config, "architecture": architecture, "__module__": __name__}
    return config, type(architecture.transformers_class, (NetworkForCausalLM,), about)


def register() -> None:
    """Make the Auto classes of transformers know our models; importing this module has done it."""
    own = {c.model_type: (c, m) for c, m in OWN_CLASSES}
    for name in ARCHITECTURES.names():
        config, model = own[name] if name in own else _classes_of(ARCHITECTURES.load(name))
        AutoConfig.register(config.model_type, config, exist_ok=True)
        AutoModelForCausalLM.register(config, model, exist_ok=True)
        AutoTokenizer.register(config, fast_tokenizer_class=PreTrainedTokenizerFast, exist_ok=True)


register()
