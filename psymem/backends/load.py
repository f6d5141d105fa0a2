"""From what a user calls a model to a backend that reads with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from psymem import checkpoints
from psymem.backends.base import Backend
from psymem.checkpoints import CARD, Checkpoint
from psymem.errors import CheckpointError, ModelError, UnknownNameError
from psymem.registry import ARCHITECTURES, BACKENDS

MASKED = (
    "bert",
    "roberta",
    "distilbert",
    "electra",
    "albert",
    "xlm-roberta",
    "deberta",
    "deberta-v2",
    "modernbert",
)
"""Model types of masked language models, for configs that do not name their class."""


def load_backend(name: str | Path | Backend, **settings: Any) -> Backend:
    """Return the model called `name`, ready to read; weights are loaded with the first text.

    Parameters
    ----------
    name
        A bundled model ("cbr-rnn/1"), "toy", the directory of a checkpoint, or the id of a model on the
        Hugging Face hub. A backend is returned as it is.
    settings
        Passed on to the backend ("bos", "device", ...).

    Raises
    ------
    UnknownNameError
        If no bundled model has this name and the hub has none or cannot be reached; near names are offered.
    CheckpointError
        If the directory is incomplete, damaged, or holds a model that psymem cannot read with.
    ModelError
        If the backend has no such setting.
    """
    if isinstance(name, Backend):
        return name
    if name == "toy":
        return _build("toy", settings, ())
    if Path(name).suffix == ".gguf" and Path(name).is_file():
        return _build("pretrained", settings, (Path(name),))
    checkpoint = _locate(name)
    if checkpoint.architecture not in ARCHITECTURES:
        return _foreign(checkpoint, settings)
    checkpoints.check(checkpoint)
    return _build("recurrent", settings, (checkpoint,))


def load_backends(
    names: str | Path | Backend | Sequence[str | Path | Backend], **settings: Any
) -> list[Backend]:
    """Return the backends that one or several names stand for; "cbr-rnn" is every bundled CBR-RNN."""
    given = [names] if isinstance(names, (str, Path, Backend)) else names
    single = [
        n for entry in given for n in (checkpoints.expand(entry) if isinstance(entry, str) else [entry])
    ]
    return [load_backend(n, **settings) for n in dict.fromkeys(single)]


def _build(kind: str, settings: dict[str, Any], arguments: tuple) -> Backend:
    """Construct a backend; a setting it does not have is the user's mistake, not a traceback."""
    backend = BACKENDS.load(kind)
    try:
        return backend(*arguments, **settings)
    except TypeError as error:
        raise ModelError(f"This model cannot be loaded with {', '.join(settings)}: {error}.") from error


def _locate(name: str | Path) -> Checkpoint:
    """Find a bundled model or a directory, else fetch from the hub."""
    try:
        return checkpoints.describe(name)
    except UnknownNameError as unknown:
        if get_close_matches(str(name), unknown.known, cutoff=0.75):  # a slip of the pen, not a hub id
            raise
        folder = _fetch(str(name), unknown)
        return Checkpoint(str(name), folder)


def _fetch(name: str, unknown: UnknownNameError) -> Path:
    """Download a checkpoint from the Hugging Face hub, or find it in its cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

    wanted = ["*.json", "*.safetensors", "*.txt", "*.model", CARD]
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, etag_timeout=5, max_workers=2))
    except (HFValidationError, RepositoryNotFoundError):
        raise unknown from None
    except OSError as error:
        if not isinstance(error, (LocalEntryNotFoundError, ConnectionError, TimeoutError)):
            raise CheckpointError(f"Could not fetch {name} from the Hugging Face hub: {error}.") from error
        why = "is switched off (HF_HUB_OFFLINE)" if os.environ.get("HF_HUB_OFFLINE") else "cannot be reached"
        raise UnknownNameError(
            "model",
            name,
            unknown.known,
            f"{checkpoints.no_folder(name)} If it is a model on the Hugging Face hub: the hub {why}, and there is no "
            f"copy on this machine. Where there is a network, run 'hf download {name} --local-dir my-model', copy the "
            "folder here and give its path as the model.",
        ) from None


def _foreign(checkpoint: Checkpoint, settings: dict[str, Any]) -> Backend:
    """Return a backend for a model of transformers that is not one of ours.

    Raises
    ------
    CheckpointError
        If it is no causal language model.
    """
    kind, classes = checkpoint.architecture, " ".join(checkpoint.config.get("architectures") or ())
    if "MaskedLM" in classes or kind in MASKED:
        raise CheckpointError(
            f"{checkpoint.name} is a masked language model ({kind}): it predicts a word from both sides, "
            "so it "
            "has no surprisal of a word given the words before it. Use a causal (left-to-right) model."
        )
    if checkpoint.config.get("is_encoder_decoder") or "ConditionalGeneration" in classes:
        raise CheckpointError(
            f"{checkpoint.name} is an encoder-decoder model ({kind}): it reads the whole text before it "
            "predicts "
            "a word. Use a causal (left-to-right) model."
        )
    return _build("pretrained", {"name": checkpoint.name, **settings}, (checkpoint.path,))
