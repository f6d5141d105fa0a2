"""The "find A" task of Su (2019, section 3.3.1): networks of one cell that have to remember a letter.

A string of T letters is all B, or has one A at one of its T places: T + 1 strings. Having read the last letter, the
network says whether there was an A. All networks of one kind (lengths by seeds) are trained side by side, each as
if it were alone: its initial values and the strings it sees follow from its seed and its length, and gradients are
clipped network by network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from psymem.errors import TrainingError

CELLS = ("srn", "lstm", "gru", "elstm")
GATES = {"srn": 1, "lstm": 4, "elstm": 4, "gru": 3}
"""Blocks of the weights: (m), (i, f, g, o), (r, z, n)."""
CLASSES = 2

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FindASettings:
    """How networks are trained.

    Parameters
    ----------
    lengths
        T.
    seeds
        A network of each kind for every length and seed.
    steps
        Updates of each network.
    check_every
        Steps between two looks at all T + 1 strings.
    batch, embedding, units
        Strings drawn (with replacement) for an update; E; N.
    learning_rate, accumulator, clip
        Adagrad's rate and the value its sums of squares start at; longest gradient.
    cycle
        T_s of the ELSTM; 0 for T, a scale for every place.
    """

    lengths: tuple[int, ...] = tuple(range(10, 101, 10))
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    steps: int = 4000
    check_every: int = 200
    batch: int = 5
    embedding: int = 2
    units: int = 1
    learning_rate: float = 0.5
    accumulator: float = 0.1
    clip: float = 5.0
    cycle: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        for name in ("lengths", "seeds"):
            given = getattr(self, name)
            if not given or len(set(given)) < len(given):
                raise TrainingError(f"{name}={given} has to hold one number or more, each once.")
        wrong = [n for n in self.lengths if n < 2]
        if wrong:
            raise TrainingError(f"A string of {wrong[0]} letters leaves nothing to remember; give 2 or more.")
        for name in ("steps", "check_every", "batch", "embedding", "units"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name}={getattr(self, name)} has to be 1 or more.")
        if self.cycle < 0:
            raise TrainingError(f"cycle={self.cycle} has to be 0 (as long as the string) or more.")

    @property
    def runs(self) -> list[tuple[int, int]]:
        """(length, seed) of each network, R in all."""
        return [(length, seed) for length in self.lengths for seed in self.seeds]


@dataclass(frozen=True)
class Steps:
    """What networks did while reading: each (R, B, T, N); F, I and the memory they describe (None for an SRN)."""

    hidden: Tensor
    retain: Tensor | None
    write: Tensor | None


class Networks:
    """R networks of one kind, each with weights of its own.

    Parameters
    ----------
    cell
        "srn", "lstm", "gru" (reset before the weights, as in Su) or "elstm".
    settings
        Sizes, lengths and seeds.
    """

    def __init__(self, cell: str, settings: FindASettings) -> None:
        if cell not in CELLS:
            raise TrainingError(f"cell={cell!r} is not known; expected one of {', '.join(CELLS)}.")
        self.cell, self.settings = cell, settings
        drawn = [self._draw(np.random.default_rng([seed, length, 0])) for length, seed in settings.runs]
        self.parameters = {
            name: torch.tensor(np.stack([d[name] for d in drawn]), dtype=torch.float32, requires_grad=True)
            for name in drawn[0]
        }
        lengths = torch.tensor([length for length, _ in settings.runs])
        cycle = lengths if not settings.cycle else torch.full_like(lengths, settings.cycle)
        self.places = torch.arange(max(settings.lengths)) % cycle[:, None]  # (R, T): row of S at each step

    def _draw(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial values: Glorot's uniform for weights, U(-sqrt 3, sqrt 3) for letters, 0, and 1 for forget gates."""
        sizes = self.settings
        width = GATES[self.cell] * sizes.units
        bound = np.sqrt(6 / (sizes.embedding + sizes.units + width))  # of the joint matrix of input and state
        bias = np.zeros(width)
        if self.cell in ("lstm", "elstm"):
            bias[sizes.units : 2 * sizes.units] = 1.0
        output = np.sqrt(6 / (sizes.units + CLASSES))
        drawn = {
            "letters": rng.uniform(-np.sqrt(3), np.sqrt(3), (2, sizes.embedding)),
            "input": rng.uniform(-bound, bound, (sizes.embedding, width)),
            "recurrent": rng.uniform(-bound, bound, (sizes.units, width)),
            "bias": bias,
            "output": rng.uniform(-output, output, (sizes.units, CLASSES)),
            "output_bias": np.zeros(CLASSES),
        }
        if self.cell == "elstm":
            drawn["scale"] = np.ones((sizes.cycle or max(sizes.lengths), sizes.units))
        return drawn

    def read(self, strings: Tensor) -> Steps:
        """Read (R, B, T) strings of 0 (B) and 1 (A), T being the greatest length."""
        of = self.parameters
        projected = of["letters"] @ of["input"] + of["bias"][:, None]  # (R, 2, G N)
        chosen = torch.where(strings[..., None] > 0, projected[:, None, None, 1], projected[:, None, None, 0])
        scale: Sequence[Tensor | float] = [1.0] * strings.shape[-1]
        if self.cell == "elstm":
            scale = of["scale"][torch.arange(len(strings))[:, None], self.places].unsqueeze(1).unbind(2)
        memory = hidden = projected.new_zeros(*strings.shape[:2], self.settings.units)
        step = {"srn": self._srn, "gru": self._gru}.get(self.cell, self._lstm)
        rows = []
        for x, s in zip(chosen.unbind(2), scale, strict=True):
            hidden, memory, retain, write = step(x, hidden, memory, s)
            rows.append((hidden, retain, write))
        h, kept, written = zip(*rows, strict=True)
        if kept[0] is None:
            return Steps(torch.stack(h, 2), None, None)
        return Steps(torch.stack(h, 2), torch.stack(kept, 2), torch.stack(written, 2))

    def _srn(self, x: Tensor, hidden: Tensor, memory: Tensor, s: object) -> tuple:
        hidden = torch.tanh(torch.baddbmm(x, hidden, self.parameters["recurrent"]))
        return hidden, hidden, None, None

    def _lstm(self, x: Tensor, hidden: Tensor, memory: Tensor, s: Tensor | float) -> tuple:
        i, f, g, o = torch.baddbmm(x, hidden, self.parameters["recurrent"]).chunk(4, -1)
        retain, write = torch.sigmoid(f), s * torch.sigmoid(i) * torch.tanh(g)
        memory = retain * memory + write
        return torch.sigmoid(o) * torch.tanh(memory), memory, retain, write

    def _gru(self, x: Tensor, hidden: Tensor, memory: Tensor, s: object) -> tuple:
        n = self.settings.units
        weight = self.parameters["recurrent"]
        r, z = torch.baddbmm(x[..., : 2 * n], hidden, weight[..., : 2 * n]).sigmoid().chunk(2, -1)
        proposal = torch.tanh(torch.baddbmm(x[..., 2 * n :], r * hidden, weight[..., 2 * n :]))
        write = (1 - z) * proposal
        hidden = z * hidden + write
        return hidden, hidden, z, write

    def logits(self, hidden: Tensor) -> Tensor:
        """(R, B, 2): what each network says after its last letter, given hidden states (R, B, T, N)."""
        last = torch.tensor([length - 1 for length, _ in self.settings.runs])
        final = hidden[torch.arange(len(hidden)), :, last]
        return torch.baddbmm(self.parameters["output_bias"][:, None], final, self.parameters["output"])


def all_strings(settings: FindASettings) -> tuple[Tensor, Tensor]:
    """Return every string of each network, and which rows are strings of its length.

    (R, T + 1, T) of 0 and 1, T the greatest length: row j has its A at place j, the row of the network's own
    length has none; (R, T + 1) bool.
    """
    longest = max(settings.lengths)
    lengths = torch.tensor([length for length, _ in settings.runs])[:, None]
    place = torch.arange(longest + 1)
    strings = torch.eye(longest + 1, longest, dtype=torch.int64).repeat(len(lengths), 1, 1)
    strings[(place >= lengths)] = 0
    return strings, place <= lengths


def train(cell: str, settings: FindASettings, progress: Progress | None = None) -> tuple[Networks, np.ndarray]:
    """Train all networks of one kind.

    Returns
    -------
    networks : Networks
        After the last step.
    solved : numpy.ndarray
        (R,) first step looked at after which a network said the right thing of all strings; NaN if none.

    Raises
    ------
    TrainingError
        If a network's numbers are no longer finite.
    """
    networks = Networks(cell, settings)
    strings, _ = all_strings(settings)
    drawn = np.stack([_draws(length, seed, settings) for length, seed in settings.runs])  # (R, steps, batch)
    has_a = torch.from_numpy(drawn < np.array([n for n, _ in settings.runs])[:, None, None]).long()
    sums = {n: torch.full_like(p, settings.accumulator) for n, p in networks.parameters.items()}
    solved = np.full(len(drawn), np.nan)
    rows = torch.arange(len(drawn))[:, None]
    for step in range(1, settings.steps + 1):
        batch = strings[rows, torch.from_numpy(drawn[:, step - 1])]
        logits = networks.logits(networks.read(batch).hidden)
        target = has_a[:, step - 1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="sum")
        gradients = torch.autograd.grad(loss / settings.batch, list(networks.parameters.values()))
        _update(networks, gradients, sums)
        if step % settings.check_every == 0 or step == settings.steps:
            right = (correct(networks)[0] >= 1).all(-1)
            solved[right & np.isnan(solved)] = step
            if progress is not None:
                progress(step, settings.steps)
    if not all(bool(torch.isfinite(p).all()) for p in networks.parameters.values()):
        raise TrainingError(f"The weights of a {cell} are no longer finite; use a lower learning rate.")
    return networks, solved


def _draws(length: int, seed: int, settings: FindASettings) -> np.ndarray:
    """(steps, batch): the strings a network is trained on, the same for every kind of cell."""
    rng = np.random.default_rng([seed, length, 1])
    return rng.integers(0, length + 1, (settings.steps, settings.batch))


def _update(networks: Networks, gradients: Sequence[Tensor], sums: dict[str, Tensor]) -> None:
    """Take one step of Adagrad, the gradient of each network cut to the longest length allowed."""
    settings = networks.settings
    squared = torch.stack([g.flatten(1).square().sum(-1) for g in gradients]).sum(0)  # (R,)
    shrink = settings.clip / squared.sqrt().clamp(min=settings.clip)
    with torch.no_grad():
        for (name, parameter), gradient in zip(networks.parameters.items(), gradients, strict=True):
            clipped = gradient * shrink.view(-1, *[1] * (gradient.dim() - 1))
            sums[name] += clipped.square()
            parameter -= settings.learning_rate * clipped / sums[name].sqrt()


@torch.no_grad()
def correct(networks: Networks) -> tuple[np.ndarray, np.ndarray]:
    """Return what is right over all strings of each network.

    Returns
    -------
    shares : numpy.ndarray
        (R, 2): share of the strings with an A, and of the one without, of which the right thing is said.
    loss : numpy.ndarray
        (R,) nats: mean over the T + 1 strings.
    """
    strings, real = all_strings(networks.settings)
    lengths = real.sum(-1, keepdim=True) - 1
    has_a = (torch.arange(strings.shape[1]) < lengths).long()
    logits = networks.logits(networks.read(strings).hidden)
    right = (logits.argmax(-1) == has_a) & real
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), has_a, reduction="none") * real
    with_a = (right * has_a).sum(-1) / lengths[:, 0]
    without = (right * (1 - has_a)).sum(-1)
    return torch.stack([with_a, without.float()], -1).numpy(), (loss.sum(-1) / real.sum(-1)).numpy()
