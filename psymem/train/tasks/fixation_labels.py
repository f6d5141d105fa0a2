"""Human reading times beside the text, for networks that learn to predict fixations while they learn the language.

The loss of a token with estimate dhat is (E[d] - dhat)^2 / (Var[d] + 0.1), its mean over all tokens; d is a reader's
total reading time. E[d] is standardised over all tokens, punctuation and sentence ends (0) included, and Var[d] is
divided by the variance of E[d]; what is no word has infinite variance and so no weight, but it counts in the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.fixation_levels import levelled_sentences
from psymem.errors import TrainingError
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, split_words

LEAST_READERS = 4
"""A word needs this many readers for its mean and variance to count."""
VARIANCE_FLOOR = 0.1


@dataclass(frozen=True)
class FixationText:
    """Sentences that people read, in the word ids of a language model.

    Attributes
    ----------
    ids
        (n,) int32: every sentence and an end-of-sentence.
    starts
        (n_sentences + 1,) where each begins.
    target
        (n,) float32: E[d], standardised.
    weight
        (n,) float32: 1 / (Var[d] + 0.1); 0 where the token is no word or has too few readers.
    """

    ids: np.ndarray
    starts: np.ndarray
    target: np.ndarray
    weight: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """(n_sentences,) tokens of each, its end included."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class FixationBatch:
    """(B, T) inputs with what readers did at each; `real` is False at padding."""

    inputs: Tensor
    target: Tensor
    weight: Tensor
    real: Tensor

    def to(self, device: torch.device) -> FixationBatch:
        """Return the batch on a device."""
        return FixationBatch(*(t.to(device) for t in (self.inputs, self.target, self.weight, self.real)))


def fixation_text(corpus: Corpus, tokenizer: Tokenizer) -> FixationText:
    """Encode a reading corpus for the multi-task loss.

    Raises
    ------
    DataError
        If the corpus has no total reading times.
    TrainingError
        If too few words have been read by enough readers, or the vocabulary knows none of them.
    """
    sentences = levelled_sentences(corpus, split_words, least_readers=LEAST_READERS)
    ids = np.concatenate([_encode(s.tokens, tokenizer) for s in sentences])
    mean = np.concatenate([np.append(s.mean, 0.0) for s in sentences])
    variance = np.concatenate([np.append(s.variance, np.inf) for s in sentences])
    known = ~np.isnan(mean)
    words = known & np.isfinite(variance)
    if words.sum() < 2 or not mean[known].std() > 0:
        raise TrainingError(
            f"The corpus {corpus.name!r} has {int(words.sum())} word(s) with total reading times of {LEAST_READERS} "
            "readers or more, too few to learn from."
        )
    if (ids[words] == UNK_ID).all():
        raise TrainingError(f"The model's vocabulary has none of the words of the corpus {corpus.name!r}.")
    centre, spread = mean[known].mean(), mean[known].std()
    weight = np.where(words, 1 / (np.where(words, variance, 0) / spread**2 + VARIANCE_FLOOR), 0.0)
    target = np.where(known, (np.where(known, mean, 0) - centre) / spread, 0.0)
    starts = np.cumsum([0, *(len(s.tokens) + 1 for s in sentences)])
    return FixationText(ids, starts, target.astype(np.float32), weight.astype(np.float32))


def _encode(tokens: Sequence[str], tokenizer: Tokenizer) -> np.ndarray:
    ids = [tokenizer.token_to_id(t) for t in tokens]
    return np.array([*(UNK_ID if i is None else i for i in ids), EOS_ID], np.int32)


def sentence_batch(text: FixationText, which: np.ndarray) -> FixationBatch:
    """Lay out sentences, BOS first (whose estimate counts for nothing), padded on the right."""
    longest = int(text.lengths[which].max())  # BOS and all tokens but the end
    inputs = np.full((len(which), longest), PAD_ID, np.int64)
    target, weight = (np.zeros((len(which), longest), np.float32) for _ in range(2))
    inputs[:, 0] = BOS_ID
    for row, i in enumerate(which):
        words = slice(text.starts[i], text.starts[i + 1] - 1)
        n = words.stop - words.start
        inputs[row, 1 : n + 1] = text.ids[words]
        target[row, 1 : n + 1], weight[row, 1 : n + 1] = text.target[words], text.weight[words]
    return _batch(inputs, target, weight)


def stream_batch(text: FixationText, rows: int, start: int, end: int) -> FixationBatch:
    """Lay out inputs start..end-1 of the corpus as one stream in `rows` rows."""
    length = len(text.ids) // rows
    cut = lambda a: a[: rows * length].reshape(rows, length)[:, start:end]  # noqa: E731
    return _batch(cut(text.ids).astype(np.int64), cut(text.target), cut(text.weight))


def _batch(inputs: np.ndarray, target: np.ndarray, weight: np.ndarray) -> FixationBatch:
    tensors = [torch.from_numpy(np.ascontiguousarray(a)) for a in (inputs, target, weight)]
    return FixationBatch(tensors[0], tensors[1], tensors[2], tensors[0] != PAD_ID)


def fixation_loss(estimate: Tensor, batch: FixationBatch) -> Tensor:
    """Variance-weighted squared error of (B, T) estimates, its mean over all tokens; see the module docstring."""
    squared = (batch.target - estimate.float()) ** 2 * batch.weight
    return squared[batch.real].mean()
