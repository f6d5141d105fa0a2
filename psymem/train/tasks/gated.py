"""Training a gated language model (SRN, LSTM, GRU, ELSTM, FGP, FGL): its Task for the training loop."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from psymem.errors import TrainingError
from psymem.models.gated.cells import RecurrentState
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID
from psymem.train.tasks.cbr_rnn import ObjectiveSettings, target_counts
from psymem.train.tasks.fixation_labels import FixationText, fixation_loss
from psymem.train.tasks.gated_batches import GatedBatch, SentenceReading, StreamReading
from psymem.train.tasks.gated_evaluation import held_out
from psymem.train.tasks.gated_network import build_network, reading_of
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.tasks.objectives import CompetitorSampler, next_word_loss
from psymem.train.text.corpus import EncodedText

HELD_OUT_SEED = 0
"""Of held-out text, so that the control with random levels is given the same ones at every validation."""
REFRESH_TOKENS = 500_000


class GatedTask(nn.Module):
    """A gated language model with its data and objective; a Task for the training loop.

    Parameters
    ----------
    objective
        Network and objective.
    tokenizer
        Its vocabulary.
    texts
        "plain" (training) and "validation" (held out).
    seed
        Decides initial weights, order and cuts.
    fixations
        Read text for the multi-task loss.
    """

    def __init__(
        self,
        objective: GatedObjective,
        tokenizer: Tokenizer,
        texts: Mapping[str, EncodedText],
        seed: int,
        *,
        fixations: FixationText | None = None,
    ) -> None:
        super().__init__()
        self.objective, self.seed = objective, seed
        counts = target_counts([texts["plain"]], tokenizer.get_vocab_size())
        self.model = build_network(objective, tokenizer, counts, seed)
        self.compute = ObjectiveSettings(precision=objective.precision).compute_type()
        self.reading = reading_of(self.model, objective, texts["plain"], seed, fixations=fixations)
        self.validation = self.reading_of_held_out(texts["validation"])
        self.streams = objective.batching == "stream"
        if self.streams and int(os.environ.get("WORLD_SIZE", 1)) > 1:
            raise TrainingError(
                "--batching stream trains in one process, since each row's state is carried on; use --batching "
                "sentences with torchrun."
            )
        self.sampler = None
        if objective.sampled_words:
            self.sampler = CompetitorSampler(counts, objective.sampled_words, never=(PAD_ID, BOS_ID))
        if self.streams:
            zero = _zero_state(self.model, objective.rows)
            self.carried = CarriedState(zero)
            self.fixations_carried = CarriedState(zero.predictor) if fixations and zero.predictor else None

    def reading_of_held_out(self, text: EncodedText, rows: int = 0) -> SentenceReading | StreamReading:
        """Cut a text into batches as in training; a stream into `rows` rows (0: as many, or fewer if it is short)."""
        o = self.objective
        if not rows:
            words = len(text.ids) + int(text.complete.sum())
            rows = max(1, min(o.rows, words // (2 * o.piece_length)))
        return reading_of(self.model, o, text, HELD_OUT_SEED, rows=rows, even=True)

    def plan(self, epoch: int) -> list[Any]:
        """Handles of an epoch's batches."""
        return list(self.reading.plan(epoch))

    def batch(self, handle: Any) -> GatedBatch:
        """Lay out one planned batch."""
        return self.reading.batch(handle)

    def forward(self, batch: GatedBatch, step: int) -> tuple[Tensor, float]:
        """Return the loss to minimise and the mean surprisal of the next words, in nats."""
        model = self.model.train()
        state = self.carried.state() if self.streams and not batch.fresh else None
        out = model(batch.inputs, state, batch.durations, compute=self.compute)
        if self.streams:
            self.carried.keep(out.state)
        predicts = batch.targets != PAD_ID
        hidden = out.hidden[predicts].to(self.compute)
        competitors = self.sampler.draw((self.seed, step)) if self.sampler else None
        language = next_word_loss(
            hidden, model.output.weight, model.output.bias, batch.targets[predicts], competitors
        )
        loss = language
        if batch.fixations is not None:
            loss = language + self.objective.fixation_weight * self._fixation_loss(batch)
        return loss, float(language.detach())

    def _fixation_loss(self, batch: GatedBatch) -> Tensor:
        """Variance-weighted loss of the adaptive predictor on text that people read."""
        assert batch.fixations is not None
        carried = self.fixations_carried if self.streams else None
        state = carried.state() if carried is not None and not batch.fixations_fresh else None
        estimate, state = self.model.predict_durations(batch.fixations.inputs, state)
        if carried is not None:
            carried.keep(state)
        return fixation_loss(estimate, batch.fixations)

    def validate(self) -> float:
        """Mean surprisal (nats) of held-out words and sentence ends, exact, float32."""
        return held_out(self.model, self.validation).mean_nats

    def refresh_statistics(self) -> None:
        """Set the mean and variance of raw durations to those of the training text without dropout.

        One pass over the text, or over a part of REFRESH_TOKENS; nothing to do where durations are not
        normalised by running statistics.
        """
        scale = self.model.scale
        if scale is None or scale.kind != "running":
            return
        network, state = self.model.eval(), None
        n = total = squares = 0.0
        with torch.inference_mode():
            for handle in self.reading.plan(0):
                batch = self.reading.batch(handle).to(network.embedding.weight.device)  # type: ignore[arg-type]
                state = None if batch.fresh else state
                raw, state = network.predict_durations(batch.inputs, state)
                words = raw[batch.inputs != PAD_ID].double()
                n += len(words)
                total += float(words.sum())
                squares += float(words.square().sum())
                if n >= REFRESH_TOKENS:
                    break
        scale.set_statistics(total / n, squares / n - (total / n) ** 2)


class CarriedState(nn.Module):
    """A recurrent state that is saved with the weights, so that an interrupted run goes on with it."""

    def __init__(self, like: RecurrentState) -> None:
        super().__init__()
        for name, tensor in _flat(like).items():
            self.register_buffer(name, torch.zeros_like(tensor))

    def keep(self, state: RecurrentState) -> None:
        """Take up a state, without its history."""
        for name, tensor in _flat(state).items():
            setattr(self, name, tensor.detach().clone(memory_format=torch.contiguous_format))

    def state(self) -> RecurrentState:
        """Return it."""
        return _unflat(dict(self.named_buffers()))


def _flat(state: RecurrentState, prefix: str = "") -> dict[str, Tensor]:
    flat = {f"{prefix}hidden": state.hidden, f"{prefix}t": torch.tensor(state.t)}
    if state.cell is not None:
        flat[f"{prefix}cell"] = state.cell
    if state.predictor is not None:
        flat |= _flat(state.predictor, "predictor_")
    return flat


def _unflat(flat: Mapping[str, Tensor], prefix: str = "") -> RecurrentState:
    inner = _unflat(flat, "predictor_") if not prefix and "predictor_hidden" in flat else None
    return RecurrentState(
        flat[f"{prefix}hidden"], flat.get(f"{prefix}cell"), int(flat[f"{prefix}t"]), predictor=inner
    )


def _zero_state(network: GatedLanguageModel, rows: int) -> RecurrentState:
    """A state of the right shapes."""
    with torch.no_grad():
        ids = torch.full((rows, 1), EOS_ID)
        given = torch.zeros_like(ids) if network.settings.durations == "given" else None
        return network.eval()(ids, durations=given).state
