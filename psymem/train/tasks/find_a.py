"""The "find A" task of Su (2019, section 3.3.1): networks of one cell that have to remember a letter.

A string of T letters is all B, or has one A at one of its T places: T + 1 strings. Having read the last letter, the
network says whether there was an A. All networks of one kind (lengths by seeds) are trained side by side, each as
if it were alone: its initial values and the strings it sees follow from its seed and its length, and gradients are
clipped network by network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from psymem.errors import TrainingError
from psymem.progress import Steps
from psymem.train.tasks.tiny_networks import CELLS, Record

CLASSES = 2
AT_ONCE = 2_000_000
"""Numbers per activation that reading all strings may take at a time."""


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
    balanced
        Whether half of the strings drawn have no A, instead of 1 in T + 1, every string being drawn alike.
    """

    lengths: tuple[int, ...] = tuple(range(10, 101, 10))
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    steps: int = 5000
    check_every: int = 250
    batch: int = 5
    embedding: int = 2
    units: int = 1
    learning_rate: float = 0.5
    accumulator: float = 0.1
    clip: float = 5.0
    cycle: int = 0
    balanced: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        for name in ("lengths", "seeds"):
            given = getattr(self, name)
            if not given or len(set(given)) < len(given):
                raise TrainingError(f"{name}={given} has to hold one number or more, each once.")
            if min(given) < (2 if name == "lengths" else 0):
                least = "2 letters or more" if name == "lengths" else "0 or more"
                raise TrainingError(f"{name} holds {min(given)}; expected {least}.")
        for name in ("steps", "check_every", "batch", "embedding", "units"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name}={getattr(self, name)} has to be 1 or more.")
        if self.cycle < 0:
            raise TrainingError(f"cycle={self.cycle} has to be 0 (as long as the string) or more.")

    @property
    def runs(self) -> list[tuple[int, int]]:
        """(length, seed) of each network, R in all."""
        return [(length, seed) for length in self.lengths for seed in self.seeds]


class Networks:
    """R networks of one kind, each with weights of its own.

    Parameters
    ----------
    cell
        "srn", "lstm", "gru" or "elstm".
    settings
        Sizes, lengths and seeds.

    Attributes
    ----------
    parameters
        By name, the first axis R.
    lengths
        (R,) T of each.
    """

    def __init__(self, cell: str, settings: FindASettings) -> None:
        if cell not in CELLS:
            raise TrainingError(f"cell={cell!r} is not known; expected one of {', '.join(CELLS)}.")
        self.kind, self.cell, self.settings = cell, CELLS[cell], settings
        drawn = [self._draw(np.random.default_rng([seed, length, 0])) for length, seed in settings.runs]
        self.parameters = {name: np.stack([d[name] for d in drawn]) for name in drawn[0]}
        self.lengths = np.array([length for length, _ in settings.runs])
        cycle = np.full_like(self.lengths, settings.cycle) if settings.cycle else self.lengths
        self.places = np.arange(max(settings.lengths))[:, None] % cycle  # (T, R): row of S at each step

    def _draw(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial values: Glorot's uniform for weights, U(-sqrt 3, sqrt 3) for letters, 0, and 1 for forget gates."""
        sizes = self.settings
        width = self.cell.blocks * sizes.units
        bound = np.sqrt(6 / (sizes.embedding + sizes.units + width))  # of the joint matrix of input and state
        output = np.sqrt(6 / (sizes.units + CLASSES))
        bias = np.zeros(width)
        if self.kind in ("lstm", "elstm"):
            bias[sizes.units : 2 * sizes.units] = 1.0
        drawn = {
            "letters": rng.uniform(-np.sqrt(3), np.sqrt(3), (2, sizes.embedding)),
            "input": rng.uniform(-bound, bound, (sizes.embedding, width)),
            "recurrent": rng.uniform(-bound, bound, (sizes.units, width)),
            "bias": bias,
            "output": rng.uniform(-output, output, (sizes.units, CLASSES)),
            "output_bias": np.zeros(CLASSES),
        }
        if self.kind == "elstm":
            drawn["scale"] = np.ones((sizes.cycle or max(sizes.lengths), sizes.units))
        return drawn

    def scales(self) -> np.ndarray:
        """(T, R, N): s of each step; 1 where there is none."""
        if "scale" not in self.parameters:
            return np.ones((*self.places.shape, self.settings.units))
        return self.parameters["scale"][np.arange(len(self.lengths)), self.places]

    def read(self, strings: np.ndarray) -> Record:
        """Read (R, B, T) strings of 0 (B) and 1 (A), T being the greatest length."""
        of = self.parameters
        letters = of["letters"] @ of["input"] + of["bias"][:, None]  # (R, 2, G N)
        is_a = np.moveaxis(strings, -1, 0)[..., None] > 0  # (T, R, B, 1)
        inputs = np.where(is_a, letters[:, None, 1], letters[:, None, 0])
        return self.cell.read(inputs, of["recurrent"], self.scales())

    def logits(self, record: Record) -> np.ndarray:
        """(R, B, 2): what each network says after its last letter."""
        return self._final(record) @ self.parameters["output"] + self.parameters["output_bias"][:, None]

    def _final(self, record: Record) -> np.ndarray:
        """(R, B, N): hidden state after each network's last letter."""
        return record.hidden[self.lengths - 1, np.arange(len(self.lengths))]

    def gradients(self, strings: np.ndarray, has_a: np.ndarray) -> dict[str, np.ndarray]:
        """Gradients of each network's mean cross-entropy over its strings (R, B, T), of which (R, B) have an A."""
        record = self.read(strings)
        by_logits = softmax(self.logits(record))
        by_logits[np.arange(CLASSES) == has_a[..., None]] -= 1.0
        by_logits /= strings.shape[1]
        wanted = np.zeros_like(record.hidden)
        each = np.arange(len(self.lengths))
        wanted[self.lengths - 1, each] = by_logits @ self.parameters["output"].swapaxes(-1, -2)
        found = self.cell.back(record, self.parameters["recurrent"], self.scales(), wanted)
        is_a = np.moveaxis(strings, -1, 0)[..., None]
        total, of_a = found.inputs.sum((0, 2)), (found.inputs * is_a).sum((0, 2))  # (R, G N)
        by_letters = np.stack([total - of_a, of_a], 1)  # (R, 2, G N)
        gradients = {
            "letters": by_letters @ self.parameters["input"].swapaxes(-1, -2),
            "input": self.parameters["letters"].swapaxes(-1, -2) @ by_letters,
            "recurrent": found.recurrent,
            "bias": total,
            "output": self._final(record).swapaxes(-1, -2) @ by_logits,
            "output_bias": by_logits.sum(1),
        }
        if "scale" in self.parameters and found.scales is not None:
            gradients["scale"] = np.zeros_like(self.parameters["scale"])
            np.add.at(gradients["scale"], (each, self.places), found.scales)
        return gradients


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def strings_with_a_at(places: np.ndarray, length: int) -> np.ndarray:
    """(..., length) of 0 (B) and 1: the A of each string is at its place, counted from 0; none at -1."""
    return (np.arange(length) == places[..., None]).astype(np.int64)


def train(cell: str, settings: FindASettings, progress: Steps | None = None) -> tuple[Networks, np.ndarray]:
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
    longest = max(settings.lengths)
    drawn = np.stack([_draws(length, seed, settings) for length, seed in settings.runs])  # (R, steps, batch)
    sums = {n: np.full_like(p, settings.accumulator) for n, p in networks.parameters.items()}
    solved = np.full(len(drawn), np.nan)
    for step in range(1, settings.steps + 1):
        places = drawn[:, step - 1]
        _update(networks, networks.gradients(strings_with_a_at(places, longest), places >= 0), sums)
        if step % settings.check_every == 0 or step == settings.steps:
            if not all(np.isfinite(p).all() for p in networks.parameters.values()):
                raise TrainingError(f"The weights of a {cell} are no longer finite; lower the learning rate.")
            right = (correct(networks)[0] >= 1).all(-1)
            solved[right & np.isnan(solved)] = step
            if progress is not None:
                progress(step, settings.steps)
    return networks, solved


def _draws(length: int, seed: int, settings: FindASettings) -> np.ndarray:
    """(steps, batch): place of the A, or -1, in each string trained on; the same for every kind of cell."""
    rng = np.random.default_rng([seed, length, 1])
    size = (settings.steps, settings.batch)
    if not settings.balanced:
        return rng.integers(-1, length, size)
    return np.where(rng.random(size) < 0.5, -1, rng.integers(0, length, size))


def _update(networks: Networks, gradients: dict[str, np.ndarray], sums: dict[str, np.ndarray]) -> None:
    """Take one step of Adagrad, the gradient of each network cut to the longest length allowed."""
    settings = networks.settings
    squared = sum(np.square(g).reshape(len(g), -1).sum(-1) for g in gradients.values())
    shrink = settings.clip / np.maximum(np.sqrt(squared), settings.clip)
    for name, gradient in gradients.items():
        clipped = gradient * shrink.reshape(-1, *[1] * (gradient.ndim - 1))
        sums[name] += clipped**2
        networks.parameters[name] -= settings.learning_rate * clipped / np.sqrt(sums[name])


def correct(networks: Networks) -> tuple[np.ndarray, np.ndarray]:
    """Return what is right over all T + 1 strings of each network.

    Returns
    -------
    shares : numpy.ndarray
        (R, 2): share of the strings with an A, and of the one without, of which the right thing is said.
    loss : numpy.ndarray
        (R,) nats: mean over the strings.
    """
    longest = int(networks.lengths.max())
    per_part = max(1, AT_ONCE // (len(networks.lengths) * longest))
    rights, losses = [], []
    for first in range(0, longest + 1, per_part):
        places = np.arange(first, min(first + per_part, longest + 1)) - 1  # -1: no A
        strings = strings_with_a_at(np.broadcast_to(places, (len(networks.lengths), len(places))), longest)
        said = softmax(networks.logits(networks.read(strings)))
        chance = said[..., 1] * (places >= 0) + said[..., 0] * (places < 0)
        rights.append(chance > 0.5)
        losses.append(-np.log(np.maximum(chance, np.finfo(float).tiny)))
    right, loss = np.concatenate(rights, 1), np.concatenate(losses, 1)  # (R, T + 1), without an A first
    real = np.arange(longest + 1) <= networks.lengths[:, None]
    with_a = (right & real)[:, 1:].sum(-1) / networks.lengths
    return np.stack([with_a, right[:, 0]], -1), (loss * real).sum(-1) / real.sum(-1)
