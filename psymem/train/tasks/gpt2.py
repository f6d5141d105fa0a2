"""Training a small GPT-2 on the same text as the memory models, as their matched control.

The network is transformers' GPT2LMHeadModel, the loop ours. Each sentence is read by itself after ``<s>`` and
ends with ``</s>``, as for the CBR-RNN; the vocabulary is the CBR-RNN's word-level one or byte pairs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from psymem import checkpoints
from psymem.backends.pretrained import READS
from psymem.backends.pretrained_model import quietly
from psymem.errors import TrainingError
from psymem.io.outputs import whole_folder, write_text
from psymem.models.word_tokenizer import BOS, BOS_ID, EOS, EOS_ID, PAD, PAD_ID, UNK, UNK_ID
from psymem.train.loop import processes
from psymem.train.loop.evaluation import BATCH_TOKENS, HeldOutSurprisal
from psymem.train.loop.lock import alone
from psymem.train.loop.loop import train_to_best
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import (
    MODEL,
    DataSettings,
    facts_of,
    finished_earlier,
    plain_settings,
    prepare,
    sample,
)
from psymem.train.text.batching import Batch, make_batch, plan_epoch
from psymem.train.text.byte_pairs import learn_byte_pairs
from psymem.train.text.corpus import EncodedText
from psymem.train.text.vocabulary import choose_vocabulary
from psymem.train.text.word_counts import word_counts

VOCABULARIES = {"words": choose_vocabulary, "bpe": learn_byte_pairs}


@dataclass(frozen=True)
class GPT2Settings:
    """Size and objective of a GPT-2.

    Parameters
    ----------
    layers, heads, width
        Layers, attention heads in each, and embedding width, a multiple of `heads`.
    dropout
        Dropout everywhere.
    batch_tokens
        Inputs per batch, padding included.
    vocabulary
        "words", the word-level vocabulary of the CBR-RNN, or "bpe", byte pairs.
    """

    layers: int = 4
    heads: int = 4
    width: int = 256
    dropout: float = 0.1
    batch_tokens: int = 4096
    vocabulary: str = "words"

    def __post_init__(self) -> None:
        """Refuse settings that cannot work, in words."""
        for name in ("layers", "heads", "width", "batch_tokens"):
            if getattr(self, name) < 1:
                raise TrainingError(
                    f"--{name.replace('_', '-')} has to be at least 1, not {getattr(self, name)}."
                )
        if self.width % self.heads:
            raise TrainingError(
                f"--width {self.width} cannot be divided among {self.heads} heads; give a multiple of "
                f"{self.heads}."
            )
        if self.vocabulary not in VOCABULARIES:
            raise TrainingError(
                f"--vocabulary {self.vocabulary!r} is not known; expected {' or '.join(VOCABULARIES)}."
            )


class GPT2Task(nn.Module):
    """A GPT-2 with its data; a Task for the training loop.

    Parameters
    ----------
    settings
        Size and objective.
    vocabulary_size, longest
        Words or byte pairs; inputs of the longest sentence, BOS included.
    texts
        "plain" (training) and "validation" (held out).
    seed
        Decides initial weights and order.
    """

    def __init__(
        self,
        settings: GPT2Settings,
        vocabulary_size: int,
        longest: int,
        texts: Mapping[str, EncodedText],
        seed: int,
    ) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.settings, self.texts, self.seed = settings, dict(texts), seed
        self.model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=vocabulary_size,
                n_positions=longest,
                n_embd=settings.width,
                n_layer=settings.layers,
                n_head=settings.heads,
                resid_pdrop=settings.dropout,
                embd_pdrop=settings.dropout,
                attn_pdrop=settings.dropout,
                bos_token_id=BOS_ID,
                eos_token_id=EOS_ID,
                pad_token_id=PAD_ID,
                **{READS: "sentence"},  # type: ignore[arg-type]
            )
        )

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Sentence numbers of each batch."""
        return plan_epoch(self.texts["plain"].lengths, self.settings.batch_tokens, self.seed, epoch)

    def batch(self, handle: np.ndarray) -> Batch:
        """Lay out one planned batch."""
        return make_batch(self.texts["plain"], handle)

    def forward(self, batch: Batch, step: int) -> tuple[Tensor, float]:
        """Return the mean surprisal of the next tokens in nats, to minimise and to show."""
        nats = surprisals(self.model.train(), batch).mean()
        return nats, float(nats.detach())

    def validate(self) -> float:
        """Mean surprisal (nats) of held-out tokens and sentence ends, exact, float32."""
        return held_out(self.model, self.texts["validation"]).mean_nats


def surprisals(model: GPT2LMHeadModel, batch: Batch) -> Tensor:
    """(n,) nats of the n tokens to predict, row by row; padding on the right is seen by none of them."""
    device = model.device
    inputs = batch.inputs.to(device)
    hidden = model.transformer(
        input_ids=inputs, attention_mask=(inputs != PAD_ID).long(), use_cache=False
    ).last_hidden_state
    targets = batch.targets.to(device)
    predicts = targets != PAD_ID
    logits = model.lm_head(hidden[predicts])
    return nn.functional.cross_entropy(logits.float(), targets[predicts], reduction="none")


def held_out(model: GPT2LMHeadModel, text: EncodedText) -> HeldOutSurprisal:
    """Return the summed surprisal of a text, exact."""
    model.eval()
    nats, known = [np.empty(0)], [np.empty(0, bool)]
    with torch.inference_mode():
        for which in plan_epoch(text.lengths, BATCH_TOKENS, 0, 0):
            batch = make_batch(text, which)
            nats.append(surprisals(model, batch).double().cpu().numpy())
            known.append((batch.targets[batch.targets != PAD_ID] != UNK_ID).numpy())
    every, is_known = np.concatenate(nats), np.concatenate(known)
    if not len(every):
        raise TrainingError("There is no word to predict in this text.")
    return HeldOutSurprisal(float(every.sum()), len(every), float(every[is_known].sum()), int(is_known.sum()))


@alone
def train_gpt2(
    data: DataSettings,
    settings: GPT2Settings,
    loop: LoopSettings,
    out: Path,
    *,
    threads: int = 0,
    quiet: bool = False,
) -> Path:
    """Train a GPT-2 and write its checkpoint directory ``out/model``; resumes an interrupted run in `out`.

    Parameters
    ----------
    data, settings, loop
        What to train on, which network, and how.
    out, threads, quiet
        As for `psymem.train.run.train_cbr_rnn`, and with the same errors.
    """
    if threads:
        torch.set_num_threads(threads)
    out, began = Path(out), time.time()
    fingerprint = {"data": plain_settings(data), "gpt2": asdict(settings)}
    if finished_earlier(out, fingerprint, loop, quiet):
        return out / MODEL
    tokenizer, texts, _ = prepare(
        data,
        out,
        loop.seed,
        choose=VOCABULARIES[settings.vocabulary],
        kind=f"gpt2 {settings.vocabulary}",
        quiet=quiet,
    )
    in_training = {"plain": texts["plain"], "validation": sample(texts["validation"], data.held_out_tokens)}
    task = GPT2Task(settings, tokenizer.get_vocab_size(), data.longest, in_training, loop.seed)
    at = train_to_best(task, loop, out, fingerprint, quiet=quiet)
    facts = facts_of(data, texts, at, loop, began)

    def write() -> None:
        card = card_of(settings, facts, held_out(task.model, texts["validation"]))
        export(task.model, tokenizer, out / MODEL, card, word_counts(tokenizer, texts))

    processes.by_main(write)
    return out / MODEL


def card_of(settings: GPT2Settings, facts: Mapping[str, Any], found: HeldOutSurprisal) -> dict[str, Any]:
    """Return what the card of a trained model says."""
    return {
        "title": f"GPT-2 with {settings.layers} layers of {settings.heads} heads, {settings.width} wide",
        "source": "Radford et al. (2019); trained by psymem on sentences",
        "architecture": "gpt2",
        **facts,
        "held_out_perplexity": round(found.perplexity, 3),
        "held_out_unknown_share": round(found.unknown_share, 5),
        "objective": asdict(settings),
    }


def export(
    model: GPT2LMHeadModel,
    tokenizer: Tokenizer,
    folder: Path,
    card: dict[str, Any],
    counts: Mapping[str, int],
) -> Path:
    """Write a directory that transformers, and so psymem and other tools, load; all of it or nothing."""
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=BOS, eos_token=EOS, pad_token=PAD, unk_token=UNK
    )
    with whole_folder(folder) as temporary, quietly():
        try:
            model.save_pretrained(temporary)
            fast.save_pretrained(temporary)
        except (SafetensorError, RuntimeError) as error:
            raise OSError(str(error)) from error  # as every other failure to write
        (temporary / checkpoints.COUNTS).write_bytes(checkpoints.word_counts_content(counts))
        sums = {p.name: checkpoints.file_sha256(p) for p in sorted(temporary.iterdir())}
        write_text(temporary / checkpoints.CARD, checkpoints.card_text({**card, "sha256": sums}))
    return folder
