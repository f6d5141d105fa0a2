"""Our models as transformers classes: ``import psymem.models.hf`` registers them with the Auto classes.

After it, ``AutoModelForCausalLM.from_pretrained(DIRECTORY)`` and everything built on that (minicons,
surprisal, lm-eval) read a checkpoint of ours as it is. psymem itself scores without transformers
(`psymem.models.storage`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import CausalLMOutput

from psymem.models.cbr_rnn import CueBasedRNN
from psymem.models.cbr_rnn_architecture import ARCHITECTURE, provides, settings_of
from psymem.models.storage import MAX_TOKENS, full_config, load_checkpoint, save_checkpoint
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID

__all__ = ["CueBasedRNNConfig", "CueBasedRNNForCausalLM", "load_checkpoint", "register", "save_checkpoint"]


class CueBasedRNNConfig(PreTrainedConfig):
    """Settings of a CBR-RNN (see `psymem.models.cbr_rnn`) under the names transformers uses."""

    model_type = ARCHITECTURE.model_type

    def __init__(
        self,
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


class CueBasedRNNForCausalLM(PreTrainedModel):
    """CBR-RNN as a causal language model of transformers; the network itself is ``.model``."""

    config_class = CueBasedRNNConfig
    base_model_prefix = "model"
    _tied_weights_keys = {"model.output.weight": "model.embedding.weight"}

    def __init__(self, config: CueBasedRNNConfig) -> None:
        super().__init__(config)
        self.model = CueBasedRNN(settings_of(vars(config)))
        self.post_init()

    @classmethod
    def of(cls, network: CueBasedRNN) -> CueBasedRNNForCausalLM:
        """Return a wrapper around `network` itself, sharing its weights."""
        model = cls(CueBasedRNNConfig(**full_config(ARCHITECTURE, network)))
        model.model = network
        return model

    def _init_weights(self, module: nn.Module) -> None:
        """Draw fresh weights as the network does: U(-0.1, 0.1) for words, torch's own for the rest."""
        if module is self.model.embedding or module is self.model.output:
            nn.init.uniform_(module.weight, -0.1, 0.1)
            if module is self.model.output:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.Linear, nn.LayerNorm)):
            module.reset_parameters()

    def get_input_embeddings(self) -> nn.Module:
        """Return the embedding layer."""
        return self.model.embedding

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replace the embedding layer."""
        self.model.embedding = value

    def get_output_embeddings(self) -> nn.Module:
        """Return the output layer."""
        return self.model.output

    def set_output_embeddings(self, new_embeddings: nn.Module) -> None:
        """Replace the output layer."""
        self.model.output = new_embeddings

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        output_attentions: bool | None = None,
        return_dict: bool | None = None,
        **_: Any,
    ) -> CausalLMOutput | tuple:
        """Read sentences and predict each next word.

        Parameters
        ----------
        input_ids
            (B, T) word ids.
        attention_mask
            (B, T), 0 at padding, on either side. Without it every input counts as a word.
        labels
            (B, T) ids, shifted inside as usual; -100 and padding under the mask are left out of the loss.
        output_attentions
            Whether to return retrieval weights, one tensor (B, 1, T, T); rows without a memory are zero.
        return_dict
            False for a tuple.

        Returns
        -------
        CausalLMOutput
            loss, logits (B, T, V), attentions.
        """
        wants_attention = self.config.output_attentions if output_attentions is None else output_attentions
        order = None if attention_mask is None else _words_first(attention_mask)
        out = self.model(input_ids if order is None else input_ids.gather(1, order))
        hidden, attention = out.hidden, out.attention
        if order is not None:
            hidden, attention = _put_back(hidden, attention, order)
        logits = self.model.output(hidden)
        logits[..., self.config.unpredictable_ids] = torch.finfo(logits.dtype).min
        given: tuple[Tensor, ...] = ()
        if wants_attention and attention is not None:
            given = (
                attention[:, None]
                if attention_mask is None
                else attention[:, None] * attention_mask[:, None, :, None],
            )
        loss = None if labels is None else _next_word_loss(logits, labels, attention_mask)
        result = CausalLMOutput(loss=loss, logits=logits, attentions=given if wants_attention else None)
        return_dict = self.config.return_dict if return_dict is None else return_dict
        return result if return_dict else result.to_tuple()


def register() -> None:
    """Make the Auto classes of transformers know our models; importing this module has done it."""
    AutoConfig.register(CueBasedRNNConfig.model_type, CueBasedRNNConfig, exist_ok=True)
    AutoModelForCausalLM.register(CueBasedRNNConfig, CueBasedRNNForCausalLM, exist_ok=True)
    AutoTokenizer.register(CueBasedRNNConfig, fast_tokenizer_class=PreTrainedTokenizerFast, exist_ok=True)


def _words_first(attention_mask: Tensor) -> Tensor | None:
    """(B, T) order that moves padding on the left to the right; None if there is none."""
    mask = attention_mask.bool()
    if not bool((mask[:, 1:] & ~mask[:, :-1]).any()):
        return None
    return mask.logical_not().long().argsort(dim=1, stable=True)


def _put_back(hidden: Tensor, attention: Tensor | None, order: Tensor) -> tuple[Tensor, Tensor | None]:
    """Undo `_words_first` on (B, T, d) states and (B, T, T) weights."""
    back = order.argsort(dim=1)
    hidden = hidden.gather(1, back[..., None].expand_as(hidden))
    if attention is not None:
        attention = attention.gather(1, back[:, :, None].expand_as(attention))
        attention = attention.gather(2, back[:, None, :].expand_as(attention))
    return hidden, attention


def _next_word_loss(logits: Tensor, labels: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Mean surprisal in nats of the labels, each predicted from the inputs before it."""
    target = labels[:, 1:]
    if attention_mask is not None:
        target = target.masked_fill(~attention_mask[:, 1:].bool(), -100)
    return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), target.flatten())


register()
