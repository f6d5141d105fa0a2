"""Load a causal language model of transformers, with every mishap in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from psymem.backends.batching import LAST_LAYER, wanted_heads
from psymem.backends.devices import move
from psymem.checkpoints import check_safetensors, file_sha256
from psymem.errors import CheckpointError, ModelError

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass
class LoadedModel:
    """A model in evaluation mode and what has to be known to read with it.

    Attributes
    ----------
    network, tokenizer
        As transformers gives them.
    files
        Files with its weights.
    max_tokens
        Longest input, or None if the model has no limit.
    layers, heads
        How many layers with how many attention heads; 0 where it has none.
    """

    network: Any
    tokenizer: Any
    files: list[Path]
    max_tokens: int | None
    layers: int
    heads: int
    _head_apart: bool | None = None

    @property
    def vocabulary_size(self) -> int:
        """Number of rows of the output layer."""
        return int(self.network.get_output_embeddings().weight.shape[0])

    @property
    def sha256(self) -> str:
        """Checksum of the weights; of several files, separated by spaces."""
        return " ".join(file_sha256(f) for f in self.files)

    def chosen_heads(self, needs: frozenset[str]) -> tuple[tuple[int, int], ...]:
        """(layer, head) pairs asked for one by one or as the last layer; () for all, or none."""
        last = [(self.layers - 1, head) for head in range(self.heads)] if LAST_LAYER in needs else []
        return () if "attention" in needs else tuple(sorted({*wanted_heads(needs), *last}))

    def attend(self, wanted: bool) -> None:
        """Use the attention kernel that returns weights, or the fastest one."""
        wish = "eager" if wanted else "sdpa"
        if self.network.config._attn_implementation != wish:
            try:
                self.network.set_attn_implementation(wish)
            except ValueError:  # the model has no fast kernel: stay with the plain one
                self.network.set_attn_implementation("eager")

    def states(self, ids: Tensor, attention: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return (B, T, d) last hidden states, or (B, T, V) logits where no output layer can be told apart.

        And the attention of every layer, each (B, heads, T, T), if `attention`.
        """
        network = self.network.base_model if self.head_apart else self.network
        out = network(input_ids=ids, use_cache=False, output_attentions=attention, return_dict=True)
        weights = tuple(out.attentions or ()) if attention else ()
        if attention and not weights:
            raise ModelError(f"{type(self.network).__name__} returns no attention weights.")
        return (out.last_hidden_state if self.head_apart else out.logits), weights

    def logits(self, states: Tensor) -> Tensor:
        """Turn what `states` gave for n inputs into (n, V) logits."""
        return self.network.get_output_embeddings()(states) if self.head_apart else states.clone()

    @property
    @torch.inference_mode()
    def head_apart(self) -> bool:
        """Whether logits are the output layer applied to the last hidden states, tried out once."""
        if self._head_apart is None:
            ids = torch.arange(min(9, self.vocabulary_size), device=self.network.device)
            padding = getattr(self.network.config, "pad_token_id", None)
            ids = ids[ids != (-1 if padding is None else padding)][None]
            expected = self.network(input_ids=ids, use_cache=False, return_dict=True).logits
            out = self.network.base_model(input_ids=ids, use_cache=False, return_dict=True)
            hidden = getattr(out, "last_hidden_state", None)
            found = None if hidden is None else self.network.get_output_embeddings()(hidden)
            scale = float(expected.abs().max())
            self._head_apart = found is not None and torch.allclose(
                found, expected, atol=1e-5 * max(scale, 1.0)
            )
        return self._head_apart


def read_config(path: Path, name: str) -> Any:
    """Return the configuration of a model directory or GGUF file; raises CheckpointError with the reason."""
    try:
        with quietly():
            return AutoConfig.from_pretrained(**_source(path))
    except Exception as error:  # transformers raises many kinds
        raise CheckpointError(
            f"{name} cannot be read as a model of transformers: {_first_line(error)}"
        ) from error


def load_model(path: Path, name: str, config: Any, device: str, dtype: str) -> LoadedModel:
    """Load weights and tokenizer.

    Raises
    ------
    CheckpointError
        If files are missing or damaged.
    ModelError
        If device or precision do not exist here.
    """
    if dtype not in PRECISIONS:
        raise ModelError(f"dtype={dtype!r} is not known; expected one of {', '.join(PRECISIONS)}.")
    source = _source(path)
    for weights in path.glob("*.safetensors"):
        check_safetensors(weights)
    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(**source)
    except Exception as error:  # transformers raises many kinds
        raise CheckpointError(f"{name} has no tokenizer that can be read: {_first_line(error)}") from error
    safe: dict[str, Any] = {} if path.is_file() else {"use_safetensors": True}
    try:
        with quietly():
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                **source, **safe, dtype=PRECISIONS[dtype], output_loading_info=True
            )
    except Exception as error:  # transformers raises many kinds
        raise CheckpointError(f"The weights of {name} cannot be loaded: {_first_line(error)}") from error
    network, loading = loaded
    _refuse_missing(name, config, loading["missing_keys"])
    move(network, device, name)
    return LoadedModel(
        network=network.eval(),
        tokenizer=tokenizer,
        files=[path] if path.is_file() else sorted(path.glob("*.safetensors")),
        max_tokens=getattr(config, "max_position_embeddings", None),
        layers=getattr(config, "num_hidden_layers", 0),
        heads=getattr(config, "num_attention_heads", 0) or 0,
    )


def _refuse_missing(name: str, config: Any, missing: Iterable[str]) -> None:
    """Raise CheckpointError if weights were not in the files: transformers fills them with random numbers."""
    lacking = sorted(missing)
    if lacking:
        raise CheckpointError(
            f"The files of {name} lack {len(lacking)} weights of the architecture that its config.json names "
            f"({config.model_type}), the first is {lacking[0]}. The configuration and the weights do not belong "
            "together, or the model was saved without its output layer: copy or download it again."
        )


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers from chatting on standard error and drawing bars; what goes wrong it raises.

    The bar that it draws over the tensors of a GGUF file has no switch of its own.
    """
    shown, said = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(StringIO()):
            yield
    finally:
        logging.set_verbosity(said)
        if shown:
            logging.enable_progress_bar()


def _source(path: Path) -> dict[str, Any]:
    """Arguments by which transformers finds a directory or a GGUF file."""
    if path.is_file():
        return {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    return {"pretrained_model_name_or_path": str(path), "local_files_only": True}


def _first_line(error: Exception) -> str:
    """Return the first line of a message, which says what is wrong; the rest is advice for programmers."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
