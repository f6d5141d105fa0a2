"""SRN, LSTM, GRU, ELSTM, FGP and FGL as transformers classes; registered by `psymem.models.hf`."""

from __future__ import annotations

import warnings
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedConfig

from psymem.errors import PsymemWarning
from psymem.models.gated.architecture import ARCHITECTURE, provides, settings_of
from psymem.models.gated.cells import GatedLayer
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.hf_base import NetworkForCausalLM
from psymem.models.storage import MAX_TOKENS
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID


class GatedConfig(PreTrainedConfig):
    """Settings of a gated model (`psymem.models.gated.settings`) under the names transformers uses."""

    model_type = ARCHITECTURE.model_type

    def __init__(
        self,
        *,
        vocab_size: int = 50_000,
        hidden_size: int = 220,
        family: str = "fgp-lstm",
        num_hidden_layers: int | None = None,
        components: int | None = None,
        embedding_size: int = 100,
        durations: str = "adaptive",
        spec: str = "paper",
        normalisation: str = "running",
        sharpness: float = 4.0,
        fixed_predictor_width: int = 100,
        fixed_predictor_embedding_width: int = 100,
        time_steps: int = 3,
        reset_after: bool = True,
        forget_bias: float | None = None,
        embedding_dropout: float = 0.5,
        dropout: float = 0.25,
        unpredictable_ids: tuple[int, ...] = (PAD_ID, BOS_ID),
        max_position_embeddings: int = MAX_TOKENS,
        tie_word_embeddings: bool = True,
        bos_token_id: int = BOS_ID,
        eos_token_id: int = EOS_ID,
        pad_token_id: int = PAD_ID,
        **others: Any,
    ) -> None:
        self.vocab_size, self.hidden_size, self.embedding_size = vocab_size, hidden_size, embedding_size
        self.family, self.components, self.num_hidden_layers = family, components, num_hidden_layers
        self.durations, self.spec, self.normalisation = durations, spec, normalisation
        self.sharpness, self.fixed_predictor_width = sharpness, fixed_predictor_width
        self.fixed_predictor_embedding_width = fixed_predictor_embedding_width
        self.time_steps, self.reset_after, self.forget_bias = time_steps, reset_after, forget_bias
        self.embedding_dropout, self.dropout = embedding_dropout, dropout
        self.unpredictable_ids = list(unpredictable_ids)
        self.max_position_embeddings = max_position_embeddings
        self.num_attention_heads = 1
        settings = settings_of(
            {
                **vars(self),
                "tie_word_embeddings": tie_word_embeddings,
                "pad_token_id": pad_token_id,
                "bos_token_id": bos_token_id,
                "eos_token_id": eos_token_id,
            }
        )
        self.components, self.num_hidden_layers = settings.components, settings.layers
        self.forget_bias, self.causal = settings.forget_bias, settings.causal
        self.provides = sorted(provides(vars(self)))
        ours = ("provides", "causal", "num_attention_heads")
        super().__init__(  # type: ignore[call-arg]  # transformers makes its configs dataclasses
            tie_word_embeddings=tie_word_embeddings,
            bos_token_id=bos_token_id,
            eos_token_id=eos_token_id,
            pad_token_id=pad_token_id,
            **{k: v for k, v in others.items() if k not in ours},
        )


class GatedForCausalLM(NetworkForCausalLM):
    """A gated model as a causal language model of transformers; the network itself is ``.model``.

    Sentences start from a zero state. A model whose fixation durations are scaled over the whole chunk warns, since
    what it predicts also depends on later words.
    """

    config_class = GatedConfig
    architecture = ARCHITECTURE
    model: GatedLanguageModel

    def _init_weights(self, module: nn.Module) -> None:
        """Draw fresh weights as the network does; an output layer shares those of the embedding."""
        if module is self.model.output and self.config.tie_word_embeddings:
            nn.init.uniform_(module.bias, -(module.in_features**-0.5), module.in_features**-0.5)
        elif isinstance(module, (nn.Linear, nn.Embedding, GatedLayer)):
            module.reset_parameters()

    def read(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return hidden states; there is no attention."""
        if not self.config.causal:
            warnings.warn(
                "This model is not causal: it scales fixation durations by all words it is given, so what it predicts "
                "for a word depends on later words too.",
                PsymemWarning,
                stacklevel=2,
            )
        return self.model(ids).hidden, None
