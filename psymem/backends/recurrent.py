"""Every model of ours as a backend: words in, Traces out, from a checkpoint directory.

Sentences are independent (memory is empty at the start of each), so they are sorted by length and read in
batches; padding is on the right, where nothing before it can see it. A model that carries a state can instead read
whole texts, in pieces that go on where the last one stopped. Probabilities are exact: a softmax over the whole
vocabulary in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from psymem.alignment import Alignment, align_pieces
from psymem.backends.base import check_texts, sentence_case, text_name
from psymem.backends.batching import batches_by_length, shared_states, whole_rows
from psymem.backends.devices import move
from psymem.backends.expectation import expect
from psymem.checkpoints import Checkpoint, describe
from psymem.errors import ModelError
from psymem.models.storage import StoredModel, architecture_named, load_checkpoint, longest_input
from psymem.progress import Steps
from psymem.trace import Trace

PIECE = 512
"""Tokens of a long text read at once; changes memory, not scores."""
NOT_CAUSAL = (
    "{} is not causal: it scales fixation durations by all words of what it reads, later ones included. What it gives "
    "is not the surprisal of a word given the words before it; the column 'causal' says so."
)

DRAWN = (
    "{} was trained with fixation durations drawn at random. So they are here: that of a word from seed {}, the word and "
    "those before it in what is read at once. Another seed (fixation_seed= in Python) gives other numbers."
)


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
    context
        What is read from an empty memory: a "sentence", or a whole "text" of any length, for models that carry a
        state.
    fixation_seed
        Of the random fixation durations of models that were trained with such.
    """

    def __init__(
        self,
        checkpoint: str | Checkpoint,
        *,
        bos: bool = True,
        batch_tokens: int = 8192,
        device: str = "cpu",
        context: Literal["sentence", "text"] = "sentence",
        fixation_seed: int = 1,
    ) -> None:
        self.checkpoint = checkpoint if isinstance(checkpoint, Checkpoint) else describe(checkpoint)
        self.bos, self.batch_tokens, self.device = bos, batch_tokens, device
        self.name = self.checkpoint.name
        config = self.checkpoint.config
        self.architecture = architecture_named(self.checkpoint)
        self.provides = self.architecture.provides(config)
        self.context = self._checked(context)
        self.max_tokens = longest_input(self.checkpoint) - bos if context == "sentence" else None
        self.max_words: int | None = self.max_tokens
        self.causal = bool(config.get("causal", True))
        self.notes = [] if self.causal else [NOT_CAUSAL.format(self.name)]
        self.fixation_seed = fixation_seed
        self.drawn = config.get("durations") == "given"
        self.notes += [DRAWN.format(self.name, fixation_seed)] if self.drawn else []
        self._pieces: dict[str, tuple[list[str], list[int]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process without weights, which it loads from the same directory."""
        names = ("bos", "context", "batch_tokens", "device", "fixation_seed")
        return partial(type(self), self.checkpoint, **{n: getattr(self, n) for n in names}), ()

    def _checked(self, context: str) -> Literal["sentence", "text"]:
        """Return what is read in one go, if the model can read it."""
        if context not in ("sentence", "text"):
            raise ModelError(f"context={context!r} is not known; expected text or sentence.")
        if context == "text" and not self.architecture.carries_state:
            raise ModelError(
                f"{self.name} starts every sentence with an empty memory and cannot read with context='text'; use "
                "context='sentence', the default."
            )
        return context  # type: ignore[return-value]

    @cached_property
    def stored(self) -> StoredModel:
        """Network and tokenizer, loaded and verified on first use."""
        stored = load_checkpoint(self.checkpoint)
        move(stored.network, self.device, self.name)
        return stored

    def read(self, words: Sequence[str]) -> Trace:
        """Read one sentence."""
        return self.read_many([words])[0]

    def read_many(
        self,
        texts: Sequence[Sequence[str]],
        progress: Steps | None = None,
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
                "causal": self.causal,
                "device": self.device,
                "precision": "float32",
                **({"fixations": f"drawn at random, seed {self.fixation_seed}"} if self.drawn else {}),
            },
        }

    def _align(self, texts: Sequence[Sequence[str]], names: Sequence[str] | None) -> list[Alignment]:
        """Tokenize every text word by word; refuse those with too many tokens."""
        self._learn_pieces({w for words in texts for w in words})
        aligned = [align_pieces(words, self._pieces.__getitem__) for words in texts]
        for number, alignment in enumerate(aligned):
            if self.max_tokens is not None and len(alignment.ids) > self.max_tokens:
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
        wanted = self.provides if needs is None else needs
        wanted = wanted | ({"attention"} if any(n.startswith("attention") for n in wanted) else set())
        hidden, observed = self._run(self._padded(batch), wanted)
        logprob, entropy = self._expectation(hidden, batch, wanted)
        states = np.cumsum([0, *(len(a.ids) + 1 for a in batch)])  # where each sentence's entropies start
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
                entropy=None if entropy is None else entropy[states[row] : states[row] + n],
                entropy_after=float("nan") if entropy is None else float(entropy[states[row] + n]),
                extras={k: v[row, self.bos : self.bos + n] for k, v in observed.items()},
            )
            start += n

    def _run(self, tokens: Tensor, wanted: frozenset[str]) -> tuple[Tensor, dict[str, np.ndarray]]:
        """Return (B, T, d) states and what is to be observed; long texts are read piece by piece."""
        hidden, observed, state = [], [], None
        drawn = self.architecture.draw(self.stored.network, tokens, self.fixation_seed)
        step = PIECE if self.architecture.carries_state else tokens.shape[1]
        for start in range(0, tokens.shape[1], step):
            more = {} if drawn is None else {"durations": drawn[:, start : start + step]}
            piece = tokens[:, start : start + step]
            output = self.architecture.read(self.stored.network, piece, wanted, state, **more)
            state = getattr(output, "state", None)
            hidden.append(output.hidden)
            seen = self.architecture.observe(output).items()
            observed.append({k: v.float().cpu().numpy() for k, v in seen if k in wanted})
        if len(observed) == 1:
            return hidden[0], observed[0]
        return torch.cat(hidden, 1), {k: _joined([o[k] for o in observed]) for k in observed[0]}

    def _padded(self, batch: Sequence[Alignment]) -> Tensor:
        """(B, T) ids, BOS first if asked for, padded on the right; rows without words make a whole number of `ROWS`."""
        config = self.stored.config
        width = max(len(a.ids) for a in batch) + self.bos
        rows = whole_rows(len(batch)) if self.context == "sentence" else len(batch)
        tokens = np.full((rows, max(width, 1)), config["pad_token_id"], dtype=np.int64)
        if self.bos:
            tokens[:, 0] = config["bos_token_id"]
        for row, alignment in zip(tokens, batch, strict=False):
            row[self.bos : self.bos + len(alignment.ids)] = alignment.ids
        return torch.from_numpy(tokens).to(self.device)

    def _between_tokens(self, weights: np.ndarray, n: int) -> np.ndarray:
        """(1, 1, n, n): weights between words; the first word has retrieved from no word, hence NaN."""
        own = weights[self.bos : self.bos + n, self.bos : self.bos + n].copy()
        own[:1] = np.nan
        return own[None, None]

    def _expectation(
        self, hidden: Tensor, batch: Sequence[Alignment], wanted: frozenset[str]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return log-probability of each token of the batch and entropy of what was expected.

        (N,) for N tokens in all, and (N + B,): at each token of the B sentences and after its last one.
        Sentences that begin alike (the conditions of an item) share their expectations, computed once. Where neither is
        wanted, log-probabilities are NaN: the softmax over the vocabulary takes longer than everything else.
        """
        entropy = "entropy" in wanted
        if not entropy and "logprob" not in wanted:
            return np.full(sum(len(a.ids) for a in batch), np.nan), None
        where, states = shared_states([a.ids for a in batch], self.bos, apart=not self.causal)
        used = np.unique(np.concatenate([s if entropy else s[:-1] for s in states]))
        used = used[used >= 0]
        compact = np.full(len(where) + 1, -1)  # the last entry stands for "before anything was read"
        compact[used] = np.arange(len(used))
        used = where[used]
        state = compact[np.concatenate([s[:-1] for s in states])]
        rows = hidden[torch.from_numpy(used[:, 0]), torch.from_numpy(used[:, 1])]
        token = np.concatenate([a.ids for a in batch])
        size = int(self.stored.config["vocab_size"])
        found = expect(rows, self._logits, size, state, token, entropy=entropy)
        if found.entropy is None:
            return found.logprob, None
        every = compact[np.concatenate(states)]
        return found.logprob, np.append(found.entropy, np.nan)[every]  # state -1: nothing was expected

    def _logits(self, hidden: Tensor) -> Tensor:
        """(n, V) logits; what can never come next (padding, BOS) has none."""
        logits = self.stored.network.output(hidden)
        logits[:, list(self.stored.config.get("unpredictable_ids", ()))] = torch.finfo(logits.dtype).min
        return logits


def _joined(pieces: list[np.ndarray]) -> np.ndarray:
    """Join (B, T, ...) arrays in time; one that is the same at every step (weights) stays a view of one step."""
    if all(piece.strides[1] == 0 for piece in pieces):
        first, length = pieces[0], sum(piece.shape[1] for piece in pieces)
        return np.broadcast_to(first[:, :1], (first.shape[0], length, *first.shape[2:]))
    return np.concatenate(pieces, 1)
