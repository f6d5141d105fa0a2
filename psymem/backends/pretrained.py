"""Any causal language model of transformers as a backend: word surprisal done right, attention of any head.

Texts are read whole, words joined by spaces, in batches of similar length with padding on the right. Only
states after which a token is expected are turned into probabilities, in float32 over the whole vocabulary, in
blocks; so memory does not grow with batch times length times vocabulary. A text longer than the model's
context is read in windows that overlap by half: every token is scored once, with at least half a window
before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from psymem.alignment import Alignment
from psymem.backends.base import check_texts, sentence_case, text_name
from psymem.backends.batching import (
    Window,
    batches_by_length,
    cut_windows,
    shared_states,
)
from psymem.backends.devices import out_of_memory
from psymem.backends.expectation import Expectation, expect
from psymem.backends.pretrained_model import LoadedModel, load_model, read_config
from psymem.backends.punctuation import Punctuation, check_punctuation
from psymem.backends.subwords import SubwordTokenizer
from psymem.backends.windows import join_windows
from psymem.errors import ModelError
from psymem.progress import Steps
from psymem.trace import Trace, no_such_head

ON_CPU, ON_OTHERS = 256, 16_384
"""Texts times length in one batch: on a processor larger batches only need more memory; other devices are idle with
less."""

READS = "psymem_reads"
"""Entry of config.json in which models trained by psymem say what they read in one go."""


class PretrainedBackend:
    """A causal language model from a directory, a GGUF file or the Hugging Face hub's cache.

    Parameters
    ----------
    path
        Directory with the model, or a GGUF file.
    name
        What to call it; the path if not given.
    bos
        Whether to open each text with the beginning-of-sentence token, if the model has one. Without it the
        first token has no probability (NaN).
    context
        What is read in one go: a whole "text", or each "sentence" by itself; if not given, what the model's
        configuration says it was trained on, a text if it says nothing.
    batch_tokens
        Upper limit of texts times length in one batch; halved by itself when memory runs out. By default what
        suits the device.
    device, dtype
        Where to compute, and in which precision ("float32", "bfloat16", "float16").
    separator
        What stands between words: a space, or "" in languages written without.
    punctuation
        How a row of punctuation is read: "attached" to the word before it, or "spaced" like any word; see
        `psymem.backends.punctuation`.
    """

    usual_measures = ("surprisal", "surprisal-uncorrected", "n-tokens", "context-length")
    """What `psymem.score` computes if no measures are named."""

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        bos: bool = True,
        context: Literal["text", "sentence"] | None = None,
        batch_tokens: int | None = None,
        device: str = "cpu",
        dtype: str = "float32",
        separator: str = " ",
        punctuation: Punctuation = "attached",
    ) -> None:
        self.path, self.name = Path(path), name or str(path)
        self.bos, self.device, self.dtype = bos, device, dtype
        self.batch_tokens = batch_tokens or (ON_CPU if device == "cpu" else ON_OTHERS)
        self.separator, self.punctuation = separator, punctuation
        check_punctuation(punctuation)
        self.max_words: int | None = None
        self.notes: list[str] = []
        self._case_note: str | None = None
        self.config = read_config(self.path, self.name)
        if context not in (None, "text", "sentence"):
            raise ModelError(f"context={context!r} is not known; expected text or sentence.")
        reads: Literal["text", "sentence"] = getattr(self.config, READS, "text")
        self.context: Literal["text", "sentence"] = context or reads
        attends = getattr(self.config, "num_attention_heads", None) is not None
        self.provides = frozenset({"logprob", "entropy"} | ({"attention"} if attends else set()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process without weights, which it loads from the same directory."""
        names = ("name", "bos", "context", "batch_tokens", "device", "dtype", "separator", "punctuation")
        return partial(type(self), self.path, **{n: getattr(self, n) for n in names}), ()

    @cached_property
    def model(self) -> LoadedModel:
        """The model, loaded on first use."""
        return load_model(self.path, self.name, self.config, self.device, self.dtype)

    @cached_property
    def tokenizer(self) -> SubwordTokenizer:
        """Its tokenizer, loaded on first use."""
        model = self.model
        return SubwordTokenizer(
            model.tokenizer, model.vocabulary_size, self.name, self.separator, self.punctuation
        )

    def read(self, words: Sequence[str]) -> Trace:
        """Read one text."""
        return self.read_many([words])[0]

    def read_many(
        self,
        texts: Sequence[Sequence[str]],
        progress: Steps | None = None,
        *,
        names: Sequence[str] | None = None,
        needs: frozenset[str] | None = None,
    ) -> list[Trace]:
        """Read each text; see `psymem.backends.base.Backend`."""
        check_texts(texts, self.name, self.max_words, names)
        if not texts:
            return []
        wanted = self.provides if needs is None else needs
        note = self.tokenizer.case_note(texts)
        self._case_note = self._case_note or note  # the first says it all
        aligned = self.tokenizer.align(texts)
        self.notes = [n for n in (self._case_note, self.tokenizer.spanning_note()) if n]
        windows = [w for number, a in enumerate(aligned) for w in cut_windows(a.ids, number, self._room)]
        if len(windows) > len(texts) and any(n.startswith("attention") for n in wanted):
            self._refuse_windows(aligned, names)
        parts: list[list[tuple[Window, dict[str, Any]]]] = [[] for _ in texts]
        left = np.bincount([w.text for w in windows], minlength=len(texts))
        with torch.inference_mode():
            for window, arrays in self._read_windows(windows, wanted):
                parts[window.text].append((window, arrays))
                left[window.text] -= 1
                if progress is not None and left[window.text] == 0:
                    progress(int((left == 0).sum()), len(texts))
        heads = self.model.chosen_heads(wanted) or None
        unknown = self.tokenizer.unknown_id
        return [join_windows(a, p, heads, unknown) for a, p in zip(aligned, parts, strict=True)]

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
                "punctuation": "attached" if self.tokenizer.attaches else "spaced",
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

    def _refuse_windows(self, aligned: Sequence[Alignment], names: Sequence[str] | None) -> None:
        """Say that attention across windows does not exist."""
        sizes = [len(a.ids) for a in aligned]
        number = int(np.argmax(sizes))
        raise ModelError(
            f"{sentence_case(text_name(number, names))} has {sizes[number]} tokens; {self.name} attends "
            "to at most "
            f'{self._room} at a time. Read sentence by sentence (context="sentence"), or ask for no attention.'
        )

    def _read_windows(
        self, windows: list[Window], wanted: frozenset[str]
    ) -> Iterator[tuple[Window, dict[str, Any]]]:
        """Read windows in batches of similar length."""
        self.model.attend(any(n.startswith("attention") for n in wanted))
        for batch in batches_by_length([len(w.ids) for w in windows], self.batch_tokens):
            yield from self._read_batch([windows[i] for i in batch], wanted)

    def _read_batch(self, batch: list[Window], wanted: frozenset[str]) -> list[tuple[Window, dict[str, Any]]]:
        """Read windows at once, or in two halves if memory runs out."""
        try:
            return list(zip(batch, self._compute(batch, wanted), strict=True))
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if len(batch) == 1:
                raise ModelError(
                    f"There is not enough memory for {self.name} to read {len(batch[0].ids)} tokens at once."
                ) from error
        self.batch_tokens = max(1, self.batch_tokens // 2)
        half = len(batch) // 2
        return self._read_batch(batch[:half], wanted) + self._read_batch(batch[half:], wanted)

    def _compute(self, batch: list[Window], wanted: frozenset[str]) -> list[dict[str, Any]]:
        """Return, for each window, arrays over the tokens it scores."""
        heads = self.model.chosen_heads(wanted)
        hidden, attention = self.model.states(self._padded(batch), bool(heads) or "attention" in wanted)
        found, states = self._expectation(hidden, batch, entropy="entropy" in wanted)
        weights = self._weights(attention, heads)
        results, start = [], 0
        for row, window in enumerate(batch):
            n = len(window.ids) - window.scored_from
            own = states[row][window.scored_from :]
            arrays: dict[str, Any] = {"logprob": found.logprob[start : start + n]}
            if found.entropy is not None:
                arrays["entropy"] = np.append(found.entropy, np.nan)[own]
            if found.beginning is not None:
                arrays["boundary"] = np.append(found.beginning, np.nan)[own]
            if weights is not None:
                arrays |= self._between_tokens(weights[row], len(window.ids))
            results.append(arrays)
            start += n
        return results

    def _padded(self, batch: list[Window]) -> Tensor:
        """(B, T) ids, BOS first if there is one; what pads on the right is seen by nothing that is scored."""
        filler = 1 if self.config.pad_token_id == 0 else 0
        width = max(1, max(len(w.ids) for w in batch) + self._opens)
        tokens = np.full((len(batch), width), filler, dtype=np.int64)
        if self.tokenizer.bos_id is not None and self._opens:
            tokens[:, 0] = self.tokenizer.bos_id
        for row, window in zip(tokens, batch, strict=True):
            row[self._opens : self._opens + len(window.ids)] = window.ids
        return torch.from_numpy(tokens).to(self.device)

    def _expectation(
        self, hidden: Tensor, batch: list[Window], *, entropy: bool
    ) -> tuple[Expectation, list[np.ndarray]]:
        """Probabilities in every state that is needed, and which state each window is in after each token."""
        where, states = shared_states([w.ids for w in batch], self._opens)
        scored = [s[w.scored_from :] for s, w in zip(states, batch, strict=True)]
        last = slice(None) if entropy or self.tokenizer.beginnings is not None else slice(-1)
        used = np.unique(np.concatenate([s[last] for s in scored]))
        used = used[used >= 0]
        compact = np.full(len(where) + 1, -1)  # the last entry stands for "before anything was read"
        compact[used] = np.arange(len(used))
        places = where[used]
        found = expect(
            hidden[torch.from_numpy(places[:, 0]), torch.from_numpy(places[:, 1])],
            self.model.logits,
            self.model.vocabulary_size,
            compact[np.concatenate([s[:-1] for s in scored])],
            np.concatenate([w.ids[w.scored_from :] for w in batch]),
            entropy=entropy,
            beginnings=self._beginnings,
        )
        return found, [compact[s] for s in states]

    @cached_property
    def _beginnings(self) -> Tensor | None:
        """(V,) 1 for tokens that begin a word, where the vocabulary marks them."""
        begins = self.tokenizer.beginnings
        return None if begins is None else torch.from_numpy(begins).float().to(self.device)

    def _weights(
        self, attention: tuple[Tensor, ...], heads: tuple[tuple[int, int], ...]
    ) -> np.ndarray | None:
        """(B, layers, heads, T, T), or (B, 1, chosen, T, T); None without attention."""
        if not attention:
            return None
        for layer, head in heads:
            if layer >= len(attention) or head >= attention[0].shape[1]:
                raise ModelError(no_such_head(layer, head, len(attention), attention[0].shape[1]))
        if heads:
            chosen = torch.stack([attention[layer][:, head] for layer, head in heads], 1)[:, None]
        else:
            chosen = torch.stack(attention, 1)
        return chosen.float().cpu().numpy()

    def _between_tokens(self, weights: np.ndarray, n: int) -> dict[str, np.ndarray]:
        """Weights between the n tokens of a text, and on BOS if there is one."""
        first = int(self._opens)
        own = weights[..., first : first + n, first : first + n].copy()
        return {"attention": own} | ({"attention_bos": weights[..., 1 : 1 + n, 0].copy()} if first else {})
