"""Batches of sentences of similar length, the same for one seed and epoch wherever training was interrupted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import torch

from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID
from psymem.train.text.corpus import NO_TAG, EncodedText

POOL = 100
"""Batches whose sentences are sorted by length together: little padding, still well mixed."""


@dataclass(frozen=True)
class Batch:
    """One batch of B sentences, T inputs each.

    Attributes
    ----------
    inputs
        (B, T) int64: BOS, then the words; padded with PAD on the right.
    targets
        (B, T) int64: the next word or end-of-sentence; PAD where there is nothing to predict.
    tags
        (B, T) int64 supertag of the input word, NO_TAG where there is none; None for plain text.
    emphasised
        (B, T) bool: the word to predict counts more than others; None where all count alike.
    share, tag_share
        Of a part of a batch: the share of the targets, and of the supertags, of the whole batch that it holds.
    """

    inputs: torch.Tensor
    targets: torch.Tensor
    tags: torch.Tensor | None
    emphasised: torch.Tensor | None = field(default=None, kw_only=True)
    share: float = field(default=1.0, kw_only=True)
    tag_share: float = field(default=1.0, kw_only=True)

    @property
    def n_targets(self) -> int:
        """Words and sentence ends to predict; 0 in an empty part of a batch."""
        return int((self.targets != PAD_ID).sum()) if self.share else 0

    @property
    def n_tags(self) -> int:
        """Input words with a supertag."""
        return 0 if self.tags is None else int((self.tags != NO_TAG).sum())

    def part(self, number: int, of: int) -> Batch:
        """Return every `of`-th sentence from `number` (0-based) on: the part of one process.

        Where there are fewer sentences than processes, a part is the first sentence with a share of 0, so that its
        process has something to compute.
        """
        if of == 1:
            return self
        rows = slice(number, None, of) if number < len(self.inputs) else slice(0, 1)
        part: Batch = replace(self, **{name: tensor[rows] for name, tensor in self._tensors().items()})
        if number >= len(self.inputs):
            return replace(part, share=0.0, tag_share=0.0 if self.n_tags else 1.0)
        tag_share = part.n_tags / self.n_tags if self.n_tags else 1.0
        return replace(part, share=part.n_targets / self.n_targets, tag_share=tag_share)

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        return replace(self, **{name: tensor.to(device) for name, tensor in self._tensors().items()})

    def _tensors(self) -> dict[str, Any]:
        """What has a row for each sentence, by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}


def plan_epoch(lengths: np.ndarray, batch_tokens: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the sentence numbers of each batch of an epoch.

    Parameters
    ----------
    lengths
        Tokens per sentence.
    batch_tokens
        Upper bound of B x T inputs in a batch, padding included (a longer single sentence is a batch of its own).
    seed, epoch
        Decide the order, together and alone.
    """
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    typical = max(1, int(batch_tokens / (lengths.mean() + 1)))
    batches: list[np.ndarray] = []
    for start in range(0, len(order), POOL * typical):
        pool = order[start : start + POOL * typical]
        batches += _fill(pool[np.argsort(lengths[pool], kind="stable")], lengths, batch_tokens)
    return [batches[i] for i in rng.permutation(len(batches))]


def _fill(sentences: np.ndarray, lengths: np.ndarray, batch_tokens: int) -> list[np.ndarray]:
    """Cut sentences, shortest first, into batches within the token bound."""
    batches, start = [], 0
    for end in range(1, len(sentences) + 1):
        if end == len(sentences) or (end + 1 - start) * (lengths[sentences[end]] + 1) > batch_tokens:
            batches.append(sentences[start:end])
            start = end
    return batches


def make_batch(text: EncodedText, which: np.ndarray) -> Batch:
    """Lay out the chosen sentences as a batch."""
    longest = int(text.lengths[which].max()) + 1
    inputs = np.full((len(which), longest), PAD_ID, np.int64)
    targets = np.full((len(which), longest), PAD_ID, np.int64)
    tags = None if text.tags is None else np.full((len(which), longest), NO_TAG, np.int64)
    inputs[:, 0] = BOS_ID
    for row, i in enumerate(which):
        ids = text.sentence(i)
        n = len(ids)
        inputs[row, 1 : n + 1] = ids
        targets[row, :n] = ids
        if text.complete[i]:
            targets[row, n] = EOS_ID
        if tags is not None and text.tags is not None:
            tags[row, 1 : n + 1] = text.tags[text.starts[i] : text.starts[i + 1]]
    return Batch(
        torch.from_numpy(inputs), torch.from_numpy(targets), None if tags is None else torch.from_numpy(tags)
    )


def emphasised_batch(text: EncodedText, which: np.ndarray) -> Batch:
    """Lay out the chosen sentences; the words that have a tag are emphasised."""
    batch = make_batch(text, which)
    assert batch.tags is not None
    marked = batch.tags != NO_TAG  # of the input word
    emphasised = torch.zeros_like(marked)
    emphasised[:, :-1] = marked[:, 1:]  # of the word to predict
    return replace(batch, tags=None, emphasised=emphasised)
