"""How long a word is looked at: networks that predict it, and the gates made from it.

A duration has 12 levels, 0 (shortest) to 11; U units (components of FGP, layers of FGL) share them out, r = 12 // U
levels each. "Longer Fixations, More Computation: Gaze-Guided Recurrent Neural Networks", Findings of EMNLP 2023:

    predictor   e_1 .. e_t -> L recurrent layers of width q -> Linear(q, E) -> tanh -> Linear(E, 1) = raw_t
    hard gate   unit u (from 0) is active, a_u = 0, if u <= floor(level / r); else a_u = 1
    soft gate   a_u = sigma( s (u - offset - position) ),  s = 4
                "paper" (Eq. 19)   offset 0, position = level U / 12
                "released"         offset 0.5 (FGP) or 0 (FGL), position = level / r, and unit 0 always active
    level       ((raw - mean) / sd + 1.96) / 3.92 * 12                                              (Eq. 22)

The statistics of the last line decide whether a value depends on the past only: `DurationScale`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from psymem.errors import ModelError
from psymem.models.gated.block import GatedBlock
from psymem.models.gated.cells import RecurrentState

LEVELS = 12
BOUNDARY_LEVEL = 3
"""Level of what is not a word (beginning and end of a sentence), as in the released program."""
NORMALISATIONS = ("running", "chunk", "none")
SPECS = ("paper", "released")


def hard_gate(levels: Tensor, units: int) -> Tensor:
    """Return (B, T, U) freeze gates, 0 or 1, from (B, T) levels, which are kept within 0 to 11."""
    reached = torch.div(levels.clamp(0, LEVELS - 1), LEVELS // units, rounding_mode="floor")
    return (torch.arange(units, device=levels.device) > reached[..., None]).to(levels.dtype)


def soft_gate(levels: Tensor, units: int, *, spec: str, sharpness: float, offset: float) -> Tensor:
    """Return (B, T, U) freeze gates between 0 and 1 from (B, T) levels.

    Parameters
    ----------
    levels
        On the scale of 12, not limited to it.
    units
        U.
    spec
        "paper" or "released"; see the module docstring.
    sharpness, offset
        s, and the released gate's offset (0.5 for FGP, 0 for FGL).
    """
    if spec == "paper":
        position, offset = levels * (units / LEVELS), 0.0
    else:
        position = levels / (LEVELS // units)
    unit = torch.arange(units, device=levels.device, dtype=levels.dtype)
    gate = torch.sigmoid(sharpness * (unit - offset - position[..., None]))
    return gate if spec == "paper" else torch.cat([torch.zeros_like(gate[..., :1]), gate[..., 1:]], -1)


class DurationScale(nn.Module):
    """From a predictor's raw numbers to levels on the scale of 12.

    Parameters
    ----------
    kind
        "running": mean and variance of the training text, as running averages over batches, so that a level
        depends on the past only. "chunk": of each row of the current call, as an option of the released
        program has it; a level then depends on later words. "none": level = raw.
    momentum
        Weight of a batch in the running averages, after the first 1 / momentum batches, which count alike.
    stop_gradient
        Whether statistics count as constants in training.

    Notes
    -----
    A batch's own statistics would tell training what scoring cannot know: batches of sentences of one length differ
    in the mean by more than words do in a batch, and a network that is trained on them is lost without them. In
    training the values are therefore those of the running averages too, and only the gradient is that of the
    batch's statistics (batch renormalisation: Ioffe, 2017, Algorithm 1, without limits on r and d).
    """

    mean: Tensor
    variance: Tensor
    batches: Tensor

    def __init__(self, kind: str = "running", *, momentum: float = 0.01, stop_gradient: bool = False) -> None:
        super().__init__()
        if kind not in NORMALISATIONS:
            raise ModelError(
                f"normalisation={kind!r} is not known; expected one of {', '.join(NORMALISATIONS)}."
            )
        self.kind, self.momentum, self.stop_gradient, self.eps = kind, momentum, stop_gradient, 1e-5
        if kind == "running":
            self.register_buffer("mean", torch.zeros(()))
            self.register_buffer("variance", torch.ones(()))
            self.register_buffer("batches", torch.zeros((), dtype=torch.long))

    def set_statistics(self, mean: float, variance: float) -> None:
        """Take the mean and variance of raw durations of a whole text (after training, dropout off)."""
        self.mean.fill_(mean)
        self.variance.fill_(variance)

    def forward(self, raw: Tensor, words: Tensor | None = None) -> Tensor:
        """Return (B, T) levels of (B, T) raw durations; `words` is (B, T), False at padding."""
        if self.kind == "none":
            return raw
        return (self._standardised(raw, words) + 1.96) / 3.92 * LEVELS

    def _standardised(self, raw: Tensor, words: Tensor | None) -> Tensor:
        if self.kind == "chunk":
            mean, variance = _moments(raw, words, (1,))
            if self.stop_gradient:
                mean, variance = mean.detach(), variance.detach()
            return (raw - mean) / torch.sqrt(variance + self.eps)
        if not self.training:
            return (raw - self.mean) / torch.sqrt(self.variance + self.eps)
        mean, variance = _moments(raw, words, (0, 1))
        self._average(mean.detach().flatten()[0], variance.detach().flatten()[0])
        sd = torch.sqrt(self.variance + self.eps)
        if self.stop_gradient:
            return (raw - self.mean) / sd
        own_sd = torch.sqrt(variance + self.eps)
        r, d = own_sd.detach() / sd, (mean.detach() - self.mean) / sd
        return (raw - mean) / own_sd * r + d

    @torch.no_grad()
    def _average(self, mean: Tensor, variance: Tensor) -> None:
        """Take a batch into the running averages; the variance is that of all words, between batches too."""
        self.batches += 1
        weight = max(self.momentum, 1 / int(self.batches))
        squares = (self.variance + self.mean.square()).lerp(variance + mean.square(), weight)
        self.mean.lerp_(mean, weight)
        self.variance.copy_((squares - self.mean.square()).clamp_min(0))


def _moments(raw: Tensor, words: Tensor | None, over: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Mean and biased variance over some axes, of words only."""
    if words is None:
        return raw.mean(over, keepdim=True), raw.var(over, unbiased=False, keepdim=True)
    share = words.to(raw.dtype)
    n = share.sum(over, keepdim=True).clamp_min(1)
    mean = (raw * share).sum(over, keepdim=True) / n
    return mean, ((raw - mean).square() * share).sum(over, keepdim=True) / n


class FixationPredictor(nn.Module):
    """Embedded words to raw durations; each depends on the words up to it.

    Parameters
    ----------
    cell, n_inputs, width, layers
        Kind of cell, E, q and L. The adaptive predictor of an FGP model has q = d, that of an FGL model q = d //
        3, and both the model's cell and depth; the fixed one is an LSTM with one layer of 100.
    dropout
        Of embeddings and of the last layer, in training.
    """

    def __init__(
        self, cell: str, n_inputs: int, width: int, layers: int = 1, *, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.recurrent = GatedBlock(cell, n_inputs, width, layers=layers, dropout=0.0)
        self.hidden = nn.Linear(width, n_inputs)
        self.output = nn.Linear(n_inputs, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, embedded: Tensor, state: RecurrentState | None = None) -> tuple[Tensor, RecurrentState]:
        """Return (B, T) raw durations of (B, T, E) words, and the state after them."""
        block = self.recurrent(self.dropout(embedded), state)
        hidden = torch.tanh(self.hidden(self.dropout(block.output)))
        return self.output(hidden)[..., 0], block.state


class FixedFixationPredictor(nn.Module):
    """A predictor with word vectors of its own, trained on people's fixations and then left as it is.

    Parameters
    ----------
    vocabulary_size
        V, that of the language model it serves.
    width, embedding_width
        q and E.
    boundary_ids
        Tokens that are no words and get `BOUNDARY_LEVEL`.
    dropout
        In training.
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        width: int = 100,
        embedding_width: int = 100,
        boundary_ids: tuple[int, ...] = (),
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_width)
        self.network = FixationPredictor("lstm", embedding_width, width, dropout=dropout)
        self.boundary_ids = boundary_ids

    def forward(self, ids: Tensor, state: RecurrentState | None = None) -> tuple[Tensor, RecurrentState]:
        """Return (B, T) predicted levels, not rounded, of (B, T) ids, and the state after them."""
        return self.network(self.embedding(ids), state)

    def levels(
        self, ids: Tensor, state: RecurrentState | None = None
    ) -> tuple[Tensor, Tensor, RecurrentState]:
        """Return what `forward` gives and, before it, whole levels within 0 to 11."""
        raw, state = self(ids, state)
        levels = raw.detach().round().clamp(0, LEVELS - 1)
        boundary = torch.isin(ids, torch.tensor(self.boundary_ids, dtype=ids.dtype, device=ids.device))
        return levels.masked_fill(boundary, BOUNDARY_LEVEL), raw, state
