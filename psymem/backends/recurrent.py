"""Every model of ours as a backend: words in, Traces out, from a checkpoint directory.

Sentences are independent (memory is empty at the start of each), so they are sorted by length and read in
batches; padding is on the right, where nothing before it can see it. Probabilities are exact: a softmax over
the whole vocabulary in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from psymem.alignment import Alignment, align_pieces
from psymem.backends.base import Progress, check_texts, sentence_case, text_name
from psymem.checkpoints import Checkpoint, describe
from psymem.errors import ModelError
from psymem.models.storage import MAX_TOKENS, StoredModel, architecture_named, load_checkpoint
from psymem.trace import Trace

LOGITS_AT_ONCE = 1 << 24
"""Numbers in one block of logits (64 MiB in float32)."""


class RecurrentBackend:
    """One of our models, read from its directory when the first text is.

    Parameters
    ----------
    checkpoint
        Bundled name, directory or Checkpoint.
    bos
        Whether each sentence is opened with a beginning-of-sentence token. Without it the first word has no
        probability (NaN).
    batch_tokens
        Upper limit of sentences times length in one batch; changes speed and memory, not scores.
    device
        Where to compute ("cpu", "cuda", ...).
    """

    context: ClassVar[Literal["sentence", "text"]] = "sentence"

    def __init__(
        self, checkpoint: str | Checkpoint, *, bos: bool = True, batch_tokens: int = 8192, device: str = "cpu"
    ) -> None:
        self.checkpoint = checkpoint if isinstance(checkpoint, Checkpoint) else describe(checkpoint)
        self.bos, self.batch_tokens, self.device = bos, batch_tokens, device
        self.name = self.checkpoint.name
        config = self.checkpoint.config
        self.architecture = architecture_named(self.checkpoint)
        self.provides = self.architecture.provides(config)
        self.max_tokens = int(config.get("max_position_embeddings", MAX_TOKENS)) - bos
        self.max_words: int | None = self.max_tokens
        self._pieces: dict[str, tuple[list[str], list[int]]] = {}

    @cached_property
    def stored(self) -> StoredModel:
        """Network and tokenizer, loaded and verified on first use."""
        stored = load_checkpoint(self.checkpoint)
        stored.network.to(self.device)
        return stored

    def read(self, words: Sequence[str]) -> Trace:
        """Read one sentence."""
        return self.read_many([words])[0]

    def read_many(
        self,
        texts: Sequence[Sequence[str]],
        progress: Progress | None = None,
        *,
        names: Sequence[str] | None = None,
        needs: frozenset[str] | None = None,
    ) -> list[Trace]:
        """Read each sentence; see `psymem.backends.base.Backend`.

        Raises
        ------
        ModelError
            If a text is too long or has an empty word; nothing has been computed by then.
        CheckpointError
            If the checkpoint cannot be loaded.
        """
        check_texts(texts, self.name, self.max_words, names)
        aligned = self._align(texts, names)
        traces: list[Trace | None] = [None] * len(texts)
        done = 0
        with torch.inference_mode():
            for batch in batches_by_length([len(a.ids) for a in aligned], self.batch_tokens):
                for number, trace in zip(
                    batch, self._read_batch([aligned[i] for i in batch], needs), strict=True
                ):
                    traces[number] = trace
                done += len(batch)
                if progress is not None:
                    progress(done, len(texts))
        return [t for t in traces if t is not None]

    def provenance(self) -> dict[str, Any]:
        """Return what identifies the numbers: checkpoint, checksum, card, settings."""
        card = {k: v for k, v in self.checkpoint.card.items() if k not in ("sha256", "provides")}
        return {
            "model": self.name,
            "architecture": self.checkpoint.architecture,
            "checkpoint": str(self.checkpoint.path),
            "sha256": self.checkpoint.sha256,
            "card": card,
            "settings": {
                "bos": self.bos,
                "context": self.context,
                "device": self.device,
                "precision": "float32",
            },
        }

    def _align(self, texts: Sequence[Sequence[str]], names: Sequence[str] | None) -> list[Alignment]:
        """Tokenize every text word by word; refuse those with too many tokens."""
        self._learn_pieces({w for words in texts for w in words})
        aligned = [align_pieces(words, self._pieces.__getitem__) for words in texts]
        for number, alignment in enumerate(aligned):
            if len(alignment.ids) > self.max_tokens:
                name = sentence_case(text_name(number, names))
                raise ModelError(
                    f"{name} has {len(alignment.ids)} tokens in {len(texts[number])} words; {self.name} "
                    f"reads at most {self.max_tokens} at a time. Split it into sentences."
                )
        return aligned

    def _learn_pieces(self, words: set[str]) -> None:
        """Tokenize words not met before.

        A word of which the tokenizer leaves nothing, or that spells out a special token, is an unknown word.
        """
        new = sorted(words - self._pieces.keys())
        token, number = self._unknown
        config = self.stored.config
        reserved = {config["eos_token_id"], *config.get("unpredictable_ids", ())}
        for word, encoding in zip(
            new, self.stored.tokenizer.encode_batch(new, add_special_tokens=False), strict=True
        ):
            ids = [number if i in reserved else i for i in encoding.ids]
            self._pieces[word] = (encoding.tokens or [token], ids or [number])

    @cached_property
    def _unknown(self) -> tuple[str, int]:
        """The unknown word and its id."""
        tokenizer: Any = self.stored.tokenizer
        token = tokenizer.model.unk_token
        return token, tokenizer.token_to_id(token)

    def _read_batch(self, batch: Sequence[Alignment], needs: frozenset[str] | None) -> Iterator[Trace]:
        """Read sentences of similar length at once."""
        output = self.stored.network(self._padded(batch))
        wanted = self.provides if needs is None else needs
        logprob, entropy = self._probabilities(output.hidden, batch, entropy="entropy" in wanted)
        observed = {
            k: v.float().cpu().numpy() for k, v in self.architecture.observe(output).items() if k in wanted
        }
        attention = observed.pop("attention", None)
        start = 0
        for row, alignment in enumerate(batch):
            n = len(alignment.ids)
            yield Trace(
                tokens=alignment.tokens,
                word_index=alignment.word_index,
                logprob=logprob[start : start + n],
                oov=alignment.ids == self._unknown[1],
                attention=None if attention is None else self._between_tokens(attention[row], n),
                entropy=None if entropy is None else entropy[start : start + n],
                extras={k: v[row, self.bos : self.bos + n] for k, v in observed.items()},
            )
            start += n

    def _padded(self, batch: Sequence[Alignment]) -> Tensor:
        """(B, T) ids, BOS first if asked for, padded on the right."""
        config = self.stored.config
        width = max(len(a.ids) for a in batch) + self.bos
        tokens = np.full((len(batch), max(width, 1)), config["pad_token_id"], dtype=np.int64)
        if self.bos:
            tokens[:, 0] = config["bos_token_id"]
        for row, alignment in zip(tokens, batch, strict=True):
            row[self.bos : self.bos + len(alignment.ids)] = alignment.ids
        return torch.from_numpy(tokens).to(self.device)

    def _between_tokens(self, weights: np.ndarray, n: int) -> np.ndarray:
        """(1, 1, n, n): weights between words; the first word has retrieved from no word, hence NaN."""
        own = weights[self.bos : self.bos + n, self.bos : self.bos + n].copy()
        own[:1] = np.nan
        return own[None, None]

    def _probabilities(
        self, hidden: Tensor, batch: Sequence[Alignment], *, entropy: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return log-probability of each token of the batch and entropy of what was expected there.

        Both are (N,) for N tokens in all. Sentences that begin alike (the conditions of an item) share their
        expectations, computed once.
        """
        where, state, target = expected_tokens(batch, self.bos)
        rows = hidden.reshape(-1, hidden.shape[-1])[
            torch.from_numpy(where[:, 0] * hidden.shape[1] + where[:, 1])
        ]
        logprob = np.full(len(state), np.nan)
        uncertainty = np.full(len(state), np.nan) if entropy else None
        step = max(1, LOGITS_AT_ONCE // int(self.stored.config["vocab_size"]))
        for first in range(0, len(rows), step):
            inside = np.flatnonzero((state >= first) & (state < first + step))
            logits = self._logits(rows[first : first + step])
            normaliser = logits.logsumexp(-1)
            row, column = torch.from_numpy(state[inside] - first), torch.from_numpy(target[inside])
            logprob[inside] = (logits[row, column] - normaliser[row]).double().cpu().numpy()
            if uncertainty is not None:
                expected = (torch.softmax(logits, -1) * logits).sum(-1)
                uncertainty[inside] = (normaliser - expected)[row].double().cpu().numpy()
        return np.minimum(logprob, 0.0), uncertainty

    def _logits(self, hidden: Tensor) -> Tensor:
        """(n, V) logits; what can never come next (padding, BOS) has none."""
        logits = self.stored.network.output(hidden)
        logits[:, list(self.stored.config.get("unpredictable_ids", ()))] = torch.finfo(logits.dtype).min
        return logits


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield indices of texts, sorted by length, so that count times longest stays within `batch_tokens`.

    A single text may exceed the limit and is then alone.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * (lengths[number] + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def expected_tokens(batch: Sequence[Alignment], bos: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the states after which something is expected, one for all sentences that began alike.

    Returns
    -------
    tuple
        (S, 2) row and input position of each distinct state in the batch; (N,) which state each of the
        batch's N tokens was expected in (-1 for a first word without BOS); (N,) its id.
    """
    states: dict[tuple[int, int], int] = {}
    where: list[tuple[int, int]] = []
    expected_in: list[int] = []
    for row, alignment in enumerate(batch):
        state = -1
        ids = alignment.ids.tolist()
        for position in range(len(ids)):
            if bos or position:
                came = (state, ids[position - 1] if position else -1)
                if came not in states:
                    states[came] = len(where)
                    where.append((row, position - 1 + bos))
                state = states[came]
            expected_in.append(state)
    target = np.concatenate([a.ids for a in batch]) if batch else np.zeros(0, dtype=np.int64)
    return np.array(where, dtype=np.int64).reshape(-1, 2), np.array(expected_in, dtype=np.int64), target
