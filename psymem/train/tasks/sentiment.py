"""Sentiment of short texts with a gated network, its gates set by readers' fixations, by a predictor, or by itself.

"Longer Fixations, More Computation" (Findings of EMNLP 2023): the state after the last token -> Linear -> tanh ->
Linear -> 2 classes; lower-cased text, Adam with 1e-3, batches of 32 texts, 30 epochs, no clipping. A random fifth of
the texts is the test. Here an eighth of the others is set aside, so that an epoch can be chosen without the test. The
multi-task network's predictor learns the readers' levels of the training texts beside: cross-entropy + 0.001 * squared
error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from psymem.data.corpora.corpus import Corpus
from psymem.data.corpora.fixation_levels import KEY, levelled_sentences
from psymem.errors import DataError, TrainingError
from psymem.models.gated.fixation_checkpoint import fitted_to, load_predictor
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.gated.settings import GatedSettings
from psymem.models.word_tokenizer import PAD_ID, UNK_ID, build_tokenizer, split_words

LABEL = "polarity"
TEST_SHARE, VALIDATION_SHARE = 0.2, 0.125
DURATIONS = {"adaptive": "adaptive", "fixed": "fixed", "true": "given"}
"""Where a network takes its durations from, by the name that users give."""
FIXATION_WEIGHT = 0.001
"""lambda of the published multi-task network."""

Encoded = tuple[np.ndarray, np.ndarray, bool]
"""(n,) ids, (n,) levels, and whether a text is positive."""


@dataclass(frozen=True)
class ReadText:
    """A text that people read and judged: tokens, (n,) levels of total reading time 0..11, and whether it is positive."""

    tokens: list[str]
    levels: np.ndarray
    positive: bool


@dataclass(frozen=True)
class SentimentSettings:
    """A classifier and how it is trained.

    Parameters
    ----------
    family, fixations
        Of gated networks; "adaptive", "fixed" or "true" (FGP).
    width, components
        d and K.
    predictor
        Folder of the fixation predictor, "fixed" only.
    embedding_width, learning_rate, batch_texts, epochs
        E, rate of Adam, texts per batch, passes over the training texts.
    fixation_weight
        lambda, weight of the readers' levels of the training texts in the loss (multi-task; "adaptive" only).
    seed
        Decides split, first weights, order and dropout.
    """

    family: str
    fixations: str = "adaptive"
    width: int = 50
    components: int = 3
    predictor: Path | None = None
    embedding_width: int = 100
    learning_rate: float = 1e-3
    batch_texts: int = 32
    epochs: int = 30
    fixation_weight: float = 0.0
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse settings that cannot work, in words."""
        for name in ("width", "components", "embedding_width", "batch_texts", "epochs"):
            if getattr(self, name) < 1:
                raise TrainingError(
                    f"--{name.replace('_', '-')} has to be at least 1, not {getattr(self, name)}."
                )
        if self.fixation_weight and not (self.family.startswith("fg") and self.fixations == "adaptive"):
            raise TrainingError(
                f"Only a fixation-guided network with adaptive fixations learns them beside sentiment, not {self.family} "
                f"with {self.fixations} ones; give a fixation weight of 0."
            )


def read_texts(corpus: Corpus) -> list[ReadText]:
    """Return the texts of a corpus with their sentiment, in the order of their names.

    Raises
    ------
    DataError
        If the corpus has no total reading times, or no polarity of 1 and -1 for every text.
    """
    if LABEL not in corpus.words.columns:
        raise DataError(
            f"The corpus {corpus.name!r} has no column {LABEL!r}; a corpus with judged texts is needed."
        )
    whole = replace(corpus, words=corpus.words.assign(sentence_id=1))  # a text is read as one sequence
    texts = levelled_sentences(whole, split_words)
    first = corpus.words.sort_values(KEY, kind="stable").drop_duplicates("text_id")
    polarity = pd.to_numeric(first[LABEL], errors="coerce")
    wrong = ~polarity.isin([1, -1])
    if wrong.any():
        row = first[wrong].iloc[0]
        raise DataError(
            f"Text {row['text_id']} of the corpus {corpus.name!r} has polarity {row[LABEL]!r}; expected 1 or -1."
        )
    return [
        ReadText([t.lower() for t in text.tokens], np.nan_to_num(text.levels), bool(p > 0))
        for text, p in zip(texts, polarity, strict=True)
    ]


def split_texts(texts: Sequence[ReadText], seed: int) -> dict[str, list[ReadText]]:
    """Return "train", "validation" and "test" texts; raises TrainingError if one would be empty."""
    order = np.random.default_rng([seed, 7]).permutation(len(texts))
    n_test = round(TEST_SHARE * len(texts))
    n_validation = round(VALIDATION_SHARE * (len(texts) - n_test))
    if not n_test or not n_validation:
        raise TrainingError(f"{len(texts)} text(s) are too few for training, validation and test.")
    cuts = np.split(order, [n_test, n_test + n_validation])
    return {
        name: [texts[i] for i in np.sort(part)]
        for name, part in zip(("test", "validation", "train"), cuts, strict=True)
    }


class SentimentNetwork(nn.Module):
    """A gated network and a classifier of its state after the last token."""

    def __init__(self, reader: GatedLanguageModel) -> None:
        super().__init__()
        width = reader.settings.embedding_width
        self.reader = reader
        self.classifier = nn.Sequential(
            nn.Linear(reader.block.n_outputs, width), nn.Tanh(), nn.Linear(width, 2)
        )

    def forward(self, ids: Tensor, levels: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return (B, 2) logits of (B, T) ids, padding on the right, and the predictor's (B, T) raw durations."""
        read = self.reader(ids, durations=levels)
        last = (ids != PAD_ID).sum(1) - 1
        return self.classifier(read.block[torch.arange(len(ids)), last]), read.duration_raw

    def loss(self, batch: tuple[Tensor, Tensor, Tensor], given: bool, fixation_weight: float) -> Tensor:
        """Return the loss of a batch as `_lay_out` makes it; `given`: whether levels are read, not predicted."""
        ids, levels, positive = batch
        logits, raw = self(ids, levels if given else None)
        loss = nn.functional.cross_entropy(logits, positive)
        if fixation_weight and raw is not None:
            words = ids != PAD_ID
            loss = loss + fixation_weight * nn.functional.mse_loss(raw[words], levels[words].to(raw.dtype))
        return loss

    @contextmanager
    def scored_as(self, texts: Sequence[Encoded]) -> Iterator[None]:
        """Read with the mean and variance of raw durations of these texts, dropout off; those of training afterwards.

        With dropout raw durations vary more, so that the statistics of training are not those of scoring.
        """
        self.eval()
        scale = self.reader.scale
        if scale is None:
            yield
            return
        of_training = scale.mean.item(), scale.variance.item()
        ids, _, _ = _lay_out(texts)
        with torch.inference_mode():
            raw, _ = self.reader.predict_durations(ids)
        words = raw[ids != PAD_ID]
        scale.set_statistics(float(words.mean()), float(words.var(unbiased=False)))
        yield
        scale.set_statistics(*of_training)


def accuracies(texts: Sequence[ReadText], settings: SentimentSettings) -> pd.DataFrame:
    """Train a classifier and return its accuracy after every epoch.

    Returns
    -------
    pandas.DataFrame
        ``epoch`` (from 1), ``validation`` and ``test`` (shares of texts judged rightly).

    Raises
    ------
    TrainingError
        If there are too few texts.
    """
    parts = split_texts(texts, settings.seed)
    torch.manual_seed(settings.seed)
    counts = Counter(t for text in parts["train"] for t in text.tokens)
    tokenizer = build_tokenizer(sorted(counts, key=lambda w: (-counts[w], w)))
    network = SentimentNetwork(_reader(tokenizer, settings))
    optimizer = torch.optim.Adam([p for p in network.parameters() if p.requires_grad], settings.learning_rate)
    encoded = {name: [_encode(text, tokenizer) for text in part] for name, part in parts.items()}
    given = settings.fixations == "true" and network.reader.settings.guided is not None
    found = []
    for epoch in range(settings.epochs):
        network.train()
        order = np.random.default_rng([settings.seed, epoch, 8]).permutation(len(encoded["train"]))
        for start in range(0, len(order), settings.batch_texts):
            batch = _lay_out([encoded["train"][i] for i in order[start : start + settings.batch_texts]])
            loss = network.loss(batch, given, settings.fixation_weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with network.scored_as(encoded["train"]):
            right = {name: _accuracy(network, encoded[name], given) for name in ("validation", "test")}
        found.append({"epoch": epoch + 1, **right})
    return pd.DataFrame(found)


def _reader(tokenizer: Tokenizer, settings: SentimentSettings) -> GatedLanguageModel:
    fixed = load_predictor(settings.predictor) if settings.predictor is not None else None
    network = GatedLanguageModel(
        GatedSettings(
            tokenizer.get_vocab_size(),
            settings.family,
            width=settings.width,
            components=settings.components if settings.family.startswith("fgp") else None,
            embedding_width=settings.embedding_width,
            durations=DURATIONS[settings.fixations],
            fixed_predictor_width=fixed.network.network.hidden.in_features if fixed else 100,
            fixed_predictor_embedding_width=fixed.network.embedding.embedding_dim if fixed else 100,
        )
    )
    if fixed is not None:
        network.fixed_predictor = fitted_to(fixed, tokenizer)
    return network


def _encode(text: ReadText, tokenizer: Tokenizer) -> Encoded:
    ids = [tokenizer.token_to_id(t) for t in text.tokens]
    return np.array([UNK_ID if i is None else i for i in ids], np.int64), text.levels, text.positive


def _lay_out(texts: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor]:
    """(B, T) ids and levels, padded on the right, and (B,) 1 for positive texts."""
    longest = max(len(ids) for ids, _, _ in texts)
    ids = np.full((len(texts), longest), PAD_ID, np.int64)
    levels = np.zeros((len(texts), longest), np.int64)
    for row, (own, level, _) in enumerate(texts):
        ids[row, : len(own)], levels[row, : len(own)] = own, level
    return torch.from_numpy(ids), torch.from_numpy(levels), torch.tensor([int(p) for _, _, p in texts])


def _accuracy(network: SentimentNetwork, texts: Sequence[Encoded], given: bool) -> float:
    ids, levels, positive = _lay_out(texts)
    with torch.inference_mode():
        chosen = network(ids, levels if given else None)[0].argmax(1)
    return float((chosen == positive).float().mean())
