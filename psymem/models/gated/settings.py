"""What defines a language model of gated cells: its family, its size, and where fixation durations come from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from psymem.errors import ModelError, PsymemWarning
from psymem.models.gated.cells import Guided
from psymem.models.gated.fixation_predictor import LEVELS, NORMALISATIONS, SPECS

FAMILIES: dict[str, tuple[str, Guided | None]] = {
    "srn": ("srn", None),
    "lstm": ("lstm", None),
    "gru": ("gru", None),
    "elstm": ("elstm", None),
    "fgp-rnn": ("srn", "components"),
    "fgp-lstm": ("lstm", "components"),
    "fgl-rnn": ("srn", "layers"),
    "fgl-lstm": ("lstm", "layers"),
}
"""Name to kind of cell and what fixations guide."""
DURATIONS = ("adaptive", "fixed", "by-word", "full", "given")


@dataclass(frozen=True)
class GatedSettings:
    """Everything that defines such a model apart from its weights.

    Parameters
    ----------
    vocabulary_size
        Number of word types, V.
    family
        One of `FAMILIES`.
    width
        d, of one component or layer; `psymem.models.gated.parameter_count` finds it for a number of parameters.
    components, layers
        K (of FGP; 1 otherwise) and L. None: 12 components; 3 layers for FGL, else 1.
    embedding_width
        E.
    durations
        Where the durations of a guided model come from; see
        `psymem.models.gated.language_model`.
    spec
        Which soft gate: that of the "paper" or of the "released" program.
    normalisation
        Of predicted durations: "running", "chunk" (not causal) or "none"; see
        :class:`~psymem.models.gated.fixation_predictor.DurationScale`.
    sharpness
        s of the soft gate.
    fixed_predictor_width, fixed_predictor_embedding_width
        q of a fixed predictor, and the width of its own word vectors.
    time_steps
        T_s of the ELSTM.
    reset_after
        Whether a GRU's reset gate acts after the product (torch) or before it (Cho et al.; Su).
    forget_bias
        What forget gates of LSTM and ELSTM start with. None: 1 for the ELSTM, else 0.
    tied
        Whether the output layer shares the embedding's weights.
    embedding_dropout, dropout
        After the embedding (and in the predictor), and after each layer.
    pad_id, bos_id, eos_id
        Tokens that are no words.
    """

    vocabulary_size: int
    family: str = "fgp-lstm"
    width: int = 220
    components: int | None = None
    layers: int | None = None
    embedding_width: int = 100
    durations: str = "adaptive"
    spec: str = "paper"
    normalisation: str = "running"
    sharpness: float = 4.0
    fixed_predictor_width: int = 100
    fixed_predictor_embedding_width: int = 100
    time_steps: int = 3
    reset_after: bool = True
    forget_bias: float | None = None
    tied: bool = True
    embedding_dropout: float = 0.5
    dropout: float = 0.25
    pad_id: int = 0
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        """Fill in what depends on the family; refuse what does not exist."""
        for name, known in (
            ("family", tuple(FAMILIES)),
            ("durations", DURATIONS),
            ("spec", SPECS),
            ("normalisation", NORMALISATIONS),
        ):
            if getattr(self, name) not in known:
                raise ModelError(
                    f"{name}={getattr(self, name)!r} is not known; expected one of {', '.join(known)}."
                )
        parallel, layered = self.guided == "components", self.guided == "layers"
        defaults = {
            "components": 12 if parallel else 1,
            "layers": 3 if layered else 1,
            "forget_bias": 1.0 if self.family == "elstm" else 0.0,
        }
        for name, value in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for name in ("vocabulary_size", "width", "components", "layers", "embedding_width", "time_steps"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ModelError(f"{name}={value!r} is not possible; expected a whole number of at least 1.")
        if self.components != 1 and not parallel:
            raise ModelError(
                f"components={self.components} is not possible for {self.family}; only fgp-rnn and fgp-lstm have "
                "more than one."
            )
        self._check_units()

    def _check_units(self) -> None:
        """Refuse more units than levels; warn where levels cannot be shared out evenly."""
        if self.guided is None:
            return
        unit = self.guided
        if self.units > LEVELS:
            raise ModelError(
                f"{unit}={self.units} is not possible for {self.family}: fixation durations have {LEVELS} levels, and "
                f"each unit needs one of its own. Use at most {LEVELS}; 12, 6, 4, 3 or 2 share them out evenly."
            )
        if LEVELS % self.units:
            top = LEVELS // self.units * (self.units - 1)
            warnings.warn(
                f"{unit}={self.units} does not divide the {LEVELS} levels of fixation durations: every level from "
                f"{top} to {LEVELS - 1} activates all units. 12, 6, 4, 3 or 2 share them out evenly.",
                PsymemWarning,
                stacklevel=4,
            )

    @property
    def cell(self) -> str:
        """Kind of cell."""
        return FAMILIES[self.family][0]

    @property
    def guided(self) -> Guided | None:
        """What fixations guide: "components", "layers" or None."""
        return FAMILIES[self.family][1]

    @property
    def units(self) -> int:
        """Number of units with a freeze gate of their own, U."""
        if self.guided is None:
            return 0
        return int((self.components if self.guided == "components" else self.layers) or 1)

    @property
    def adaptive(self) -> bool:
        """Whether a predictor is trained along."""
        return self.guided is not None and self.durations == "adaptive"

    @property
    def predictor_width(self) -> int:
        """Width q of the adaptive predictor."""
        return self.width if self.guided == "components" else max(1, self.width // 3)

    @property
    def causal(self) -> bool:
        """Whether every number depends on the words up to it only."""
        return not (self.adaptive and self.normalisation == "chunk")
