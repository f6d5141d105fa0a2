"""Any causal language model of transformers as a backend: word surprisal done right, attention of any head.

Texts are read whole, words joined by spaces, in batches of similar length with padding on the right. Only states
after which a token is expected are turned into probabilities, in float32 over the whole vocabulary, in blocks; so
memory does not grow with batch times length times vocabulary. A text longer than the model's context is read in
windows that overlap by half: every token is scored once, with at least half a window before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from psymem.alignment import Alignment
from psymem.backends.base import Progress, check_texts, sentence_case, text_name
from psymem.backends.batching import batches_by_length, expected_tokens, wanted_heads
from psymem.backends.pretrained_model import LoadedModel, load_model, read_config
from psymem.backends.subwords import SubwordTokenizer
from psymem.errors import ModelError
from psymem.trace import Trace

LOGITS_AT_ONCE = 1 << 24
"""Numbers in one block of logits (64 MiB in float32)."""


class PretrainedBackend:
    """A causal language model from a directory, a GGUF file or the Hugging Face hub's cache.

    Parameters
    ----------
    path
        Directory with the model, or a GGUF file.
    name
        What to call it; the path if not given.
    bos
        Whether to open each text with the beginning-of-sentence token, if the model has one. Without it the first
        token has no probability (NaN).
    context
        What is read in one go: a whole "text", or each "sentence" by itself.
    batch_tokens
        Upper limit of texts times length in one batch; halved by itself when memory runs out.
    device, dtype
        Where to compute, and in which precision ("float32", "bfloat16", "float16").
    separator
        What stands between words: a space, or "" in languages written without.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        bos: bool = True,
        context: Literal["text", "sentence"] = "text",
        batch_tokens: int = 2048,
        device: str = "cpu",
        dtype: str = "float32",
        separator: str = " ",
    ) -> None:
        self.path, self.name = Path(path), name or str(path)
        self.context: Literal["text", "sentence"] = context
        self.bos, self.batch_tokens, self.device, self.dtype = bos, batch_tokens, device, dtype
        self.separator = separator
        self.max_words: int | None = None
        self.config = read_config(self.path, self.name)
        attends = getattr(self.config, "num_attention_heads", None) is not None
        self.provides = frozenset({"logprob", "entropy"} | ({"attention"} if attends else set()))

    @cached_property
    def model(self) -> LoadedModel:
        """The model, loaded on first use."""
        return load_model(self.path, self.name, self.config, self.device, self.dtype)

    @cached_property
    def tokenizer(self) -> SubwordTokenizer:
        """Its tokenizer, loaded on first use."""
        return SubwordTokenizer(self.model.tokenizer, self.model.vocabulary_size, self.name, self.separator)

    def read(self, words: Sequence[str]) -> Trace:
        """Read one text."""
        return self.read_many([words])[0]

    def read_many(
        self,
        texts: Sequence[Sequence[str]],
        progress: Progress | None = None,
        *,
        names: Sequence[str] | None = None,
        needs: frozenset[str] | None = None,
    ) -> list[Trace]:
        """Read each text; see `psymem.backends.base.Backend`."""
        check_texts(texts, self.name, self.max_words, names)
        if not texts:
            return []
        wanted = self.provides if needs is None else needs
        aligned = self.tokenizer.align(texts)
        windows = [w for number, a in enumerate(aligned) for w in self._windows(a, number)]
        if len(windows) > len(texts) and any(n.startswith("attention") for n in wanted):
            self._refuse_windows(aligned, names)
        parts: list[list[tuple[_Window, dict[str, Any]]]] = [[] for _ in texts]
        left = np.bincount([w.text for w in windows], minlength=len(texts))
        with torch.inference_mode():
            for window, arrays in self._read_windows(windows, wanted):
                parts[window.text].append((window, arrays))
                left[window.text] -= 1
                if progress is not None and left[window.text] == 0:
                    progress(int((left == 0).sum()), len(texts))
        return [self._trace(a, p, wanted) for a, p in zip(aligned, parts, strict=True)]

    def provenance(self) -> dict[str, Any]:
        """Return what identifies the numbers: checkpoint, checksum, settings."""
        return {
            "model": self.name,
            "architecture": self.config.model_type,
            "checkpoint": str(self.path),
            "sha256": self.model.sha256,
            "settings": {
                "bos": self._opens,
                "context": self.context,
                "window": self._room,
                "device": self.device,
                "precision": self.dtype,
                "separator": self.separator,
            },
        }

    @property
    def _opens(self) -> bool:
        """Whether a beginning-of-sentence token is put first."""
        return self.bos and self.tokenizer.bos_id is not None

    @property
    def _room(self) -> int | None:
        """Tokens that fit into the context besides BOS."""
        return None if self.model.max_tokens is None else self.model.max_tokens - self._opens
