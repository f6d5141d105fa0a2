"""Perplexity of held-out text under a gated language model: exact softmax, float32, read as it was trained to read."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from psymem.errors import TrainingError
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.word_tokenizer import BOS_ID, PAD_ID, UNK_ID
from psymem.train.loop.evaluation import ROWS_AT_ONCE, HeldOutSurprisal
from psymem.train.tasks.gated_batches import SentenceReading, StreamReading


def held_out(network: GatedLanguageModel, reading: SentenceReading | StreamReading) -> HeldOutSurprisal:
    """Return summed surprisal of a text cut into batches: by sentence, or as a stream with its state carried on.

    Raises
    ------
    TrainingError
        If there is nothing to predict.
    """
    network.eval()
    device = network.embedding.weight.device
    nats, known = [np.empty(0)], [np.empty(0, bool)]
    state = None
    with torch.inference_mode():
        for handle in reading.plan(0):
            batch = reading.batch(handle).to(device)  # type: ignore[arg-type]
            out = network(batch.inputs, None if batch.fresh else state, batch.durations)
            state = out.state
            predicts = batch.targets != PAD_ID
            wanted = batch.targets[predicts]
            nats.append(_surprisal(network.output, out.hidden[predicts], wanted))
            known.append((wanted != UNK_ID).cpu().numpy())
    every, is_known = np.concatenate(nats), np.concatenate(known)
    if not len(every):
        raise TrainingError("There is no word to predict in this text.")
    return HeldOutSurprisal(float(every.sum()), len(every), float(every[is_known].sum()), int(is_known.sum()))


def _surprisal(output: nn.Module, hidden: Tensor, wanted: Tensor) -> np.ndarray:
    """(n,) nats of the words that came, a block of rows at a time."""
    blocks = [np.empty(0)]
    for start in range(0, len(wanted), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        logits = output(hidden[rows])
        logits[:, [PAD_ID, BOS_ID]] = -torch.inf  # never predicted
        nats = nn.functional.cross_entropy(logits, wanted[rows], reduction="none")
        blocks.append(nats.double().cpu().numpy())
    return np.concatenate(blocks)
