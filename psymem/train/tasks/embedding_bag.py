"""A bag of embeddings with a linear classifier, the model of fastText (Joulin et al., 2017): p = softmax(W mean(e) + b).

It is trained on texts with labels, and classifies by itself; its embeddings are what reductions of word sequences work on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class EmbeddingBagSettings:
    """How a bag is trained.

    Parameters
    ----------
    width
        D of the embeddings.
    epochs, batch_texts, learning_rate
        Passes over the training texts, texts a batch, rate of Adam, which falls linearly to 0.
    seed
        First weights and order.
    """

    width: int = 10
    epochs: int = 5
    batch_texts: int = 64
    learning_rate: float = 0.02
    seed: int = 1


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as rows of a vocabulary, all one after the other, with their (M,) lengths and (M,) classes."""

    ids: np.ndarray
    lengths: np.ndarray
    classes: np.ndarray

    def batch(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        """Ids of the chosen texts one after the other, and where each begins."""
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        pieces = [self.ids[starts[i] : starts[i + 1]] for i in chosen]
        offsets = np.concatenate([[0], np.cumsum(self.lengths[chosen])[:-1]])
        return torch.from_numpy(np.concatenate(pieces)), torch.from_numpy(offsets)


class EmbeddingBag(nn.Module):
    """Mean of the embeddings of a text's words, and a linear classifier; a text without known words has the mean 0."""

    def __init__(self, vocabulary: int, classes: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, width, mode="mean", sparse=True)
        self.classifier = nn.Linear(width, classes)
        nn.init.uniform_(self.embedding.weight, -1 / width, 1 / width)  # as fastText

    def forward(self, ids: Tensor, offsets: Tensor) -> Tensor:
        """(B, classes) logits."""
        logits: Tensor = self.classifier(self.embedding(ids, offsets))
        return logits


def train_embedding_bag(
    train: EncodedTexts, vocabulary: int, classes: int, settings: EmbeddingBagSettings
) -> EmbeddingBag:
    """Train a bag of embeddings by cross-entropy."""
    torch.manual_seed(settings.seed)
    bag = EmbeddingBag(vocabulary, classes, settings.width)
    optimizers = [
        torch.optim.SparseAdam([bag.embedding.weight], settings.learning_rate),
        torch.optim.Adam(bag.classifier.parameters(), settings.learning_rate),
    ]
    targets = torch.from_numpy(train.classes)
    steps = settings.epochs * -(-len(targets) // settings.batch_texts)
    schedules = [
        torch.optim.lr_scheduler.LinearLR(o, 1.0, 1 / steps, total_iters=steps - 1) for o in optimizers
    ]
    for epoch in range(settings.epochs):
        order = np.random.default_rng([settings.seed, epoch, 12]).permutation(len(targets))
        for start in range(0, len(order), settings.batch_texts):
            chosen = order[start : start + settings.batch_texts]
            loss = nn.functional.cross_entropy(bag(*train.batch(chosen)), targets[chosen])
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            for optimizer, schedule in zip(optimizers, schedules, strict=True):
                optimizer.step()
                schedule.step()
    return bag


def bag_accuracy(bag: EmbeddingBag, texts: EncodedTexts) -> float:
    """Share of texts that a bag puts into their class."""
    with torch.inference_mode():
        chosen = bag(*texts.batch(np.arange(len(texts.lengths)))).argmax(1).numpy()
    return float((chosen == texts.classes).mean())


def word_vectors(bag: EmbeddingBag) -> np.ndarray:
    """(V, D) embeddings, float64."""
    return bag.embedding.weight.detach().numpy().astype(np.float64)


def encode(
    texts: Sequence[tuple[Sequence[str], str]], rows: dict[str, int], classes: Sequence[str]
) -> EncodedTexts:
    """Look up the words of texts; unknown ones are left out."""
    ids = [[rows[w] for w in words if w in rows] for words, _ in texts]
    numbers = {label: n for n, label in enumerate(classes)}
    return EncodedTexts(
        np.array([i for row in ids for i in row], np.int64),
        np.array([len(row) for row in ids], np.int64),
        np.array([numbers[label] for _, label in texts], np.int64),
    )
