"""Training a CBR-RNN: text in, checkpoint directory out.

Timkey & Linzen (2023): lower-cased text, numerals as ``<num>``, words outside the vocabulary as ``<unk>``, sentences
of at most 64 tokens with BOS, tied weights, next-word loss plus alpha times the loss of predicting the current
word's CCG supertag, where sentences have tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from psymem.errors import TrainingError
from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
from psymem.models.cbr_rnn_training import hidden_states
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID
from psymem.train.loop.evaluation import HeldOutSurprisal, held_out_surprisal
from psymem.train.tasks.objectives import Competitors, CompetitorSampler, joint_loss, next_word_loss
from psymem.train.text.batching import Batch, emphasised_batch, make_batch, plan_epoch
from psymem.train.text.corpus import NO_TAG, EncodedText


@dataclass(frozen=True)
class ObjectiveSettings:
    """What a CBR-RNN is trained to do.

    Parameters
    ----------
    width, dropout, attention
        See :class:`~psymem.models.cbr_rnn.CueBasedRNNSettings`.
    alpha
        Weight of the supertag loss; 0 for none.
    normalised
        True for (L_LM + alpha L_CCG) / (1 + alpha), as in the released code; False for the published sum.
    sampled_words
        Competitors per step of the sampled next-word loss; 0 for the exact softmax.
    batch_tokens
        Inputs per batch, padding included.
    tagged_passes
        How often tagged sentences come in one pass over the text.
    emphasis
        How often a marked word of the emphasised sentences counts in the next-word loss; other words count once.
    emphasised_passes
        How often emphasised sentences come in one pass over the text.
    precision
        "bf16", "fp32", or "auto": bf16 where the processor multiplies it natively.
    """

    width: int = 256
    dropout: float = 0.2
    attention: str = "softmax"
    alpha: float = 0.0
    normalised: bool = True
    sampled_words: int = 4096
    batch_tokens: int = 4096
    tagged_passes: int = 1
    emphasis: float = 1.0
    emphasised_passes: int = 1
    precision: str = "auto"

    def __post_init__(self) -> None:
        """Refuse an emphasis that would teach the opposite."""
        if not self.emphasis >= 1:
            raise TrainingError(f"--emphasis has to be at least 1 (no emphasis), not {self.emphasis:g}.")
        if self.emphasised_passes < 1:
            raise TrainingError(f"--emphasised-passes has to be at least 1, not {self.emphasised_passes}.")

    def compute_type(self) -> torch.dtype:
        """Return the precision of the products."""
        if self.precision not in ("auto", "bf16", "fp32"):
            raise TrainingError(f"--precision {self.precision!r} is not known; expected auto, bf16 or fp32.")
        native = torch.cuda.is_available() or (
            torch.backends.cpu.get_cpu_capability() == "AVX512" and _has_bf16()
        )
        return (
            torch.bfloat16
            if self.precision == "bf16" or (self.precision == "auto" and native)
            else torch.float32
        )


def _has_bf16() -> bool:
    return bool(getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)())


class CueBasedRNNTask(nn.Module):
    """A CBR-RNN with its data and objective; a Task for the training loop.

    Parameters
    ----------
    settings
        Objective and size.
    vocabulary_size, n_supertags
        Sizes of the two output layers.
    texts
        "plain", optionally "tagged" and "emphasised" (training) and "validation" (held out).
    seed
        Decides initial weights and order.
    """

    def __init__(
        self,
        settings: ObjectiveSettings,
        vocabulary_size: int,
        n_supertags: int,
        texts: Mapping[str, EncodedText],
        seed: int,
    ) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.settings, self.texts, self.seed = settings, dict(texts), seed
        self.model = CueBasedRNN(
            CueBasedRNNSettings(
                vocabulary_size,
                settings.width,
                attention=settings.attention,
                n_supertags=n_supertags if settings.alpha else 0,
                bos_id=BOS_ID,
                dropout=settings.dropout,
            )
        )
        self.compute = settings.compute_type()
        self.sampler = None
        if settings.sampled_words:
            training = [t for name, t in self.texts.items() if name != "validation"]
            counts = target_counts(training, vocabulary_size)
            self.sampler = CompetitorSampler(counts, settings.sampled_words, never=(PAD_ID, BOS_ID))

    def plan(self, epoch: int) -> list[tuple[str, np.ndarray]]:
        """Batches of the plain text with those of the tagged and the emphasised text mixed in."""
        handles = []
        passes = {
            "plain": 1,
            "tagged": self.settings.tagged_passes,
            "emphasised": self.settings.emphasised_passes,
        }
        for name, turns in passes.items():
            for turn in range(turns):
                if name in self.texts and len(self.texts[name]):
                    seed = self.seed * 1000 + turn
                    lengths = self.texts[name].lengths
                    handles += [
                        (name, b) for b in plan_epoch(lengths, self.settings.batch_tokens, seed, epoch)
                    ]
        order = np.random.default_rng([self.seed, epoch, 7]).permutation(len(handles))
        return [handles[i] for i in order]

    def batch(self, handle: tuple[str, np.ndarray]) -> Batch:
        """Lay out one planned batch."""
        name, which = handle
        return (emphasised_batch if name == "emphasised" else make_batch)(self.texts[name], which)

    def forward(self, batch: Batch, step: int) -> tuple[Tensor, float]:
        """Return the joint loss and the mean surprisal of the next words, in nats."""
        model = self.model.train()
        hidden = self._hidden(batch.inputs)  # (T, B, d)
        targets = batch.targets.T
        predicts = targets != PAD_ID
        competitors = self.sampler.draw((self.seed, step)) if self.sampler else None
        language = next_word_loss(
            hidden[predicts], model.output.weight, model.output.bias, targets[predicts], competitors
        )
        loss = joint_loss(
            language, self._tag_loss(hidden, batch), self.settings.alpha, self.settings.normalised
        )
        return loss + self._emphasis(hidden, batch, predicts, competitors), float(language.detach())

    def _emphasis(
        self, hidden: Tensor, batch: Batch, predicts: Tensor, competitors: Competitors | None
    ) -> Tensor | float:
        """What emphasised words add to the mean surprisal, each counting `emphasis` times in place of once."""
        if batch.emphasised is None:
            return 0.0
        here = batch.emphasised.T & predicts
        n = int(here.sum())
        if not n:
            return 0.0
        output, targets = self.model.output, batch.targets.T
        surprisal = next_word_loss(hidden[here], output.weight, output.bias, targets[here], competitors)
        return (self.settings.emphasis - 1) * n / int(predicts.sum()) * surprisal

    def _hidden(self, inputs: Tensor) -> Tensor:
        if self.settings.attention == "softmax":
            return hidden_states(self.model, inputs, self.compute)
        return self.model(inputs).hidden.transpose(0, 1)

    def _tag_loss(self, hidden: Tensor, batch: Batch) -> Tensor | None:
        if self.model.supertag is None:
            return None
        if batch.tags is None or not batch.tag_share:
            # zero, with a gradient, where only other processes have tags of this batch
            return None if batch.tags is None else 0 * self.model.supertag(hidden[:1, :1].float()).sum()
        if not batch.n_tags:
            return None
        logits = self.model.supertag(hidden.float())
        mean = nn.functional.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), batch.tags.T.reshape(-1), ignore_index=NO_TAG
        )
        return mean * (
            batch.tag_share / batch.share
        )  # the loop weighs the whole loss by the share of the targets

    def validate(self) -> float:
        """Mean surprisal (nats) of held-out words and sentence ends, exact, float32."""
        return held_out_surprisal(self.model, self.texts["validation"]).mean_nats


def target_counts(texts: Sequence[EncodedText], vocabulary_size: int) -> np.ndarray:
    """Return (V,) how often each word, the end of a sentence included, is the one to predict."""
    counts = np.zeros(vocabulary_size)
    for text in texts:
        counts += np.bincount(text.ids, minlength=vocabulary_size)
        counts[EOS_ID] += text.complete.sum()
    return counts


def card_of(
    settings: ObjectiveSettings, facts: Mapping[str, Any], held_out: HeldOutSurprisal
) -> dict[str, Any]:
    """Return what the card of a trained model says."""
    return {
        "title": "CBR-RNN: recurrent language model with one head of cue-based memory retrieval",
        "source": "Timkey & Linzen (2023), Findings of EMNLP",
        "architecture": "psymem-cbr-rnn",
        **facts,
        "held_out_perplexity": round(held_out.perplexity, 3),
        "held_out_perplexity_without_unknown": round(held_out.perplexity_known, 3),
        "held_out_unknown_share": round(held_out.unknown_share, 5),
        "objective": {k: v for k, v in asdict(settings).items() if v is not None},
    }
