"""Perplexity of held-out text: exact softmax, float32, each sentence alone.

Two protocols:

- ``normal``: every sentence after BOS; every word and the end of the sentence are predicted.
- ``timkey2023``: as in Table 4 of Timkey & Linzen (2023): no BOS, no end of sentence, the first word is not scored.

Perplexity depends on how many words are unknown, since ``<unk>`` is easy to predict; it is therefore given over all
words and over known words alone, with the share of unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from psymem.errors import TrainingError
from psymem.models.cbr_rnn import CueBasedRNN
from psymem.models.storage import read_back
from psymem.models.word_tokenizer import BOS_ID, PAD_ID, UNK_ID
from psymem.train.text.batching import make_batch, plan_epoch
from psymem.train.text.corpus import NO_TAG, EncodedText, encode_files
from psymem.train.text.files import text_files
from psymem.units import perplexity

PROTOCOLS = ("normal", "timkey2023")
BATCH_TOKENS = 8192
ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class HeldOutSurprisal:
    """Sums over held-out text.

    Attributes
    ----------
    nats, n
        Summed surprisal and number of all predicted words (and sentence ends in the normal protocol).
    nats_known, n_known
        The same without unknown words.
    """

    nats: float
    n: int
    nats_known: float
    n_known: int

    @property
    def mean_nats(self) -> float:
        """Mean surprisal over all predictions, in nats."""
        return self.nats / self.n

    @property
    def perplexity(self) -> float:
        """Perplexity over all predictions."""
        return perplexity(self.mean_nats)

    @property
    def perplexity_known(self) -> float:
        """Perplexity over predictions that are not ``<unk>``."""
        return perplexity(self.nats_known / self.n_known)

    @property
    def unknown_share(self) -> float:
        """Share of predictions that are ``<unk>``."""
        return 1 - self.n_known / self.n


def cost_of_storing(network: nn.Module, measure: Callable[[nn.Module], float]) -> dict[str, float]:
    """Return what `measure` gives for a network as it is ("32"), stored in 16 bits ("16"), and with 8-bit rows ("8").

    Parameters
    ----------
    network
        A model of one of our architectures, in 32 bits.
    measure
        Such as ``lambda network: held_out_surprisal(network, text).perplexity``.
    """
    return {
        "32": measure(network),
        "16": measure(read_back(network)),
        "8": measure(read_back(network, eight_bit_rows=True)),
    }


def held_out_surprisal(network: nn.Module, text: EncodedText, protocol: str = "normal") -> HeldOutSurprisal:
    """Return summed surprisal of `text` under a protocol of the module docstring.

    Raises
    ------
    TrainingError
        If there is no such protocol or nothing to predict.
    """
    if protocol not in PROTOCOLS:
        raise TrainingError(f"--protocol {protocol!r} is not known; expected {' or '.join(PROTOCOLS)}.")
    network.eval()
    sums = np.zeros(2)
    counts = np.zeros(2, int)
    with torch.inference_mode():
        for inputs, targets in _batches(text, protocol):
            for nats, is_known in _surprisals(network, inputs, targets):
                sums += nats.sum().item(), nats[is_known].sum().item()
                counts += len(nats), int(is_known.sum())
    if not counts[0]:
        raise TrainingError("There is no word to predict in this text.")
    return HeldOutSurprisal(float(sums[0]), int(counts[0]), float(sums[1]), int(counts[1]))


def perplexity_of_files(
    folder: Path, files: list[Path], protocol: str, longest: int = 64
) -> HeldOutSurprisal:
    """Return the surprisal of text files under the model in a checkpoint directory; sentences as in training."""
    from psymem.models.storage import load_checkpoint

    stored = load_checkpoint(folder)
    text = encode_files(text_files(files), stored.tokenizer, longest - 1)
    return held_out_surprisal(stored.network, text, protocol)


def _batches(text: EncodedText, protocol: str) -> Iterator[tuple[Tensor, Tensor]]:
    """Inputs and targets, (B, T) each; PAD where there is nothing to predict."""
    for which in plan_epoch(text.lengths, BATCH_TOKENS, 0, 0):
        batch = make_batch(text, which)
        if protocol == "normal":
            yield batch.inputs, batch.targets
        elif batch.inputs.shape[1] > 2:
            # inputs w_1 .. w_{n-1}; BOS and the prediction of the first word and of the end are left out
            yield batch.inputs[:, 1:-1], batch.inputs[:, 2:]


def _surprisals(network: nn.Module, inputs: Tensor, targets: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Surprisal (nats, float64) of each prediction and whether the word is known, a block at a time."""
    device = next(network.parameters()).device
    targets = targets.T.to(device)
    predicts = targets != PAD_ID
    states, wanted = _hidden(network, inputs.to(device))[predicts], targets[predicts]
    for start in range(0, len(wanted), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        logits = network.get_submodule("output")(states[rows])
        logits[:, [PAD_ID, BOS_ID]] = -torch.inf  # never predicted
        nats = nn.functional.cross_entropy(logits, wanted[rows], reduction="none").double()
        yield nats, wanted[rows] != UNK_ID


def _hidden(network: nn.Module, inputs: Tensor) -> Tensor:
    """(T, B, d) hidden states."""
    return network(inputs).hidden.transpose(0, 1)


def supertag_accuracy(network: CueBasedRNN, text: EncodedText) -> float:
    """Share of tagged words whose supertag is the head's first choice; NaN without head or tags."""
    if network.supertag is None or text.tags is None:
        return float("nan")
    network.eval()
    right = n = 0
    with torch.inference_mode():
        for which in plan_epoch(text.lengths, BATCH_TOKENS, 0, 0):
            batch = make_batch(text, which).to(network.embedding.weight.device)
            assert batch.tags is not None
            best = network.supertag(_hidden(network, batch.inputs)).argmax(-1).T
            known = batch.tags != NO_TAG
            right += int((best[known] == batch.tags[known]).sum())
            n += int(known.sum())
    return right / n if n else float("nan")
