"""What our models have in common as transformers classes: one network, its embedding, output and loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput
from transformers.utils.hub import cached_file

from psymem.checkpoints import WEIGHTS
from psymem.models.architecture import Architecture
from psymem.models.eight_bit_rows import is_packed, unpacked
from psymem.models.storage import full_config

WHERE = ("cache_dir", "revision", "subfolder", "token", "local_files_only", "force_download", "proxies")
"""Arguments of `from_pretrained` that say where a file is."""


class NetworkForCausalLM(PreTrainedModel):
    """A network of ours, ``.model``, as a causal language model of transformers.

    A child names its config and its architecture; `read` calls the network as the architecture says.
    """

    architecture: Architecture

    base_model_prefix = "model"
    _tied_weights_keys = {"model.output.weight": "model.embedding.weight"}
    model: Any

    def __init__(self, config: PreTrainedConfig) -> None:
        super().__init__(config)
        self.model = self.architecture.build(vars(config))
        self.post_init()

    @classmethod
    def of(cls, network: nn.Module) -> Self:
        """Return a wrapper around `network` itself, sharing its weights."""
        config = cls.config_class(**full_config(cls.architecture, network))  # type: ignore[misc]  # every child has one
        model = cls(config)
        model.model = network
        return model

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, pretrained_model_name_or_path: Any = None, *model_args: Any, **others: Any
    ) -> Any:
        """Read a folder or a model of the hub as transformers does; 8-bit rows become what they stand for."""
        if pretrained_model_name_or_path is not None and "state_dict" not in others:
            path = cached_file(
                pretrained_model_name_or_path,
                WEIGHTS,
                _raise_exceptions_for_missing_entries=False,
                **{k: v for k, v in others.items() if k in WHERE},
            )
            if path is not None and is_packed(weights := load_file(path)):
                others.setdefault("config", cls.config_class.from_pretrained(pretrained_model_name_or_path))  # type: ignore[union-attr]
                others["state_dict"] = unpacked(weights, Path(path))
                pretrained_model_name_or_path = None
        return super().from_pretrained(pretrained_model_name_or_path, *model_args, **others)

    def read(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return (B, T, d) hidden states and (B, T, T) attention, or None, of ids padded on the right."""
        out = self.architecture.read(self.model, ids, frozenset(), None)
        return out.hidden, getattr(out, "attention", None)

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
        hidden, attention = self.read(input_ids if order is None else input_ids.gather(1, order))
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
