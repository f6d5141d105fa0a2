"""Everything one chooses about a gated recurrent language model and its training, and the recipes that fix most of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from psymem.data.corpora.fixation_levels import LEVELS
from psymem.errors import TrainingError

FAMILIES = ("srn", "lstm", "gru", "elstm", "fgp-rnn", "fgp-lstm", "fgl-rnn", "fgl-lstm")
BATCHING = ("sentences", "stream")
FIXATIONS = ("adaptive", "fixed", "full", "random", "random-by-type", "frequency")
NORMALISATIONS = ("running", "chunk", "none")
GATES = ("paper", "released")
COUNTS = ("core", "released")
PRECISIONS = ("auto", "bf16", "fp32")
GATED_FAMILIES = tuple(f for f in FAMILIES if f.startswith("fg"))

PRESETS: dict[str, dict[str, Any]] = {
    "sentences": {
        "batching": "sentences",
        "embedding_width": 176,
        "components": 4,
        "embedding_dropout": 0.0,
        "layer_dropout": 0.0,
        "embedding_range": 0.5,
        "precision": "auto",
        "sampled_words": 4096,
        "batch_tokens": 4096,
        "minimum_count": 1,
        "learning_rate": 2.5e-3,
        "beta2": 0.98,
        "clip": 1.0,
        "schedule": "linear",
        "stop_after": 100,
        "epochs": 1,
        "validate_every": 1_000_000,
    },
    "paper": {
        "batching": "stream",
        "embedding_width": 100,
        "components": 12,
        "embedding_dropout": 0.5,
        "layer_dropout": 0.25,
        "embedding_range": 0.0,
        "precision": "fp32",
        "sampled_words": 0,
        "batch_tokens": 4096,
        "minimum_count": 3,
        "learning_rate": 1e-3,
        "beta2": 0.999,
        "clip": 0.25,
        "schedule": "plateau",
        "stop_after": 50,
        "epochs": 50,
        "validate_every": 0,
    },
}
"""What an option is where it is not given. "paper": "Longer Fixations, More Computation" (Findings of EMNLP 2023)
with its released program: Adam, rate halved whenever an epoch brings no gain, 50 epochs, the best of them kept.
"sentences": each sentence by itself, as the CBR-RNNs are trained."""


@dataclass(frozen=True)
class GatedObjective:
    """Which gated network, and what it is trained to do.

    Parameters
    ----------
    family
        One of `FAMILIES`.
    embedding_width
        E.
    width
        d, of one component or layer; 0 to have it solved for `parameters`.
    parameters
        Trained weights without the embedding, from which the width follows; 0 where `width` is given.
    count
        What `parameters` counts: "released", with the V output biases, or "core", without.
    components, layers
        K of FGP; L (FGL: its gated units).
    fixations
        Where the duration of a token comes from: "adaptive" (estimated inside the network), "fixed" (a trained
        predictor), or the controls of table 3: "full" (all units always active), "random" (each token),
        "random-by-type" (each word type), "frequency" (rarer is longer).
    duration_normalisation
        Of adaptive durations: "running", "chunk" or "none".
    gate
        "paper" or "released".
    predictor
        Folder of the fixation predictor, "fixed" only.
    batching
        "sentences" or "stream".
    rows, piece_length
        Rows of the stream and mean words per piece, "stream" only.
    batch_tokens
        Inputs per batch, padding included, "sentences" only.
    sampled_words
        Competitors of the sampled softmax; 0 for the exact one.
    embedding_dropout, layer_dropout
        Dropout of embeddings and of each layer's output.
    fixation_weight
        lambda, weight of the fixation loss (multi-task); 0 for none.
    embedding_range
        Embeddings start between minus this and this, all alike; 0: from a normal distribution with standard
        deviation 1, as in the paper.
    embeddings
        File of word vectors to start from.
    precision
        "bf16", "fp32", or "auto": bf16 where the processor multiplies it natively.
    """

    family: str
    embedding_width: int = 176
    width: int = 0
    parameters: int = 0
    count: str = "released"
    components: int = 4
    layers: int = 1
    fixations: str = "adaptive"
    duration_normalisation: str = "running"
    gate: str = "paper"
    predictor: Path | None = None
    batching: str = "sentences"
    rows: int = 64
    piece_length: int = 100
    batch_tokens: int = 4096
    sampled_words: int = 4096
    embedding_dropout: float = 0.0
    layer_dropout: float = 0.0
    fixation_weight: float = 0.0
    embedding_range: float = 0.5
    embeddings: Path | None = None
    precision: str = "auto"

    def __post_init__(self) -> None:
        """Refuse settings that cannot work, in words."""
        for name, known in (
            ("family", FAMILIES),
            ("batching", BATCHING),
            ("fixations", FIXATIONS),
            ("duration_normalisation", NORMALISATIONS),
            ("gate", GATES),
            ("precision", PRECISIONS),
            ("count", COUNTS),
        ):
            if getattr(self, name) not in known:
                raise TrainingError(
                    f"{_option(name)} {getattr(self, name)!r} is not known; expected {_either(known)}."
                )
        for name in ("embedding_width", "components", "layers", "rows", "piece_length", "batch_tokens"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{_option(name)} has to be at least 1, not {getattr(self, name)}.")
        for name in ("embedding_dropout", "layer_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise TrainingError(
                    f"{_option(name)} has to be from 0 to below 1, not {getattr(self, name)}."
                )
        self._check_size()
        self._check_fixations()

    @property
    def units(self) -> int:
        """Units that a fixation gates: components or layers."""
        return self.components if self.family.startswith("fgp") else self.layers

    def _check_size(self) -> None:
        if self.width < 0 or self.parameters < 0 or (self.width > 0) == (self.parameters > 0):
            raise TrainingError(
                "Give either --width (of one component or layer) or --parameters (such as 4M), and above 0; given were "
                f"--width {self.width} and --parameters {self.parameters}."
            )
        if self.sampled_words < 0:
            raise TrainingError(f"--sampled-words has to be at least 0, not {self.sampled_words}.")
        if self.family in GATED_FAMILIES and self.units > LEVELS:
            name = "--components" if self.family.startswith("fgp") else "--layers"
            raise TrainingError(
                f"{name} {self.units} is more than the {LEVELS} levels of the duration scale; give at most {LEVELS}."
            )

    def _check_fixations(self) -> None:
        gated = self.family in GATED_FAMILIES
        if (self.fixations == "fixed") != (self.predictor is not None) and gated:
            raise TrainingError(
                "--fixations fixed and --predictor DIR (from `psymem train fixation-predictor`) go together."
            )
        if not 0 <= self.fixation_weight < math.inf:
            raise TrainingError(f"--fixation-weight has to be at least 0, not {self.fixation_weight}.")
        if self.fixation_weight and not (gated and self.fixations == "adaptive"):
            raise TrainingError(
                "Only a fixation-guided model with --fixations adaptive learns to predict fixations beside words; leave "
                "--fixation-corpus out."
            )


def plain_objective(objective: GatedObjective) -> dict[str, Any]:
    """GatedObjective for JSON and TOML: paths as text, what is None left out."""
    content = {f.name: getattr(objective, f.name) for f in fields(objective)}
    return {k: str(v) if isinstance(v, Path) else v for k, v in content.items() if v is not None}


def parse_count(text: str, option: str = "--parameters") -> int:
    """Read "4M", "500k" or "4000000"; 0 for an empty text.

    Raises
    ------
    TrainingError
        If it is none of these.
    """
    if not text:
        return 0
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmM]?)\s*", text)
    value = float(match[1]) * {"": 1, "k": 1e3, "m": 1e6}[match[2].lower()] if match else 0
    if not value:
        raise TrainingError(f"{option} {text!r} is no number; expected one such as 4M, 500k or 4000000.")
    return round(value)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _either(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
