"""Beginning a run with the weights and the vocabulary of a model that exists, to go on with other or more text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from psymem import checkpoints
from psymem.errors import TrainingError
from psymem.models.cbr_rnn import CueBasedRNN
from psymem.models.storage import load_checkpoint
from psymem.train.text.vocabulary import VocabularyRule, tokenizer_of


class Start:
    """A CBR-RNN to go on from.

    Parameters
    ----------
    name
        Bundled model or checkpoint folder.

    Raises
    ------
    CheckpointError
        If there is no such model, or it cannot be read.
    TrainingError
        If it is no CBR-RNN.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        stored = load_checkpoint(checkpoints.describe(name))
        if not isinstance(stored.network, CueBasedRNN):
            raise TrainingError(
                f"--start-from {name} is a {type(stored.network).__name__}, expected a CBR-RNN: a network can only go on "
                "from one of its own kind."
            )
        self.network, self.card = stored.network, stored.card
        self.weights = checkpoints.describe(name).path / checkpoints.WEIGHTS

    @property
    def kind(self) -> str:
        """What the run's vocabulary is, in the words of the stamp beside the encoded text."""
        return f"vocabulary of {self.name}"

    def vocabulary(self, files: list[Path], rule: VocabularyRule) -> Tokenizer:
        """Return the model's own vocabulary, whatever the text."""
        return tokenizer_of(self.name)

    def facts(self) -> dict[str, Any]:
        """Return what the card of a run that went on from here says of the beginning."""
        return {
            "model": self.name,
            "sha256": checkpoints.file_sha256(self.weights),
            "tokens_seen": self.card.get("tokens_seen", 0),
        }

    def check(self, width: int, attention: str) -> None:
        """Refuse a run of another size or kind of attention, before any text is read.

        Raises
        ------
        TrainingError
        """
        theirs = self.network.settings
        if (theirs.width, theirs.attention) != (width, attention):
            raise TrainingError(
                f"--start-from {self.name} has --width {theirs.width} and --attention {theirs.attention}, this run "
                f"{width} and {attention}: give those of the model."
            )

    def fill(self, network: CueBasedRNN) -> None:
        """Copy the weights into `network`; a supertag layer of another size, or that one of the two lacks, keeps its own."""
        own = network.state_dict()
        for key, value in self.network.state_dict().items():
            if key not in own or (key.startswith("supertag.") and own[key].shape != value.shape):
                continue
            own[key] = value.to(own[key].dtype)
        network.load_state_dict(own)
